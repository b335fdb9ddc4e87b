//! Functions of whole rows, computed in f32: the trailing elements of each row together, rows in parallel.
//!
//! A row is summed in a fixed order, so thread counts do not matter.

use tf_types::DType;

use crate::binary::max_f32;
use crate::element::{Numeric, SharedArray};
use crate::fold::{SPAN, fold_block};
use crate::kernel::{BLOCK, CHUNK, in_wide, transformed};
use crate::{Tensor, ValueError};

/// Replaces a row, given its number.
pub(crate) type RowFn<'f> = &'f (dyn Fn(usize, &mut [f32]) + Sync);

/// The sum of `term` of each element.
pub(crate) fn sum(row: &[f32], term: impl Fn(f32) -> f32 + Copy) -> f32 {
    row.chunks(SPAN).fold(0.0, |total, block| total + fold_block(block, 0.0, term, |a, b| a + b))
}

/// The greatest element; NaN wins.
pub(crate) fn greatest(row: &[f32]) -> f32 {
    row.chunks(SPAN).fold(f32::NEG_INFINITY, |most, block| {
        max_f32(most, fold_block(block, f32::NEG_INFINITY, std::convert::identity, max_f32))
    })
}

fn each<T: Numeric<Wide = f32>>(x: SharedArray<T>, length: usize, f: RowFn<'_>) -> Tensor {
    let length = length.max(1);
    let piece = length * (BLOCK / length).max(1);
    let chunk = piece * (CHUNK / piece).max(1);
    T::wrap(transformed(x, (chunk, piece), &|from, out| {
        let mut room = vec![0.0; if T::as_wide(out).is_some() { 0 } else { length }];
        for (at, row) in out.chunks_mut(length).enumerate() {
            in_wide(row, &mut room, |row| f(from / length + at, row));
        }
    }))
}

impl Tensor {
    /// `f` of every run of `length` elements in row-major order; the result is rounded once to this dtype.
    ///
    /// # Errors
    /// Integers and bool; a negative result in `f8e8m0`.
    pub(crate) fn map_rows(self, what: &str, length: usize, f: RowFn<'_>) -> Result<Self, ValueError> {
        match self {
            Self::F32(x) => Ok(each(x, length, f)),
            Self::F16(x) => Ok(each(x, length, f)),
            Self::BF16(x) => Ok(each(x, length, f)),
            Self::Fp8E4M3(x) => Ok(each(x, length, f)),
            Self::F8E8M0(_) => self.cast(DType::F32)?.map_rows(what, length, f)?.cast(DType::F8E8M0),
            Self::I32(_) | Self::I64(_) | Self::Bool(_) => {
                Err(ValueError::new(format!("{what} takes floats, found {}", self.dtype()))
                    .with_help("cast to a float dtype first"))
            }
        }
    }
}
