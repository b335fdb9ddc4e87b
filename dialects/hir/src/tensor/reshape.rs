//! `reshape`.

use tf_core::op::attr::Dims;
use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::AccessRelation;
use tf_types::{Dim, DimTuple, Layout, OuterLayout, Storage, TensorLayout, TensorType, Type, same_element_count};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError, extent};

use crate::rules::{layout, operand};

const WHAT: &str = "`tf.reshape`";

/// The elements of `x` in row-major order, in another shape of as many elements.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"]):
///     return tf.reshape(x, new_shape=(3, 8))
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct Reshape {
    /// The operand.
    #[input(Tensor)]
    x: (),
    /// The result's extents.
    new_shape: Dims,
}

/// Refuses another number of elements wherever that is known.
fn check_count<'c>(cx: &Context<'c>, x: &TensorType<'c>, shape: &[Dim<'c>]) -> Result<(), RuleError> {
    if let Some(axis) = shape.iter().position(|extent| extent.as_const().is_some_and(|extent| extent < 0)) {
        return Err(RuleError::new(format!("{WHAT} takes no negative extent, found {} on axis {axis}", shape[axis]))
            .attr("new_shape")
            .with_help("every extent is stated: none is derived from the others"));
    }
    let (old, new) = (cx.product(x.shape), cx.product(shape));
    let differ = match (old.as_const(), new.as_const()) {
        (Some(old), Some(new)) => old != new,
        _ if same_element_count(x.shape, shape) => false,
        _ => cx.dim_range(cx.dim_sub(old, new)).is_some_and(|(lo, hi)| lo > 0 || hi <= 0),
    };
    if !differ {
        return Ok(());
    }
    Err(RuleError::new(format!(
        "{WHAT} of {} to {}: {old} elements cannot become {new}",
        DimTuple(x.shape),
        DimTuple(shape)
    ))
    .operand(0, format!("{x}"))
    .attr_with("new_shape", format!("{new} elements"))
    .with_help("the product of the extents must stay"))
}

/// Whether a plain layout lists the elements of `shape` in row-major order.
fn is_row_major<'c>(cx: &Context<'c>, layout: Layout<'c>, shape: &[Dim<'c>]) -> bool {
    layout.strides().is_none() || layout == cx.c_order_layout(shape)
}

impl TypeRule for Reshape {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let x = operand::tensor(&call, 0)?;
        let shape = cx.normal_dims(call.new_shape());
        check_count(cx, x, shape)?;
        if shape.is_empty() && x.storage == Storage::Umat {
            return Ok(cx.umat_scalar(x.dtype));
        }
        let plain = match x.layout {
            Some(TensorLayout::Plain(layout)) => Some(layout),
            Some(TensorLayout::Composed(view)) => match (view.inner, view.outer) {
                (None, Some(OuterLayout::Plain(layout))) => Some(layout),
                _ => None,
            },
            _ => None,
        };
        let layout = match (layout::of_new_value(x), plain) {
            (Some(TensorLayout::Shard(shard)), _) => cx
                .reshape_shard(shard, x.shape, shape)
                .map_err(|e| {
                    RuleError { message: format!("{WHAT}: {}", e.message), ..e.into() }.operand(0, format!("{x}"))
                })?
                .map(TensorLayout::Shard),
            (_, Some(layout)) if is_row_major(cx, layout, x.shape) => {
                Some(TensorLayout::Plain(cx.c_order_layout(shape)))
            }
            _ => None,
        };
        Ok(cx.tensor(shape, x.dtype, layout, x.storage))
    }
}

impl AccessRule for Reshape {
    fn access<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let shape = cx.normal_dims(call.new_shape());
        vec![AccessRelation::to(shape).reads(0, cx.row_major(0, shape, operand::shape(call.x())))]
    }
}

