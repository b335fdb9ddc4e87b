//! `index_copy`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::AccessRelation;
use tf_types::{DType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::{layout, operand, rows};

const WHAT: &str = "`tf.index_copy`";

/// A copy of `dst` with `src[…, j, …]` in place of `dst[…, index[j], …]`, for every `j`; which of repeated positions wins is not said.
///
/// ```python
/// def f(x: Tensor[(8, 6), "f32"], index: Tensor[(3,), "i64"], u: Tensor[(3, 6), "f32"]):
///     return tf.index_copy(x, index, u, dim=0)
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct IndexCopy {
    /// What is written into.
    #[input(Tensor)]
    dst: (),
    /// Positions on the axis: rank 1, i64, from 0.
    #[input(Tensor)]
    index: (),
    /// What is written: as many slices as there are indices.
    #[input(Tensor)]
    src: (),
    /// The axis; a negative one counts from the end.
    #[default(0)]
    dim: i64,
}

impl TypeRule for IndexCopy {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let operands = [operand::tensor(&call, 0)?, operand::tensor(&call, 1)?, operand::tensor(&call, 2)?];
        let [dst, index, _] = operands;
        rows::check_index(WHAT, 1, index)?;
        if index.dtype != DType::I64 {
            return Err(RuleError::new(format!("{WHAT} takes an index of i64, found {}", index.dtype))
                .operand(1, format!("{index}"))
                .with_help("cast the index: `tf.cast(index, dtype=\"i64\")`"));
        }
        rows::update(WHAT, operands, call.dim())?;
        Ok(cx.tensor(dst.shape, dst.dtype, layout::same(cx, dst), dst.storage))
    }
}

impl AccessRule for IndexCopy {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let [dst, src] = [call.dst(), call.src()].map(operand::shape);
        let rows = rows::access(dst, src, call.dim());
        rows.map_or_else(Vec::new, |[kept, update]| vec![kept, update.replacing()])
    }
}

impl EvalRule for IndexCopy {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let dst = operand::take::<Self>(operands, 0)?;
        let of = |index| operand::value::<Self>(operands, index);
        dst.index_copy(of(1)?, of(2)?, call.dim()).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<IndexCopy>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Meta;
    use tf_types::{Arena, DType};

    use super::IndexCopy;
    use crate::test_util::{context, mesh, placed, plain};

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |dtype, index, src| {
            let dst = plain(cx, "dst", "8 4", dtype);
            let operands = [dst, plain(cx, "i", "3", index), plain(cx, "src", src, dtype)];
            let call = cx.call(IndexCopy::new(cx, 0), &operands, Meta::default());
            call.map(|e| e.ty() == dst.ty()).map_err(|e| e.message)
        };
        assert_eq!((of(DType::Bool, DType::I64, "3 4"), of(DType::F16, DType::I64, "3 4")), (Ok(true), Ok(true)));
        assert_eq!(of(DType::F32, DType::I32, "3 4"), Err("`tf.index_copy` takes an index of i64, found i32".into()));
        assert!(
            of(DType::F32, DType::I64, "3 5")
                .unwrap_err()
                .starts_with("`tf.index_copy` takes a source of shape (3, 4)")
        );
        let x = placed(cx, "dst", "16 64", "S0", mesh(cx, "w=4"));
        let operands = [x, plain(cx, "i", "16", DType::I64), x];
        let error = cx.call(IndexCopy::new(cx, 0), &operands, Meta::default()).unwrap_err().message;
        assert_eq!(error, "`tf.index_copy` needs axis 0 whole, but it is split over mesh axis `w`");
    }
}
