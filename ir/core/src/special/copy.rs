//! Copies of functions: all nodes are new, dim variables may get values, calls may get other callees.

use rustc_hash::FxHashMap;
use tf_types::{DType, Dim, Mesh, Storage, Symbol, Type, TypeError};

use crate::node::{Callee, Converter, Expr, ExprKind, Function, GridRegion};
use crate::op::{Attr, OpInstance, OpView};
use crate::visit::{Cloning, ExprCloner};
use crate::{Context, Diagnostic, Result};

/// Makes copies.
pub(crate) struct Copier<'a, 'c> {
    clone: Cloning<'a, 'c>,
    rule: Copies<'c>,
}

/// What a node becomes.
struct Copies<'c> {
    /// Values of dim variables; empty for plain copies, whose types are not inferred again.
    dims: Vec<(Symbol<'c>, Dim<'c>)>,
    /// What takes the place of called functions.
    functions: FxHashMap<Function<'c>, Function<'c>>,
}

impl<'a, 'c> Copier<'a, 'c> {
    pub fn new(cx: &'a Context<'c>, dims: Vec<(Symbol<'c>, Dim<'c>)>) -> Self {
        Self { clone: Cloning::new(cx), rule: Copies { dims, functions: FxHashMap::default() } }
    }

    /// Nothing is shared with what was copied before.
    pub fn start(&mut self) {
        self.clone = Cloning::new(self.clone.cx);
    }

    /// Sends calls elsewhere.
    pub fn redirect(&mut self, old: Function<'c>, new: Function<'c>) {
        self.rule.functions.insert(old, new);
    }

