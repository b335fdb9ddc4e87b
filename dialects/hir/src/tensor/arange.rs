//! `arange`.

use tf_core::op::attr::{DimAttr, TypeAttr};
use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::Type;
use tf_types::access::AccessRelation;
use tf_value::{DialectBuilder, EvalCx, EvalRule, Tensor, Value, ValueError, extent};

use crate::rules::made;

/// `out[i] = start + i * step`, of the stated type: rank 1, i32 or i64.
///
/// ```python
/// def f():
///     return tf.arange(type=Tensor[(8,), "i64"], start=2, step=3)
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct Arange {
    /// The result's type, such as `Tensor[(8,), "i64"]`.
    r#type: TypeAttr,
    /// The first value; none is 0.
    #[default(None)]
    start: Option<DimAttr>,
    /// The distance of two values, positive.
    #[default(1)]
    step: i64,
}

impl TypeRule for Arange {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let (what, ty) = ("`tf.arange`", call.r#type());
        let tensor = made::tensor(what, ty)?;
        if !tensor.dtype.is_integer() {
            return Err(RuleError::new(format!("{what} makes i32 or i64, found {}", tensor.dtype))
                .attr("type")
                .with_help("cast the result: `tf.cast(tf.arange(…), dtype=…)`"));
        }
        if tensor.rank() != 1 {
            return Err(RuleError::new(format!(
                "{what} makes a tensor of rank 1, found {ty} of rank {}",
                tensor.rank()
            ))
            .attr("type")
            .with_help("reshape the result"));
        }
        if call.step() <= 0 {
            return Err(RuleError::new(format!("{what} takes a positive step, found {}", call.step()))
                .attr("step")
                .with_help("values rise; to count down, subtract them from the last one"));
        }
        Ok(ty)
    }
}

impl AccessRule for Arange {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        call.r#type().as_tensor().map(|made| AccessRelation::to(made.shape)).into_iter().collect()
    }
}

impl EvalRule for Arange {
    fn eval<'c>(call: OpCall<'c, Self>, _: &mut [Value], cx: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let (shape, dtype) = made::shape_and_dtype::<Self>(call.r#type(), cx)?;
        let [length] = shape[..] else {
            return Err(ValueError::new(format!("`tf.arange` makes a tensor of rank 1, found rank {}", shape.len())));
        };
        let start = call.start().map_or(Ok(0), |start| extent(start, cx.dims))?;
        Tensor::arange(length, start, call.step(), dtype).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Arange>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Meta;
    use tf_types::{Arena, DType, Storage};

    use super::Arange;
    use crate::test_util::{context, dims};

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |shape, dtype, step| {
            let ty = cx.tensor(&dims(cx, shape), dtype, None, Storage::Gmem);
            let call = cx.call(Arange::new(cx, ty, Some(cx.dim(3)), step), &[], Meta::default());
            call.map(|e| e.ty() == ty).map_err(|e| e.message)
        };
        assert_eq!((of("S", DType::I32, 2), of("0", DType::I64, 1)), (Ok(true), Ok(true)));
        assert_eq!(of("4", DType::F32, 1), Err("`tf.arange` makes i32 or i64, found f32".into()));
        assert_eq!(of("4", DType::I64, 0), Err("`tf.arange` takes a positive step, found 0".into()));
        let error = of("4 4", DType::I64, 1).unwrap_err();
        assert_eq!(error, r#"`tf.arange` makes a tensor of rank 1, found Tensor[(4, 4), "i64"] of rank 2"#);
        let pair = cx.tuple(&[cx.scalar(DType::I64)]);
        let error = cx.call(Arange::new(cx, pair, None, 1), &[], Meta::default()).unwrap_err().message;
        assert_eq!(error, r#"`tf.arange` makes a tensor, found the type (Tensor[(), "i64", "umat"],)"#);
    }
}
