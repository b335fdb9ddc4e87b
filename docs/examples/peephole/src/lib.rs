//! A plugin with one pass: `-(-x)` is `x`.

use tf_core::node::FunctionData;
use tf_core::walk::{ExprRewriter, Rewritten, rewrite_expr};
use tf_core::{Expr, Function, Result};
use tf_framework::{Counter, FunctionCx, FunctionPass, Pass, RemarkKind};
use tf_hir::Unary;
use tf_types::kinds::UnaryKind;

/// Replaces `-(-x)` by `x`.
#[derive(Clone, Pass)]
#[pass(name = "double-neg")]
pub struct DoubleNeg {
    #[statistic("double negations removed")]
    removed: Counter,
}

/// The `x` of `-x`.
fn negated(expr: Expr<'_>) -> Option<Expr<'_>> {
    expr.as_op::<Unary>().filter(|call| call.kind() == UnaryKind::Neg).map(|call| call.x())
}

impl<'c> ExprRewriter<'c> for (&DoubleNeg, &FunctionCx<'_, 'c>) {
    fn rewrite(&mut self, expr: Expr<'c>, done: &Rewritten<'_, 'c>) -> Result<Expr<'c>> {
        let expr = done.rebuild(expr)?;
        let Some(x) = negated(expr).and_then(negated) else { return Ok(expr) };
        self.0.removed.add(1);
        self.1.remark(RemarkKind::Applied, expr.span(), || format!("-(-{0}) is {0}", x.describe()));
        Ok(x)
    }
}

impl FunctionPass for DoubleNeg {
    fn run<'c>(&self, function: Function<'c>, cx: &FunctionCx<'_, 'c>) -> Result<Function<'c>> {
        let Some(old) = function.body else { return Ok(function) };
        let new = rewrite_expr(cx, old, [], &mut (self, cx))?;
        Ok(if new == old { function } else { cx.function(FunctionData { body: Some(new), ..*function }) })
    }
}

tf_plugin::tilefoundry_plugin!(register);

fn register(r: &mut tf_plugin::Registrar<'_>) {
    r.passes.function_pass(DoubleNeg::new());
}