    /// What takes the place of a function.
    pub fn redirected(&self, old: Function<'c>) -> Option<Function<'c>> {
        self.rule.functions.get(&old).copied()
    }

    /// A copy with its variants and converters. Its calls follow [`Copier::redirect`].
    pub fn function(&mut self, old: Function<'c>) -> Result<Function<'c>> {
        self.start();
        let cx = self.clone.cx;
        let mut data = *old.data();
        let params = old.params.iter().map(|&param| self.variable(param));
        let params = params.collect::<Result<Vec<_>>>()?;
        data.params = cx.alloc_slice(&params);
        data.body = old.body.map(|body| self.expr(body)).transpose()?;
        // A type that was inferred is that of the new body, which may know strides that symbolic extents leave open.
        let inferred = data.body.filter(|_| old.body.is_some_and(|body| body.ty() == old.return_type));
        data.return_type = match inferred {
            Some(body) => body.ty(),
            None => self.rule.ty(cx, old.return_type, old.span)?,
        };
        let variants = old.variants.iter().map(|&variant| self.function(variant)).collect::<Result<Vec<_>>>()?;
        data.variants = cx.alloc_slice(&variants);
        let mut converters: Vec<Converter<'c>> = old.converters.to_vec();
        for converter in &mut converters {
            converter.function = self.function(converter.function)?;
        }
        data.converters = cx.alloc_slice(&converters);
        Ok(cx.function(data))
    }

    /// A new variable in place of this one.
    pub fn variable(&mut self, old: Expr<'c>) -> Result<Expr<'c>> {
        self.rule.variable(old, &mut self.clone)
    }

    /// A copy of all that `root` reaches; what was copied before is shared.
    pub fn expr(&mut self, root: Expr<'c>) -> Result<Expr<'c>> {
        self.clone.visit(&mut self.rule, root)
    }
}

impl<'c> Copier<'_, 'c> {
    /// The op with the values in its attributes.
    pub fn op(&self, op: OpInstance<'c>, span: Option<crate::Span>) -> Result<OpInstance<'c>> {
        self.rule.op(self.clone.cx, op, span)
    }

    /// The mesh with the values in it.
    pub fn mesh(&self, mesh: Mesh<'c>, span: Option<crate::Span>) -> Result<Mesh<'c>> {
        self.clone.cx.substitute_mesh(mesh, &self.rule.dims).map_err(|error| refusal(error, span))
    }
}

impl<'c> ExprCloner<'c> for Copies<'c> {
    fn bind(&mut self, region: &GridRegion<'c>, clone: &mut Cloning<'_, 'c>) -> Result<()> {
        self.variable(region.induction, clone)?;
        for (&carry, &init) in region.carries.iter().zip(region.inits) {
            // A carry that has the type of its initial value keeps to it, also where more is known of its layout now.
            let ty = match carry.ty() == init.ty() {
                true => clone.get(init).ty(),
                false => self.ty(clone.cx, carry.ty(), carry.span())?,
            };
            clone.replace(carry, clone.cx.expr(carry.kind, ty, carry.meta));
        }
        Ok(())
    }

    fn default_clone(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let (cx, span) = (clone.cx, expr.span());
        let all = |exprs: &[Expr<'c>]| cx.alloc_slice(&exprs.iter().map(|&expr| clone.get(expr)).collect::<Vec<_>>());
        let (kind, ty) = match expr.kind {
            ExprKind::Var { .. } | ExprKind::Constant(_) | ExprKind::SymbolRef(_) => {
                (expr.kind, self.ty(cx, expr.ty(), span)?)
            }
            ExprKind::Tuple(elements) => {
                let new = all(elements);
                let types: Vec<_> = new.iter().map(|e| e.ty()).collect();
                (ExprKind::Tuple(new), cx.tuple(&types))
            }
            ExprKind::Call { callee: Callee::Op(op), args } => {
                let (op, args) = (self.op(cx, op, span)?, all(args));
                let ty = if self.dims.is_empty() { expr.ty() } else { cx.infer(OpView { op, args }, span)? };
                (ExprKind::Call { callee: Callee::Op(op), args }, ty)
            }
            ExprKind::Call { callee: Callee::Function(callee), args } => {
                let new = self.functions.get(&callee).copied().unwrap_or(callee);
                let ty = match expr.ty() == callee.return_type {
                    true => new.return_type,
                    false => self.ty(cx, expr.ty(), span)?,
                };
                (ExprKind::Call { callee: Callee::Function(new), args: all(args) }, ty)
            }
            ExprKind::ShapeOf { param, axis } => return cx.shape_of(clone.get(param), axis, expr.meta),
            ExprKind::Grid(region) => {
                let mut new = GridRegion {
                    induction: clone.get(region.induction),
                    carries: all(region.carries),
                    inits: all(region.inits),
                    yields: all(region.yields),
                    body: region.body.map(|body| clone.get(body)),
                    ..*region
                };
                for dim in [&mut new.start, &mut new.stop, &mut new.step] {
                    *dim = self.dim(cx, *dim).map_err(|error| refusal(error, span))?;
                }
                return Ok(cx.grid(new, cx.loop_type(new.carries, new.body), expr.meta));
            }
        };
        Ok(cx.expr(kind, ty, expr.meta))
    }
}

impl<'c> Copies<'c> {
    fn variable(&self, old: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let new = clone.cx.expr(old.kind, self.ty(clone.cx, old.ty(), old.span())?, old.meta);
        clone.replace(old, new);
        Ok(new)
    }

    fn ty(&self, cx: &Context<'c>, ty: Type<'c>, span: Option<crate::Span>) -> Result<Type<'c>> {
        if self.dims.is_empty() {
            return Ok(ty);
        }
        cx.substitute_type(ty, &self.dims).map_err(|error| refusal(error, span))
    }

    fn dim(&self, cx: &Context<'c>, dim: Dim<'c>) -> Result<Dim<'c>, TypeError> {
        if self.dims.is_empty() { Ok(dim) } else { cx.substitute_dim(dim, &self.dims) }
    }

    fn op(&self, cx: &Context<'c>, op: OpInstance<'c>, span: Option<crate::Span>) -> Result<OpInstance<'c>> {
        if self.dims.is_empty() {
            return Ok(op);
        }
        let attrs = op.attrs().iter().map(|&attr| self.attr(cx, attr));
        let attrs = attrs.collect::<Result<Vec<_>, TypeError>>().map_err(|error| refusal(error, span))?;
        Ok(cx.op_instance(op.id, &attrs))
    }

    fn attr(&self, cx: &Context<'c>, attr: Attr<'c>) -> Result<Attr<'c>, TypeError> {
        let dims = &self.dims;
        Ok(match attr {
            Attr::Dim(dim) => Attr::Dim(self.dim(cx, dim)?),
            Attr::Dims(list) => {
                let list = list.iter().map(|&dim| self.dim(cx, dim)).collect::<Result<Vec<_>, _>>()?;
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
