//! The error type of the LLVM-based back ends.
use std::{error::Error, fmt};

/// A failed back-end step: what was attempted, and what MLIR or LLVM said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackendError {
    /// One line that names the step and the reason.
    pub message: String,
    /// Messages of the underlying library in the order they were reported.
    pub details: Vec<String>,
}

impl BackendError {
    /// An error without further details.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), details: Vec::new() }
    }

    /// An error with the messages of the underlying library.
    pub fn with_details(message: impl Into<String>, details: Vec<String>) -> Self {
        Self { message: message.into(), details }
    }
}

impl fmt::Display for BackendError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)?;
        for detail in &self.details {
            write!(formatter, "\n  {detail}")?;
        }
        Ok(())
    }
}

impl Error for BackendError {}

impl From<BackendError> for tf_core::Diagnostic {
    fn from(error: BackendError) -> Self {
        let diagnostic = Self::error(error.message);
        error.details.into_iter().fold(diagnostic, |diagnostic, detail| diagnostic.with_note(None, detail))
    }
}
