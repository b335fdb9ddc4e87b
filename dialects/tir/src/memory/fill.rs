//! `T.fill`

use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_value::rule::DialectBuilder;
use tf_value::tir::{Access, Effect, Meaning, Positions, Stop, Team, TirEvalRule};

use crate::access::Operand;
use crate::rules::{same_dtype, tensor};

/// `tensor[i] = value`
///
/// ```python
/// def f(out: Tensor[(4, 6), "f32"]):
///     T.fill(out, 0.5)
/// ```
#[op(dialect = "T", category = "memory", effect)]
pub struct Fill {
    /// What is written.
    #[input(Tensor)]
    tensor: (),
    /// A scalar of the same dtype.
    #[input(Scalar)]
    value: (),
}

impl VerifyRule for Fill {
    fn verify<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        same_dtype("T.fill", (0, call.tensor()), (1, call.value()))?;
        match tensor(1, "value", call.value())?.rank() {
            0 => Ok(()),
            rank => Err(RuleError::new(format!("`T.fill` takes a scalar, found rank {rank}"))
                .operand(1, call.value().ty().to_string())
                .with_help("`T.copy` writes a tensor; a scalar has the shape ()")),
        }
    }
}

struct Filled {
    tensor: Access,
    value: Access,
}

impl Effect for Filled {
    fn run(&self, positions: &mut dyn Positions) -> Result<(), Stop> {
        let values = positions.read(&self.value)?;
        positions.write(&self.tensor, &values)
    }
}

impl TirEvalRule for Fill {
    fn meaning<'c>(call: OpCall<'c, Self>) -> Result<Meaning, RuleError> {
        let [tensor, value] = Operand::all(call.view())?;
        let (value, tensor) = (value.access(&tensor.held)?, tensor.access(&tensor.held)?);
        Ok(Meaning::Effect(Team::Each, Box::new(Filled { tensor, value })))
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Fill>().verifies().means().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Arena, Literal, Meta};
    use tf_types::{DType, Storage};

    use super::Fill;
    use crate::test_util::{context, refusal, tensor};

    #[test]
    fn by_a_scalar() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let buffer = tensor(cx, &[4], DType::F32, Storage::Rmem);
        let float = cx.constant(Literal::Float(0.5), DType::F32, Meta::default());
        let int = cx.constant(Literal::Int(1), DType::I64, Meta::default());
        let of = |value| refusal(cx, Fill::new(cx), &[buffer, value]);
        assert_eq!(of(float), None);
        assert_eq!(of(tensor(cx, &[], DType::F32, Storage::Gmem)), None);
        assert_eq!(of(int).unwrap(), "`T.fill` takes operands of one dtype, found f32 and i64");
        assert_eq!(of(buffer).unwrap(), "`T.fill` takes a scalar, found rank 1");
    }
}
