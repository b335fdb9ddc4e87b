//! `layer_norm`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::{AccessRelation, AxisAccess};
use tf_types::{DType, DimTuple, TensorType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError, normalize_axis};

use crate::rules::{axis, layout, operand, partial};

/// `out = (x - mean) * rsqrt(mean((x - mean)^2) + eps) * weight + bias`, means over the axes from `axis` on; computed in f32
/// and rounded once to the dtype of `x`.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f16"], w: Tensor[(6,), "f32"], b: Tensor[(6,), "f32"]):
///     return tf.layer_norm(x, w, b, axis=-1, eps=1e-5)
/// ```
#[op(dialect = "tf", category = "nn")]
pub struct LayerNorm {
    /// The operand: f32, f16 or bf16; the normalised axes are whole on every position.
    #[input(Tensor)]
    x: (),
    /// Of the shape of the normalised axes; the dtype of `x`, or f32.
    #[input(Tensor)]
    weight: (),
    /// As `weight`.
    #[input(Tensor)]
    bias: (),
    /// The first normalised axis; a negative one counts from the end.
    axis: i64,
    /// Added to the variance.
    eps: f64,
}

fn check_dtypes(what: &str, [x, weight, bias]: [&TensorType<'_>; 3]) -> Result<(), RuleError> {
    if !matches!(x.dtype, DType::F32 | DType::F16 | DType::BF16) {
        return Err(RuleError::new(format!("{what} takes f32, f16 or bf16, found {}", x.dtype))
            .operand(0, format!("{x}"))
            .with_help("cast to one of these float dtypes first"));
    }
    if weight.dtype != bias.dtype {
        return Err(RuleError::new(format!(
            "{what} takes a weight and a bias of one dtype, found {} and {}",
            weight.dtype, bias.dtype
        ))
        .operand(1, format!("{weight}"))
        .operand(2, format!("{bias}"))
        .with_help("cast one of them"));
    }
    if weight.dtype != x.dtype && weight.dtype != DType::F32 {
        let own = if x.dtype == DType::F32 { "f32".to_owned() } else { format!("{} or f32", x.dtype) };
        return Err(RuleError::new(format!(
            "{what} of {} takes a weight and a bias of {own}, found {}",
            x.dtype, weight.dtype
        ))
        .operand(0, format!("{x}"))
        .operand(1, format!("{weight}"))
        .operand(2, format!("{bias}"))
        .with_help("cast the weight and the bias, or the operand"));
    }
    Ok(())
}

/// The normalised axes must be whole on every position.
fn check_whole(what: &str, x: &TensorType<'_>, first: usize) -> Result<(), RuleError> {
    let Some(shard) = x.shard() else { return Ok(()) };
    let split = shard.split_target_axes(x.shape);
    let Some(mesh_axis) = split.iter().position(|axis| axis.is_some_and(|axis| axis >= first)) else { return Ok(()) };
    let (axis, name) = (split[mesh_axis].unwrap_or(first), shard.mesh.axis_name(mesh_axis));
    Err(RuleError::new(format!("{what} normalises axis {axis}, which is split over mesh axis `{name}`"))
        .operand(0, format!("{x}"))
        .with_help(format!("reshard the operand so that axis {axis} is whole")))
}

impl TypeRule for LayerNorm {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let what = "`tf.layer_norm`";
        let operands = [operand::tensor(&call, 0)?, operand::tensor(&call, 1)?, operand::tensor(&call, 2)?];
        let [x, ..] = operands;
        let first = axis::of_operand(what, 0, x, ("axis", call.axis()))?;
        check_dtypes(what, operands)?;
        let normalised = &x.shape[first..];
        for (index, name) in [(1, "weight"), (2, "bias")] {
            let affine = operands[index];
            if affine.shape != normalised {
                let (normalised, found) = (DimTuple(normalised), DimTuple(affine.shape));
                return Err(RuleError::new(format!("{what} normalises {normalised}, but the {name} has {found}"))
                    .operand(0, format!("{x}: normalised from axis {first}"))
                    .operand(index, format!("{affine}"))
                    .with_help(format!("the {name} must have the shape {normalised}")));
            }
        }
        partial::check(what, partial::NONE, &operands)?;
        check_whole(what, x, first)?;
        Ok(cx.tensor(x.shape, x.dtype, layout::same(cx, x), x.storage))
    }
}

