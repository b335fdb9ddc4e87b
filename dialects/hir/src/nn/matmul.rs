//! `matmul`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::{AccessRelation, AxisAccess};
use tf_types::{Dim, DimTuple, Mesh, ShardLayout, TensorLayout, TensorType, Type, layout_axis_to_tensor_axis};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::dtype::{self, Takes};
use crate::rules::{broadcast, layout, operand, partial, place, storage};

/// `out[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n]`; batch axes broadcast, 16-bit floats accumulate in f32.
///
/// ```python
/// def f(x: Tensor[(2, 4, 6), "bf16"], y: Tensor[(6, 8), "bf16"]):
///     return x @ y
/// ```
#[op(dialect = "tf", category = "nn", name = "matmul")]
pub struct MatMul {
    /// Left factor `(…, M, K)`.
    #[input(Tensor)]
    lhs: (),
    /// Right factor `(…, K, N)`, of the same dtype.
    #[input(Tensor)]
    rhs: (),
}

/// Batch extents and the last two.
fn split_batch<'a, 'c>(shape: &'a [Dim<'c>]) -> Option<(&'a [Dim<'c>], [Dim<'c>; 2])> {
    let (batch, &matrix) = shape.split_last_chunk::<2>()?;
    Some((batch, matrix))
}

/// How an axis is cut: the positions from outermost to innermost, each with the mesh axes that split it. Empty if whole.
fn cut<'c>(tensor: &TensorType<'c>, axis: usize) -> Vec<(Dim<'c>, Vec<usize>)> {
    let Some(shard) = tensor.shard() else { return Vec::new() };
    let map = layout_axis_to_tensor_axis(shard.layout.shape(), tensor.shape);
    let extents = shard.layout.shape().iter().copied().enumerate().filter(|(at, _)| map[*at] == Some(axis));
    let positions: Vec<_> = extents
        .map(|(at, extent)| (extent, shard.splitters(at).collect::<Vec<_>>()))
        .filter(|(extent, splitters)| !splitters.is_empty() || extent.as_const() != Some(1))
        .collect();
    if positions.iter().all(|(_, splitters)| splitters.is_empty()) { Vec::new() } else { positions }
}

fn sharded_mesh<'c>(tensor: &TensorType<'c>) -> Option<Mesh<'c>> {
    tensor.shard().filter(|s| s.is_sharded()).map(|s| s.mesh)
}

/// The mesh axes that split K must be the same on both sides, in the same order.
fn check_inner_splits(lhs: &TensorType<'_>, rhs: &TensorType<'_>) -> Result<(), RuleError> {
    let (left, right) = (cut(lhs, lhs.rank() - 1), cut(rhs, rhs.rank() - 2));
    if sharded_mesh(lhs).zip(sharded_mesh(rhs)).is_some_and(|(a, b)| a != b) || left == right {
        return Ok(()); // Propagation refuses different meshes.
    }
    let names = |cut: &[(Dim<'_>, Vec<usize>)], shard: Option<ShardLayout<'_>>| {
        let axes = cut.iter().flat_map(|(_, splitters)| splitters);
        let names: Vec<_> = shard.map_or_else(Vec::new, |s| axes.map(|&a| s.mesh.axis_name(a)).collect());
        if names.is_empty() { "nothing".to_owned() } else { format!("`{}`", names.join("`, `")) }
    };
    Err(RuleError::new(format!(
        "`tf.matmul` contracts over an axis that {} splits on the left and {} on the right; both sides must be split alike",
        names(&left, lhs.shard()),
        names(&right, rhs.shard())
    ))
    .operand(0, format!("{lhs}"))
    .operand(1, format!("{rhs}"))
    .with_help("reshard one operand so that its inner axis is split as the other's"))
}

/// The result's shape.
fn contract<'c>(
    call: &OpCall<'c, MatMul>,
    lhs: &TensorType<'c>,
    rhs: &TensorType<'c>,
) -> Result<Vec<Dim<'c>>, RuleError> {
    for (index, tensor) in [lhs, rhs].into_iter().enumerate() {
        if tensor.rank() < 2 {
            return Err(RuleError::new(format!(
                "`tf.matmul` takes operands of rank 2 or more, found rank {}",
                tensor.rank()
            ))
            .operand(index, format!("{tensor}"))
            .with_help("give a vector an axis of extent 1"));
        }
    }
    let (Some((lhs_batch, [m, k])), Some((rhs_batch, [inner, n]))) = (split_batch(lhs.shape), split_batch(rhs.shape))
    else {
        unreachable!("both have rank 2 or more");
    };
    if k != inner {
        let advice = match call.rhs().var_name() {
            Some(name) if n == k => format!("transpose `{name}`, or declare it as (…, {k}, n)"),
            Some(name) => format!("declare `{name}` as (…, {k}, n)"),
            None => "the last axis of the left operand and the last but one of the right must be equal".to_owned(),
        };
        return Err(RuleError::new(format!("`tf.matmul` contracts {k} with {inner}"))
            .operand(0, format!("{lhs}: axis {} is {k}", lhs.rank() - 1))
            .operand(1, format!("{rhs}: axis {} is {inner}", rhs.rank() - 2))
            .with_help(advice));
    }
    let mut shape = broadcast::broadcast(lhs_batch, rhs_batch).map_err(|(_, a, b)| {
        RuleError::new(format!(
            "`tf.matmul` cannot broadcast the batch axes {} and {}: {a} meets {b}",
            DimTuple(lhs_batch),
            DimTuple(rhs_batch)
        ))
        .operand(0, format!("{lhs}"))
        .operand(1, format!("{rhs}"))
        .with_help("batch extents must be equal, or one of them 1")
    })?;
    shape.extend([m, n]);
    Ok(shape)
}

