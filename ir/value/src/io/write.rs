//! Writing tensors.

use std::borrow::Cow;
use std::path::Path;

use safetensors::{Dtype, View};
use tf_types::DType;

use super::{npy, npz, write_atomic};
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

/// Writes tensors to a file, atomically: to an `.npz` archive or an `.npy` array by its extension, else in safetensors' format. Their order
/// in the file depends on dtypes and names only; `fp8e4m3` and `f8e8m0` are stored as raw bits, which NumPy's formats need for bf16 too.
///
/// # Errors
/// One name twice, more or less than one tensor for an `.npy` file, or the file cannot be written.
pub fn write_tensors<'t>(
    path: &Path,
    tensors: impl IntoIterator<Item = (&'t str, &'t Tensor)>,
) -> Result<(), ValueError> {
    let fail = |what: &dyn std::fmt::Display| ValueError::new(format!("cannot write {}: {what}", path.display()));
    let mut tensors: Vec<_> = tensors.into_iter().collect();
    tensors.sort_by_key(|(name, _)| *name);
    if let Some(pair) = tensors.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(fail(&format!("two tensors are named `{}`", pair[0].0)));
    }
    let bytes = match (path.extension().and_then(|extension| extension.to_str()), tensors.as_slice()) {
        (Some("npz"), _) => npz::archive(&tensors).map_err(|error| fail(&error))?,
        (Some("npy"), [(_, one)]) => npy::write(one),
        (Some("npy"), _) => {
            let found = tensors.len();
            return Err(fail(&format!("an .npy file holds one tensor, not {found}")).with_help("write an .npz file"));
        }
        _ => {
            let stored: Vec<_> = tensors.iter().map(|(name, tensor)| (*name, store(tensor))).collect();
            safetensors::serialize(stored, None).map_err(|error| fail(&error))?
        }
    };
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
