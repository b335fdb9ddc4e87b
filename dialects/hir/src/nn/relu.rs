//! `relu`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::Type;
use tf_types::access::AccessRelation;
use tf_types::kinds::UnaryKind;
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::dtype::Takes;
use crate::rules::{elementwise, operand, partial};

/// `out[i] = max(x[i], 0)`; NaN and `-0.0` stay.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"]):
///     return tf.relu(x)
/// ```
#[op(dialect = "tf", category = "nn")]
pub struct Relu {
    /// The operand.
    #[input(Tensor)]
    x: (),
}

impl TypeRule for Relu {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        elementwise::infer(&call, cx, Takes::Numbers, partial::MONOTONE)
    }
}

impl AccessRule for Relu {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        vec![AccessRelation::elementwise(operand::shape(call.x()), 1)]
    }
}

impl EvalRule for Relu {
    fn eval<'c>(_: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        operand::take::<Self>(operands, 0)?.unary(UnaryKind::Relu).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Relu>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Meta;
    use tf_types::{Arena, DType};

    use super::Relu;
    use crate::test_util::{context, mesh, placed, plain};

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |x| cx.call(Relu::new(cx), &[x], Meta::default()).map(|e| e.ty()).map_err(|e| e.message);
        for dtype in [DType::F32, DType::F16, DType::BF16, DType::Fp8E4M3, DType::I32, DType::I64] {
            for shape in ["", "S 4", "2 3 0"] {
                let x = plain(cx, "x", shape, dtype);
                assert_eq!(of(x), Ok(x.ty()));
            }
        }
        let refusal = "`tf.relu` takes floats or integers, found bool".to_owned();
        assert_eq!(of(plain(cx, "x", "4", DType::Bool)), Err(refusal));
        let x = |states: &str| placed(cx, "x", "16 64", states, mesh(cx, "w=4 t=2"));
        assert_eq!(of(x("S0 S1")), Ok(x("S0 S1").ty()));
        for (reduction, kept) in [("sum", false), ("max", true), ("min", true), ("prod", false)] {
            let states = format!("P{reduction} B");
            let x = x(&states);
            let refusal = format!("`tf.relu` cannot take unreduced terms, but `w` holds P(\"{reduction}\")");
            assert_eq!(of(x), if kept { Ok(x.ty()) } else { Err(refusal) });
        }
    }
}