impl TypeRule for MatMul {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let what = "`tf.matmul`";
        let operands = [operand::tensor(&call, 0)?, operand::tensor(&call, 1)?];
        let [lhs, rhs] = operands;
        dtype::equal(what, lhs, rhs)?;
        dtype::check(what, Takes::Numbers, 0, lhs)?;
        let shape = contract(&call, lhs, rhs)?;
        partial::check(what, partial::MATMUL, &operands)?;
        check_inner_splits(lhs, rhs)?;
        let storage = storage::anchor(what, &operands)?;
        let layout = match place::propagate(what, cx, &call, &shape)? {
            Some(shard) => Some(TensorLayout::Shard(shard)),
            None => match layout::common_placement(what, &operands)? {
                Some(shard) => Some(layout::broadcast_on(cx, shard, &shape)?),
                None => layout::or_c_order(cx, None, &shape, storage),
            },
        };
        Ok(cx.tensor(&shape, lhs.dtype, layout, storage))
    }
}

impl AccessRule for MatMul {
    /// Domain: batch axes, M, N, K.
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let split = |operand| split_batch(operand::shape(operand));
        let (Some((lhs, [m, k])), Some((rhs, [_, n]))) = (split(call.lhs()), split(call.rhs())) else {
            return Vec::new();
        };
        let Ok(mut shape) = broadcast::broadcast(lhs, rhs) else { return Vec::new() };
        let rank = shape.len();
        let read = |own, other, matrix: [usize; 2]| {
            let mut axes = broadcast::access(own, &[other], rank);
            axes.extend(matrix.map(AxisAccess::Proj));
            axes
        };
        shape.extend([m, n]);
        let product = AccessRelation::to(&shape).dim(k).sums([rank + 2]);
        vec![product.reads(0, read(lhs, rhs, [rank, rank + 2])).reads(1, read(rhs, lhs, [rank + 2, rank + 1]))]
    }
}

