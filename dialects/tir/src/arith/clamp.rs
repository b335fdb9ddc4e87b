//! `T.clamp`

use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_value::rule::DialectBuilder;
use tf_value::tir::{Access, Effect, Meaning, Positions, Stop, Team, TirEvalRule};

use crate::access::Operand;
use crate::distribution::distribution;
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

struct Bounded {
    src: Access,
    dst: Access,
    bounds: [f64; 2],
}

impl Effect for Bounded {
    fn run(&self, positions: &mut dyn Positions) -> Result<(), Stop> {
        let values = positions.read(&self.src)?;
        positions.write(&self.dst, &values.clamp(self.bounds[0], self.bounds[1])?)
    }
}

impl TirEvalRule for Clamp {
    fn meaning<'c>(call: OpCall<'c, Self>) -> Result<Meaning, RuleError> {
        let [src, dst] = Operand::all(call.view())?;
        let wanted = distribution(dst.part(), &[src.part()]);
        let effect =
            Bounded { src: src.access(&wanted)?, dst: dst.access(&wanted)?, bounds: [call.min_val(), call.max_val()] };
        Ok(Meaning::Effect(Team::Each, Box::new(effect)))
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Clamp>().verifies().means().done();
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
