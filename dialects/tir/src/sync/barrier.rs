//! `T.sync`

use tf_core::op::attr::MeshAttr;
use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_value::rule::DialectBuilder;

use super::participants::Barrier;

/// A barrier: every position of `mesh` arrives before one goes on, and sees what the others wrote. A mesh over CTAs and threads stands
/// for the threads of each CTA; a mesh of CTAs for the whole grid.
///
/// ```python
/// def f():
///     with Mesh((Topology("thread", 64),), (2, 32), ("warp", "lane")) as m:
///         T.sync(m)
///         T.sync(m[1, :])
/// ```
#[op(dialect = "T", category = "sync", effect)]
pub struct Sync {
    /// The positions that take part: an open mesh or a slice of one, an interval of threads that cuts no warp, or all CTAs.
    mesh: MeshAttr,
}

impl VerifyRule for Sync {
    fn verify<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        Ok(Barrier::of(call.mesh()).map(drop)?)
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Sync>().verifies().done();
}
