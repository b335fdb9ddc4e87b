//! Types that attributes state for values made from nothing.

use tf_core::op::{Op, RuleError};
use tf_types::{DType, TensorType, Type};
use tf_value::{EvalCx, ValueError, extent};

/// The stated type as a tensor's, with extents that may be.
///
/// # Errors
/// No tensor type; a negative extent.
pub fn tensor<'c>(what: &str, ty: Type<'c>) -> Result<&'c TensorType<'c>, RuleError> {
    let tensor = ty.as_tensor().ok_or_else(|| RuleError::new(format!("{what} makes a tensor, found the type {ty}")))?;
    match tensor.shape.iter().position(|extent| extent.as_const().is_some_and(|extent| extent < 0)) {
        None => Ok(tensor),
        Some(axis) => {
            Err(RuleError::new(format!("{what} makes no negative extent, found {} on axis {axis}", tensor.shape[axis])))
        }
    }
}

/// The extents in this run, and the dtype.
///
/// # Errors
/// A dim without a size; a negative extent.
pub fn shape_and_dtype<'c, O: Op>(ty: Type<'c>, cx: &EvalCx<'_, 'c>) -> Result<(Vec<usize>, DType), ValueError> {
    let name = O::DECL.name;
    let tensor = ty.as_tensor().ok_or_else(|| ValueError::new(format!("`{name}` makes a tensor, found {ty}")))?;
    let value = |&dim| {
        let value = extent(dim, cx.dims)?;
        usize::try_from(value).map_err(|_| ValueError::new(format!("`{name}` makes no negative extent, found {value}")))
    };
    Ok((tensor.shape.iter().map(value).collect::<Result<_, _>>()?, tensor.dtype))
}
