//! Copies of functions: all nodes are new, dim variables may get values, calls may get other callees.

use rustc_hash::FxHashMap;
use tf_types::{DType, Dim, Storage, Symbol, Type, TypeError};

use crate::node::{Callee, Converter, Expr, ExprKind, Function, GridRegion};
use crate::op::{Attr, OpInstance, OpView};
use crate::walk::operands;
use crate::{Context, Diagnostic, Result};

/// Makes copies.
pub(crate) struct Copier<'a, 'c> {
    pub cx: &'a Context<'c>,
    /// Values of dim variables; empty for plain copies, whose types are not inferred again.
    pub dims: Vec<(Symbol<'c>, Dim<'c>)>,
    /// What takes the place of called functions.
    pub functions: FxHashMap<Function<'c>, Function<'c>>,
    exprs: FxHashMap<Expr<'c>, Expr<'c>>,
}

enum Step<'c> {
    Enter(Expr<'c>),
    Bind(&'c GridRegion<'c>),
    Finish(Expr<'c>),
}

impl<'a, 'c> Copier<'a, 'c> {
    pub fn new(cx: &'a Context<'c>, dims: Vec<(Symbol<'c>, Dim<'c>)>) -> Self {
        Self { cx, dims, functions: FxHashMap::default(), exprs: FxHashMap::default() }
    }

    /// Nothing is shared with what was copied before.
    pub fn start(&mut self) {
        self.exprs.clear();
    }

    /// A copy with its variants and converters. What it calls is looked up in `functions`.
    pub fn function(&mut self, old: Function<'c>) -> Result<Function<'c>> {
        self.start();
        let mut data = *old.data();
        let params = old.params.iter().map(|&param| self.variable(param));
        let params = params.collect::<Result<Vec<_>>>()?;
        data.params = self.cx.alloc_slice(&params);
        data.body = old.body.map(|body| self.expr(body)).transpose()?;
        data.return_type = self.ty(old.return_type, old.span)?;
        let variants = old.variants.iter().map(|&variant| self.function(variant)).collect::<Result<Vec<_>>>()?;
        data.variants = self.cx.alloc_slice(&variants);
        let mut converters: Vec<Converter<'c>> = old.converters.to_vec();
        for converter in &mut converters {
            converter.function = self.function(converter.function)?;
        }
        data.converters = self.cx.alloc_slice(&converters);
        Ok(self.cx.function(data))
    }

    /// A new variable in place of this one.
    pub fn variable(&mut self, old: Expr<'c>) -> Result<Expr<'c>> {
        let new = self.cx.expr(old.kind, self.ty(old.ty(), old.span())?, old.meta);
        self.exprs.insert(old, new);
        Ok(new)
    }

    /// A copy of all that `root` reaches; what was copied before is shared.
    pub fn expr(&mut self, root: Expr<'c>) -> Result<Expr<'c>> {
        let mut stack = vec![Step::Enter(root)];
        while let Some(step) = stack.pop() {
            match step {
                Step::Enter(expr) => {
                    if self.exprs.contains_key(&expr) {
                        continue;
                    }
                    stack.push(Step::Finish(expr));
                    let first = stack.len();
                    if let ExprKind::Grid(region) = expr.kind {
                        stack.extend(region.inits.iter().map(|&init| Step::Enter(init)));
                        stack.push(Step::Bind(region));
                        stack.extend(region.yields.iter().chain(&region.body).map(|&value| Step::Enter(value)));
                    } else {
                        operands(expr, |operand| stack.push(Step::Enter(operand)));
                    }
                    stack[first..].reverse();
                }
                Step::Bind(region) => {
                    for &binder in region.carries.iter().chain([&region.induction]) {
                        self.variable(binder)?;
                    }
                }
                Step::Finish(expr) => {
                    if !self.exprs.contains_key(&expr) {
                        let new = self.node(expr)?;
                        self.exprs.insert(expr, new);
                    }
                }
            }
        }
        Ok(self.exprs[&root])
    }

    fn all(&self, exprs: &[Expr<'c>]) -> &'c [Expr<'c>] {
        let new: Vec<_> = exprs.iter().map(|expr| self.exprs[expr]).collect();
        self.cx.alloc_slice(&new)
    }

    fn node(&self, expr: Expr<'c>) -> Result<Expr<'c>> {
        let (cx, span) = (self.cx, expr.span());
        let (kind, ty) = match expr.kind {
            ExprKind::Var { .. } | ExprKind::Constant(_) | ExprKind::SymbolRef(_) => {
                (expr.kind, self.ty(expr.ty(), span)?)
            }
            ExprKind::Tuple(elements) => {
                let new = self.all(elements);
                let types: Vec<_> = new.iter().map(|e| e.ty()).collect();
                (ExprKind::Tuple(new), cx.tuple(&types))
            }
            ExprKind::Call { callee: Callee::Op(op), args } => {
                let (op, args) = (self.op(op, span)?, self.all(args));
                let ty = if self.dims.is_empty() { expr.ty() } else { cx.infer(OpView { op, args }, span)? };
                (ExprKind::Call { callee: Callee::Op(op), args }, ty)
            }
            ExprKind::Call { callee: Callee::Function(callee), args } => {
                let callee = self.functions.get(&callee).copied().unwrap_or(callee);
                let kind = ExprKind::Call { callee: Callee::Function(callee), args: self.all(args) };
                (kind, self.ty(expr.ty(), span)?)
            }
            ExprKind::ShapeOf { param, axis } => return cx.shape_of(self.exprs[&param], axis, expr.meta),
            ExprKind::Grid(region) => {
                let mut new = GridRegion {
                    induction: self.exprs[&region.induction],
                    carries: self.all(region.carries),
                    inits: self.all(region.inits),
                    yields: self.all(region.yields),
                    body: region.body.map(|body| self.exprs[&body]),
                    ..*region
                };
                for dim in [&mut new.start, &mut new.stop, &mut new.step] {
                    *dim = self.dim(*dim).map_err(|error| refusal(error, span))?;
                }
                let ty = match (new.carries, new.body) {
                    ([], Some(body)) => body.ty(),
                    ([one], _) => one.ty(),
                    (many, _) => cx.tuple(&many.iter().map(|carry| carry.ty()).collect::<Vec<_>>()),
                };
                return Ok(cx.grid(new, ty, expr.meta));
            }
        };
        Ok(cx.expr(kind, ty, expr.meta))
    }

    fn ty(&self, ty: Type<'c>, span: Option<crate::Span>) -> Result<Type<'c>> {
        if self.dims.is_empty() {
            return Ok(ty);
        }
        self.cx.substitute_type(ty, &self.dims).map_err(|error| refusal(error, span))
    }

    fn dim(&self, dim: Dim<'c>) -> Result<Dim<'c>, TypeError> {
        if self.dims.is_empty() { Ok(dim) } else { self.cx.substitute_dim(dim, &self.dims) }
    }

    fn op(&self, op: OpInstance<'c>, span: Option<crate::Span>) -> Result<OpInstance<'c>> {
        if self.dims.is_empty() {
            return Ok(op);
        }
        let attrs = op.attrs().iter().map(|&attr| self.attr(attr));
        let attrs = attrs.collect::<Result<Vec<_>, TypeError>>().map_err(|error| refusal(error, span))?;
        Ok(self.cx.op_instance(op.id, &attrs))
    }

    fn attr(&self, attr: Attr<'c>) -> Result<Attr<'c>, TypeError> {
        let (cx, dims) = (self.cx, &self.dims);
        Ok(match attr {
            Attr::Dim(dim) => Attr::Dim(self.dim(dim)?),
            Attr::Dims(list) => {
                let list = list.iter().map(|&dim| self.dim(dim)).collect::<Result<Vec<_>, _>>()?;
                Attr::Dims(cx.dims(&list))
            }
            Attr::Layout(layout) => {
                // A layout is substituted as that of a type.
                let ty = cx.substitute_type(cx.tensor(&[], DType::Bool, Some(layout), Storage::Gmem), dims)?;
                Attr::Layout(ty.as_tensor().and_then(|tensor| tensor.layout).unwrap_or(layout))
            }
            Attr::Shard(shard) => Attr::Shard(cx.substitute_shard(shard, dims)?),
            Attr::Mesh(mesh) => Attr::Mesh(cx.substitute_mesh(mesh, dims)?),
            Attr::Type(ty) => Attr::Type(cx.substitute_type(ty, dims)?),
            Attr::None
            | Attr::Bool(_)
            | Attr::Int(_)
            | Attr::Float(_)
            | Attr::Str(_)
            | Attr::Enum(_)
            | Attr::DType(_)
            | Attr::Storage(_)
            | Attr::Ints(_) => attr,
        })
    }
}

fn refusal(error: TypeError, span: Option<crate::Span>) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(error.message).at(span);
    diagnostic.help = error.help;
    diagnostic
}
