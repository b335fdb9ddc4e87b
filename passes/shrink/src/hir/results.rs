//! Fewer results.

use std::ops::Range;

use tf_core::node::FunctionData;
use tf_core::{Context, Expr, ExprKind, Result};

use super::cut::with_results;
use super::{FunctionReduction, Site};

/// Results that are left out; tuples inside the result become results of their own.
pub struct Results;

/// The tensors of a result, through tuples in tuples.
fn leaves(body: Expr<'_>) -> Vec<Expr<'_>> {
    let mut leaves = Vec::new();
    let mut stack = vec![body];
    while let Some(value) = stack.pop() {
        match value.kind {
            ExprKind::Tuple(fields) => stack.extend(fields.iter().rev()),
            _ => leaves.push(value),
        }
    }
    leaves
}

/// Tuples inside the result, and a tuple of one result, are results themselves.
pub struct Flat;

impl FunctionReduction for Flat {
    fn name(&self) -> &'static str {
        "tuples of results"
    }

    fn places(&self, site: Site<'_>) -> usize {
        let is_flat = |body: Expr<'_>| match body.kind {
            ExprKind::Tuple(fields) => {
                fields.len() > 1 && !fields.iter().any(|field| matches!(field.kind, ExprKind::Tuple(_)))
            }
            _ => true,
        };
        usize::from(site.is_free && site.function.body.is_some_and(|body| !is_flat(body)))
    }

    fn apply<'c>(&self, cx: &Context<'c>, site: Site<'c>, _: Range<usize>) -> Result<Option<FunctionData<'c>>> {
        let results = site.function.body.map(leaves).unwrap_or_default();
        Ok((!results.is_empty()).then(|| with_results(cx, site, &results, &[])))
    }
}

impl FunctionReduction for Results {
    fn name(&self) -> &'static str {
        "results"
    }

    fn places(&self, site: Site<'_>) -> usize {
        match site.function.body {
            Some(body) if site.is_free && matches!(body.kind, ExprKind::Tuple(_)) => leaves(body).len(),
            _ => 0,
        }
    }

    fn apply<'c>(&self, cx: &Context<'c>, site: Site<'c>, places: Range<usize>) -> Result<Option<FunctionData<'c>>> {
        let Some(body) = site.function.body else { return Ok(None) };
        let mut results = leaves(body);
        results.drain(places);
        let is_empty = results.is_empty();
        Ok((!is_empty).then(|| with_results(cx, site, &results, &[])))
    }
}

#[cfg(test)]
mod tests {
    use super::{Flat, Results};
    use crate::hir::on;
    use crate::testing::{check, reduced};

    const PAIR: &str = r#"module @m {
  hir.func @f(%x: f32, %y: f32) -> tuple<f32, tuple<f32>> {
    %0 = tf.unary %x {kind = "exp"} : (f32) -> f32
    %1 = tf.unary %y {kind = "abs"} : (f32) -> f32
    %2 = tuple %1 : tuple<f32>
    %3 = tuple %0, %2 : tuple<f32, tuple<f32>>
    hir.return %3
  }
}"#;

    #[test]
    fn results_go_with_the_parameters_that_they_used() {
        let after = r#"module @m {
  hir.func @f(%y: f32) -> f32 {
    %0 = tf.unary %y {kind = "abs"} : (f32) -> f32
    hir.return %0
  }
}"#;
        check(&*on(Results), PAIR, 0..1, 2, after);
        assert_eq!(reduced(&*on(Results), PAIR, 0..2), (2, None));
    }

    #[test]
    fn tuples_in_tuples_become_flat() {
        let (count, after) = reduced(&*on(Flat), PAIR, 0..1);
        assert_eq!(count, 1);
        assert!(after.expect("it is flat").contains("-> tuple<f32, f32>"));
    }
}
