//! `T.unary`

use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_types::DType;
use tf_types::kinds::UnaryKind;
use tf_value::rule::DialectBuilder;
use tf_value::tir::{Access, Effect, Meaning, Positions, Stop, Team, TirEvalRule};

use crate::access::Operand;
use crate::distribution::distribution;
use crate::rules::{same_dtype, same_shape, unary_takes};

/// `dst[i] = kind(src[i])`; the kind `cast` converts to the dtype of `dst`.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"], out: Tensor[(4, 6), "bf16"]):
///     T.unary(x, out, kind="cast")
/// ```
#[op(dialect = "T", category = "arith", effect)]
pub struct Unary {
    /// What is read.
    #[input(Tensor)]
    src: (),
    /// What is written.
    #[input(Tensor)]
    dst: (),
    /// The operation.
    kind: UnaryKind,
}

impl VerifyRule for Unary {
    fn verify<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        unary_takes("T.unary", call.kind(), (0, call.src()))?;
        if call.kind() != UnaryKind::Cast {
            same_dtype("T.unary", (0, call.src()), (1, call.dst()))?;
        }
        same_shape("T.unary", (0, call.src()), (1, call.dst()))
    }
}

struct Elementwise {
    src: Access,
    dst: Access,
    kind: UnaryKind,
    dtype: DType,
}

impl Effect for Elementwise {
    fn run(&self, positions: &mut dyn Positions) -> Result<(), Stop> {
        let values = positions.read(&self.src)?;
        let values = match self.kind {
            UnaryKind::Cast => values.cast(self.dtype)?,
            kind => values.unary(kind)?,
        };
        positions.write(&self.dst, &values)
    }
}

impl TirEvalRule for Unary {
    fn meaning<'c>(call: OpCall<'c, Self>) -> Result<Meaning, RuleError> {
        let [src, dst] = Operand::all(call.view())?;
        let wanted = distribution(dst.part(), &[src.part()]);
        let dtype = dst.tensor.dtype;
        let (src, dst) = (src.access(&wanted)?, dst.access(&wanted)?);
        Ok(Meaning::Effect(Team::Each, Box::new(Elementwise { src, dst, kind: call.kind(), dtype })))
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Unary>().verifies().means().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Arena;
    use tf_types::kinds::UnaryKind;
    use tf_types::{DType, Storage};

    use super::Unary;
    use crate::test_util::{context, refusal, tensor};

    #[test]
    fn operands() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let of = |kind, from, to, shape: &[i64]| {
            let operands = [tensor(cx, &[4], from, Storage::Rmem), tensor(cx, shape, to, Storage::Rmem)];
            refusal(cx, Unary::new(cx, kind), &operands)
        };
        let (f32, i32, bool) = (DType::F32, DType::I32, DType::Bool);
        assert_eq!(of(UnaryKind::Exp, f32, f32, &[4]), None);
        assert_eq!(of(UnaryKind::Cast, f32, DType::BF16, &[4]), None);
        assert_eq!(of(UnaryKind::Not, bool, bool, &[4]), None);
        assert_eq!(
            of(UnaryKind::Neg, f32, i32, &[4]).unwrap(),
            "`T.unary` takes operands of one dtype, found f32 and i32"
        );
        assert!(of(UnaryKind::Cast, f32, f32, &[5]).unwrap().starts_with("`T.unary` takes operands of one shape"));
        assert_eq!(of(UnaryKind::Exp, i32, i32, &[4]).unwrap(), "`T.unary` of kind `exp` takes floats, found i32");
        assert_eq!(of(UnaryKind::Neg, bool, bool, &[4]).unwrap(), "`T.unary` of kind `neg` takes numbers, found bool");
        assert_eq!(of(UnaryKind::Not, i32, i32, &[4]).unwrap(), "`T.unary` of kind `not` takes bools, found i32");
    }
}
