//! `T.copy_async`

use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_types::Storage;
use tf_value::rule::DialectBuilder;
use tf_value::tir::{Meaning, TirEvalRule};

use crate::memory::copy::Move;
use crate::rules::{same_count, same_dtype, tensor};

/// `dst[i] = src[i]` from global to shared memory, some time before a `T.cp_async_wait` that waits for its group.
///
/// ```python
/// def f(x: Tensor[(4, 64), "f32"], out: Tensor[(4, 64), "f32"]):
///     tile = T.alloc_tensor(TensorType((4, 64), "f32", None, "smem"))
///     T.copy_async(x, tile)
///     T.cp_async_commit()
///     T.cp_async_wait(n=0)
///     T.copy(tile, out)
/// ```
#[op(dialect = "T", category = "async", effect)]
pub struct CopyAsync {
    /// What is read, in gmem.
    #[input(Tensor)]
    src: (),
    /// What is written, in smem.
    #[input(Tensor)]
    dst: (),
}

impl VerifyRule for CopyAsync {
    fn verify<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        let (src, dst) = (tensor(0, "src", call.src())?, tensor(1, "dst", call.dst())?);
        if (src.storage, dst.storage) != (Storage::Gmem, Storage::Smem) {
            let message = format!("`T.copy_async` copies from gmem to smem, found {} to {}", src.storage, dst.storage);
            return Err(RuleError::new(message)
                .operand(0, call.src().ty().to_string())
                .operand(1, call.dst().ty().to_string())
                .with_help("use `T.copy` between other storages"));
        }
        same_dtype("T.copy_async", (0, call.src()), (1, call.dst()))?;
        same_count("T.copy_async", (0, call.src()), (1, call.dst()))
    }
}

impl TirEvalRule for CopyAsync {
    fn meaning<'c>(call: OpCall<'c, Self>) -> Result<Meaning, RuleError> {
        Move::of(call.view(), true)
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<CopyAsync>().verifies().means().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Arena;
    use tf_types::{DType, Storage};

    use super::CopyAsync;
    use crate::test_util::{context, refusal, tensor};

    #[test]
    fn from_global_to_shared_memory() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let of = |from, to, dtype, shape: &[i64]| {
            let operands = [tensor(cx, &[8, 4], DType::F32, from), tensor(cx, shape, dtype, to)];
            refusal(cx, CopyAsync::new(cx), &operands)
        };
        use Storage::{Gmem, Rmem, Smem};
        assert_eq!(of(Gmem, Smem, DType::F32, &[8, 4]), None);
        assert_eq!(of(Gmem, Smem, DType::F32, &[32]), None);
        let message = |from, to| Some(format!("`T.copy_async` copies from gmem to smem, found {from} to {to}"));
        assert_eq!(of(Gmem, Gmem, DType::F32, &[8, 4]), message("gmem", "gmem"));
        assert_eq!(of(Smem, Rmem, DType::F32, &[8, 4]), message("smem", "rmem"));
        assert_eq!(
            of(Gmem, Smem, DType::BF16, &[8, 4]).unwrap(),
            "`T.copy_async` takes operands of one dtype, found f32 and bf16"
        );
        assert_eq!(of(Gmem, Smem, DType::F32, &[8]).unwrap(), "`T.copy_async` copies 32 elements to 8");
    }
}
