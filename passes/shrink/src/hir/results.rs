//! Fewer results.

use std::ops::Range;

use tf_core::node::FunctionData;
use tf_core::{Context, Expr, ExprKind, Result};

use super::cut::with_results;
use super::{FunctionReduction, Site};

/// Results that are left out, and tuples inside the result that become results of their own.
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
