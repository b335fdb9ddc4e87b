//! Loops, branches, dispatches.

use tf_core::node::{DispatchCase, TirCallee};
use tf_core::{Expr, ExprKind, Literal, Span, Stmt, StmtKind};
use tf_types::{DType, DimKind, Type};

use super::{Check, place};

fn is_scalar(ty: Type<'_>, fits: impl Fn(DType) -> bool) -> bool {
    ty.as_tensor().is_some_and(|t| t.rank() == 0 && fits(t.dtype))
}

impl<'c> Check<'_, 'c> {
    /// A loop counts in integers.
    pub(super) fn counted_loop(&mut self, induction: Expr<'c>, bounds: [Expr<'c>; 3], span: Option<Span>) {
        for (name, bound) in ["start", "stop", "step"].into_iter().zip(bounds) {
            self.expr(bound, span, false);
            if !is_scalar(bound.ty(), DType::is_integer) {
                let message = format!("the {name} of a loop is a rank-0 integer, found {}", bound.ty());
                self.errors.add(place(bound, span), message);
            }
        }
        let [.., step] = bounds;
        if matches!(step.literal(), Some(Literal::Int(0))) {
            self.errors.add(place(step, span), "the step of a loop is 0".to_owned());
        }
        if !is_scalar(induction.ty(), DType::is_integer) {
            let message = format!("{} counts a loop, but is {}", induction.describe(), induction.ty());
            self.errors.add(span, message);
        }
    }

    /// A condition is one truth value.
    pub(super) fn condition(&mut self, cond: Expr<'c>, what: &str, span: Option<Span>) {
        self.expr(cond, span, false);
        if !is_scalar(cond.ty(), |dtype| dtype == DType::Bool) {
            let message = format!("the condition of a `{what}` is a rank-0 bool, found {}", cond.ty());
            self.errors.add(place(cond, span), message);
        }
    }

    /// The subject is an extent of a parameter of this function, each case a call, the fallback an abort.
    pub(super) fn dispatch(
        &mut self,
        subject: Expr<'c>,
        cases: &[DispatchCase<'c>],
        fallback: Stmt<'c>,
        span: Option<Span>,
    ) {
        self.expr(subject, span, false);
        let extent = match subject.kind {
            ExprKind::ShapeOf { param, axis } if self.function.params.contains(&param) => {
                param.ty().as_tensor().and_then(|tensor| tensor.shape.get(axis as usize).copied())
            }
            _ => {
                let message = format!("a dispatch is over an extent of a parameter, found {}", subject.describe());
                self.errors.add(place(subject, span), message);
                None
            }
        };
        if cases.is_empty() {
            self.errors.add(span, "a dispatch has no cases".to_owned());
        }
        for case in cases {
            if !matches!(case.call.kind, StmtKind::Evaluate { callee: TirCallee::Symbol(_), .. }) {
                let message = format!("a case of a dispatch calls a function, found {}", case.call.describe());
                self.errors.add(case.call.span.or(span), message);
            }
            let pattern = case.pattern;
            if pattern.lo >= pattern.hi {
                let message = format!("a case of a dispatch is for no value: [{}, {})", pattern.lo, pattern.hi);
                self.errors.add(case.call.span.or(span), message);
            }
            if let Some(DimKind::Var(var)) = extent.map(|extent| extent.data())
                && var.name != pattern.dim
            {
                let message = format!("a case of a dispatch over `{}` is for `{}`", var.name, pattern.dim);
                self.errors.add(case.call.span.or(span), message);
            }
        }
        if !matches!(fallback.kind, StmtKind::Abort { .. }) {
            let message = format!("the fallback of a dispatch aborts, found {}", fallback.describe());
            self.errors.add(fallback.span.or(span), message);
        }
    }
}
