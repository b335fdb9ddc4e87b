//! `mma_sm80_16x8x16`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_target::mma::{MmaOpSpec, Operand};
use tf_types::access::AccessRelation;
use tf_types::{DType, ShardLayout, Storage, TensorType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use super::product::{self, Orientation};

/// `out = a @ b`, one tile of the instruction `mma.m16n8k16`; accumulated in f32 and rounded once to `dtype_acc`.
///
/// ```python
/// def f(a: Tensor[(16, 16), "bf16"], b: Tensor[(16, 8), "bf16"]):
///     return tf.mma_sm80_16x8x16(a, b, dtype_a="bf16", dtype_b="bf16", dtype_acc="f32")
/// ```
#[op(dialect = "tf", category = "cuda", name = "mma_sm80_16x8x16")]
pub struct MmaSm80 {
    /// (16, 16)
    #[input(Tensor)]
    a: (),
    /// (16, 8)
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

const WHAT: &str = "`tf.mma_sm80_16x8x16`";
const INSTRUCTION: MmaOpSpec = MmaOpSpec::SM80_16X8X16_BF16;
const SHAPE: [i64; 3] = INSTRUCTION.shape_mnk();

/// The result's fragment if the operands are the instruction's own; none if neither is distributed.
fn placement<'c>(
    call: &OpCall<'c, MmaSm80>,
    cx: &Context<'c>,
    operands: [&TensorType<'c>; 2],
) -> Result<Option<ShardLayout<'c>>, RuleError> {
    let shards = operands.map(product::distributed);
    let Some(mesh) = shards.iter().flatten().next().map(|s| s.mesh) else { return Ok(None) };
    let refuse = |message: String, help: &str| {
        let error = RuleError::new(message).with_help(help);
        Err(error.operand(0, format!("{}", operands[0])).operand(1, format!("{}", operands[1])))
    };
    let form = (call.dtype_a(), call.dtype_b(), call.dtype_acc(), call.a_layout(), call.b_layout());
    if form != (DType::BF16, DType::BF16, DType::F32, Orientation::T, Orientation::N) {
        return refuse(
            format!("{WHAT} takes distributed operands only as bf16 bf16 f32 with layouts \"T\" and \"N\""),
            "cast to bf16 with an f32 accumulator, or reshard the operands to Broadcast",
        );
    }
    if !cx.scope_matches(mesh, INSTRUCTION.required_scope(cx)) {
        return refuse(
            format!("{WHAT} takes operands distributed over 32 threads as (4, 8):(1, 4), found {mesh}"),
            "open `Mesh((\"thread\",), Layout((4, 8), (1, 4)))` over 32 threads",
        );
    }
    for (at, operand) in [Operand::A, Operand::B].into_iter().enumerate() {
        let name = ["a", "b"][at];
        if operands[at].storage != Storage::Rmem {
            let message =
                format!("{WHAT} takes distributed operands in rmem, found `{name}` in {}", operands[at].storage);
            return refuse(message, "load the fragment into rmem first");
        }
        let wanted = INSTRUCTION.fragment(operand).placement(cx, mesh);
        if shards[at] != Some(wanted) {
            let found = shards[at].map_or_else(|| "none".to_owned(), |s| s.to_string());
            return refuse(
                format!("{WHAT} takes `{name}` distributed as the fragment {operand:?}, {wanted}, found {found}"),
                "reshard the operand to that layout, or both to Broadcast",
            );
        }
    }
    Ok(Some(INSTRUCTION.fragment(Operand::C).placement(cx, mesh)))
}

impl TypeRule for MmaSm80 {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let operands = product::check(&call, SHAPE, [call.dtype_a(), call.dtype_b(), call.dtype_acc()])?;
        let placement = placement(&call, cx, operands)?;
        product::result(WHAT, cx, operands, [SHAPE[0], SHAPE[1]], call.dtype_acc(), placement)
    }
}

impl AccessRule for MmaSm80 {
    fn access<'c>(_: OpCall<'c, Self>, cx: &Context<'c>) -> Vec<AccessRelation<'c>> {
        product::access(cx, SHAPE)
    }
}

