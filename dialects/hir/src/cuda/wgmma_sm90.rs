//! `wgmma_sm90_64x128x16`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::AccessRelation;
use tf_types::{DType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use super::product::{self, Orientation};

/// `out = a @ b`, one tile of the instruction `wgmma.m64n128k16`; accumulated in f32 and rounded once to `dtype_acc`.
///
/// ```python
/// def f(a: Tensor[(64, 16), "f16"], b: Tensor[(16, 128), "f16"]):
///     return tf.wgmma_sm90_64x128x16(a, b, dtype_a="f16", dtype_b="f16", dtype_acc="f32")
/// ```
#[op(dialect = "tf", category = "cuda", name = "wgmma_sm90_64x128x16")]
pub struct WgmmaSm90 {
    /// (64, 16)
    #[input(Tensor)]
    a: (),
    /// (16, 128)
    #[input(Tensor)]
    b: (),
    /// Dtype of `a`.
    dtype_a: DType,
    /// Dtype of `b`.
    dtype_b: DType,
    /// Dtype of the result.
    dtype_acc: DType,
    /// `T`: row-major, `N`: column-major.
    #[default(Orientation::T)]
    a_layout: Orientation,
    /// `N`: column-major, `T`: row-major.
    #[default(Orientation::N)]
    b_layout: Orientation,
}

const WHAT: &str = "`tf.wgmma_sm90_64x128x16`";
const SHAPE: [i64; 3] = [64, 128, 16];

impl TypeRule for WgmmaSm90 {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let operands = product::check(&call, SHAPE, [call.dtype_a(), call.dtype_b(), call.dtype_acc()])?;
        for (at, name) in ["a", "b"].into_iter().enumerate() {
            if let Some(shard) = product::distributed(operands[at]) {
                return Err(RuleError::new(format!(
                    "{WHAT} takes whole operands, but `{name}` is distributed as {shard}"
                ))
                .operand(at, format!("{}", operands[at]))
                .with_help("reshard it to Broadcast"));
            }
        }
        product::result(WHAT, cx, operands, [SHAPE[0], SHAPE[1]], call.dtype_acc(), None)
    }
}

impl AccessRule for WgmmaSm90 {
    fn access<'c>(_: OpCall<'c, Self>, cx: &Context<'c>) -> Vec<AccessRelation<'c>> {
        product::access(cx, SHAPE)
    }
}

impl EvalRule for WgmmaSm90 {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        product::value::<Self>(operands, call.dtype_acc())
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<WgmmaSm90>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Meta;
    use tf_types::{Arena, DType};

    use super::{Orientation, WgmmaSm90};
    use crate::test_util::{context, mesh, placed, plain};

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |a, b, [da, db, acc]: [DType; 3]| {
            let op = WgmmaSm90::new(cx, da, db, acc, Orientation::T, Orientation::N);
            cx.call(op, &[a, b], Meta::default()).map(|e| e.ty().to_string()).map_err(|e| e.message)
        };
        let (f16, f32) = (DType::F16, DType::F32);
        let of_plain = |a, b| of(plain(cx, "a", a, f16), plain(cx, "b", b, f16), [f16, f16, f32]);
        assert_eq!(of_plain("64 16", "16 128").unwrap(), r#"Tensor[(64, 128), "f32"]"#);
        let shape = of_plain("64 16", "16 64").unwrap_err();
        assert_eq!(shape, "`tf.wgmma_sm90_64x128x16` takes `b` of shape (16, 128), found (16, 64)");
        let m = mesh(cx, "w=4");
        let b = placed(cx, "b", "16 128", "B", m);
        assert!(of(placed(cx, "a", "64 16", "B", m), b, [f32, f32, f32]).is_ok());
        let split = of(placed(cx, "a", "64 16", "S0", m), b, [f32, f32, f32]).unwrap_err();
        assert!(
            split.starts_with("`tf.wgmma_sm90_64x128x16` takes whole operands, but `a` is distributed as "),
            "{split}"
        );
    }
}
