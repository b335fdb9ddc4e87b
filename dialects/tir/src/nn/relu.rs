//! `T.relu`

use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_types::kinds::UnaryKind;
use tf_value::rule::DialectBuilder;
use tf_value::tir::{Access, Effect, Meaning, Positions, Stop, Team, TirEvalRule};

use crate::access::Operand;
use crate::distribution::distribution;
use crate::rules::{numbers, same_dtype, same_shape};

/// `dst[i] = max(src[i], 0)`; NaN stays.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"], out: Tensor[(4, 6), "f32"]):
///     T.relu(x, out)
/// ```
#[op(dialect = "T", category = "nn", effect, name = "relu")]
pub struct Relu {
    /// What is read.
    #[input(Tensor)]
    src: (),
    /// What is written.
    #[input(Tensor)]
    dst: (),
}

impl VerifyRule for Relu {
    fn verify<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        numbers("T.relu", (0, call.src()))?;
        same_dtype("T.relu", (0, call.src()), (1, call.dst()))?;
        same_shape("T.relu", (0, call.src()), (1, call.dst()))
    }
}

struct Rectified {
    src: Access,
    dst: Access,
}

impl Effect for Rectified {
    fn run(&self, positions: &mut dyn Positions) -> Result<(), Stop> {
        let values = positions.read(&self.src)?;
        positions.write(&self.dst, &values.unary(UnaryKind::Relu)?)
    }
}

impl TirEvalRule for Relu {
    fn meaning<'c>(call: OpCall<'c, Self>) -> Result<Meaning, RuleError> {
        let [src, dst] = Operand::all(call.view())?;
        let wanted = distribution(dst.part(), &[src.part()]);
        let effect = Rectified { src: src.access(&wanted)?, dst: dst.access(&wanted)? };
        Ok(Meaning::Effect(Team::Each, Box::new(effect)))
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Relu>().verifies().means().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Arena;
    use tf_types::{DType, Storage};

    use super::Relu;
    use crate::test_util::{context, refusal, tensor};

    #[test]
    fn operands() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let of = |shape: &[i64], from, to| {
            let operands = [tensor(cx, &[4], from, Storage::Rmem), tensor(cx, shape, to, Storage::Rmem)];
            refusal(cx, Relu::new(cx), &operands)
        };
        assert_eq!(of(&[4], DType::BF16, DType::BF16), None);
        assert_eq!(of(&[4], DType::I32, DType::I32), None);
        assert_eq!(
            of(&[5], DType::F32, DType::F32).unwrap(),
            r#"`T.relu` takes operands of one shape, found Tensor[(4,), "f32", "rmem"] and Tensor[(5,), "f32", "rmem"]"#
        );
        assert_eq!(
            of(&[4], DType::F32, DType::F16).unwrap(),
            "`T.relu` takes operands of one dtype, found f32 and f16"
        );
        assert_eq!(of(&[4], DType::Bool, DType::Bool).unwrap(), "`T.relu` takes numbers, found bool");
    }
}