impl EvalRule for MmaSm80 {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        product::value::<Self>(operands, call.dtype_acc())
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<MmaSm80>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Context, Expr, Meta};
    use tf_target::mma::Operand;
    use tf_types::{Arena, DType, Storage, TensorLayout, Type};

    use super::{INSTRUCTION, MmaSm80, Orientation};
    use crate::test_util::{context, dims, factored, mesh, plain, var};

    const BF16: [DType; 3] = [DType::BF16, DType::BF16, DType::F32];

    fn infer<'c>(
        cx: &Context<'c>,
        [a, b]: [Expr<'c>; 2],
        [da, db, acc]: [DType; 3],
        (ta, tb): (Orientation, Orientation),
    ) -> Result<Type<'c>, String> {
        let op = MmaSm80::new(cx, da, db, acc, ta, tb);
        cx.call(op, &[a, b], Meta::default()).map(Expr::ty).map_err(|e| e.message)
    }

    const TN: (Orientation, Orientation) = (Orientation::T, Orientation::N);

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |a, b, dtypes: [DType; 3], found: [DType; 2]| {
            let operands = [plain(cx, "a", a, found[0]), plain(cx, "b", b, found[1])];
            infer(cx, operands, dtypes, TN).map(|ty| ty.to_string())
        };
        let (f16, bf16, f32) = (DType::F16, DType::BF16, DType::F32);
        assert_eq!(of("16 16", "16 8", BF16, [bf16, bf16]).unwrap(), r#"Tensor[(16, 8), "f32"]"#);
        assert_eq!(of("16 16", "16 8", [f16, f16, f16], [f16, f16]).unwrap(), r#"Tensor[(16, 8), "f16"]"#);
        let refusal = |a, b, dtypes, found| of(a, b, dtypes, found).unwrap_err();
        assert_eq!(
            refusal("16 8", "16 8", BF16, [bf16, bf16]),
            "`tf.mma_sm80_16x8x16` takes `a` of shape (16, 16), found (16, 8)"
        );
        assert_eq!(
            refusal("16 16", "16 16", BF16, [bf16, bf16]),
            "`tf.mma_sm80_16x8x16` takes `b` of shape (16, 8), found (16, 16)"
        );
        assert_eq!(
            refusal("16 16", "16 8", BF16, [bf16, f32]),
            "`tf.mma_sm80_16x8x16` with dtype_b = \"bf16\" takes `b` of bf16, found f32"
        );
        assert_eq!(
            refusal("16 16", "16 8", [f16, bf16, f32], [f16, bf16]),
            "`tf.mma_sm80_16x8x16` has no form of the dtypes f16 bf16 f32 (a, b, acc)"
        );
        let strided = TensorLayout::Plain(cx.layout(&dims(cx, "16 16"), Some(&dims(cx, "1 16"))));
        let a = var(cx, "a", cx.tensor(&dims(cx, "16 16"), bf16, Some(strided), Storage::Smem));
        let b = var(cx, "b", cx.tensor(&dims(cx, "16 8"), bf16, None, Storage::Smem));
        let product = infer(cx, [a, b], BF16, TN).unwrap();
        assert_eq!(product.to_string(), r#"Tensor[(16, 8), "f32", (16, 8):(8, 1), "smem"]"#);
    }

    #[test]
    fn fragments() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let atom = INSTRUCTION.atom(cx);
        let warp = atom.required_scope;
        let held = |name, shape, shard, storage| {
            var(cx, name, cx.tensor(&dims(cx, shape), DType::BF16, Some(TensorLayout::Shard(shard)), storage))
        };
        let a = held("a", "16 16", atom.a, Storage::Rmem);
        let b = held("b", "16 8", atom.b, Storage::Rmem);
        let product = infer(cx, [a, b], BF16, TN).unwrap();
        assert_eq!(product.as_tensor().unwrap().shard(), Some(atom.c));
        assert!(
            infer(cx, [a, b], BF16, (Orientation::N, Orientation::N)).unwrap_err().contains("only as bf16 bf16 f32")
        );
        assert!(infer(cx, [a, a], BF16, TN).unwrap_err().contains("`b` of shape (16, 8)"));
        let wrong = held("b", "16 8", factored(cx, "4 4 8", "S0 S2", warp), Storage::Rmem);
        assert!(infer(cx, [a, wrong], BF16, TN).unwrap_err().contains("takes `b` distributed as the fragment B"));
        let whole = held("b", "16 8", factored(cx, "16 8", "B B", warp), Storage::Rmem);
        assert!(infer(cx, [a, whole], BF16, TN).unwrap_err().ends_with("found none"));
        let term = held("b", "16 8", factored(cx, "16 8", "Psum B", warp), Storage::Rmem);
        assert!(infer(cx, [a, term], BF16, TN).is_err());
        let shared = held("a", "16 16", atom.a, Storage::Smem);
        assert!(infer(cx, [shared, b], BF16, TN).unwrap_err().contains("in rmem, found `a` in smem"));
        let other = mesh(cx, "x=4 y=8");
        let elsewhere = held("a", "16 16", INSTRUCTION.fragment(Operand::A).placement(cx, other), Storage::Rmem);
        assert!(infer(cx, [elsewhere, b], BF16, TN).unwrap_err().contains("over 32 threads as (4, 8):(1, 4)"));
        // The same value everywhere needs no fragment, and leaves no layout.
        let a = held("a", "16 16", factored(cx, "16 16", "B B", warp), Storage::Rmem);
        assert_eq!(infer(cx, [a, whole], BF16, TN).unwrap().to_string(), r#"Tensor[(16, 8), "f32", "rmem"]"#);
    }
}