impl AccessRule for LayerNorm {
    /// Domain: the result, then the normalised axes.
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let shape = operand::shape(call.x());
        let rank = shape.len();
        let Ok(first) = normalize_axis(call.axis(), rank) else { return Vec::new() };
        let read = |axis| AxisAccess::Proj(if axis < first { axis } else { rank + axis - first });
        let affine = || (first..rank).map(AxisAccess::Proj).collect();
        let scanned = shape[first..].iter().fold(AccessRelation::to(shape), |relation, &extent| relation.dim(extent));
        vec![scanned.reads(0, (0..rank).map(read).collect()).reads(1, affine()).reads(2, affine())]
    }
}

impl EvalRule for LayerNorm {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let x = operand::take::<Self>(operands, 0)?;
        let of = |index| operand::value::<Self>(operands, index);
        x.layer_norm(of(1)?, of(2)?, call.axis(), call.eps()).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<LayerNorm>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Context, Expr, Meta};
    use tf_types::{Arena, DType, Type};

    use super::LayerNorm;
    use crate::test_util::{context, mesh, placed, plain};

    fn infer<'c>(cx: &Context<'c>, operands: [Expr<'c>; 3], axis: i64) -> Result<Type<'c>, String> {
        let call = cx.call(LayerNorm::new(cx, axis, 1e-5), &operands, Meta::default());
        call.map(Expr::ty).map_err(|e| e.message)
    }

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |x: (&str, DType), w: (&str, DType), b: (&str, DType), axis| {
            let operands = [("x", x), ("w", w), ("b", b)].map(|(name, (shape, dtype))| plain(cx, name, shape, dtype));
            infer(cx, operands, axis).map(|ty| assert_eq!(ty, operands[0].ty()))
        };
        let (f32, bf16) = (DType::F32, DType::BF16);
        assert_eq!(of(("2 S 5", f32), ("S 5", f32), ("S 5", f32), 1), Ok(()));
        assert_eq!(of(("2 S 5", bf16), ("5", f32), ("5", f32), -1), Ok(()));
        assert_eq!(
            of(("4 6", f32), ("4", f32), ("4", f32), 1).unwrap_err(),
            "`tf.layer_norm` normalises (6,), but the weight has (4,)"
        );
        assert_eq!(
            of(("4 6", f32), ("6", f32), ("1 6", f32), 1).unwrap_err(),
            "`tf.layer_norm` normalises (6,), but the bias has (1, 6)"
        );
        let refusal = |x, w, b| of(("4 6", x), ("6", w), ("6", b), 1).unwrap_err();
        assert_eq!(refusal(DType::I32, f32, f32), "`tf.layer_norm` takes f32, f16 or bf16, found i32");
        assert_eq!(refusal(DType::Fp8E4M3, f32, f32), "`tf.layer_norm` takes f32, f16 or bf16, found fp8e4m3");
        assert_eq!(
            refusal(bf16, bf16, f32),
            "`tf.layer_norm` takes a weight and a bias of one dtype, found bf16 and f32"
        );
        assert_eq!(refusal(f32, bf16, bf16), "`tf.layer_norm` of f32 takes a weight and a bias of f32, found bf16");
        assert_eq!(
            of(("4 6", f32), ("6", f32), ("6", f32), 2).unwrap_err(),
            "`tf.layer_norm` has no axis 2: the operand has rank 2"
        );
    }

    #[test]
    fn placements() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=4 t=2");
        let affine = plain(cx, "w", "64", DType::F32);
        let of = |states| {
            let x = placed(cx, "x", "16 64", states, m);
            infer(cx, [x, affine, affine], 1).map(|ty| assert_eq!(ty, x.ty()))
        };
        assert_eq!((of("S0 S0"), of("B S0")), (Ok(()), Ok(())));
        assert_eq!(of("S0 S1").unwrap_err(), "`tf.layer_norm` normalises axis 1, which is split over mesh axis `t`");
        let refusal = "`tf.layer_norm` cannot take unreduced terms, but `w` holds P(\"sum\")";
        assert_eq!(of("Psum B").unwrap_err(), refusal);
        let (x, terms) = (placed(cx, "x", "16 64", "S0 B", m), placed(cx, "b", "64", "Psum B", m));
        assert_eq!(infer(cx, [x, affine, terms], 1).unwrap_err(), refusal);
    }
}
