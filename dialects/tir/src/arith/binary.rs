//! `T.binary`

use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_types::DType;
use tf_types::kinds::BinaryKind;
use tf_value::rule::DialectBuilder;
use tf_value::tir::{Access, Effect, Meaning, Positions, Stop, Team, TirEvalRule};

use crate::access::Operand;
use crate::distribution::distribution;
use crate::rules::{binary_takes, broadcasts_to, same_dtype, tensor};

/// `dst[i] = lhs[i] kind rhs[i]`; an operand of extent 1 along an axis is repeated.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"], scale: Tensor[(6,), "f32"], out: Tensor[(4, 6), "f32"]):
///     T.binary(x, scale, out, kind="mul")
/// ```
#[op(dialect = "T", category = "arith", effect)]
pub struct Binary {
    /// Left operand.
    #[input(Tensor)]
    lhs: (),
    /// Right operand.
    #[input(Tensor)]
    rhs: (),
    /// What is written.
    #[input(Tensor)]
    dst: (),
    /// The operation.
    kind: BinaryKind,
}

impl VerifyRule for Binary {
    fn verify<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        binary_takes("T.binary", call.kind(), (0, call.lhs()))?;
        same_dtype("T.binary", (0, call.lhs()), (1, call.rhs()))?;
        broadcasts_to("T.binary", (0, call.lhs()), (2, call.dst()))?;
        broadcasts_to("T.binary", (1, call.rhs()), (2, call.dst()))?;
        let expected = if call.kind().is_comparison() { DType::Bool } else { tensor(0, "lhs", call.lhs())?.dtype };
        let found = tensor(2, "dst", call.dst())?.dtype;
        if found == expected {
            return Ok(());
        }
        let message = format!("`T.binary` of kind `{}` writes {expected}, found {found}", call.kind());
        Err(RuleError::new(message)
            .operand(2, call.dst().ty().to_string())
            .with_help(format!("allocate the destination in {expected}")))
    }
}

struct Elementwise {
    lhs: Access,
    rhs: Access,
    dst: Access,
    kind: BinaryKind,
}

impl Effect for Elementwise {
    fn run(&self, positions: &mut dyn Positions) -> Result<(), Stop> {
        let (lhs, rhs) = (positions.read(&self.lhs)?, positions.read(&self.rhs)?);
        positions.write(&self.dst, &lhs.binary(rhs, self.kind)?)
    }
}

impl TirEvalRule for Binary {
    fn meaning<'c>(call: OpCall<'c, Self>) -> Result<Meaning, RuleError> {
        let [lhs, rhs, dst] = Operand::all(call.view())?;
        let wanted = distribution(dst.part(), &[lhs.part(), rhs.part()]);
        let (lhs, rhs, dst) = (lhs.access(&wanted)?, rhs.access(&wanted)?, dst.access(&wanted)?);
        Ok(Meaning::Effect(Team::Each, Box::new(Elementwise { lhs, rhs, dst, kind: call.kind() })))
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Binary>().verifies().means().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Arena;
    use tf_types::kinds::BinaryKind;
    use tf_types::{DType, Storage};

    use super::Binary;
    use crate::test_util::{context, refusal, tensor};

    #[test]
    fn operands() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let of = |kind, [lhs, rhs, dst]: [&[i64]; 3], [from, to]: [DType; 2]| {
            let of = |shape, dtype| tensor(cx, shape, dtype, Storage::Rmem);
            refusal(cx, Binary::new(cx, kind), &[of(lhs, from), of(rhs, from), of(dst, to)])
        };
        let (f32, bool) = (DType::F32, DType::Bool);
        let same: [&[i64]; 3] = [&[2, 4]; 3];
        assert_eq!(of(BinaryKind::Add, [&[2, 4], &[1, 4], &[2, 4]], [f32, f32]), None);
        assert_eq!(of(BinaryKind::Lt, [&[2, 4], &[], &[2, 4]], [f32, bool]), None);
        assert_eq!(
            of(BinaryKind::Mul, [&[2, 4], &[3, 4], &[2, 4]], [f32, f32]).unwrap(),
            r#"`T.binary`: Tensor[(3, 4), "f32", "rmem"] does not broadcast to Tensor[(2, 4), "f32", "rmem"]"#
        );
        assert_eq!(of(BinaryKind::Lt, same, [f32, f32]).unwrap(), "`T.binary` of kind `lt` writes bool, found f32");
        assert_eq!(
            of(BinaryKind::Add, same, [bool, bool]).unwrap(),
            "`T.binary` of kind `add` takes numbers, found bool"
        );
        assert_eq!(
            of(BinaryKind::Mod, same, [f32, f32]).unwrap(),
            "`T.binary` of kind `mod` takes integers, found f32"
        );
        for kind in [BinaryKind::Lt, BinaryKind::Ge, BinaryKind::Ne, BinaryKind::Min, BinaryKind::Max] {
            assert_eq!(of(kind, same, [bool, bool]), None);
        }
        assert_eq!(of(BinaryKind::And, same, [f32, f32]).unwrap(), "`T.binary` of kind `and` takes bools, found f32");
    }
}
