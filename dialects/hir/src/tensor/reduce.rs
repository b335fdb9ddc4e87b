//! `reduce`.

use tf_core::op::attr::Ints;
use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::{AccessRelation, AxisAccess, identity};
use tf_types::kinds::ReduceKind;
use tf_types::{TensorType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError, normalize_axis};

use crate::rules::dtype::{self, Takes};
use crate::rules::{layout, operand, partial, place};

/// `out[i] = kind over r of x[i, r]`; the reduced axes become 1 (`keepdim`) or disappear.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"]):
///     return tf.reduce(x, axes=(1,), keepdim=False, kind="sum")
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct Reduce {
    /// The operand.
    #[input(Tensor)]
    x: (),
    /// Logical axes; negative ones count from the end.
    axes: Ints,
    /// Keep the reduced axes, as 1.
    #[default(true)]
    keepdim: bool,
    /// How elements are combined.
    #[default(ReduceKind::Mean)]
    kind: ReduceKind,
}

const fn takes(kind: ReduceKind) -> Takes {
    match kind {
        ReduceKind::Mean => Takes::Floats,
        ReduceKind::Sum | ReduceKind::AbsMax => Takes::Numbers,
        ReduceKind::Max => Takes::Any,
    }
}

/// The axes from 0, sorted.
fn reduced_axes(x: &TensorType<'_>, axes: &[i64]) -> Result<Vec<usize>, RuleError> {
    let mut reduced = Vec::with_capacity(axes.len());
    for &axis in axes {
        let Ok(from_start) = normalize_axis(axis, x.rank()) else {
            let range = format!("{} to {}", -(x.rank() as i64), x.rank() as i64 - 1);
            return Err(RuleError::new(format!("`tf.reduce` has no axis {axis}: the operand has rank {}", x.rank()))
                .operand(0, format!("{x}"))
                .attr("axes")
                .with_help(if x.rank() == 0 { "reduce no axes".into() } else { format!("axes go from {range}") }));
        };
        if reduced.contains(&from_start) {
            return Err(RuleError::new(format!("`tf.reduce` names axis {from_start} twice, axes are {axes:?}"))
                .operand(0, format!("{x}"))
                .attr("axes")
                .with_help("name each axis once"));
        }
        reduced.push(from_start);
    }
    reduced.sort_unstable();
    Ok(reduced)
}

impl TypeRule for Reduce {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let (kind, x) = (call.kind(), operand::tensor(&call, 0)?);
        let what = &format!("`tf.reduce` of kind `{kind}`");
        let axes = reduced_axes(x, call.axes())?;
        dtype::check(what, takes(kind), 0, x)?;
        partial::check(what, partial::reduce(kind), &[x])?;
        let kept = |(axis, &extent)| match (axes.contains(&axis), call.keepdim()) {
            (false, _) => Some(extent),
            (true, true) => Some(cx.dim(1)),
            (true, false) => None,
        };
        let shape: Vec<_> = x.shape.iter().enumerate().filter_map(kept).collect();
        let layout = layout::in_new_buffer(cx, place::propagate(what, cx, &call, &shape)?, x, &shape)?;
        Ok(cx.tensor(&shape, x.dtype, layout, x.storage))
    }
}

impl AccessRule for Reduce {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let shape = operand::shape(call.x());
        let axes: Vec<_> = call.axes().iter().filter_map(|&axis| normalize_axis(axis, shape.len()).ok()).collect();
        let kept = |axis: usize| match (axes.contains(&axis), call.keepdim()) {
            (false, _) => Some(AxisAccess::Proj(axis)),
            (true, true) => Some(AxisAccess::Const),
            (true, false) => None,
        };
        let result = (0..shape.len()).filter_map(kept).collect();
        let reduced = AccessRelation::over(shape).reads(0, identity(shape.len())).writes(result);
        vec![reduced.completes(axes).fresh()]
    }
}

