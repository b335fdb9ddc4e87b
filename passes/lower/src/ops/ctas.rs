//! What of a value each CTA has: shared memory and registers cannot carry elements from one CTA to another.

use tf_core::Result;
use tf_tir::held::Held;
use tf_tir::mesh::positions::{AxisPosition, Positions};
use tf_types::{TensorType, TypeError};

use crate::lowerer::Lowerer;

/// A factor of a logical axis that a CTA coordinate fixes.
type OverCtas = (usize, i64, AxisPosition);

fn over_ctas(tensor: &TensorType<'_>) -> Result<Vec<OverCtas>, TypeError> {
    let held = Held::of(tensor)?;
    let Some(mesh) = held.mesh else { return Ok(vec![]) };
    let positions = Positions::of(mesh)?;
    let place = |(axis, factor): (usize, tf_tir::held::Factor)| {
        let position = positions.axes[factor.mesh_axis?];
        (factor.extent > 1 && !position.in_cta).then_some((axis, factor.step, position))
    };
    Ok(held.split().filter_map(place).collect())
}

/// The mesh axes of a distribution that are over CTAs.
///
/// # Errors
/// A mesh whose positions are not static.
pub(super) fn mesh_axes(lowerer: &Lowerer<'_, '_>, held: &Held<'_>) -> Result<Vec<usize>> {
    let Some(mesh) = held.mesh else { return Ok(vec![]) };
    let positions = Positions::of(mesh).map_err(|error| lowerer.refuse_type(error))?;
    Ok((0..positions.axes.len()).filter(|&axis| !positions.axes[axis].in_cta).collect())
}

/// Whether a CTA needs elements for `to` that it does not have of `from`.
///
/// # Errors
/// A type whose positions are not static.
pub(super) fn crosses(lowerer: &Lowerer<'_, '_>, from: &TensorType<'_>, to: &TensorType<'_>) -> Result<bool> {
    let over = |tensor| over_ctas(tensor).map_err(|error| lowerer.refuse_type(error));
    let (have, need) = (over(from)?, over(to)?);
    Ok(!have.iter().all(|factor| need.contains(factor)))
}

/// Refuses a move within CTAs by which elements would have to change their CTA.
///
/// # Errors
/// See above; a type whose positions are not static.
pub(super) fn check_within<'c>(lowerer: &Lowerer<'_, 'c>, from: &TensorType<'c>, to: &TensorType<'c>) -> Result<()> {
    if !crosses(lowerer, from, to)? {
        return Ok(());
    }
    let (have, need) = (lowerer.cx.tensor_type(*from), lowerer.cx.tensor_type(*to));
    let message = format!("{have} and {need} share out the elements over the CTAs differently");
    Err(lowerer.refuse(message).with_help(
        "split over CTAs as the source is; moves between CTAs need scratch memory in gmem, which is not built yet",
    ))
}
