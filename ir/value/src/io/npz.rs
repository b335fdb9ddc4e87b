//! NumPy's files: `.npy` arrays, and `.npz` archives of them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tf_types::DType;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::npy::{Header, write};
use super::{TensorInfo, TensorStore};
use crate::{Tensor, ValueError};

/// Longest array header looked at.
const MAX_HEADER: u64 = 1 << 16;

/// An `.npz` archive: names and headers are read at once, arrays when they are asked for.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    file: Mutex<ZipArchive<File>>,
    /// By the name without `.npy`: its place in the archive, and its header, or why it is not read.
    arrays: BTreeMap<String, (usize, Result<Header, String>)>,
}

impl Archive {
    /// Opens an archive.
    ///
    /// # Errors
    /// The file cannot be read, is no zip archive, or has two arrays of one name. A member that is no array of numbers is refused when it is
    /// asked for.
    pub fn open(path: &Path) -> Result<Self, ValueError> {
        let unreadable = |error: std::io::Error| ValueError::new(format!("cannot read {}: {error}", path.display()));
        let bad = |what: String| ValueError::new(format!("{} is no valid npz file: {what}", path.display()));
        let mut file =
            ZipArchive::new(File::open(path).map_err(unreadable)?).map_err(|error| bad(error.to_string()))?;
        if file.has_duplicate_names() {
            return Err(bad("two members have one name".to_owned()));
        }
        let mut arrays = BTreeMap::new();
        for at in 0..file.len() {
            let member = file.by_index(at).map_err(|error| bad(error.to_string()))?;
            let name = member.name().map_err(|error| bad(error.to_string()))?.into_owned();
            let name = name.strip_suffix(".npy").unwrap_or(&name).to_owned();
            let mut start = Vec::new();
            member.take(MAX_HEADER).read_to_end(&mut start).map_err(unreadable)?;
            if arrays.insert(name.clone(), (at, Header::parse(&start))).is_some() {
                return Err(bad(format!("two members are arrays named `{name}`")));
            }
        }
        Ok(Self { path: path.to_owned(), file: Mutex::new(file), arrays })
    }

    /// A member, up to one byte more than its header asks for: what is compressed may be of any length.
    fn bytes(&self, at: usize, header: &Header) -> Result<Vec<u8>, String> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let member = file.by_index(at).map_err(|error| error.to_string())?;
        let limit = header.file_length().map_or(0, |length| length as u64).saturating_add(1);
        let mut bytes = Vec::new();
        member.take(limit).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        Ok(bytes)
    }
}

impl TensorStore for Archive {
    fn label(&self) -> String {
        self.path.display().to_string()
    }

    fn names(&self) -> Vec<String> {
        self.arrays.keys().cloned().collect()
    }

    fn info(&self, name: &str) -> Option<TensorInfo> {
        self.arrays.get(name).map(|(_, header)| match header {
            Ok(header) => header.info.clone(),
            Err(_) => TensorInfo { stored: "no array of numbers".to_owned(), dtype: None, shape: Vec::new() },
        })
    }

    fn get_as(&self, name: &str, dtype: DType) -> Option<Result<Tensor, ValueError>> {
        let (at, header) = self.arrays.get(name)?;
        let what = format!("`{name}` of {}", self.path.display());
        let header = match header {
            Ok(header) => header,
            Err(why) => return Some(Err(ValueError::new(format!("cannot read {what}: {why}")))),
        };
        let bytes = self.bytes(*at, header).map_err(|error| ValueError::new(format!("cannot read {what}: {error}")));
        Some(bytes.and_then(|bytes| header.read(&what, &bytes, dtype)))
    }
}

/// An `.npy` file: one array under the name of the file.
#[derive(Debug)]
pub struct ArrayFile {
    path: PathBuf,
    name: String,
    header: Header,
    bytes: Vec<u8>,
}

impl ArrayFile {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or holds no array of numbers.
    pub fn open(path: &Path) -> Result<Self, ValueError> {
        let bytes =
            std::fs::read(path).map_err(|error| ValueError::new(format!("cannot read {}: {error}", path.display())))?;
        let header = Header::parse(&bytes)
            .map_err(|what| ValueError::new(format!("{} is no valid npy file: {what}", path.display())))?;
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { path: path.to_owned(), name, header, bytes })
    }
}

impl TensorStore for ArrayFile {
    fn label(&self) -> String {
        self.path.display().to_string()
    }

    fn names(&self) -> Vec<String> {
        vec![self.name.clone()]
    }

    fn info(&self, name: &str) -> Option<TensorInfo> {
        (name == self.name).then(|| self.header.info.clone())
    }

    fn get_as(&self, name: &str, dtype: DType) -> Option<Result<Tensor, ValueError>> {
        (name == self.name).then(|| self.header.read(&self.label(), &self.bytes, dtype))
    }
}

/// An archive of these arrays, not compressed.
pub(super) fn archive<'t>(tensors: &[(&'t str, &'t Tensor)]) -> Result<Vec<u8>, String> {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, tensor) in tensors {
        writer.start_file(format!("{name}.npy"), options).map_err(|error| error.to_string())?;
        writer.write_all(&write(tensor)).map_err(|error| error.to_string())?;
    }
    Ok(writer.finish().map_err(|error| error.to_string())?.into_inner())
}
