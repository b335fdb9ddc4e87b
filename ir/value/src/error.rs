//! The error of the tensor engine.

use std::fmt;

/// A refusal: what is wrong and, where one is known, the fix.
/// It has no source position; whoever holds one wraps it into a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueError {
    /// What was expected and what was found.
    pub message: String,
    /// How to mend it.
    pub help: Option<String>,
}

impl ValueError {
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
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ValueError {}
