//! `repeat_interleave`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::{AccessRelation, AffineMap, AxisAccess, identity};
use tf_types::{ShardAttr, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError, normalize_axis};

use crate::rules::{axis, operand};

const WHAT: &str = "`tf.repeat_interleave`";

/// `out[…, i, …] = x[…, i // repeats, …]` along one axis: every element `repeats` times in a row.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"]):
///     return tf.repeat_interleave(x, repeats=2, axis=1)
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct RepeatInterleave {
    /// The operand.
    #[input(Tensor)]
    x: (),
    /// How often; not negative.
    repeats: i64,
    /// The axis; a negative one counts from the end.
    axis: i64,
}

impl TypeRule for RepeatInterleave {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let (x, repeats) = (operand::tensor(&call, 0)?, call.repeats());
        let along = axis::of_operand(WHAT, 0, x, ("axis", call.axis()))?;
        if repeats < 0 {
            return Err(RuleError::new(format!("{WHAT} takes no negative number of repeats, found {repeats}"))
                .attr("repeats")
                .with_help("1 leaves the operand as it is, 0 gives an empty axis"));
        }
        if let Some(shard) = x.shard()
            && let Some(mesh_axis) = shard.attrs.iter().position(|attr| *attr != ShardAttr::Broadcast)
        {
            return Err(RuleError::new(format!(
                "{WHAT} takes the whole value at every position, but `{}` does not hold it: {shard}",
                shard.mesh.axis_name(mesh_axis)
            ))
            .operand(0, format!("{x}"))
            .with_help("reshard the operand to Broadcast first"));
        }
        let mut shape = x.shape.to_vec();
        shape[along] = cx.dim_mul(shape[along], cx.dim(repeats));
        Ok(cx.tensor(&shape, x.dtype, None, x.storage))
    }
}

impl AccessRule for RepeatInterleave {
    fn access<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let (mut shape, repeats) = (operand::shape(call.x()).to_vec(), cx.dim(call.repeats()));
        let Ok(along) = normalize_axis(call.axis(), shape.len()) else { return Vec::new() };
        shape[along] = cx.dim_mul(shape[along], repeats);
        let mut read = identity(shape.len());
        read[along] = AxisAccess::Map(AffineMap::blocks(along, repeats));
        vec![AccessRelation::to(&shape).reads(0, read)]
    }
}

impl EvalRule for RepeatInterleave {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let repeats = call.repeats();
        let count = usize::try_from(repeats)
            .map_err(|_| ValueError::new(format!("{WHAT} takes no negative number of repeats, found {repeats}")))?;
        operand::value::<Self>(operands, 0)?.repeat_interleave(count, call.axis()).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<RepeatInterleave>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Meta;
    use tf_types::{Arena, DType};

    use super::RepeatInterleave;
    use crate::test_util::{context, mesh, placed, plain};

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |x, repeats, axis| {
            let call = cx.call(RepeatInterleave::new(cx, repeats, axis), &[x], Meta::default());
            call.map(|e| e.ty().to_string()).map_err(|e| e.message)
        };
        let x = plain(cx, "x", "4 S", DType::Bool);
        assert_eq!(of(x, 3, 0).unwrap(), r#"Tensor[(12, S), "bool"]"#);
        assert_eq!(of(x, 3, -1).unwrap(), r#"Tensor[(4, 3 * S), "bool"]"#);
        assert_eq!(of(x, 0, 0).unwrap(), r#"Tensor[(0, S), "bool"]"#);
        let error = of(x, -2, 0).unwrap_err();
        assert_eq!(error, "`tf.repeat_interleave` takes no negative number of repeats, found -2");
        assert_eq!(of(x, 2, 2).unwrap_err(), "`tf.repeat_interleave` has no axis 2: the operand has rank 2");
        let m = mesh(cx, "w=4");
        let whole = placed(cx, "x", "16 64", "B", m);
        assert_eq!(of(whole, 2, 1).unwrap(), r#"Tensor[(16, 128), "f32", "rmem"]"#);
        for states in ["S0", "Psum"] {
            let error = of(placed(cx, "x", "16 64", states, m), 2, 1).unwrap_err();
            assert!(
                error.starts_with("`tf.repeat_interleave` takes the whole value at every position, but `w`"),
                "{error}"
            );
        }
    }
}
