//! Buffers of elements.
use crate::{Session, Target, emit::scalar::Scalars};
use melior::ir::{Attribute, BlockRef, Location, Type, r#type::MemRefType};
use tf_core::{Diagnostic, Result};
use tf_types::{DType, TensorType};

/// Bytes of an element in memory.
pub(crate) fn bytes(dtype: DType) -> i64 {
    i64::from(dtype.bits().div_ceil(8))
}

/// A buffer of `len` elements, linear.
///
/// # Errors
/// A dtype without a compiled form.
pub(crate) fn buffer<'a>(
    session: &'a Session,
    block: BlockRef<'a, 'a>,
    dtype: DType,
    len: i64,
    space: Option<Attribute<'a>>,
) -> Result<Type<'a>> {
    let scalars = Scalars { session, block, location: Location::unknown(session.context()), target: Target::Gpu };
    Ok(MemRefType::contiguous(scalars.memory_type(dtype)?, &[len], space).into())
}

/// The element count of a parameter; at least 1, as a buffer of no elements has no address.
///
/// # Errors
/// A symbolic extent.
pub(crate) fn element_count(tensor: &TensorType<'_>) -> Result<i64> {
    let count = tensor.numel().map_err(Diagnostic::from)?;
    Ok(count.max(1))
}
