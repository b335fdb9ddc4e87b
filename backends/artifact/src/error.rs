//! The error of reading and writing artifacts.

use std::fmt;
use std::path::Path;

/// What is wrong with an artifact and, where one is known, the fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactError {
    /// What was expected and what was found; a field of the manifest by its path.
    pub message: String,
    /// How to mend it.
    pub help: Option<String>,
}

impl ArtifactError {
    /// An error without a fix hint.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    /// The same error with a fix hint.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn in_file(self, path: &Path) -> Self {
        Self { message: format!("{}: {}", path.display(), self.message), ..self }
    }
}

impl fmt::Display for ArtifactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ArtifactError {}
