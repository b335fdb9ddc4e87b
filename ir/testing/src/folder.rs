//! Folders for the files of a test.

use std::ops::Deref;
use std::path::{Path, PathBuf};

/// A folder of its own for one test, gone afterwards.
pub struct TempFolder(PathBuf);

impl TempFolder {
    /// An empty folder; `name` tells apart the tests of one process.
    ///
    /// # Panics
    /// If it cannot be made.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tf-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder for temporary files");
        Self(path)
    }
}

impl Deref for TempFolder {
    type Target = Path;
    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
