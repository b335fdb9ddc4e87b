//! Folders of safetensors files: shards, with or without an index.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use tf_types::DType;

use super::{TensorFile, TensorInfo, TensorStore, write_atomic, write_tensors};
use crate::{Tensor, ValueError};

const INDEX: &str = "model.safetensors.index.json";

/// A folder of `.safetensors` files, all headers read.
#[derive(Debug)]
pub struct Shards {
    path: PathBuf,
    files: Vec<TensorFile>,
    /// The file of each tensor.
    by_name: BTreeMap<String, usize>,
}

impl Shards {
    /// Opens the shards that the folder's index names; without an index all `.safetensors` files of the folder.
    ///
    /// # Errors
    /// A file cannot be read; the index is wrong; there is no file; two files without an index have a tensor of one name.
    pub fn open(path: &Path) -> Result<Self, ValueError> {
        let index = path.join(INDEX);
        if index.is_file() { Self::indexed(path, &index) } else { Self::all(path) }
    }

    fn indexed(path: &Path, index: &Path) -> Result<Self, ValueError> {
        let bad = |what: String| ValueError::new(format!("{} is no valid index: {what}", index.display()));
        let text = std::fs::read(index)
            .map_err(|error| ValueError::new(format!("cannot read {}: {error}", index.display())))?;
        let parsed: Json = serde_json::from_slice(&text).map_err(|error| bad(error.to_string()))?;
        let map = parsed["weight_map"].as_object().ok_or_else(|| bad("it has no `weight_map`".to_owned()))?;
        let mut shards = Self { path: path.to_owned(), files: Vec::new(), by_name: BTreeMap::new() };
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, file) in map {
            let file = file.as_str().filter(|file| is_plain(file));
            let file = file.ok_or_else(|| bad(format!("the file of `{name}` is no name of a file beside it")))?;
            let at = match known.get(file) {
                Some(&at) => at,
                None => {
                    shards.files.push(TensorFile::open(path.join(file))?);
                    known.insert(file, shards.files.len() - 1);
                    shards.files.len() - 1
                }
            };
            if !shards.files[at].contains(name) {
                return Err(bad(format!("{file} has no tensor `{name}`")));
            }
            shards.by_name.insert(name.clone(), at);
        }
        Ok(shards)
    }

    fn all(path: &Path) -> Result<Self, ValueError> {
        let unreadable = |error: std::io::Error| ValueError::new(format!("cannot read {}: {error}", path.display()));
        let entries = std::fs::read_dir(path).map_err(unreadable)?;
        let mut paths = entries.map(|entry| Ok(entry.map_err(unreadable)?.path())).collect::<Result<Vec<_>, _>>()?;
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "safetensors"));
        paths.sort();
        if paths.is_empty() {
            return Err(ValueError::new(format!("{} has no .safetensors file", path.display())));
        }
        let files = paths.iter().map(TensorFile::open).collect::<Result<Vec<_>, _>>()?;
        let mut by_name = BTreeMap::new();
        for (at, file) in files.iter().enumerate() {
            for name in file.names() {
                if let Some(first) = by_name.insert(name.clone(), at) {
                    let (first, second) = (files[first].path().display(), file.path().display());
                    return Err(ValueError::new(format!("both {first} and {second} have a tensor `{name}`")));
                }
            }
        }
        Ok(Self { path: path.to_owned(), files, by_name })
    }
}

fn is_plain(file: &str) -> bool {
    Path::new(file).file_name().is_some_and(|name| name == file)
}

impl TensorStore for Shards {
    fn label(&self) -> String {
        self.path.display().to_string()
    }

    fn names(&self) -> Vec<String> {
        self.by_name.keys().cloned().collect()
    }

    fn info(&self, name: &str) -> Option<TensorInfo> {
        self.files[*self.by_name.get(name)?].info(name)
    }

    fn get_as(&self, name: &str, dtype: DType) -> Option<Result<Tensor, ValueError>> {
        self.files[*self.by_name.get(name)?].get_as(name, dtype)
    }
}

/// Writes a folder of shards of at most `limit` bytes each (a larger tensor has its own), and their index, which comes last.
///
/// # Errors
/// The folder or a file cannot be written.
pub fn write_shards(path: &Path, tensors: &BTreeMap<String, Tensor>, limit: u64) -> Result<(), ValueError> {
    let fail = |what: &dyn std::fmt::Display| ValueError::new(format!("cannot write {}: {what}", path.display()));
    if path.exists() && !path.is_dir() {
        return Err(fail(&"it is a file, and shards take a folder"));
    }
    std::fs::create_dir_all(path).map_err(|error| fail(&error))?;
    let size = |tensor: &Tensor| tensor.len() as u64 * u64::from(tensor.dtype().bits().div_ceil(8));
    let mut shards: Vec<Vec<(&str, &Tensor)>> = vec![Vec::new()];
    let (mut filled, mut total) = (0, 0);
    for (name, tensor) in tensors {
        let bytes = size(tensor);
        if filled > 0 && filled + bytes > limit {
            shards.push(Vec::new());
            filled = 0;
        }
        filled += bytes;
        total += bytes;
        if let Some(shard) = shards.last_mut() {
            shard.push((name, tensor));
        }
    }
    let count = shards.len();
    let mut map = serde_json::Map::new();
    for (at, shard) in shards.into_iter().enumerate() {
        let file = format!("model-{:05}-of-{count:05}.safetensors", at + 1);
        map.extend(shard.iter().map(|(name, _)| ((*name).to_owned(), Json::from(file.as_str()))));
        write_tensors(&path.join(&file), shard)?;
    }
    let index = json!({ "metadata": { "total_size": total }, "weight_map": map });
    let text = serde_json::to_vec_pretty(&index).map_err(|error| fail(&error))?;
    write_atomic(&path.join(INDEX), &text).map_err(|error| fail(&error))
}
