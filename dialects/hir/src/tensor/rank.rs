//! `rank`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::AccessRelation;
use tf_types::{DType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Tensor, Value, ValueError};

use crate::rules::operand;

/// The number of axes of `x`, i64.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"]):
///     return tf.rank(x)
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct Rank {
    /// The operand.
    #[input(Tensor)]
    x: (),
}

impl TypeRule for Rank {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        operand::tensor(&call, 0)?;
        Ok(cx.umat_scalar(DType::I64))
    }
}

impl AccessRule for Rank {
    fn access<'c>(_: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        vec![AccessRelation::to(&[])]
    }
}

impl EvalRule for Rank {
    fn eval<'c>(_: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        Ok(Tensor::scalar(operand::value::<Self>(operands, 0)?.rank() as i64).into())
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Rank>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Meta;
    use tf_types::{Arena, DType};

    use super::Rank;
    use crate::test_util::{context, plain, var};

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |x| cx.call(Rank::new(cx), &[x], Meta::default()).map(|e| e.ty());
        assert_eq!(of(plain(cx, "x", "4 S", DType::F32)).unwrap(), cx.umat_scalar(DType::I64));
        let error = of(var(cx, "t", cx.tuple(&[]))).unwrap_err();
        assert_eq!(error.message, "`tf.rank` takes a tensor as `x`, found ()");
    }
}
