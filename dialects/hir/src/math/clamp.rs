//! `clamp`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::Type;
use tf_types::access::AccessRelation;
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::dtype::Takes;
use crate::rules::{elementwise, operand, partial};

/// `out[i] = min(max(x[i], min_val), max_val)`: the upper bound wins, nan stays. Bounds of integers are cut toward zero.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"]):
///     return tf.clamp(x, min_val=-1.0, max_val=1.0)
/// ```
#[op(dialect = "tf", category = "math")]
pub struct Clamp {
    /// The operand.
    #[input(Tensor)]
    x: (),
    /// The lower bound.
    min_val: f64,
    /// The upper bound.
    max_val: f64,
}

impl TypeRule for Clamp {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        elementwise::infer(&call, cx, Takes::Numbers, partial::MONOTONE)
    }
}

impl AccessRule for Clamp {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        vec![AccessRelation::elementwise(operand::shape(call.x()), 1)]
    }
}

impl EvalRule for Clamp {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        operand::take::<Self>(operands, 0)?.clamp(call.min_val(), call.max_val()).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Clamp>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Meta;
    use tf_types::{Arena, DType};

    use super::Clamp;
    use crate::test_util::{context, mesh, placed, plain};

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |x| cx.call(Clamp::new(cx, -1.0, 1.0), &[x], Meta::default()).map(|e| e.ty()).map_err(|e| e.message);
        for (shape, dtype) in [("", DType::F32), ("S 4", DType::BF16), ("0", DType::I64)] {
            let x = plain(cx, "x", shape, dtype);
            assert_eq!(of(x), Ok(x.ty()));
        }
        assert_eq!(of(plain(cx, "x", "4", DType::Bool)), Err("`tf.clamp` takes floats or integers, found bool".into()));
    }

    #[test]
    fn placements() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |states| {
            let x = placed(cx, "x", "16 64", states, mesh(cx, "w=4 t=2"));
            cx.call(Clamp::new(cx, 0.0, 1.0), &[x], Meta::default()).map(|e| e.ty() == x.ty()).map_err(|e| e.message)
        };
        assert_eq!((of("S0 Pmax"), of("Pmin B")), (Ok(true), Ok(true)));
        assert_eq!(of("Psum B"), Err("`tf.clamp` cannot take unreduced terms, but `w` holds P(\"sum\")".into()));
    }
}
