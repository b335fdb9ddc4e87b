//! `shape_of`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::AccessRelation;
use tf_types::{DType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Tensor, Value, ValueError};

use crate::rules::operand;

/// The extents of `x` as an i64 vector.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"]):
///     return tf.shape_of(x)
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct ShapeOf {
    /// The operand.
    #[input(Tensor)]
    x: (),
}

impl TypeRule for ShapeOf {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let rank = operand::tensor(&call, 0)?.rank() as i64;
        Ok(cx.umat_tensor(&[cx.dim(rank)], DType::I64))
    }
}

impl AccessRule for ShapeOf {
    fn access<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let rank = operand::shape(call.x()).len();
        vec![AccessRelation::to(&[cx.dim(rank as i64)])]
    }
}

impl EvalRule for ShapeOf {
    fn eval<'c>(_: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let shape = operand::value::<Self>(operands, 0)?.shape();
        Tensor::from_vec(&[shape.len()], shape.iter().map(|&extent| extent as i64).collect()).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<ShapeOf>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Meta;
    use tf_types::{Arena, DType};

    use super::ShapeOf;
    use crate::test_util::{context, plain};

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |shape| cx.call(ShapeOf::new(cx), &[plain(cx, "x", shape, DType::F32)], Meta::default()).unwrap().ty();
        assert_eq!(of("4 S 2").to_string(), r#"Tensor[(3,), "i64", ():(), "umat"]"#);
        assert_eq!(of(""), cx.umat_tensor(&[cx.dim(0)], DType::I64));
    }
}
