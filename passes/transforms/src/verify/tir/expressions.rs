//! Expressions inside statements.

use tf_core::op::{OpInstance, OpView};
use tf_core::{Callee, Expr, ExprKind, Span};
use tf_tir::memory::alloc_tensor::AllocTensor;

use super::{Check, place};

impl<'c> Check<'_, 'c> {
    /// An expression inside a statement; `is_value`: it is what a binding binds.
    pub(super) fn expr(&mut self, root: Expr<'c>, span: Option<Span>, is_value: bool) {
        for expr in tf_core::walk::post_order(&[root]) {
            let at = place(expr, span);
            match expr.kind {
                ExprKind::Var { .. } if self.scope.variables.contains(&expr) => {}
                ExprKind::Var { .. } => {
                    self.errors.add(at, format!("variable {} is not bound here", expr.describe()));
                }
                ExprKind::Call { callee: Callee::Op(op), args } => {
                    self.value(OpView { op, args }, expr, at);
                    if op.is::<AllocTensor>() && !(is_value && expr == root) {
                        self.errors.add(at, format!("`{}` may only be the value of a binding", op.decl.name));
                    }
                }
                ExprKind::Call { .. } | ExprKind::Grid(_) => {
                    self.errors.add(at, "a TIR function has no HIR calls and loops".to_owned());
                }
                ExprKind::SymbolRef(name) => self.symbol(name, expr, at),
                ExprKind::ShapeOf { param, .. } if !self.function.params.contains(&param) => {
                    let message =
                        format!("`shape_of` is of a parameter of `{}`, found {}", self.function.name, param.describe());
                    self.errors.add(at, message);
                }
                ExprKind::Constant(_) | ExprKind::Tuple(_) | ExprKind::ShapeOf { .. } => {}
            }
        }
    }

    pub(super) fn value(&mut self, view: OpView<'c>, expr: Expr<'c>, at: Option<Span>) {
        let name = view.op.decl.name;
        if name.dialect == "tf" {
            self.errors.add(at, format!("`{name}` is a HIR op and cannot stand in a TIR function"));
            return;
        }
        self.meshes(view.op, at);
        self.coordinate(view, at);
        match self.cx.infer(view, at) {
            Ok(ty) if ty == expr.ty() => {}
            Ok(ty) => drop(
                self.errors
                    .add(at, format!("{} is written with type {}, but has type {ty}", expr.describe(), expr.ty())),
            ),
            Err(error) => self.errors.0.push(error.at(at)),
        }
    }

    /// Meshes in attributes are open, or part of an open one.
    pub(super) fn meshes(&mut self, op: OpInstance<'c>, at: Option<Span>) {
        for mesh in self.scope.closed_meshes(self.cx, op) {
            let note = (None, self.scope.describe_meshes());
            let message = format!("`{}` is over {mesh}, which is not open here", op.decl.name);
            self.errors.add(at, message).notes.push(note);
        }
    }
}
