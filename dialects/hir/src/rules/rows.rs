//! What ops on rows named by an index vector share.

use tf_core::op::RuleError;
use tf_types::access::{AccessRelation, AffineMap, AxisAccess, identity};
use tf_types::{Dim, DimTuple, TensorType};
use tf_value::normalize_axis;

use crate::rules::{axis, dtype, partial};

/// Refuses what is no vector of i32 or i64.
///
/// # Errors
/// As said.
pub fn check_index(what: &str, at: usize, index: &TensorType<'_>) -> Result<(), RuleError> {
    if index.rank() == 1 && index.dtype.is_integer() {
        return Ok(());
    }
    let found = match index.rank() {
        1 => index.dtype.to_string(),
        rank => format!("{} of rank {rank}", index.dtype),
    };
    Err(RuleError::new(format!("{what} takes a vector of i32 or i64 as `index`, found {found}"))
        .operand(at, format!("{index}"))
        .with_help("the index has rank 1 and an integer dtype"))
}

/// The axis `dim` of an update of `dst` by the rows of `src` that `index` names.
///
/// # Errors
/// An index that is no integer vector; an axis out of range; a source of another dtype, rank or extent; an operand that is split or
/// holds terms.
pub fn update<'c>(what: &str, operands: [&TensorType<'c>; 3], axis: i64) -> Result<usize, RuleError> {
    let [dst, index, src] = operands;
    check_index(what, 1, index)?;
    let axis = axis::of_operand(what, 0, dst, ("dim", axis))?;
    if dst.dtype != src.dtype {
        return Err(RuleError::new(format!(
            "{what} takes a source of the destination's dtype, found {} for {}",
            src.dtype, dst.dtype
        ))
        .operand(0, format!("{dst}"))
        .operand(2, format!("{src}"))
        .with_help("cast the source"));
    }
    let mut wanted: Vec<Dim<'c>> = dst.shape.to_vec();
    wanted[axis] = index.shape[0];
    if src.shape != wanted {
        return Err(RuleError::new(format!(
            "{what} takes a source of shape {} for {} indices along axis {axis}, found {}",
            DimTuple(&wanted),
            index.shape[0],
            DimTuple(src.shape)
        ))
        .operand(0, format!("{dst}"))
        .operand(1, format!("{index}"))
        .operand(2, format!("{src}"))
        .with_help("the source has as many rows as there are indices, and the destination's other extents"));
    }
    for (at, operand) in operands.into_iter().enumerate() {
        partial::check_one(what, partial::NONE, at, operand)?;
        axis::all_whole(what, at, operand)?;
    }
    Ok(axis)
}

/// Refuses numbers on bool.
///
/// # Errors
/// As said.
pub fn check_numbers(what: &str, dst: &TensorType<'_>) -> Result<(), RuleError> {
    dtype::check(what, dtype::Takes::Numbers, 0, dst)
}

/// The rows of `dst`, then those that are written. Operands are numbered `dst`, `index`, `src`.
#[must_use]
pub fn access<'c>(dst: &[Dim<'c>], src: &[Dim<'c>], axis: i64) -> Option<[AccessRelation<'c>; 2]> {
    let rank = dst.len();
    let along = normalize_axis(axis, rank).ok()?;
    let mut written = identity(rank);
    written[along] = AxisAccess::Map(AffineMap::value(1));
    let update = AccessRelation::over(src).reads(2, identity(rank)).reads(1, vec![AxisAccess::Proj(along)]);
    Some([AccessRelation::elementwise(dst, 1), update.writes(written)])
}
