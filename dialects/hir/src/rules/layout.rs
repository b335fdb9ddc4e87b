//! Layouts of results that propagation leaves open.
//!
//! A result is a new value, so the offset of a slice is never carried over to it.

use tf_core::Context;
use tf_core::op::RuleError;
use tf_types::{Dim, Layout, ShardAttr, ShardLayout, Storage, TensorLayout, TensorType};

/// A layout as a new value may have it: a slice of a placed tensor gives its placement, a slice of a plain one nothing.
#[must_use]
pub fn of_new_value<'c>(operand: &TensorType<'c>) -> Option<TensorLayout<'c>> {
    match operand.layout? {
        TensorLayout::Composed(composed) => composed.shard().map(TensorLayout::Shard),
        layout => Some(layout),
    }
}

/// The layout of a result that has its operand's type.
#[must_use]
pub fn same<'c>(cx: &Context<'c>, operand: &TensorType<'c>) -> Option<TensorLayout<'c>> {
    operand.layout?;
    or_c_order(cx, of_new_value(operand), operand.shape, operand.storage)
}

/// The layout if it is plain; the empty layout of a scalar says nothing about a result of higher rank.
fn plain<'c>(operand: &TensorType<'c>, rank: usize) -> Option<Layout<'c>> {
    match of_new_value(operand) {
        Some(TensorLayout::Plain(layout)) if layout.rank() > 0 || rank == 0 => Some(layout),
        _ => None,
    }
}

/// The same value at every position of the mesh, in row-major order (all-Broadcast).
///
/// # Errors
/// None for a mesh with as many attributes as axes.
pub fn broadcast_on<'c>(
    cx: &Context<'c>,
    shard: ShardLayout<'c>,
    shape: &[Dim<'c>],
) -> Result<TensorLayout<'c>, RuleError> {
    let attrs = vec![ShardAttr::Broadcast; shard.mesh.rank()];
    Ok(TensorLayout::Shard(cx.canonical_shard_layout(shape, shard.mesh, &attrs)?))
}

/// The mesh that all-Broadcast operands share, as one of their placements.
///
/// # Errors
/// Two meshes.
pub fn common_placement<'c>(what: &str, operands: &[&TensorType<'c>]) -> Result<Option<ShardLayout<'c>>, RuleError> {
    let mut placed = operands.iter().enumerate().filter_map(|(index, t)| Some((index, t, t.shard()?)));
    let Some((first, _, shard)) = placed.next() else { return Ok(None) };
    match placed.find(|(_, _, other)| other.mesh != shard.mesh) {
        None => Ok(Some(shard)),
        Some((second, other_type, other)) => {
            Err(RuleError::new(format!("{what} takes operands of one mesh, found {} and {}", shard.mesh, other.mesh))
                .operand(first, format!("{}", operands[first]))
                .operand(second, format!("{other_type}"))
                .with_help("reshard one operand to the mesh of the other"))
        }
    }
}

/// The layout of an elementwise result when no operand is sharded: a placement of all Broadcast is rebuilt on the result,
/// one plain layout (or two equal ones) of the result's shape stays, two different ones give none.
///
/// # Errors
/// Two meshes; a plain layout beside a placement.
pub fn merge<'c>(
    what: &str,
    cx: &Context<'c>,
    operands: &[&TensorType<'c>],
    shape: &[Dim<'c>],
) -> Result<Option<TensorLayout<'c>>, RuleError> {
    let plains: Vec<_> =
        operands.iter().enumerate().filter_map(|(index, t)| Some((index, plain(t, shape.len())?))).collect();
    if let Some(shard) = common_placement(what, operands)? {
        if let Some(&(index, layout)) = plains.first() {
            let placed = operands.iter().position(|t| t.shard().is_some()).unwrap_or_default();
            return Err(RuleError::new(format!(
                "{what} cannot join the plain layout {layout} with a placement on {}",
                shard.mesh
            ))
            .operand(index, format!("{}", operands[index]))
            .operand(placed, format!("{}", operands[placed]))
            .with_help("reshard the plain operand to the mesh of the other"));
        }
        return broadcast_on(cx, shard, shape).map(Some);
    }
    let Some((&(_, layout), rest)) = plains.split_first() else { return Ok(None) };
    let kept = layout.shape() == shape && rest.iter().all(|&(_, other)| other == layout);
    Ok(kept.then_some(TensorLayout::Plain(layout)))
}

/// The layout of a result that is written anew from `x`: as propagated, else whole on the mesh of `x`, else row-major where `x` has a
/// layout.
///
/// # Errors
/// As [`broadcast_on`].
pub fn in_new_buffer<'c>(
    cx: &Context<'c>,
    propagated: Option<ShardLayout<'c>>,
    x: &TensorType<'c>,
    shape: &[Dim<'c>],
) -> Result<Option<TensorLayout<'c>>, RuleError> {
    Ok(match (propagated, x.shard(), x.layout) {
        (Some(shard), ..) => Some(TensorLayout::Shard(shard)),
        (None, Some(shard), _) => Some(broadcast_on(cx, shard, shape)?),
        (None, None, Some(_)) => Some(TensorLayout::Plain(cx.c_order_layout(shape))),
        (None, None, None) => None,
    })
}

/// The layout of a result: as given, else row-major where the residency has addresses within a position (smem, rmem).
#[must_use]
pub fn or_c_order<'c>(
    cx: &Context<'c>,
    layout: Option<TensorLayout<'c>>,
    shape: &[Dim<'c>],
    storage: Storage,
) -> Option<TensorLayout<'c>> {
    let addressed = matches!(storage, Storage::Smem | Storage::Rmem) && !shape.is_empty();
    layout.or_else(|| addressed.then(|| TensorLayout::Plain(cx.c_order_layout(shape))))
}
