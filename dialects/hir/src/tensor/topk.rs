//! `topk`.

use tf_core::op::attr::DimAttr;
use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::{AccessRelation, AxisAccess, identity};
use tf_types::{DType, Dim, TensorType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError, extent, normalize_axis};

use crate::rules::{axis, layout, operand, partial, place};

const WHAT: &str = "`tf.topk`";

/// The `k` greatest (or least) elements along an axis, best first, and their i64 indices, as a tuple. NaN is greater than every number;
/// of equal elements the lowest index comes first.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"]):
///     return tf.topk(x, k=2)
/// ```
#[op(dialect = "tf", category = "tensor", name = "topk")]
pub struct TopK {
    /// The operand.
    #[input(Tensor)]
    x: (),
    /// How many, at most the axis's extent.
    k: DimAttr,
    /// The axis that is searched; a negative one counts from the end.
    #[default(-1)]
    axis: i64,
    /// The greatest, or the least.
    #[default(true)]
    largest: bool,
    /// Whether the order matters; it is the sorted one either way.
    #[default(true)]
    sorted: bool,
}

/// Refuses a `k` that is negative, or can exceed a static axis, or must exceed a symbolic one.
fn check_k<'c>(cx: &Context<'c>, x: &TensorType<'c>, along: usize, k: Dim<'c>) -> Result<(), RuleError> {
    let refuse = |message: String| {
        Err(RuleError::new(message)
            .operand(0, format!("{x}: axis {along} is {}", x.shape[along]))
            .attr("k")
            .with_help("k goes from 0 to the extent of the axis"))
    };
    if cx.dim_range(k).is_some_and(|(_, hi)| hi <= 0) {
        return refuse(format!("{WHAT} takes no negative k, found {k}"));
    }
    let extent = x.shape[along];
    let most = cx.upper_bound(k);
    if let (Some(most), Some(extent)) = (most, extent.as_const())
        && most > extent
    {
        let up_to = if k.as_const().is_some() { String::new() } else { format!(", which reaches {most},") };
        return refuse(format!("{WHAT} of k = {k}{up_to} exceeds axis {along} of extent {extent}"));
    }
    match cx.dim_range(cx.dim_sub(k, extent)) {
        Some((least, _)) if least > 0 => refuse(format!("{WHAT} of k = {k} exceeds axis {along} of extent {extent}")),
        _ => Ok(()),
    }
}

impl TypeRule for TopK {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let (x, k) = (operand::tensor(&call, 0)?, cx.simplify(call.k()));
        let along = axis::of_operand(WHAT, 0, x, ("axis", call.axis()))?;
        check_k(cx, x, along, k)?;
        partial::check(WHAT, partial::NONE, &[x])?;
        axis::whole(WHAT, 0, x, along)?;
        if k.as_const().is_none() && x.shard().is_some_and(|shard| shard.is_sharded()) {
            return Err(RuleError::new(format!("{WHAT} of a split value takes an integer k, found {k}"))
                .operand(0, format!("{x}"))
                .attr("k")
                .with_help("reshard the operand to Broadcast first"));
        }
        let mut shape = x.shape.to_vec();
        shape[along] = k;
        let layout = layout::in_new_buffer(cx, place::propagate(WHAT, cx, &call, &shape)?, x, &shape)?;
        let field = |dtype| cx.tensor(&shape, dtype, layout, x.storage);
        Ok(cx.tuple(&[field(x.dtype), field(DType::I64)]))
    }
}

impl AccessRule for TopK {
    /// Domain: the result's axes, then the axis that is searched.
    fn access<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let x = operand::shape(call.x());
        let Ok(along) = normalize_axis(call.axis(), x.len()) else { return Vec::new() };
        let (mut shape, mut read) = (x.to_vec(), identity(x.len()));
        shape[along] = cx.simplify(call.k());
        read[along] = AxisAccess::Proj(x.len());
        let found = AccessRelation::to(&shape).dim(x[along]).reads(0, read).fresh();
        vec![found.clone(), found.to_field(1)]
    }
}

