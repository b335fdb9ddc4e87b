//! Bodies in the place of calls.

use std::ops::Range;

use tf_core::node::FunctionData;
use tf_core::visit::{BindingSubstitutionCloner, Cloning, ExprCloner};
use tf_core::{Callee, Context, Expr, ExprKind, NodeSet, Result};

use super::{FunctionReduction, Site, computed};

/// Calls of functions are replaced by what they call.
pub struct Inline;

/// The body that may stand in for a call.
fn body<'c>(call: Expr<'c>) -> Option<(Expr<'c>, &'c [Expr<'c>])> {
    let ExprKind::Call { callee: Callee::Function(callee), args } = call.kind else { return None };
    let params = callee.data().params;
    let fits = params.len() == args.len() && params.iter().zip(args).all(|(param, arg)| param.ty() == arg.ty());
    callee.body.filter(|body| fits && body.ty() == call.ty()).map(|body| (body, params))
}

fn calls(site: Site<'_>) -> Vec<Expr<'_>> {
    let mut calls = site.function.body.map(computed).unwrap_or_default();
    calls.retain(|call| body(*call).is_some());
    calls
}

struct Insert<'c>(NodeSet<Expr<'c>>);

impl<'c> ExprCloner<'c> for Insert<'c> {
    fn clone_call(&mut self, call: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let rebuilt = clone.rebuild(call)?;
        let Some((body, params)) = body(rebuilt).filter(|_| self.0.contains(&call)) else { return Ok(rebuilt) };
        let ExprKind::Call { args, .. } = rebuilt.kind else { return Ok(rebuilt) };
        let environment = params.iter().copied().zip(args.iter().copied());
        BindingSubstitutionCloner::new(clone.cx, environment).copy(body)
    }
}

impl FunctionReduction for Inline {
    fn name(&self) -> &'static str {
        "calls by bodies"
    }

    fn places(&self, site: Site<'_>) -> usize {
        calls(site).len()
    }

    fn apply<'c>(&self, cx: &Context<'c>, site: Site<'c>, places: Range<usize>) -> Result<Option<FunctionData<'c>>> {
        let Some(body) = site.function.body else { return Ok(None) };
        let chosen = calls(site)[places].iter().copied().collect();
        let body = Cloning::new(cx).visit(&mut Insert(chosen), body)?;
        Ok(Some(FunctionData { body: Some(body), ..*site.function }))
    }
}

#[cfg(test)]
mod tests {
    use super::Inline;
    use crate::hir::on;
    use crate::testing::check;

    #[test]
    fn calls_become_bodies() {
        let callee = r#"hir.func @g(%a: f32, %b: f32) -> f32 {
  %0 = tf.binary %a, %b {kind = "sub"} : (f32, f32) -> f32
  hir.return %0 }"#;
        let before = format!(
            "module @m {{ {callee} hir.func @f(%x: f32, %y: f32) -> f32 {{
  %0 = call @g(%y, %x) : (f32, f32) -> f32
  hir.return %0 }} }}"
        );
        let after = format!(
            r#"module @m {{ {callee} hir.func @f(%x: f32, %y: f32) -> f32 {{
  %0 = tf.binary %y, %x {{kind = "sub"}} : (f32, f32) -> f32
  hir.return %0 }} }}"#
        );
        check(&*on(Inline), &before, 0..1, 1, &after);
    }
}
