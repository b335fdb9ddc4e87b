//! `cast`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::AccessRelation;
use tf_types::{DType, TensorLayout, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::{layout, operand, place};

/// `out[i] = x[i]` in another dtype: floats to integers toward zero, saturating, nan to 0; to 16-bit floats nearest even.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"]):
///     return tf.cast(x, dtype="bf16")
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct Cast {
    /// The operand.
    #[input(Tensor)]
    x: (),
    /// The result's dtype.
    dtype: DType,
}

impl TypeRule for Cast {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let x = operand::tensor(&call, 0)?;
        let placed = place::propagate("`tf.cast`", cx, &call, x.shape)?;
        let layout = placed.map(TensorLayout::Shard).or_else(|| layout::same(cx, x));
        Ok(cx.tensor(x.shape, call.dtype(), layout, x.storage))
    }
}

impl AccessRule for Cast {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        vec![AccessRelation::elementwise(operand::shape(call.x()), 1)]
    }
}

impl EvalRule for Cast {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        operand::value::<Self>(operands, 0)?.cast(call.dtype()).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Cast>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Meta;
    use tf_types::{Arena, DType};

    use super::Cast;
    use crate::test_util::{context, mesh, placed, placement, plain};

    #[test]
    fn placement_and_shape_stay() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |x, dtype| cx.call(Cast::new(cx, dtype), &[x], Meta::default()).unwrap().ty();
        assert_eq!(of(plain(cx, "x", "S 4", DType::F32), DType::F4E2M1).to_string(), r#"Tensor[(S, 4), "f4e2m1"]"#);
        for states in ["S0 Psum", "B B", "Pmax S1"] {
            let x = placed(cx, "x", "16 64", states, mesh(cx, "w=4 t=2"));
            let cast = of(x, DType::BF16);
            assert_eq!(placement(cast), placement(x.ty()));
            assert_eq!(of(x, DType::F32), x.ty());
        }
    }
}
