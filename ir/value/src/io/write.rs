//! Writing tensors.

use std::borrow::Cow;
use std::path::Path;

use safetensors::{Dtype, View};
use tf_types::DType;

use crate::io::write_atomic;
use crate::{Tensor, ValueError};

struct Stored {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl View for Stored {
    fn dtype(&self) -> Dtype {
        self.dtype
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        self.bytes.as_slice().into()
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// Writes tensors to a `.safetensors` file, atomically. Their order in the file depends on dtypes and names only; `fp8e4m3` and `f8e8m0` are
/// stored as U8 (raw bits), bool as BOOL.
///
/// # Errors
/// One name twice, or the file cannot be written.
pub fn write_tensors<'t>(
    path: &Path,
    tensors: impl IntoIterator<Item = (&'t str, &'t Tensor)>,
) -> Result<(), ValueError> {
    let fail = |what: &dyn std::fmt::Display| ValueError::new(format!("cannot write {}: {what}", path.display()));
    let mut stored: Vec<(&str, Stored)> = tensors.into_iter().map(|(name, tensor)| (name, store(tensor))).collect();
    stored.sort_by_key(|(name, _)| *name);
    if let Some(pair) = stored.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(fail(&format!("two tensors are named `{}`", pair[0].0)));
    }
    let bytes = safetensors::serialize(stored, None).map_err(|error| fail(&error))?;
    write_atomic(path, &bytes).map_err(|error| fail(&error))
}

fn store(tensor: &Tensor) -> Stored {
    let dtype = match tensor.dtype() {
        DType::F32 => Dtype::F32,
        DType::F16 => Dtype::F16,
        DType::BF16 => Dtype::BF16,
        DType::I32 => Dtype::I32,
        DType::I64 => Dtype::I64,
        DType::Bool => Dtype::BOOL,
        DType::Fp8E4M3 | DType::F8E8M0 | DType::F4E2M1 => Dtype::U8,
    };
    Stored { dtype, shape: tensor.shape().to_vec(), bytes: tensor.to_le_bytes() }
}
