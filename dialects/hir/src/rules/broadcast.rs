//! Broadcasting of shapes: right-aligned, extent 1 expands, symbolic dims must be equal.

use tf_core::op::RuleError;
use tf_types::access::AxisAccess;
use tf_types::{Dim, DimTuple, TensorType};

/// The extent of an axis counted in the result; 1 where the operand has no such axis.
fn extent_at<'c>(shape: &[Dim<'c>], axis: usize, rank: usize) -> Option<Dim<'c>> {
    (axis + shape.len()).checked_sub(rank).map(|at| shape[at])
}

fn is_one(extent: Option<Dim<'_>>) -> bool {
    extent.is_none_or(|d| d.as_const() == Some(1))
}

/// The shape that both broadcast to.
///
/// # Errors
/// The extents that do not fit: axis of the result, then the two extents.
pub fn broadcast<'c>(lhs: &[Dim<'c>], rhs: &[Dim<'c>]) -> Result<Vec<Dim<'c>>, (usize, Dim<'c>, Dim<'c>)> {
    let rank = lhs.len().max(rhs.len());
    let joined = |axis: usize| match (extent_at(lhs, axis, rank), extent_at(rhs, axis, rank)) {
        (Some(a), b) if is_one(b) || b == Some(a) => Ok(a),
        (a, Some(b)) if is_one(a) => Ok(b),
        (Some(a), Some(b)) => Err((axis, a, b)),
        (a, b) => unreachable!("an axis of the result is one of an operand: {a:?}, {b:?}"),
    };
    (0..rank).map(joined).collect()
}

/// The shape that the operands of an elementwise op broadcast to.
///
/// # Errors
/// Extents that are neither equal nor 1.
pub fn elementwise<'c>(what: &str, lhs: &TensorType<'c>, rhs: &TensorType<'c>) -> Result<Vec<Dim<'c>>, RuleError> {
    broadcast(lhs.shape, rhs.shape).map_err(|(axis, a, b)| {
        let rank = lhs.rank().max(rhs.rank());
        let own = |tensor: &TensorType<'_>| axis + tensor.rank() - rank;
        RuleError::new(format!(
            "{what} cannot broadcast {} with {}: {a} meets {b}",
            DimTuple(lhs.shape),
            DimTuple(rhs.shape)
        ))
        .operand(0, format!("{lhs}: axis {} is {a}", own(lhs)))
        .operand(1, format!("{rhs}: axis {} is {b}", own(rhs)))
        .with_help("extents broadcast from the last axis backwards; they must be equal, or one of them 1")
    })
}

/// How one operand's axes read a domain whose first dims are `shape`'s: broadcast extents read position 0.
#[must_use]
pub fn access<'c>(operand: &[Dim<'c>], others: &[&[Dim<'c>]], rank: usize) -> Vec<AxisAccess<'c>> {
    (rank - operand.len()..rank)
        .map(|axis| {
            let expands = others.iter().any(|other| !is_one(extent_at(other, axis, rank)));
            if is_one(extent_at(operand, axis, rank)) && expands { AxisAccess::Const } else { AxisAccess::Proj(axis) }
        })
        .collect()
}