impl EvalRule for Reduce {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        operand::value::<Self>(operands, 0)?.reduce(call.axes(), call.keepdim(), call.kind()).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Reduce>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Context, Diagnostic, Expr, Meta};
    use tf_types::kinds::ReduceKind::{self, AbsMax, Max, Mean, Sum};
    use tf_types::{Arena, DType, Storage, TensorLayout, Type};

    use super::Reduce;
    use crate::test_util::{context, dims, factored, mesh, placed, placement, plain, var};

    fn infer<'c>(
        cx: &Context<'c>,
        x: Expr<'c>,
        axes: &[i64],
        keepdim: bool,
        kind: ReduceKind,
    ) -> Result<Type<'c>, Diagnostic> {
        cx.call(Reduce::new(cx, cx.alloc_slice(axes), keepdim, kind), &[x], Meta::default()).map(Expr::ty)
    }

    #[test]
    fn shapes_and_plain_layouts() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let x = plain(cx, "x", "2 S 4", DType::F32);
        let of = |axes: &[i64], keepdim| infer(cx, x, axes, keepdim, Sum).unwrap().to_string();
        assert_eq!(of(&[1], true), r#"Tensor[(2, 1, 4), "f32"]"#);
        assert_eq!(of(&[-1, 0], false), r#"Tensor[(S,), "f32"]"#);
        assert_eq!(of(&[0, 1, 2], false), r#"Tensor[(), "f32"]"#);
        assert_eq!(of(&[], true), r#"Tensor[(2, S, 4), "f32"]"#);
        let layout = Some(TensorLayout::Plain(cx.layout(&dims(cx, "4 6"), Some(&dims(cx, "1 4")))));
        let strided = var(cx, "x", cx.tensor(&dims(cx, "4 6"), DType::F32, layout, Storage::Smem));
        let reduced = infer(cx, strided, &[1], true, Max).unwrap();
        assert_eq!(reduced.to_string(), r#"Tensor[(4, 1), "f32", (4, 1):(1, 1), "smem"]"#);
    }

    #[test]
    fn refusals() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |dtype, axes: &[i64], kind| {
            infer(cx, plain(cx, "x", "4 6", dtype), axes, true, kind).map_err(|e| (e.message, e.help.unwrap()))
        };
        let (message, help) = of(DType::F32, &[5], Mean).unwrap_err();
        assert_eq!(message, "`tf.reduce` has no axis 5: the operand has rank 2");
        assert_eq!(help, "axes go from -2 to 1");
        let (message, _) = of(DType::F32, &[0, -2], Mean).unwrap_err();
        assert_eq!(message, "`tf.reduce` names axis 0 twice, axes are [0, -2]");
        let message = |dtype, kind| of(dtype, &[1], kind).unwrap_err().0;
        assert_eq!(message(DType::I32, Mean), "`tf.reduce` of kind `mean` takes floats, found i32");
        assert_eq!(message(DType::Bool, Sum), "`tf.reduce` of kind `sum` takes floats or integers, found bool");
        assert_eq!(message(DType::Bool, AbsMax), "`tf.reduce` of kind `abs_max` takes floats or integers, found bool");
        assert!(of(DType::Bool, &[1], Max).is_ok() && of(DType::I32, &[1], Sum).is_ok());
    }

    #[test]
    fn placements() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=2 t=32");
        let shard = Some(TensorLayout::Shard(factored(cx, "2 8 32 4", "S0 S2", m)));
        let x = var(cx, "x", cx.tensor(&dims(cx, "16 128"), DType::F32, shard, Storage::Rmem));
        let of = |x, axes: &[i64], keepdim| placement(infer(cx, x, axes, keepdim, Sum).unwrap());
        assert_eq!(of(x, &[1], true), "(2, 8, 1, 1):(8, 1, 0, 0) S0 B");
        assert_eq!(of(x, &[0], false), "(1, 1, 32, 4):(0, 0, 4, 1) B S2");
        let whole = placed(cx, "x", "16 128", "B B", m);
        assert_eq!(of(whole, &[1], true), "(16, 1):(1, 1) B B");
        assert_eq!(of(x, &[0, 1], false).split(' ').next_back(), Some("B"));
        let term = placed(cx, "x", "16 128", "Psum B", m);
        assert_eq!(of(term, &[1], true).split(") ").nth(1), Some("Psum B"));
        assert!(infer(cx, term, &[1], true, Mean).is_ok());
        let error = infer(cx, term, &[1], true, Max).unwrap_err();
        assert_eq!(error.message, "`tf.reduce` of kind `max` cannot take unreduced terms, but `w` holds P(\"sum\")");
        let extreme = placed(cx, "x", "16 128", "Pmax B", m);
        assert!(infer(cx, extreme, &[1], true, Max).is_ok() && infer(cx, extreme, &[1], true, AbsMax).is_err());
    }
}
