//! `transpose`.

use tf_core::op::attr::Ints;
use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::{AccessRelation, AxisAccess, identity};
use tf_types::{Layout, OuterLayout, TensorLayout, TensorType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError, normalize_axis};

use crate::rules::{layout, operand, place};

const WHAT: &str = "`tf.transpose`";

/// `out[i[perm[0]], i[perm[1]], …] = x[i]`: axis `a` of the result is axis `perm[a]` of `x`.
///
/// ```python
/// def f(x: Tensor[(2, 4, 6), "f32"]):
///     return tf.transpose(x, perm=(1, 0, 2))
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct Transpose {
    /// The operand.
    #[input(Tensor)]
    x: (),
    /// Every axis of `x` once; negative ones count from the end.
    perm: Ints,
}

/// The permutation with axes counted from 0.
fn permutation(x: &TensorType<'_>, perm: &[i64]) -> Result<Vec<usize>, RuleError> {
    let refuse = |message: String| {
        Err(RuleError::new(message)
            .operand(0, format!("{x}"))
            .attr("perm")
            .with_help("perm names every axis of the operand once"))
    };
    if perm.len() != x.rank() {
        return refuse(format!(
            "{WHAT} of rank {} takes a perm of as many axes, found {} in {perm:?}",
            x.rank(),
            perm.len()
        ));
    }
    let mut axes = Vec::with_capacity(perm.len());
    for &axis in perm {
        let Ok(from_start) = normalize_axis(axis, x.rank()) else {
            return refuse(format!(
                "{WHAT} has no axis {axis}, found in perm {perm:?}: the operand has rank {}",
                x.rank()
            ));
        };
        if axes.contains(&from_start) {
            return refuse(format!("{WHAT} names axis {from_start} twice, perm is {perm:?}"));
        }
        axes.push(from_start);
    }
    Ok(axes)
}

/// A plain layout with its axes permuted; `None` for one that does not list the tensor's axes.
fn permuted<'c>(cx: &Context<'c>, layout: Layout<'c>, perm: &[usize]) -> Option<Layout<'c>> {
    if layout.rank() != perm.len() {
        return None;
    }
    let shape: Vec<_> = perm.iter().map(|&axis| layout.shape()[axis]).collect();
    let strides: Option<Vec<_>> = layout.strides().map(|strides| perm.iter().map(|&axis| strides[axis]).collect());
    Some(cx.layout(&shape, strides.as_deref()))
}

impl TypeRule for Transpose {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let x = operand::tensor(&call, 0)?;
        let perm = permutation(x, call.perm())?;
        let shape: Vec<_> = perm.iter().map(|&axis| x.shape[axis]).collect();
        let placed = place::propagate(WHAT, cx, &call, &shape)?;
        let layout = match (placed, x.shard(), x.layout) {
            (Some(shard), ..) => Some(TensorLayout::Shard(shard)),
            (None, Some(shard), _) => Some(layout::broadcast_on(cx, shard, &shape)?),
            (None, None, Some(TensorLayout::Plain(layout))) => permuted(cx, layout, &perm).map(TensorLayout::Plain),
            (None, None, Some(TensorLayout::Composed(view))) => match (view.inner, view.outer) {
                (None, Some(OuterLayout::Plain(layout))) => permuted(cx, layout, &perm).map(|layout| {
                    let outer = Some(OuterLayout::Plain(layout));
                    TensorLayout::Composed(cx.composed_layout(None, view.offset, outer))
                }),
                _ => None,
            },
            (None, None, _) => None,
        };
        Ok(cx.tensor(&shape, x.dtype, layout, x.storage))
    }
}

impl AccessRule for Transpose {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let shape = operand::shape(call.x());
        let perm = call.perm().iter().filter_map(|&axis| normalize_axis(axis, shape.len()).ok());
        let result = perm.map(AxisAccess::Proj).collect();
        vec![AccessRelation::over(shape).reads(0, identity(shape.len())).writes(result)]
    }
}

impl EvalRule for Transpose {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let x = operand::value::<Self>(operands, 0)?;
        let perm = call.perm().iter().map(|&axis| normalize_axis(axis, x.rank())).collect::<Result<Vec<_>, _>>()?;
        x.permute(&perm).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Transpose>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Context, Diagnostic, Expr, Meta};
    use tf_types::{Arena, DType, OuterLayout, Storage, TensorLayout, Type};

    use super::Transpose;
    use crate::test_util::{context, dims, factored, mesh, placed, placement, plain, var};

    fn infer<'c>(cx: &Context<'c>, x: Expr<'c>, perm: &[i64]) -> Result<Type<'c>, Diagnostic> {
        cx.call(Transpose::new(cx, cx.alloc_slice(perm)), &[x], Meta::default()).map(|e| e.ty())
    }

    #[test]
    fn shapes_and_plain_layouts() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |x, perm: &[i64]| infer(cx, x, perm).unwrap().to_string();
        assert_eq!(of(plain(cx, "x", "2 S 4", DType::I32), &[2, 0, -2]), r#"Tensor[(4, 2, S), "i32"]"#);
        assert_eq!(of(plain(cx, "x", "", DType::I32), &[]), r#"Tensor[(), "i32"]"#);
        let layout = cx.layout(&dims(cx, "4 6"), Some(&dims(cx, "1 4")));
        let on = |layout| var(cx, "x", cx.tensor(&dims(cx, "4 6"), DType::F32, Some(layout), Storage::Smem));
        assert_eq!(of(on(TensorLayout::Plain(layout)), &[1, 0]), r#"Tensor[(6, 4), "f32", (6, 4):(4, 1), "smem"]"#);
        let view = cx.composed_layout(None, cx.dim(5), Some(OuterLayout::Plain(layout)));
        assert_eq!(
            of(on(TensorLayout::Composed(view)), &[1, 0]),
            r#"Tensor[(6, 4), "f32", (6, 4):(4, 1) + 5, "smem"]"#
        );
        let vector = var(cx, "v", cx.umat_tensor(&dims(cx, "3"), DType::I64));
        assert_eq!(of(vector, &[0]), r#"Tensor[(3,), "i64", "umat"]"#);
    }

    #[test]
    fn refusals() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |perm: &[i64]| infer(cx, plain(cx, "x", "4 6", DType::F32), perm).unwrap_err().message;
        assert_eq!(of(&[0, 1, 2]), "`tf.transpose` of rank 2 takes a perm of as many axes, found 3 in [0, 1, 2]");
        assert_eq!(of(&[0, 0]), "`tf.transpose` names axis 0 twice, perm is [0, 0]");
        assert_eq!(of(&[1, -1]), "`tf.transpose` names axis 1 twice, perm is [1, -1]");
        assert_eq!(of(&[0, 2]), "`tf.transpose` has no axis 2, found in perm [0, 2]: the operand has rank 2");
    }

    #[test]
    fn placements() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=4");
        let shard = Some(TensorLayout::Shard(factored(cx, "4 4 128", "S0", m)));
        let x = var(cx, "x", cx.tensor(&dims(cx, "16 128"), DType::F32, shard, Storage::Rmem));
        let of = |x| placement(infer(cx, x, &[1, 0]).unwrap());
        assert_eq!(of(x), "(128, 4, 4):(1, 512, 128) S1");
        assert_eq!(of(placed(cx, "x", "16 64", "B", m)), "(64, 16):(16, 1) B");
        assert_eq!(of(placed(cx, "x", "16 64", "Psum", m)).split(' ').next_back(), Some("Psum"));
    }
}