impl EvalRule for TopK {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], cx: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let k = extent(call.k(), cx.dims)?;
        let count =
            usize::try_from(k).map_err(|_| ValueError::new(format!("{WHAT} takes no negative k, found {k}")))?;
        let (values, indices) = operand::value::<Self>(operands, 0)?.topk(count, call.axis(), call.largest())?;
        Ok(Value::Tuple(vec![values.into(), indices.into()]))
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<TopK>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Context, Diagnostic, Expr, Meta};
    use tf_types::{Arena, DType, Storage, TensorLayout, Type, TypeKind};

    use super::TopK;
    use crate::test_util::{context, dims, mesh, placed, placement, plain, var};

    fn infer<'c>(cx: &Context<'c>, x: Expr<'c>, k: &str, axis: i64) -> Result<Type<'c>, Diagnostic> {
        let op = TopK::new(cx, dims(cx, k)[0], axis, true, true);
        cx.call(op, &[x], Meta::default()).map(|e| e.ty())
    }

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |x, k, axis| infer(cx, x, k, axis).unwrap().to_string();
        assert_eq!(of(plain(cx, "x", "4 S", DType::F16), "2", 0), r#"(Tensor[(2, S), "f16"], Tensor[(2, S), "i64"])"#);
        assert_eq!(of(plain(cx, "x", "S 4", DType::F32), "S", 0), r#"(Tensor[(S, 4), "f32"], Tensor[(S, 4), "i64"])"#);
        assert!(of(plain(cx, "x", "2000", DType::I32), "S", -1).starts_with("(Tensor[(S,)"));
        let layout = Some(TensorLayout::Plain(cx.layout(&dims(cx, "4 6"), Some(&dims(cx, "1 4")))));
        let strided = var(cx, "x", cx.tensor(&dims(cx, "4 6"), DType::F32, layout, Storage::Gmem));
        assert!(of(strided, "0", 1).starts_with(r#"(Tensor[(4, 0), "f32", (4, 0):(0, 1)]"#));
    }

    #[test]
    fn refusals() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |shape, k, axis| infer(cx, plain(cx, "x", shape, DType::F32), k, axis).unwrap_err().message;
        assert_eq!(of("4 6", "7", -1), "`tf.topk` of k = 7 exceeds axis 1 of extent 6");
        assert_eq!(of("4 6", "-1", 0), "`tf.topk` takes no negative k, found -1");
        assert_eq!(of("4 6", "S", 0), "`tf.topk` of k = S, which reaches 1024, exceeds axis 0 of extent 4");
        assert_eq!(of("S", "2000", 0), "`tf.topk` of k = 2000 exceeds axis 0 of extent S");
        assert_eq!(of("4", "1", 1), "`tf.topk` has no axis 1: the operand has rank 1");
    }

    #[test]
    fn placements() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=4");
        let of = |states, k, axis| match *infer(cx, placed(cx, "x", "16 64", states, m), k, axis)
            .map_err(|e| e.message)?
            .data()
        {
            TypeKind::Tuple(&[values, indices]) => {
                assert_eq!(placement(values), placement(indices));
                Ok(placement(values))
            }
            _ => Err("no pair".to_owned()),
        };
        assert_eq!(of("S0", "2", 1).unwrap(), "(4, 4, 2):(8, 2, 1) S0");
        assert_eq!(of("B", "2", 0).unwrap(), "(2, 64):(64, 1) B");
        assert_eq!(of("S1", "2", 1).unwrap_err(), "`tf.topk` needs axis 1 whole, but it is split over mesh axis `w`");
        assert!(of("Psum", "2", 1).unwrap_err().contains("unreduced terms"));
        let tall = placed(cx, "x", "16 2000", "S0", m);
        let error = infer(cx, tall, "S", 1).unwrap_err().message;
        assert_eq!(error, "`tf.topk` of a split value takes an integer k, found S");
    }
}
