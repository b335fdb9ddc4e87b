//! `T.sync`

use tf_core::op::attr::MeshAttr;
use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_value::rule::DialectBuilder;
use tf_value::tir::{Effect, Meaning, Positions, Stop, Team, TirEvalRule};

use super::participants::{Barrier, WARP};

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

struct Meet;

impl Effect for Meet {
    fn run(&self, positions: &mut dyn Positions) -> Result<(), Stop> {
        positions.barrier();
        Ok(())
    }
}

impl TirEvalRule for Sync {
    fn meaning<'c>(call: OpCall<'c, Self>) -> Result<Meaning, RuleError> {
        let id = |id: i64| u32::try_from(id).unwrap_or(u32::MAX);
        let team = match Barrier::of(call.mesh())? {
            Barrier::Grid => Team::Grid,
            Barrier::Warp => Team::Block(Some(id(WARP))),
            Barrier::Block => {
                let threads =
                    call.mesh().topologies.last().and_then(|level| level.size).and_then(|size| size.as_const());
                Team::Block(threads.map(id))
            }
            Barrier::MaskedWarp { base, count } | Barrier::Named { base, count } => {
                Team::Threads { base: id(base), count: id(count) }
            }
        };
        Ok(Meaning::Effect(team, Box::new(Meet)))
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Sync>().verifies().means().done();
}
