//! `zeros`.

use tf_core::op::attr::TypeAttr;
use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::Type;
use tf_types::access::AccessRelation;
use tf_value::{DialectBuilder, EvalCx, EvalRule, Tensor, Value, ValueError};

use crate::rules::made;

/// `out[i] = 0`, of the stated type; `false` of bool, `2^-127` of f8e8m0, which has no zero.
///
/// ```python
/// def f():
///     return tf.zeros(type=Tensor[(4, 6), "f32"])
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct Zeros {
    /// The result's type, such as `Tensor[(4, 6), "f32"]`.
    r#type: TypeAttr,
}

impl TypeRule for Zeros {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        made::tensor("`tf.zeros`", call.r#type()).map(|_| call.r#type())
    }
}

impl AccessRule for Zeros {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        call.r#type().as_tensor().map(|made| AccessRelation::to(made.shape)).into_iter().collect()
    }
}

impl EvalRule for Zeros {
    fn eval<'c>(call: OpCall<'c, Self>, _: &mut [Value], cx: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let (shape, dtype) = made::shape_and_dtype::<Self>(call.r#type(), cx)?;
        Tensor::zeros(&shape, dtype).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Zeros>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Meta;
    use tf_types::{Arena, DType, Storage};

    use super::Zeros;
    use crate::test_util::{context, dims};

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |ty| cx.call(Zeros::new(cx, ty), &[], Meta::default()).map(|e| e.ty()).map_err(|e| e.message);
        let ty = cx.tensor(&dims(cx, "S 0"), DType::Bool, None, Storage::Rmem);
        assert_eq!(of(ty), Ok(ty));
        let negative = cx.tensor(&dims(cx, "2 -1"), DType::F32, None, Storage::Gmem);
        assert_eq!(of(negative), Err("`tf.zeros` makes no negative extent, found -1 on axis 1".into()));
        assert_eq!(of(cx.unit()), Err("`tf.zeros` makes a tensor, found the type ()".into()));
    }
}
