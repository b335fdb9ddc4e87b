//! TIR functions.

use tf_core::hidden::{forwarded_shape_scalars, mentioned_shape_scalars};
use tf_core::node::{DispatchCase, Intrinsic, PrimFunctionData, Target, TirCallee};
use tf_core::op::OpView;
use tf_core::{AnyFunction, DimVarRangePat, Expr, ExprKind, Literal, Meta, PrimFunction, Stmt, StmtKind, TargetKind};
use tf_types::{DType, Storage, Type};

use crate::{Generator, types};

/// How deep blocks nest.
const DEPTH: usize = 3;

impl<'c> Generator<'_, 'c> {
    /// A function that calls functions of `known`.
    pub fn prim_function(&mut self, name: &str, known: &[PrimFunction<'c>]) -> PrimFunction<'c> {
        let cx = self.cx;
        let mut types = vec![self.types[1]];
        // Placed parameters would all have to be placed.
        let is_placed = |ty: &Type<'c>| ty.as_tensor().is_some_and(|tensor| tensor.shard().is_some());
        let unplaced: Vec<_> = self.types.iter().copied().filter(|ty| !is_placed(ty)).collect();
        types.extend((0..self.rng.below(3)).map(|_| self.rng.pick(&unplaced)));
        let mut params = self.params(&types);
        let mut scope = params.clone();
        let steps = self.rng.below(self.options.steps + 1);
        let kind = self.rng.pick(&[TargetKind::Cuda, TargetKind::Cpu]);
        self.on_host = kind == TargetKind::Cpu;
        let all = std::mem::take(&mut self.open);
        let body = self.block(&mut scope, params[0], known, steps, DEPTH);
        self.open = all;
        let output_count = self.rng.below(params.len() + 1);
        if kind == TargetKind::Cuda {
            let extents = mentioned_shape_scalars(cx, &params, body);
            params.extend(extents);
        }
        let device = cx.symbol(if kind == TargetKind::Cuda { "nvidia.h200_sxm" } else { "" });
        cx.prim_function(PrimFunctionData {
            name: cx.symbol(name),
            params: cx.alloc_slice(&params),
            body,
            output_count,
            target: Target { kind, device },
            doc: (kind == TargetKind::Cpu).then(|| cx.symbol("Runs on\nthe \"host\".")),
            span: self.meta().span,
        })
    }

    /// A block of statements; what follows a binding is nested in it.
    fn block(
        &mut self,
        scope: &mut Vec<Expr<'c>>,
        rows: Expr<'c>,
        known: &[PrimFunction<'c>],
        steps: usize,
        depth: usize,
    ) -> Stmt<'c> {
        let cx = self.cx;
        let before = scope.len();
        let mut stmts: Vec<Stmt<'c>> = Vec::new();
        let mut bindings = Vec::new();
        for _ in 0..steps {
            let span = self.meta().span;
            match self.rng.below(11) {
                0..3 => {
                    let ops = std::mem::take(&mut self.tir_values);
                    let value = self.call(&ops, scope);
                    self.tir_values = ops;
                    // A view of a scalar that is nowhere is nowhere, too.
                    let in_memory = |value: &Expr<'c>| {
                        value.ty().as_tensor().is_none_or(|t| t.rank() == 0 || t.storage != Storage::Umat)
                    };
                    let Some(value) = value.filter(in_memory) else { continue };
                    // The name of a value in a binding is that of its variable.
                    let value = cx.expr(value.kind, value.ty(), Meta { name: None, ..value.meta });
                    let var = self.var(value.ty());
                    scope.push(var);
                    bindings.push((std::mem::take(&mut stmts), var, value, span));
                }
                3 | 4 => {
                    let ops = std::mem::take(&mut self.tir_effects);
                    let effect = self.effect(&ops, scope);
                    self.tir_effects = ops;
                    stmts.extend(effect.map(|view| cx.evaluate(view.op, view.args, span)));
                }
                5 => stmts.extend(self.call_of(known, scope, rows)),
                6 if depth > 0 => {
                    let stmt = self.region(scope, rows, known, steps / 2, depth - 1);
                    stmts.push(cx.stmt(stmt, span));
                }
                7 => stmts.extend(self.intrinsic(scope)),
                8 if self.on_host => stmts.extend(self.launch(scope, rows)),
                9 if self.options.odd => stmts.extend(self.dispatch(known, scope, rows)),
                _ => {}
            }
        }
        if self.rng.once_in(4) {
            stmts.push(cx.stmt(StmtKind::Return, self.meta().span));
        }
        scope.truncate(before);
        let mut rest = sequence(self, &stmts);
        for (mut earlier, var, value, span) in bindings.into_iter().rev() {
            let bound = cx.stmt(StmtKind::Let { var, value, body: rest }, span);
            earlier.push(bound);
            rest = sequence(self, &earlier);
        }
        rest
    }

    fn region(
        &mut self,
        scope: &mut Vec<Expr<'c>>,
        rows: Expr<'c>,
        known: &[PrimFunction<'c>],
        steps: usize,
        depth: usize,
    ) -> StmtKind<'c> {
        let cx = self.cx;
        match self.rng.below(4) {
            0 => {
                let ty = cx.scalar(DType::I64);
                let int = |value| cx.constant(Literal::Int(value), DType::I64, Meta::default());
                let induction = self.var(ty);
                let (start, stop, step) = (int(0), int(self.rng.below(9) as i64), int(2));
                // A bound may be computed, and symbolic.
                let start = if self.rng.once_in(4) { self.scalar(scope, rows, ty).unwrap_or(start) } else { start };
                let stop = if self.rng.once_in(2) { self.scalar(scope, rows, ty).unwrap_or(stop) } else { stop };
                scope.push(induction);
                let body = self.block(scope, rows, known, steps, depth);
                scope.pop();
                StmtKind::For { induction, start, stop, step, body }
            }
            1 => {
                let cond = self.condition(scope, rows);
                StmtKind::While { cond, body: self.block(scope, rows, known, steps, depth) }
            }
            2 => {
                let cond = self.condition(scope, rows);
                let then_body = self.block(scope, rows, known, steps, depth);
                StmtKind::If { cond, then_body, else_body: self.block(scope, rows, known, steps / 2, depth) }
            }
            _ => {
                let mesh = self.rng.pick(&self.meshes);
                let binding = cx.symbol(["m", "two words"][if self.options.odd { self.rng.below(2) } else { 0 }]);
                self.open.push(mesh);
                let body = self.block(scope, rows, known, steps, depth);
                self.open.pop();
                StmtKind::MeshScope { mesh, binding, body }
            }
        }
    }

    fn condition(&mut self, scope: &[Expr<'c>], rows: Expr<'c>) -> Expr<'c> {
        let ty = self.cx.scalar(DType::Bool);
        let computed = if self.rng.once_in(4) { None } else { self.scalar(scope, rows, ty) };
        computed.unwrap_or_else(|| {
            let meta = self.meta();
            self.cx.constant(Literal::Bool(self.rng.once_in(2)), DType::Bool, meta)
        })
    }

    /// A scalar of that type that is computed of those in scope, of an extent and of a number.
    fn scalar(&mut self, scope: &[Expr<'c>], rows: Expr<'c>, ty: Type<'c>) -> Option<Expr<'c>> {
        let cx = self.cx;
        let is_scalar =
            |value: &Expr<'c>| value.ty().as_tensor().is_some_and(|t| t.rank() == 0 && t.storage == Storage::Umat);
        let mut values: Vec<_> = scope.iter().copied().filter(is_scalar).collect();
        values.push(cx.shape_of(rows, 0, Meta::default()).ok()?);
        values.push(cx.constant(Literal::Int(self.rng.below(5) as i64), DType::I64, Meta::default()));
        let ops = std::mem::take(&mut self.tir_values);
        for _ in 0..6 {
            let Some(made) = self.call(&ops, &values) else { continue };
            // It has no statement of its own, and so no name and no place.
            let made = cx.expr(made.kind, made.ty(), Meta::default());
            if is_scalar(&made) {
                values.push(made);
            }
        }
        self.tir_values = ops;
        let fit: Vec<_> = values.into_iter().filter(|value| value.ty() == ty).collect();
        fit.last().copied()
    }

    fn call_of(&mut self, known: &[PrimFunction<'c>], scope: &[Expr<'c>], rows: Expr<'c>) -> Option<Stmt<'c>> {
        // A call stays on its target.
        let is_here = |callee: &PrimFunction<'c>| (callee.target.kind == TargetKind::Cpu) == self.on_host;
        let known: Vec<_> = known.iter().copied().filter(is_here).collect();
        if known.is_empty() {
            return None;
        }
        let callee = self.rng.pick(&known);
        let mut args = Vec::new();
        for param in callee.visible_params() {
            args.push(*scope.iter().find(|value| value.ty() == param.ty())?);
        }
        for (of, axis) in forwarded_shape_scalars(callee, &args, &[rows]).ok()? {
            args.push(self.cx.shape_of(of, axis, self.meta()).ok()?);
        }
        let kind = StmtKind::Evaluate { callee: TirCallee::Symbol(callee.name), args: self.cx.alloc_slice(&args) };
        Some(self.cx.stmt(kind, self.meta().span))
    }

    /// A launch of a device function, or of a child module, with as many CTAs and threads as the first parameter has rows.
    fn launch(&mut self, scope: &[Expr<'c>], rows: Expr<'c>) -> Option<Stmt<'c>> {
        let cx = self.cx;
        let (name, function) = match self.launched.len() {
            0 => return None,
            _ => self.rng.pick(&self.launched.clone()),
        };
        let (visible, all): (Vec<_>, Vec<_>) = match function {
            AnyFunction::Tir(function) if function.target.kind != TargetKind::Cuda => return None,
            AnyFunction::Tir(function) => {
                let types = |params: &[Expr<'c>]| params.iter().map(|param| param.ty()).collect();
                (types(&function.visible_params()), types(function.data().params))
            }
            AnyFunction::Hir(function) => (function.lowered_params(cx)?, function.lowered_params(cx)?),
        };
        let id = self.tir_effects.iter().copied().find(|id| cx.ops().decl(*id).name.name == "launch")?;
        let extent = cx.shape_of(rows, 0, self.meta()).ok()?;
        let one = cx.constant(Literal::Int(1), DType::I64, Meta::default());
        let symbol = cx.expr(ExprKind::SymbolRef(name), cx.callable(&all, cx.unit()), self.meta());
        let mut args = vec![symbol, extent, one, one, extent, one, one];
        for ty in visible {
            args.push(*scope.iter().find(|value| value.ty() == ty)?);
        }
        let attrs = self.attributes(cx.ops().decl(id))?;
        let view = OpView { op: cx.op_instance(id, &attrs), args: cx.alloc_slice(&args) };
        let is_right = cx.ops().verify.get(id).is_some_and(|rule| rule(view, cx).is_ok());
        is_right.then(|| cx.evaluate(view.op, view.args, self.meta().span))
    }

    /// A statement that the author declares, over one or two values.
    fn intrinsic(&mut self, scope: &[Expr<'c>]) -> Option<Stmt<'c>> {
        let cx = self.cx;
        let count = 1 + self.rng.below(2);
        let (name, params) = [("mark", &["a"][..]), ("swap_rows", &["a", "b"])][count - 1];
        let operands: Vec<_> = params.iter().map(|param| format!("{param}: Expr")).collect();
        let source = cx.symbol(&format!("def {name}({}) -> None:\n    assert len(a.shape) < 99", operands.join(", ")));
        let params: Vec<_> = params.iter().map(|param| cx.symbol(param)).collect();
        let intrinsic = cx.alloc(Intrinsic { name: cx.symbol(name), params: cx.symbols(&params), source });
        let args: Vec<_> = (0..count).map(|_| self.rng.pick(scope)).collect();
        let kind = StmtKind::Evaluate { callee: TirCallee::Intrinsic(intrinsic), args: cx.alloc_slice(&args) };
        Some(cx.stmt(kind, self.meta().span))
    }

    /// A dispatch over the first extent of the first parameter.
    fn dispatch(&mut self, known: &[PrimFunction<'c>], scope: &[Expr<'c>], rows: Expr<'c>) -> Option<Stmt<'c>> {
        let cx = self.cx;
        let (lo, hi) = types::S;
        let mut cases = Vec::new();
        for range in [(lo, 4), (4, hi)] {
            let call = self.call_of(known, scope, rows)?;
            let pattern = DimVarRangePat { dim: cx.symbol("S"), lo: range.0, hi: range.1 };
            cases.push(DispatchCase { pattern, call });
        }
        let subject = cx.shape_of(rows, 0, self.meta()).ok()?;
        let message = cx.symbol(if self.rng.once_in(2) { "" } else { "no \"case\"" });
        let fallback = cx.stmt(StmtKind::Abort { message }, self.meta().span);
        let callee = self.rng.pick(known).name;
        let kind = StmtKind::Dispatch { callee, subject, cases: cx.alloc_slice(&cases), fallback };
        Some(cx.stmt(kind, self.meta().span))
    }
}

fn sequence<'c>(generator: &Generator<'_, 'c>, stmts: &[Stmt<'c>]) -> Stmt<'c> {
    match stmts {
        [one] => *one,
        many => generator.cx.stmt(StmtKind::Sequential(generator.cx.alloc_slice(many)), None),
    }
}
