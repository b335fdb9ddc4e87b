//! `index_select`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::{AccessRelation, AffineMap, AxisAccess, identity};
use tf_types::{Dim, ShardAttr, ShardLayout, TensorLayout, TensorType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError, normalize_axis};

use crate::rules::{axis, layout, operand, partial, rows};

const WHAT: &str = "`tf.index_select`";

/// `out[…, j, …] = x[…, index[j], …]` along one axis.
///
/// ```python
/// def f(x: Tensor[(8, 6), "f32"], index: Tensor[(3,), "i64"]):
///     return tf.index_select(x, index, dim=0)
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct IndexSelect {
    /// The operand.
    #[input(Tensor)]
    x: (),
    /// Positions on the axis: rank 1, i32 or i64, from 0.
    #[input(Tensor)]
    index: (),
    /// The axis; a negative one counts from the end.
    #[default(0)]
    dim: i64,
}

/// The placement of the result. A position that does not own a selected slice contributes zeros, so a Split of the axis leaves terms of
/// a sum.
fn placed<'c>(
    cx: &Context<'c>,
    x: &TensorType<'c>,
    shard: ShardLayout<'c>,
    along: usize,
    shape: &[Dim<'c>],
) -> Result<TensorLayout<'c>, RuleError> {
    let mut attrs = shard.logical_attrs(x.shape);
    let splits = |attr: &&ShardAttr<'c>| matches!(attr, ShardAttr::Split(_));
    if let Some(mesh_axis) = attrs.iter().position(|attr| *attr == ShardAttr::Split(along as u32)) {
        let count = attrs.iter().filter(splits).count();
        if count > 1 {
            return Err(RuleError::new(format!(
                "{WHAT} along axis {along}, which mesh axis `{}` splits, takes no other Split, found {count} in all",
                shard.mesh.axis_name(mesh_axis)
            ))
            .operand(0, format!("{x}"))
            .with_help(format!("reshard the operand so that axis {along} is whole")));
        }
        attrs[mesh_axis] = ShardAttr::Partial(cx.symbol("sum"));
    }
    let runs = cx.runs(shard, x.shape);
    Ok(TensorLayout::Shard(cx.shard_layout_in_runs(shape, shard.mesh, &attrs, &runs)?))
}

impl TypeRule for IndexSelect {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let (x, index) = (operand::tensor(&call, 0)?, operand::tensor(&call, 1)?);
        rows::check_index(WHAT, 1, index)?;
        let along = axis::of_operand(WHAT, 0, x, ("dim", call.dim()))?;
        partial::check_one(WHAT, partial::NONE, 1, index)?;
        axis::all_whole(WHAT, 1, index)?;
        let mut shape = x.shape.to_vec();
        shape[along] = index.shape[0];
        let layout = match (x.shard(), x.layout) {
            (Some(shard), _) => Some(placed(cx, x, shard, along, &shape)?),
            (None, Some(_)) => Some(TensorLayout::Plain(cx.c_order_layout(&shape))),
            (None, None) => layout::or_c_order(cx, None, &shape, x.storage),
        };
        Ok(cx.tensor(&shape, x.dtype, layout, x.storage))
    }
}

impl AccessRule for IndexSelect {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let (mut shape, index) = (operand::shape(call.x()).to_vec(), operand::shape(call.index()));
        let (Ok(along), Some(&count)) = (normalize_axis(call.dim(), shape.len()), index.first()) else {
            return Vec::new();
        };
        shape[along] = count;
        let mut read = identity(shape.len());
        read[along] = AxisAccess::Map(AffineMap::value(1));
        vec![AccessRelation::to(&shape).reads(0, read).reads(1, vec![AxisAccess::Proj(along)])]
    }
}

impl EvalRule for IndexSelect {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let (x, index) = (operand::value::<Self>(operands, 0)?, operand::value::<Self>(operands, 1)?);
        x.index_select(index, call.dim()).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<IndexSelect>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Context, Diagnostic, Expr, Meta};
    use tf_types::{Arena, DType, Storage, TensorLayout, Type};

    use super::IndexSelect;
    use crate::test_util::{context, dims, mesh, placed, placement, plain, var};

    fn infer<'c>(cx: &Context<'c>, x: Expr<'c>, index: Expr<'c>, dim: i64) -> Result<Type<'c>, Diagnostic> {
        cx.call(IndexSelect::new(cx, dim), &[x, index], Meta::default()).map(|e| e.ty())
    }

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let x = plain(cx, "x", "4 6", DType::F32);
        let index = |shape, dtype| plain(cx, "i", shape, dtype);
        assert_eq!(infer(cx, x, index("S", DType::I32), -1).unwrap().to_string(), r#"Tensor[(4, S), "f32"]"#);
        let layout = Some(TensorLayout::Plain(cx.layout(&dims(cx, "4 6"), Some(&dims(cx, "1 4")))));
        let strided = var(cx, "x", cx.tensor(&dims(cx, "4 6"), DType::F32, layout, Storage::Gmem));
        let selected = infer(cx, strided, index("2", DType::I64), 0).unwrap();
        assert_eq!(selected.to_string(), r#"Tensor[(2, 6), "f32", (2, 6):(6, 1)]"#);
        let refused = |shape, dtype, dim| infer(cx, x, index(shape, dtype), dim).unwrap_err().message;
        let message = "`tf.index_select` takes a vector of i32 or i64 as `index`, found ";
        assert_eq!(refused("1 2", DType::I64, 0), format!("{message}i64 of rank 2"));
        assert_eq!(refused("2", DType::F32, 0), format!("{message}f32"));
        assert_eq!(refused("2", DType::I64, 2), "`tf.index_select` has no axis 2: the operand has rank 2");
    }

    #[test]
    fn placements() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=4 t=2");
        let index = plain(cx, "i", "3", DType::I32);
        let of = |states, dim| {
            infer(cx, placed(cx, "x", "16 64", states, m), index, dim).map(placement).map_err(|e| e.message)
        };
        assert_eq!(of("B S1", 0).unwrap(), "(3, 2, 32):(64, 32, 1) B S1");
        assert_eq!(of("S0 B", 0).unwrap(), "(3, 64):(64, 1) Psum B");
        assert_eq!(of("B Pmax", 0).unwrap(), "(3, 64):(64, 1) B Pmax");
        let error = of("S0 S1", 0).unwrap_err();
        assert_eq!(
            error,
            "`tf.index_select` along axis 0, which mesh axis `w` splits, takes no other Split, found 2 in all"
        );
        let split = |states| {
            let shard = cx.canonical_shard_layout(&dims(cx, "8"), m, &crate::test_util::attrs(cx, states)).unwrap();
            var(cx, "i", cx.tensor(&dims(cx, "8"), DType::I32, Some(TensorLayout::Shard(shard)), Storage::Rmem))
        };
        let x = placed(cx, "x", "16 64", "B B", m);
        let error = |states| infer(cx, x, split(states), 0).unwrap_err().message;
        assert_eq!(error("S0 B"), "`tf.index_select` needs axis 0 whole, but it is split over mesh axis `w`");
        assert_eq!(error("B Psum"), "`tf.index_select` cannot take unreduced terms, but `t` holds P(\"sum\")");
        assert!(infer(cx, x, split("B B"), 0).is_ok());
    }
}
