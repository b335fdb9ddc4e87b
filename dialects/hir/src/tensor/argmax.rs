//! `argmax`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::{AccessRelation, AxisAccess, identity};
use tf_types::{DType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError, normalize_axis};

use crate::rules::{axis, layout, operand, partial, place};

const WHAT: &str = "`tf.argmax`";

/// `out[i] = first j with the greatest x[i, j]`, i64; the axis disappears. NaN is greater than every number.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"]):
///     return tf.argmax(x, axis=-1)
/// ```
#[op(dialect = "tf", category = "tensor", name = "argmax")]
pub struct ArgMax {
    /// The operand.
    #[input(Tensor)]
    x: (),
    /// The axis that is searched; a negative one counts from the end.
    #[default(-1)]
    axis: i64,
}

impl TypeRule for ArgMax {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let x = operand::tensor(&call, 0)?;
        let along = axis::of_operand(WHAT, 0, x, ("axis", call.axis()))?;
        if x.shape[along].as_const() == Some(0) {
            return Err(RuleError::new(format!("{WHAT} over axis {along} of extent 0 has no value"))
                .operand(0, format!("{x}"))
                .attr("axis")
                .with_help("the axis that is searched has one element or more"));
        }
        partial::check(WHAT, partial::NONE, &[x])?;
        axis::whole(WHAT, 0, x, along)?;
        let mut shape = x.shape.to_vec();
        shape.remove(along);
        let layout = layout::in_new_buffer(cx, place::propagate(WHAT, cx, &call, &shape)?, x, &shape)?;
        Ok(cx.tensor(&shape, DType::I64, layout, x.storage))
    }
}

impl AccessRule for ArgMax {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let shape = operand::shape(call.x());
        let Ok(along) = normalize_axis(call.axis(), shape.len()) else { return Vec::new() };
        let kept = (0..shape.len()).filter(|axis| *axis != along).map(AxisAccess::Proj);
        let searched = AccessRelation::over(shape).reads(0, identity(shape.len())).writes(kept.collect());
        vec![searched.completes([along]).fresh()]
    }
}

impl EvalRule for ArgMax {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        operand::value::<Self>(operands, 0)?.argmax(call.axis()).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<ArgMax>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Meta;
    use tf_types::{Arena, DType, Storage, TensorLayout};

    use super::ArgMax;
    use crate::test_util::{context, dims, factored, mesh, placed, placement, plain, var};

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |x, axis| cx.call(ArgMax::new(cx, axis), &[x], Meta::default()).map(|e| e.ty().to_string());
        let x = plain(cx, "x", "4 S 6", DType::BF16);
        assert_eq!(of(x, -1).unwrap(), r#"Tensor[(4, S), "i64"]"#);
        assert_eq!(of(x, 1).unwrap(), r#"Tensor[(4, 6), "i64"]"#);
        assert_eq!(of(plain(cx, "x", "3", DType::F32), 0).unwrap(), r#"Tensor[(), "i64"]"#);
        let error = of(plain(cx, "x", "4 6", DType::F32), 2).unwrap_err();
        assert_eq!(error.message, "`tf.argmax` has no axis 2: the operand has rank 2");
        assert_eq!(error.help.unwrap(), "axes go from -2 to 1");
        let error = of(plain(cx, "x", "", DType::F32), -1).unwrap_err();
        assert_eq!(error.message, "`tf.argmax` has no axis -1: the operand has rank 0");
        let error = of(plain(cx, "x", "4 0", DType::F32), 1).unwrap_err();
        assert_eq!(error.message, "`tf.argmax` over axis 1 of extent 0 has no value");
    }

    #[test]
    fn placements() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=4");
        let of = |x, axis| cx.call(ArgMax::new(cx, axis), &[x], Meta::default()).map(|e| e.ty()).map_err(|e| e.message);
        let x = placed(cx, "x", "16 64", "S0", m);
        assert_eq!(placement(of(x, 1).unwrap()), "(4, 4, 1):(4, 1, 0) S0");
        assert_eq!(of(x, 0), Err("`tf.argmax` needs axis 0 whole, but it is split over mesh axis `w`".into()));
        assert_eq!(placement(of(placed(cx, "x", "16 64", "B", m), 0).unwrap()), "(64,):(1,) B");
        let term = of(placed(cx, "x", "16 64", "Pmax", m), 1);
        assert_eq!(term, Err("`tf.argmax` cannot take unreduced terms, but `w` holds P(\"max\")".into()));
        let shard = Some(TensorLayout::Shard(factored(cx, "8 2 64", "D", m)));
        let dynamic = var(cx, "x", cx.tensor(&dims(cx, "16 64"), DType::F32, shard, Storage::Rmem));
        assert!(of(dynamic, 1).unwrap_err().contains("ownership is Dynamic"));
    }
}
