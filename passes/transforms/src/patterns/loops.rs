//! Loops.

use tf_core::node::GridRegion;
use tf_core::visit::{Cloning, ExprCloner};
use tf_core::{Expr, ExprKind};
use tf_rewrite::{Patterns, RewritePattern, Rewriter, Root};

use crate::loops::without_carries;

/// A carry that a loop hands on as it is, is its initial value and no carry.
#[derive(Clone, Copy, Debug)]
pub struct InvariantCarry;

struct Substitute;

impl<'c> ExprCloner<'c> for Substitute {}

impl RewritePattern for InvariantCarry {
    fn name(&self) -> &'static str {
        "invariant-carry"
    }
    fn doc(&self) -> &'static str {
        "A carry that a loop hands on as it is, is its initial value and no carry."
    }
    fn root(&self) -> Root {
        Root::Grid
    }
    fn rewrite<'c>(&self, root: Expr<'c>, rewriter: &Rewriter<'_, 'c>) -> Option<Expr<'c>> {
        let ExprKind::Grid(region) = root.kind else { return None };
        let instead: Vec<_> = (0..region.carries.len())
            .map(|at| {
                let (carry, init) = (region.carries[at], region.inits[at]);
                (carry == region.yields[at] && carry.ty() == init.ty()).then_some(init)
            })
            .collect();
        let kept: Vec<_> = (0..instead.len()).filter(|&at| instead[at].is_none()).collect();
        if kept.len() == instead.len() {
            return None;
        }
        let mut clone = Cloning::new(rewriter.cx);
        for (&carry, init) in region.carries.iter().zip(&instead) {
            init.iter().for_each(|&init| clone.replace(carry, init));
        }
        let mut yields = region.yields.to_vec();
        for &at in &kept {
            yields[at] = clone.visit(&mut Substitute, region.yields[at]).ok()?;
        }
        let new = GridRegion { yields: rewriter.cx.alloc_slice(&yields), ..*region };
        without_carries(rewriter.cx, root, &new, &kept, &instead).ok()
    }
}

pub(super) fn register(patterns: &mut Patterns) {
    patterns.add(InvariantCarry);
}
