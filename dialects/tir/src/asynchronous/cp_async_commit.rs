//! `T.cp_async_commit`

use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_value::rule::DialectBuilder;

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

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<CpAsyncCommit>().verifies().done();
}