impl EvalRule for Reshape {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], cx: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let value = |&dim| {
            let value = extent(dim, cx.dims)?;
            usize::try_from(value)
                .map_err(|_| ValueError::new(format!("{WHAT} takes no negative extent, found {value}")))
        };
        let shape = call.new_shape().iter().map(value).collect::<Result<Vec<_>, _>>()?;
        operand::value::<Self>(operands, 0)?.reshape(&shape).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Reshape>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Context, Diagnostic, Expr, Meta};
    use tf_types::{Arena, DType, OuterLayout, Storage, TensorLayout, Type};

    use super::Reshape;
    use crate::test_util::{context, dims, factored, mesh, placed, placement, plain, var};

    fn infer<'c>(cx: &Context<'c>, x: Expr<'c>, shape: &str) -> Result<Type<'c>, Diagnostic> {
        cx.call(Reshape::new(cx, cx.dims(&dims(cx, shape))), &[x], Meta::default()).map(|e| e.ty())
    }

    #[test]
    fn element_counts() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of =
            |old, new| infer(cx, plain(cx, "x", old, DType::F32), new).map(|ty| ty.to_string()).map_err(|e| e.message);
        assert_eq!(of("2 6", "3 4").unwrap(), r#"Tensor[(3, 4), "f32"]"#);
        assert_eq!(of("1", "").unwrap(), r#"Tensor[(), "f32"]"#);
        assert_eq!(of("0 4", "2 0 2").unwrap(), r#"Tensor[(2, 0, 2), "f32"]"#);
        assert_eq!(of("S 8", "S 2 4").unwrap(), r#"Tensor[(S, 2, 4), "f32"]"#);
        assert_eq!(of("S T", "T S").unwrap(), r#"Tensor[(T, S), "f32"]"#);
        assert!(of("S", "T").is_ok(), "found out at run time");
        assert_eq!(of("4 6", "5 5").unwrap_err(), "`tf.reshape` of (4, 6) to (5, 5): 24 elements cannot become 25");
        assert_eq!(
            of("S 8", "S 4").unwrap_err(),
            "`tf.reshape` of (S, 8) to (S, 4): 8 * S elements cannot become 4 * S"
        );
        assert_eq!(of("S 4", "0").unwrap_err(), "`tf.reshape` of (S, 4) to (0,): 4 * S elements cannot become 0");
        assert_eq!(of("4 6", "-1 6").unwrap_err(), "`tf.reshape` takes no negative extent, found -1 on axis 0");
    }

    #[test]
    fn plain_layouts() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let on = |layout, storage| var(cx, "x", cx.tensor(&dims(cx, "4 6"), DType::F32, Some(layout), storage));
        let strided = |strides: &str| cx.layout(&dims(cx, "4 6"), Some(&dims(cx, strides)));
        let of = |x, shape| infer(cx, x, shape).unwrap().to_string();
        let row_major = r#"Tensor[(24,), "f32", (24,):(1,), "smem"]"#;
        assert_eq!(of(on(TensorLayout::Plain(strided("6 1")), Storage::Smem), "24"), row_major);
        assert_eq!(of(on(TensorLayout::Plain(cx.layout(&dims(cx, "4 6"), None)), Storage::Smem), "24"), row_major);
        assert_eq!(of(on(TensorLayout::Plain(strided("1 4")), Storage::Smem), "24"), r#"Tensor[(24,), "f32", "smem"]"#);
        let view =
            TensorLayout::Composed(cx.composed_layout(None, cx.dim(5), Some(OuterLayout::Plain(strided("6 1")))));
        assert_eq!(of(on(view, Storage::Smem), "24"), row_major);
        let literal = var(cx, "n", cx.scalar(DType::I64));
        assert_eq!(infer(cx, literal, "").unwrap(), cx.umat_scalar(DType::I64));
        let vector = var(cx, "n", cx.umat_tensor(&dims(cx, "1"), DType::I64));
        assert_eq!(infer(cx, vector, "").unwrap(), cx.umat_scalar(DType::I64));
    }

    #[test]
    fn placements() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=4");
        let shard = Some(TensorLayout::Shard(factored(cx, "4 4 128", "S0", m)));
        let x = var(cx, "x", cx.tensor(&dims(cx, "16 128"), DType::F32, shard, Storage::Rmem));
        let of = |shape| infer(cx, x, shape).map(placement).map_err(|e| e.message);
        assert_eq!(of("16 4 32").unwrap(), "(4, 4, 4, 32):(512, 128, 32, 1) S0");
        assert_eq!(of("8 2 128").unwrap(), "(4, 2, 2, 128):(512, 256, 128, 1) S0");
        assert_eq!(of("2048").unwrap(), "(4, 4, 128):(512, 128, 1) S0");
        let error = of("2 8 128").unwrap_err();
        assert!(error.starts_with("`tf.reshape`: a reshape to (2, 8, 128) cannot keep the placement"), "{error}");
        let term = placed(cx, "t", "16 128", "Psum", m);
        assert_eq!(placement(infer(cx, term, "2048").unwrap()).split(' ').next_back(), Some("Psum"));
        let whole = placed(cx, "x", "16 128", "B", m);
        assert_eq!(placement(infer(cx, whole, "32 64").unwrap()).split(' ').next_back(), Some("B"));
    }
}
