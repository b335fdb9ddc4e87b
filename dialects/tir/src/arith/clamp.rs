//! `T.clamp`

use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_value::rule::DialectBuilder;

use crate::rules::{numbers, same_dtype, same_shape};

/// `dst[i] = min(max(src[i], min_val), max_val)`; NaN stays.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"], out: Tensor[(4, 6), "f32"]):
///     T.clamp(x, out, min_val=0.0, max_val=1.0)
/// ```
#[op(dialect = "T", category = "arith", effect)]
pub struct Clamp {
    /// What is read.
    #[input(Tensor)]
    src: (),
    /// What is written.
    #[input(Tensor)]
    dst: (),
    /// The lower bound.
    min_val: f64,
    /// The upper bound.
    max_val: f64,
}

impl VerifyRule for Clamp {
    fn verify<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        numbers("T.clamp", (0, call.src()))?;
        same_dtype("T.clamp", (0, call.src()), (1, call.dst()))?;
        same_shape("T.clamp", (0, call.src()), (1, call.dst()))
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Clamp>().verifies().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Arena;
    use tf_types::{DType, Storage};

    use super::Clamp;
    use crate::test_util::{context, refusal, tensor};

    #[test]
    fn operands() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let of = |shape: &[i64], from, to| {
            let operands = [tensor(cx, &[4], from, Storage::Rmem), tensor(cx, shape, to, Storage::Rmem)];
            refusal(cx, Clamp::new(cx, -1.0, 2.0), &operands)
        };
        assert_eq!(of(&[4], DType::F16, DType::F16), None);
        assert_eq!(
            of(&[4], DType::F32, DType::F16).unwrap(),
            "`T.clamp` takes operands of one dtype, found f32 and f16"
        );
        assert!(of(&[1], DType::F32, DType::F32).unwrap().starts_with("`T.clamp` takes operands of one shape"));
        assert_eq!(of(&[4], DType::Bool, DType::Bool).unwrap(), "`T.clamp` takes numbers, found bool");
    }
}
