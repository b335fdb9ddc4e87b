//! `T.copy`

use tf_core::op::{OpCall, OpView, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_value::rule::DialectBuilder;
use tf_value::tir::{Access, Effect, Meaning, Positions, Stop, Team, TirEvalRule};

use crate::access::Operand;
use crate::distribution::distribution_of_copy;
use crate::rules::{same_count, same_dtype, tensor};

/// `dst[i] = src[i]`, every position what it holds; the direction follows from the storages.
///
/// Between two storages the shapes may differ where the numbers of elements do not: elements correspond in C-order. Within one storage
/// the shapes may differ only if both tensors are placed with the same factors and strides, so that positions hold them alike.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"], out: Tensor[(4, 6), "f32"]):
///     T.copy(x, out)
/// ```
#[op(dialect = "T", category = "memory", effect)]
pub struct Copy {
    /// What is read.
    #[input(Tensor)]
    src: (),
    /// What is written.
    #[input(Tensor)]
    dst: (),
}

impl VerifyRule for Copy {
    fn verify<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        same_dtype("T.copy", (0, call.src()), (1, call.dst()))?;
        let (src, dst) = (tensor(0, "src", call.src())?, tensor(1, "dst", call.dst())?);
        if src.shape == dst.shape {
            return Ok(());
        }
        if src.storage != dst.storage {
            return same_count("T.copy", (0, call.src()), (1, call.dst()));
        }
        let factors = |tensor: &tf_types::TensorType<'c>| tensor.shard().map(|shard| shard.layout);
        if factors(src).is_some() && factors(src) == factors(dst) {
            return Ok(());
        }
        let message = format!("`T.copy` within {} takes operands of one shape, found {src} and {dst}", src.storage);
        Err(RuleError::new(message)
            .operand(0, src.to_string())
            .operand(1, dst.to_string())
            .with_help("take a `T.tensor_view` of one of them, or place both with the same factors"))
    }
}

/// Copies elements; `later`: without waiting for it.
pub(crate) struct Move {
    pub(crate) src: Access,
    pub(crate) dst: Access,
    pub(crate) later: bool,
}

impl Move {
    /// Of operand 0 to operand 1.
    ///
    /// # Errors
    /// Operands without static positions.
    pub(crate) fn of(view: OpView<'_>, later: bool) -> Result<Meaning, RuleError> {
        let [src, dst] = Operand::all(view)?;
        let wanted = distribution_of_copy(dst.part(), src.part());
        let (src, dst) = (src.access_in_order(&wanted)?, dst.access_in_order(&wanted)?);
        Ok(Meaning::Effect(Team::Each, Box::new(Self { src, dst, later })))
    }
}

impl Effect for Move {
    fn run(&self, positions: &mut dyn Positions) -> Result<(), Stop> {
        let values = positions.read(&self.src)?;
        if self.later { positions.write_later(&self.dst, &values) } else { positions.write(&self.dst, &values) }
    }
}

impl TirEvalRule for Copy {
    fn meaning<'c>(call: OpCall<'c, Self>) -> Result<Meaning, RuleError> {
        Move::of(call.view(), false)
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Copy>().verifies().means().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Arena, Context, Expr, Meta};
    use tf_types::{DType, ShardAttr, Storage, TensorLayout};

    use super::Copy;
    use crate::test_util::{context, refusal, tensor, threads};

    fn placed<'c>(cx: &Context<'c>, shape: &[i64], factors: &[i64]) -> Expr<'c> {
        let layout = cx.c_order_layout(cx.const_dims(factors));
        let shard = cx.shard_layout(layout, &[ShardAttr::Split(0)], threads(cx, &[4]));
        let ty = cx.tensor(cx.const_dims(shape), DType::F32, Some(TensorLayout::Shard(shard)), Storage::Rmem);
        cx.var(cx.symbol("p"), ty, Meta::default())
    }

    #[test]
    fn shapes_and_dtypes() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let of = |src, dst| refusal(cx, Copy::new(cx), &[src, dst]);
        let plain = |shape: &[i64], storage| tensor(cx, shape, DType::F32, storage);
        use Storage::{Gmem, Rmem, Smem};
        assert_eq!(of(plain(&[4, 8], Gmem), plain(&[4, 8], Gmem)), None);
        assert_eq!(of(plain(&[4, 8], Gmem), plain(&[32], Smem)), None);
        assert_eq!(of(plain(&[4, 8], Gmem), plain(&[4, 1], Smem)).unwrap(), "`T.copy` copies 32 elements to 4");
        assert_eq!(
            of(plain(&[4, 8], Rmem), plain(&[32], Rmem)).unwrap(),
            "`T.copy` within rmem takes operands of one shape, found Tensor[(4, 8), \"f32\", \"rmem\"] and \
             Tensor[(32,), \"f32\", \"rmem\"]"
        );
        assert_eq!(of(placed(cx, &[4, 8], &[4, 8]), placed(cx, &[32], &[4, 8])), None);
        assert!(of(placed(cx, &[4, 8], &[4, 8]), placed(cx, &[32], &[4, 2, 4])).is_some());
        let half = tensor(cx, &[4, 8], DType::F16, Gmem);
        assert_eq!(of(plain(&[4, 8], Gmem), half).unwrap(), "`T.copy` takes operands of one dtype, found f32 and f16");
    }
}
