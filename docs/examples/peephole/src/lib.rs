//! A plugin with one pass: `-(-x)` is `x`.

use tf_core::node::FunctionData;
use tf_core::visit::{Cloning, ExprCloner, clone_expr};
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

struct Cancel<'a, 'c>(&'a DoubleNeg, &'a FunctionCx<'a, 'c>);

impl<'c> ExprCloner<'c> for Cancel<'_, 'c> {
    fn clone_call(&mut self, call: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let new = clone.rebuild(call)?;
        let Some(x) = negated(new).and_then(negated) else { return Ok(new) };
        self.0.removed.add(1);
        self.1.remark(RemarkKind::Applied, call.span(), || format!("-(-{0}) is {0}", x.describe()));
        Ok(x)
    }
}

impl FunctionPass for DoubleNeg {
    fn run<'c>(&self, function: Function<'c>, cx: &FunctionCx<'_, 'c>) -> Result<Function<'c>> {
        let Some(old) = function.body else { return Ok(function) };
        let new = clone_expr(cx, old, &mut Cancel(self, cx))?;
        Ok(if new == old { function } else { cx.function(FunctionData { body: Some(new), ..*function }) })
    }
}

tf_plugin::tilefoundry_plugin!(register);

fn register(r: &mut tf_plugin::Registrar<'_>) {
    r.passes.function_pass(DoubleNeg::new());
}
