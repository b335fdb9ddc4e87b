//! The artifact of the PTX back end: PTX text and, beside it, a JSON manifest that says how to launch it.
//!
//! `emit-ptx` writes `k.ptx` and `k.json`; a launcher needs nothing else, on whatever machine it runs.

mod error;
mod manifest;
mod ptx;
mod validate;

use std::path::{Path, PathBuf};

pub use error::ArtifactError;
pub use manifest::{Argument, Entry, FORMAT, Kernel, Manifest, Parameter, Role};

/// PTX text with its manifest. [`Artifact::new`] and [`Artifact::read`] give validated ones only.
#[derive(Clone, Debug, PartialEq)]
pub struct Artifact {
    ptx: String,
    manifest: Manifest,
}

impl Artifact {
    /// Checks the manifest, also against the PTX.
    ///
    /// # Errors
    /// Names the field that is wrong, as `kernels[0].grid[1]`.
    pub fn new(ptx: String, manifest: Manifest) -> Result<Self, ArtifactError> {
        validate::validate(&manifest, &ptx)?;
        Ok(Self { ptx, manifest })
    }

    /// The PTX text.
    #[must_use]
    pub fn ptx(&self) -> &str {
        &self.ptx
    }

    /// How to launch it.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The manifest as it is written, JSON text with a final newline.
    ///
    /// # Errors
    /// None for a validated manifest; serde's, should one occur.
    pub fn manifest_json(&self) -> Result<String, ArtifactError> {
        let mut json = serde_json::to_string_pretty(&self.manifest)
            .map_err(|error| ArtifactError::new(format!("cannot write the manifest: {error}")))?;
        json.push('\n');
        Ok(json)
    }

    /// Writes the PTX to `path` and the manifest beside it with the extension `json`, each atomically. Returns the manifest's path.
    ///
    /// # Errors
    /// `path` itself ends in `.json`, or the file system refuses.
    pub fn write(&self, path: &Path) -> Result<PathBuf, ArtifactError> {
        if path.extension().is_some_and(|extension| extension == "json") {
            return Err(ArtifactError::new(format!(
                "{}: the PTX cannot have the manifest's extension",
                path.display()
            ))
            .with_help("name it with the extension .ptx"));
        }
        let manifest = path.with_extension("json");
        let json = self.manifest_json()?;
        // The manifest comes last: where it is, the PTX is.
        for (path, text) in [(path, &self.ptx), (&*manifest, &json)] {
            tf_value::io::write_atomic(path, text.as_bytes())
                .map_err(|error| ArtifactError::new(format!("cannot write {}: {error}", path.display())))?;
        }
        Ok(manifest)
    }

    /// Reads an artifact by the path of either of its files: a `.json` path names the manifest, any other the PTX.
    ///
    /// # Errors
    /// A file that cannot be read, a manifest of another format version, one that does not hold together or does not fit the PTX.
    pub fn read(path: &Path) -> Result<Self, ArtifactError> {
        let (ptx_path, json_path) = match path.extension() {
            Some(extension) if extension == "json" => (path.with_extension("ptx"), path.to_owned()),
            _ => (path.to_owned(), path.with_extension("json")),
        };
        let text = |path: &Path| {
            std::fs::read_to_string(path)
                .map_err(|error| ArtifactError::new(format!("cannot read {}: {error}", path.display())))
        };
        let ptx = text(&ptx_path)?;
        let json =
            text(&json_path).map_err(|error| error.with_help("an artifact is a .ptx file with its .json beside it"))?;
        let of_manifest = |error: ArtifactError| error.in_file(&json_path);
        let manifest = Manifest::from_json(&json).map_err(of_manifest)?;
        Self::new(ptx, manifest).map_err(of_manifest)
    }
}
