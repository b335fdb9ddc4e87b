//! `tanh` (spec: hir §8; shard §11; decisions 19, 23).

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::Type;
use tf_types::access::AccessRelation;
use tf_value::{Activation, DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::dtype::Takes;
use crate::rules::{broadcast, elementwise, operand, partial};

/// `out[i] = tanh(x[i])`, computed in f32 and rounded once.
#[op(dialect = "tf", category = "nn")]
pub struct Tanh {
    /// The operand.
    #[input(Tensor)]
    x: (),
}

impl TypeRule for Tanh {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        elementwise::infer(&call, cx, Takes::Floats, partial::MONOTONE)
    }
}

impl AccessRule for Tanh {
    fn access(call: OpCall<'_, Self>) -> AccessRelation {
        broadcast::elementwise_relation(operand::shape(call.x()).len())
    }
}

impl EvalRule for Tanh {
    fn eval<'c>(_: OpCall<'c, Self>, operands: &[Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        operand::value::<Self>(operands, 0)?.activate(Activation::Tanh).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Tanh>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Meta;
    use tf_types::{Arena, DType};

    use super::Tanh;
    use crate::test_util::{context, mesh, placed, plain};

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |x| cx.call(Tanh::new(cx), &[x], Meta::default()).map(|e| e.ty()).map_err(|e| e.message);
        for dtype in [DType::F32, DType::F16, DType::BF16, DType::Fp8E4M3] {
            for shape in ["", "S 4", "2 3 0"] {
                let x = plain(cx, "x", shape, dtype);
                assert_eq!(of(x), Ok(x.ty()));
            }
        }
        for dtype in [DType::Bool, DType::I32] {
            let refusal = format!("`tf.tanh` takes floats, found {dtype}");
            assert_eq!(of(plain(cx, "x", "4", dtype)), Err(refusal));
        }
        let x = |states: &str| placed(cx, "x", "16 64", states, mesh(cx, "w=4 t=2"));
        assert_eq!(of(x("S0 S1")), Ok(x("S0 S1").ty()));
        for (reduction, kept) in [("sum", false), ("max", true), ("min", true), ("prod", false)] {
            let states = format!("P{reduction} B");
            let x = x(&states);
            let refusal = format!("`tf.tanh` cannot take unreduced terms, but `w` holds P(\"{reduction}\")");
            assert_eq!(of(x), if kept { Ok(x.ty()) } else { Err(refusal) });
        }
    }
}
