//! `T.cp_async_commit`

use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_value::rule::DialectBuilder;
use tf_value::tir::{Effect, Meaning, Positions, Stop, Team, TirEvalRule};

/// Closes the group of the asynchronous copies that this thread has started since it closed the last one.
///
/// ```python
/// def f(x: Tensor[(4, 64), "f32"]):
///     tile = T.alloc_tensor(TensorType((4, 64), "f32", None, "smem"))
///     T.copy_async(x, tile)
///     T.cp_async_commit()
/// ```
#[op(dialect = "T", category = "async", effect)]
pub struct CpAsyncCommit {}

impl VerifyRule for CpAsyncCommit {
    fn verify<'c>(_: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        Ok(())
    }
}

struct Commit;

impl Effect for Commit {
    fn run(&self, positions: &mut dyn Positions) -> Result<(), Stop> {
        positions.commit();
        Ok(())
    }
}

impl TirEvalRule for CpAsyncCommit {
    fn meaning<'c>(_: OpCall<'c, Self>) -> Result<Meaning, RuleError> {
        Ok(Meaning::Effect(Team::Each, Box::new(Commit)))
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<CpAsyncCommit>().verifies().means().done();
}