impl EvalRule for MatMul {
    fn eval<'c>(_: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let (lhs, rhs) = (operand::value::<Self>(operands, 0)?, operand::value::<Self>(operands, 1)?);
        lhs.matmul(rhs).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<MatMul>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Context, Diagnostic, Expr, Meta};
    use tf_types::{Arena, DType, Storage, TensorLayout, Type};

    use super::MatMul;
    use crate::test_util::{context, dims, factored, mesh, placed, placement, plain, var};

    fn infer<'c>(cx: &Context<'c>, lhs: Expr<'c>, rhs: Expr<'c>) -> Result<Type<'c>, Diagnostic> {
        cx.call(MatMul::new(cx), &[lhs, rhs], Meta::default()).map(Expr::ty)
    }

    #[test]
    fn shapes() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |lhs, rhs| {
            infer(cx, plain(cx, "a", lhs, DType::BF16), plain(cx, "b", rhs, DType::BF16)).unwrap().to_string()
        };
        assert_eq!(of("5 7", "7 3"), r#"Tensor[(5, 3), "bf16"]"#);
        assert_eq!(of("2 1 3 4", "5 4 2"), r#"Tensor[(2, 5, 3, 2), "bf16"]"#);
        assert_eq!(of("S 4", "4 S"), r#"Tensor[(S, S), "bf16"]"#);
    }

    #[test]
    fn refusals() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |lhs, rhs, dtype| infer(cx, plain(cx, "h", lhs, dtype), plain(cx, "w_down", rhs, dtype)).unwrap_err();
        let error = of("8 64", "32 16", DType::BF16);
        assert_eq!(error.message, "`tf.matmul` contracts 64 with 32");
        let notes: Vec<_> = error.notes.iter().map(|(_, text)| text.as_str()).collect();
        let want = [
            r#"operand 0: Tensor[(8, 64), "bf16"]: axis 1 is 64"#,
            r#"operand 1: Tensor[(32, 16), "bf16"]: axis 0 is 32"#,
        ];
        assert_eq!(notes, want);
        assert_eq!(error.help.unwrap(), "declare `w_down` as (…, 64, n)");
        let transposed = of("8 64", "32 64", DType::BF16).help.unwrap();
        assert_eq!(transposed, "transpose `w_down`, or declare it as (…, 64, n)");
        assert_eq!(of("8", "8 2", DType::F32).message, "`tf.matmul` takes operands of rank 2 or more, found rank 1");
        assert_eq!(of("4 4", "4 4", DType::Bool).message, "`tf.matmul` takes floats or integers, found bool");
        assert_eq!(
            of("2 4 4", "3 4 4", DType::F32).message,
            "`tf.matmul` cannot broadcast the batch axes (2,) and (3,): 2 meets 3"
        );
    }

    #[test]
    fn placements() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=4");
        let of = |lhs, a, rhs, b| infer(cx, placed(cx, "a", lhs, a, m), placed(cx, "b", rhs, b, m));
        assert_eq!(placement(of("16 32", "S1", "32 64", "S0").unwrap()), "(16, 64):(64, 1) Psum");
        assert_eq!(placement(of("16 32", "S0", "32 64", "B").unwrap()), "(4, 4, 64):(256, 64, 1) S0");
        assert_eq!(placement(of("16 32", "B", "32 64", "S1").unwrap()), "(16, 4, 16):(64, 16, 1) S1");
        assert_eq!(placement(of("16 32", "B", "32 64", "B").unwrap()), "(16, 64):(64, 1) B");
        assert_eq!(placement(of("16 32", "Psum", "32 64", "B").unwrap()), "(16, 64):(64, 1) Psum");
        assert_eq!(placement(of("8 16 32", "S0", "8 32 64", "S0").unwrap()), "(4, 2, 16, 64):(2048, 1024, 64, 1) S0");
        let error = of("16 32", "S1", "32 64", "B").unwrap_err().message;
        assert_eq!(
            error,
            "`tf.matmul` contracts over an axis that `w` splits on the left and nothing on the right; both sides must be \
             split alike"
        );
        assert!(of("16 32", "Psum", "32 64", "Psum").unwrap_err().message.starts_with("`tf.matmul` keeps P(\"sum\")"));
        assert!(of("16 32", "Pmax", "32 64", "B").unwrap_err().message.contains("P(\"max\")"));
        assert!(of("16 32", "S0", "32 64", "S1").unwrap_err().message.contains("`w`"));
        // Blocks on one side, interleaved on the other: each position holds other elements of K.
        let shard = factored(cx, "8 4 64", "S1", m);
        let rhs = cx.tensor(&dims(cx, "32 64"), DType::F32, Some(TensorLayout::Shard(shard)), Storage::Rmem);
        assert!(infer(cx, placed(cx, "a", "16 32", "S1", m), var(cx, "b", rhs)).is_err());
        // Without a placement an operand in registers is row-major.
        let bare = |shape| var(cx, "x", cx.tensor(&dims(cx, shape), DType::F32, None, Storage::Rmem));
        let product = infer(cx, bare("2 3"), bare("3 4")).unwrap();
        assert_eq!(product.to_string(), r#"Tensor[(2, 4), "f32", (2, 4):(4, 1), "rmem"]"#);
    }
}
