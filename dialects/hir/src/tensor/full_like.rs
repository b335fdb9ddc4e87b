//! `full_like`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::AccessRelation;
use tf_types::{DType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Tensor, Value, ValueError};

use crate::rules::{layout, operand};

/// `out[i] = value` in the type of `x`; integers are cut toward zero and saturate.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"]):
///     return tf.full_like(x, value=0.5)
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct FullLike {
    /// Gives the type.
    #[input(Tensor)]
    x: (),
    /// The number.
    value: f64,
}

impl TypeRule for FullLike {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let x = operand::tensor(&call, 0)?;
        if x.dtype == DType::F8E8M0 && call.value() < 0.0 {
            let message =
                format!("`tf.full_like` cannot hold {} in f8e8m0, which has no negative values", call.value());
            return Err(RuleError::new(message).operand(0, format!("{x}")));
        }
        Ok(cx.tensor(x.shape, x.dtype, layout::same(cx, x), x.storage))
    }
}

impl AccessRule for FullLike {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        vec![AccessRelation::to(operand::shape(call.x()))]
    }
}

impl EvalRule for FullLike {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let x = operand::value::<Self>(operands, 0)?;
        Tensor::scalar_of(call.value(), x.dtype())?.broadcast_to(x.shape()).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<FullLike>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Meta;
    use tf_types::{Arena, DType};

    use super::FullLike;
    use crate::test_util::{context, mesh, placed, plain};

    #[test]
    fn the_result_has_the_operands_type() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of =
            |x, value| cx.call(FullLike::new(cx, value), &[x], Meta::default()).map(|e| e.ty()).map_err(|e| e.message);
        let m = mesh(cx, "w=4 t=2");
        for x in
            [plain(cx, "x", "S 4", DType::Bool), plain(cx, "x", "", DType::I64), placed(cx, "x", "16 64", "S0 Psum", m)]
        {
            assert_eq!(of(x, f64::NEG_INFINITY), Ok(x.ty()));
        }
        let error = of(plain(cx, "x", "4", DType::F8E8M0), -2.0).unwrap_err();
        assert_eq!(error, "`tf.full_like` cannot hold -2 in f8e8m0, which has no negative values");
    }
}
