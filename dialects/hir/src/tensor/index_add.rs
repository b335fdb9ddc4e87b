//! `index_add`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::Type;
use tf_types::access::AccessRelation;
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::{layout, operand, rows};

const WHAT: &str = "`tf.index_add`";

/// A copy of `dst` with `src[…, j, …]` added to `dst[…, index[j], …]`, for every `j`; repeated positions accumulate, in f32 for floats.
///
/// ```python
/// def f(x: Tensor[(8, 6), "f32"], index: Tensor[(3,), "i64"], u: Tensor[(3, 6), "f32"]):
///     return tf.index_add(x, index, u, dim=0)
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct IndexAdd {
    /// What is added to.
    #[input(Tensor)]
    dst: (),
    /// Positions on the axis: rank 1, i32 or i64, from 0.
    #[input(Tensor)]
    index: (),
    /// What is added: as many slices as there are indices.
    #[input(Tensor)]
    src: (),
    /// The axis; a negative one counts from the end.
    #[default(0)]
    dim: i64,
}

impl TypeRule for IndexAdd {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let operands = [operand::tensor(&call, 0)?, operand::tensor(&call, 1)?, operand::tensor(&call, 2)?];
        let [dst, ..] = operands;
        rows::check_numbers(WHAT, dst)?;
        rows::update(WHAT, operands, call.dim())?;
        Ok(cx.tensor(dst.shape, dst.dtype, layout::same(cx, dst), dst.storage))
    }
}

impl AccessRule for IndexAdd {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let [dst, src] = [call.dst(), call.src()].map(operand::shape);
        let rows = rows::access(dst, src, call.dim());
        rows.map_or_else(Vec::new, |[kept, update]| vec![kept, update])
    }
}

impl EvalRule for IndexAdd {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let dst = operand::take::<Self>(operands, 0)?;
        let of = |index| operand::value::<Self>(operands, index);
        dst.index_add(of(1)?, of(2)?, call.dim()).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<IndexAdd>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Context, Diagnostic, Expr, Meta};
    use tf_types::{Arena, DType, Type};

    use super::IndexAdd;
    use crate::test_util::{context, mesh, placed, plain};

    fn infer<'c>(cx: &Context<'c>, operands: [Expr<'c>; 3], dim: i64) -> Result<Type<'c>, Diagnostic> {
        cx.call(IndexAdd::new(cx, dim), &operands, Meta::default()).map(|e| e.ty())
    }

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |dst, (index, kind), src, dtype, dim| {
            let dst = plain(cx, "dst", dst, DType::BF16);
            let operands = [dst, plain(cx, "i", index, kind), plain(cx, "src", src, dtype)];
            infer(cx, operands, dim).map(|ty| ty == dst.ty()).map_err(|e| e.message)
        };
        let long = ("3", DType::I64);
        assert_eq!(of("8 S", long, "3 S", DType::BF16, 0), Ok(true));
        assert_eq!(of("8 S", ("S", DType::I32), "8 S", DType::BF16, -1), Ok(true));
        let error = of("8 4", long, "2 4", DType::BF16, 0).unwrap_err();
        assert_eq!(error, "`tf.index_add` takes a source of shape (3, 4) for 3 indices along axis 0, found (2, 4)");
        assert!(of("8 4", long, "3", DType::BF16, 0).unwrap_err().contains("(3, 4)"));
        let error = of("8 4", long, "3 4", DType::F32, 0).unwrap_err();
        assert_eq!(error, "`tf.index_add` takes a source of the destination's dtype, found f32 for bf16");
        assert!(of("8 4", ("3 1", DType::I64), "3 4", DType::BF16, 0).unwrap_err().contains("rank 2"));
        assert!(of("8 4", ("3", DType::F32), "3 4", DType::BF16, 0).unwrap_err().contains("found f32"));
        assert_eq!(
            of("8 4", long, "3 4", DType::BF16, 2).unwrap_err(),
            "`tf.index_add` has no axis 2: the operand has rank 2"
        );
        let flags = plain(cx, "dst", "4", DType::Bool);
        let error =
            infer(cx, [flags, plain(cx, "i", "1", DType::I64), plain(cx, "src", "1", DType::Bool)], 0).unwrap_err();
        assert_eq!(error.message, "`tf.index_add` takes floats or integers, found bool");
    }

    #[test]
    fn placements() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=4");
        let index = plain(cx, "i", "4", DType::I64);
        let of = |dst, src| {
            let dst = placed(cx, "dst", "16 64", dst, m);
            let ty = infer(cx, [dst, index, placed(cx, "src", "4 64", src, m)], 0);
            ty.map(|ty| ty == dst.ty()).map_err(|e| e.message)
        };
        assert_eq!(of("B", "B"), Ok(true));
        assert_eq!(of("B", "S1"), Err("`tf.index_add` needs axis 1 whole, but it is split over mesh axis `w`".into()));
        assert_eq!(of("S1", "S1"), Err("`tf.index_add` needs axis 1 whole, but it is split over mesh axis `w`".into()));
        assert_eq!(of("B", "Psum"), Err("`tf.index_add` cannot take unreduced terms, but `w` holds P(\"sum\")".into()));
    }
}
