//! Reading tensors by name.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use safetensors::Dtype;
use safetensors::tensor::Metadata;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use tf_types::DType;

use super::foreign::{foreign, language_dtype};
use crate::tensor::element_count;
use crate::{Tensor, ValueError};

/// Longest header accepted, as the format's own library has it.
const MAX_HEADER: u64 = 100_000_000;

/// An open `.safetensors` file: the header is read and checked at once, each tensor's bytes when it is asked for.
#[derive(Debug)]
pub struct TensorFile {
    path: PathBuf,
    file: Mutex<File>,
    metadata: Metadata,
    data_at: u64,
}

/// The names of a header, each once: of two tensors of one name the format's own library takes either.
struct Names;

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Self)
    }
}

impl<'de> Visitor<'de> for Names {
    type Value = Self;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a table of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let mut seen = HashSet::new();
        while let Some((name, IgnoredAny)) = map.next_entry::<String, _>()? {
            if let Some(name) = seen.replace(name) {
                return Err(A::Error::custom(format!("two tensors are named `{name}`")));
            }
        }
        Ok(Self)
    }
}

/// What the header says of one tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorInfo {
    /// The stored dtype, as safetensors names it (`U8`, `F64`, …); `V1` and `V2` are bytes without a meaning.
    pub stored: String,
    /// The language's dtype of that name; `None` where it has none (U8, which may hold the raw bits of an 8-bit float, and others).
    pub dtype: Option<DType>,
    /// Extents, outermost first.
    pub shape: Vec<usize>,
}

impl TensorInfo {
    /// Whether the stored elements are values of `dtype` as they are, or its raw bits (U8 of an 8-bit float).
    #[must_use]
    pub fn holds(&self, dtype: DType) -> bool {
        let raw = match dtype {
            DType::Fp8E4M3 | DType::F8E8M0 => ["U8", "V1"].as_slice(),
            DType::BF16 => &["V2"],
            _ => &[],
        };
        self.dtype == Some(dtype) || raw.contains(&self.stored.as_str())
    }
}

impl TensorFile {
    /// Opens a file and checks its header against its length.
    ///
    /// # Errors
    /// The file cannot be read, is no safetensors file, is shorter or longer than its header says, or has two tensors of one name.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ValueError> {
        let path = path.as_ref();
        let unreadable = |error: std::io::Error| ValueError::new(format!("cannot read {}: {error}", path.display()));
        let bad = |what: String| ValueError::new(format!("{} is no valid safetensors file: {what}", path.display()));
        let mut file = File::open(path).map_err(unreadable)?;
        let found = file.metadata().map_err(unreadable)?;
        if !found.is_file() {
            return Err(ValueError::new(format!("cannot read {}: it is no file", path.display())));
        }
        let length = found.len();
        if length < 8 {
            return Err(bad(format!("{length} bytes hold no header")));
        }
        let mut prefix = [0; 8];
        file.read_exact(&mut prefix).map_err(unreadable)?;
        let header_length = u64::from_le_bytes(prefix);
        if header_length > MAX_HEADER || header_length > length - 8 {
            return Err(bad(format!("a header of {header_length} bytes does not fit a file of {length} bytes")));
        }
        let mut header = vec![0; header_length as usize];
        file.read_exact(&mut header).map_err(unreadable)?;
        let metadata: Metadata =
            serde_json::from_slice(&header).map_err(|error| bad(format!("its header: {error}")))?;
        let Names = serde_json::from_slice(&header).map_err(|error| bad(format!("its header: {error}")))?;
        let data_at = 8 + header_length;
        let (want, have) = (metadata.data_len() as u64, length - data_at);
        if want != have {
            return Err(bad(format!("its header describes {want} bytes of data, {have} follow")));
        }
        Ok(Self { path: path.to_owned(), file: Mutex::new(file), metadata, data_at })
    }

    /// Where the file lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names of all tensors, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names = self.metadata.offset_keys();
        names.sort();
        names
    }

    /// Whether there is a tensor of that name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.metadata.info(name).is_some()
    }

    /// Dtype and shape of a tensor, without reading it.
    #[must_use]
    pub fn info(&self, name: &str) -> Option<TensorInfo> {
        let info = self.metadata.info(name)?;
        Some(TensorInfo {
            stored: info.dtype.to_string(),
            dtype: language_dtype(info.dtype),
            shape: info.shape.clone(),
        })
    }

    /// A tensor in its stored dtype; `None` where there is none of that name.
    ///
    /// # Errors
    /// The dtype is none of the language's (U8 needs [`Self::get_as`]), or the file cannot be read.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Result<Tensor, ValueError>> {
        let info = self.metadata.info(name)?;
        Some(match language_dtype(info.dtype) {
            Some(dtype) => self.read(name, dtype, info.data_offsets, &info.shape),
            None => Err(ValueError::new(format!("tensor `{name}` of {} is {}", self.path.display(), info.dtype))
                .with_help("state the dtype it should have; U8 data of an 8-bit float dtype are raw bits")),
        })
    }

    /// A tensor as `dtype`: U8 data bound to `fp8e4m3` or `f8e8m0` are raw bits, all other data are numbers and are cast where their dtype
    /// differs. [`Self::info`] tells whether they do.
    ///
    /// # Errors
    /// The stored dtype is no number this engine reads, the cast is refused, or the file cannot be read.
    #[must_use]
    pub fn get_as(&self, name: &str, dtype: DType) -> Option<Result<Tensor, ValueError>> {
        let info = self.metadata.info(name)?;
        let (at, shape) = (info.data_offsets, &info.shape);
        Some(match (info.dtype, dtype) {
            (Dtype::U8, DType::Fp8E4M3 | DType::F8E8M0) => self.read(name, dtype, at, shape),
            (stored, _) => match language_dtype(stored) {
                Some(stored) => self.read(name, stored, at, shape).and_then(|tensor| tensor.cast(dtype)),
                None => {
                    let what = format!("tensor `{name}` of {}", self.path.display());
                    self.bytes(name, at).and_then(|bytes| foreign(&what, stored, shape, &bytes, dtype))
                }
            },
        })
    }

    fn read(&self, name: &str, dtype: DType, at: (usize, usize), shape: &[usize]) -> Result<Tensor, ValueError> {
        element_count(shape, 0)?;
        Tensor::from_le_bytes(shape, dtype, &self.bytes(name, at)?)
    }

    fn bytes(&self, name: &str, (start, end): (usize, usize)) -> Result<Vec<u8>, ValueError> {
        let mut bytes = vec![0; end - start];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.data_at + start as u64)).and_then(|_| file.read_exact(&mut bytes)).map_err(
            |error| ValueError::new(format!("cannot read tensor `{name}` of {}: {error}", self.path.display())),
        )?;
        Ok(bytes)
    }
}
