//! Tensors by name, wherever they lie.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;

use tf_types::DType;

use super::npz::{Archive, ArrayFile};
use super::shards::Shards;
use super::{TensorFile, TensorInfo};
use crate::{Tensor, ValueError};

/// The device of tensors in host memory, and of files.
pub const HOST: &str = "cpu";

/// Tensors by name. What is stored of one is known at once, its elements are read when it is asked for.
pub trait TensorStore: Debug + Send + Sync {
    /// What messages call it: the path of a file or folder.
    fn label(&self) -> String;

    /// All names, sorted.
    fn names(&self) -> Vec<String>;

    /// Dtype and shape of a tensor.
    fn info(&self, name: &str) -> Option<TensorInfo>;

    /// Where a tensor lies: in host memory or a file, unless a store says otherwise (`cuda:0`). Evaluation takes no tensor from elsewhere.
    fn device(&self, _name: &str) -> &str {
        HOST
    }

    /// A tensor as `dtype`; `None` where there is none of that name. Raw bits of an 8-bit float are taken as such, other dtypes are
    /// cast.
    ///
    /// # Errors
    /// The stored dtype is not read, the cast is refused, or the file cannot be read.
    fn get_as(&self, name: &str, dtype: DType) -> Option<Result<Tensor, ValueError>>;
}

/// Opens a `.safetensors` file, a folder of them (with `model.safetensors.index.json` where it has one), an `.npz` archive, or one
/// `.npy` array, which is named after the file. Anything else is taken for a `.safetensors` file.
///
/// # Errors
/// It cannot be read, or is not what its name says.
pub fn open_tensors(path: impl AsRef<Path>) -> Result<Box<dyn TensorStore>, ValueError> {
    let path = path.as_ref();
    if path.is_dir() {
        return Ok(Box::new(Shards::open(path)?));
    }
    Ok(match path.extension().and_then(|extension| extension.to_str()) {
        Some("npz") => Box::new(Archive::open(path)?),
        Some("npy") => Box::new(ArrayFile::open(path)?),
        Some("safetensors") => Box::new(TensorFile::open(path)?),
        _ => Box::new(TensorFile::open(path).map_err(|error| {
            error.with_help("tensor files are named .safetensors, .npz or .npy; a folder holds .safetensors files")
        })?),
    })
}

impl TensorStore for TensorFile {
    fn label(&self) -> String {
        self.path().display().to_string()
    }

    fn names(&self) -> Vec<String> {
        self.names()
    }

    fn info(&self, name: &str) -> Option<TensorInfo> {
        self.info(name)
    }

    fn get_as(&self, name: &str, dtype: DType) -> Option<Result<Tensor, ValueError>> {
        self.get_as(name, dtype)
    }
}

/// Tensors in memory.
#[derive(Clone, Debug, Default)]
pub struct TensorMap(pub BTreeMap<String, Tensor>);

impl TensorStore for TensorMap {
    fn label(&self) -> String {
        "memory".to_owned()
    }

    fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    fn info(&self, name: &str) -> Option<TensorInfo> {
        let tensor = self.0.get(name)?;
        let dtype = tensor.dtype();
        Some(TensorInfo { stored: dtype.to_string(), dtype: Some(dtype), shape: tensor.shape().to_vec() })
    }

    fn get_as(&self, name: &str, dtype: DType) -> Option<Result<Tensor, ValueError>> {
        Some(self.0.get(name)?.cast(dtype))
    }
}
