//! `T.cp_async_wait`

use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_value::rule::DialectBuilder;
use tf_value::tir::{Effect, Meaning, Positions, Stop, Team, TirEvalRule};

/// Waits until at most the `n` newest groups of this thread's asynchronous copies are pending. What other threads copied is seen
/// after a barrier.
///
/// ```python
/// def f():
///     T.cp_async_wait(n=1)
/// ```
#[op(dialect = "T", category = "async", effect)]
pub struct CpAsyncWait {
    /// Groups that may be pending, 0 or more.
    #[default(0)]
    n: i64,
}

impl VerifyRule for CpAsyncWait {
    fn verify<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        match call.n() {
            0.. => Ok(()),
            n => Err(RuleError::new(format!("`T.cp_async_wait` leaves {n} groups pending, but needs 0 or more"))
                .with_help("0 waits for all groups")),
        }
    }
}

/// Waits until at most that many groups are pending.
struct Wait(usize);

impl Effect for Wait {
    fn run(&self, positions: &mut dyn Positions) -> Result<(), Stop> {
        positions.wait(self.0);
        Ok(())
    }
}

impl TirEvalRule for CpAsyncWait {
    fn meaning<'c>(call: OpCall<'c, Self>) -> Result<Meaning, RuleError> {
        Ok(Meaning::Effect(Team::Each, Box::new(Wait(usize::try_from(call.n()).unwrap_or(0)))))
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<CpAsyncWait>().verifies().means().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Arena;

    use super::CpAsyncWait;
    use crate::asynchronous::cp_async_commit::CpAsyncCommit;
    use crate::test_util::{context, refusal};

    #[test]
    fn groups() {
        let arena = Arena::new();
        let cx = &context(&arena);
        assert_eq!(refusal(cx, CpAsyncCommit::new(cx), &[]), None);
        assert_eq!(refusal(cx, CpAsyncWait::new(cx, 2), &[]), None);
        assert_eq!(
            refusal(cx, CpAsyncWait::new(cx, -1), &[]).unwrap(),
            "`T.cp_async_wait` leaves -1 groups pending, but needs 0 or more"
        );
    }
}
