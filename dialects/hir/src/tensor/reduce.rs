//! `reduce` (spec: hir §4, §7; shard §10, §11; decisions 19, 23).

use tf_core::op::attr::Ints;
use tf_core::op::{AccessRule, Op, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::{AccessRelation, AxisAccess};
use tf_types::kinds::ReduceKind;
use tf_types::propagate::Propagation;
use tf_types::{TensorLayout, TensorType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError, normalize_axis};

use crate::rules::dtype::{self, Takes};
use crate::rules::{broadcast, layout, operand, partial, place};

/// `out[i] = kind over r of x[i, r]`; the reduced axes become 1 (`keepdim`) or disappear.
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
                .with_help(if x.rank() == 0 { "reduce no axes".into() } else { format!("axes go from {range}") }));
        };
        if reduced.contains(&from_start) {
            return Err(RuleError::new(format!("`tf.reduce` names axis {from_start} twice, axes are {axes:?}"))
                .operand(0, format!("{x}"))
                .with_help("name each axis once"));
        }
        reduced.push(from_start);
    }
    reduced.sort_unstable();
    Ok(reduced)
}

fn relation(rank: usize, reduced: &[usize], keepdim: bool) -> AccessRelation {
    let kept = |axis: usize| match (reduced.contains(&axis), keepdim) {
        (false, _) => Some(AxisAccess::Proj(axis)),
        (true, true) => Some(AxisAccess::Const),
        (true, false) => None,
    };
    AccessRelation {
        domain_rank: rank,
        operands: vec![broadcast::identity(rank)],
        result: (0..rank).filter_map(kept).collect(),
    }
}

impl TypeRule for Reduce {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let (op, kind, x) = (Self::DECL.name, call.kind(), operand::tensor(&call, 0)?);
        let what = format!("`tf.reduce` of kind `{kind}`");
        let axes = reduced_axes(x, call.axes())?;
        dtype::check(&what, takes(kind), 0, x)?;
        partial::check(&what, partial::reduce(kind), &[x])?;
        let kept = |(axis, &extent)| match (axes.contains(&axis), call.keepdim()) {
            (false, _) => Some(extent),
            (true, true) => Some(cx.dim(1)),
            (true, false) => None,
        };
        let shape: Vec<_> = x.shape.iter().enumerate().filter_map(kept).collect();
        let relation = relation(x.rank(), &axes, call.keepdim());
        let how = Propagation { complete_dims: axes, fresh: true, ..Propagation::default() };
        let layout = match (place::propagate(op, cx, &[x], &relation, &shape, &how)?, x.shard(), x.layout) {
            (Some(shard), ..) => Some(TensorLayout::Shard(shard)),
            (None, Some(shard), _) => Some(layout::broadcast_on(cx, shard, &shape)?),
            (None, None, Some(_)) => Some(TensorLayout::Plain(cx.c_order_layout(&shape))),
            (None, None, None) => None,
        };
        Ok(cx.tensor(&shape, x.dtype, layout, x.storage))
    }
}

impl AccessRule for Reduce {
    fn access(call: OpCall<'_, Self>) -> AccessRelation {
        let rank = operand::shape(call.x()).len();
        let axes: Vec<_> = call.axes().iter().filter_map(|&axis| normalize_axis(axis, rank).ok()).collect();
        relation(rank, &axes, call.keepdim())
    }
}

impl EvalRule for Reduce {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &[Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        operand::value::<Self>(operands, 0)?.reduce(call.axes(), call.keepdim(), call.kind()).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Reduce>().types().access().evaluates().done();
}
