//! Axes named by attributes, negative ones counting from the end, axes that must be whole, and windows on axes.

use tf_core::op::RuleError;
use tf_core::{Context, Expr, Literal};
use tf_types::TensorType;
use tf_types::access::{AffineMap, AxisAccess, Read, Term};
use tf_value::normalize_axis;

/// How to mend an index that is no rank-0 integer.
pub const INDEX_HELP: &str = "cast another dtype: `tf.cast(i, dtype=\"i64\")`; of a vector take one element, `i[0]`";

/// The axis of a shape of that rank, from 0, which the attribute `attr` states; `of` names what has the shape.
///
/// # Errors
/// Out of range.
pub fn of_rank(what: &str, of: &str, (attr, axis): (&'static str, i64), rank: usize) -> Result<usize, RuleError> {
    normalize_axis(axis, rank).map_err(|_| {
        let last = rank as i64 - 1;
        let help =
            if rank == 0 { "a scalar has no axes".into() } else { format!("axes go from {} to {last}", -last - 1) };
        RuleError::new(format!("{what} has no axis {axis}: {of} has rank {rank}")).attr(attr).with_help(help)
    })
}

/// The axis of the operand that stands at `at`, from 0, which the attribute states.
///
/// # Errors
/// Out of range.
pub fn of_operand(
    what: &str,
    at: usize,
    operand: &TensorType<'_>,
    axis: (&'static str, i64),
) -> Result<usize, RuleError> {
    of_rank(what, "the operand", axis, operand.rank()).map_err(|error| error.operand(at, format!("{operand}")))
}

/// Refuses a Split of one of these axes into more than one part.
fn unsplit(
    what: &str,
    at: usize,
    operand: &TensorType<'_>,
    must_be_whole: impl Fn(usize) -> bool,
) -> Result<(), RuleError> {
    let Some(shard) = operand.shard() else { return Ok(()) };
    let split = shard.split_target_axes(operand.shape);
    let cut = |&(mesh_axis, _): &(usize, &Option<usize>)| shard.mesh.extents()[mesh_axis].as_const() != Some(1);
    let mut cuts = split.iter().enumerate().filter(cut);
    let found = cuts.find_map(|(mesh_axis, axis)| Some((mesh_axis, axis.filter(|&a| must_be_whole(a))?)));
    let Some((mesh_axis, axis)) = found else { return Ok(()) };
    let name = shard.mesh.axis_name(mesh_axis);
    Err(RuleError::new(format!("{what} needs axis {axis} whole, but it is split over mesh axis `{name}`"))
        .operand(at, format!("{operand}"))
        .with_help(format!("reshard the operand so that axis {axis} is whole on every position")))
}

/// Refuses a Split of the axis.
///
/// # Errors
/// As said.
pub fn whole(what: &str, at: usize, operand: &TensorType<'_>, axis: usize) -> Result<(), RuleError> {
    unsplit(what, at, operand, |a| a == axis)
}

/// Refuses every Split.
///
/// # Errors
/// As said.
pub fn all_whole(what: &str, at: usize, operand: &TensorType<'_>) -> Result<(), RuleError> {
    unsplit(what, at, operand, |_| true)
}

/// The number that a literal operand states.
#[must_use]
pub fn literal(operand: Expr<'_>) -> Option<i64> {
    match operand.literal() {
        Some(Literal::Int(value)) => Some(value),
        _ => None,
    }
}

/// The position `map` counted from the number in operand `at`, and the read of that number where it is not a literal. From 0, a map
/// that is one dim is its projection.
#[must_use]
pub fn from<'c>(
    cx: &Context<'c>,
    map: AffineMap<'c>,
    first: Expr<'c>,
    at: usize,
) -> (AxisAccess<'c>, Option<Read<'c>>) {
    match (literal(first), &map.terms[..]) {
        (Some(0), &[Term { dim, block: None, factor: None }]) => (AxisAccess::Proj(dim), None),
        (Some(first), _) => (AxisAccess::Map(map.plus(cx.dim(first))), None),
        (None, _) => {
            let read = Read { operand: at, field: 0, axes: Vec::new(), only_at: None };
            (AxisAccess::Map(AffineMap { value: Some(at), ..map }), Some(read))
        }
    }
}
