//! Diagnostics: the one error type that users see.

mod render;
mod suggest;

pub use render::Style;
pub use suggest::did_you_mean;

use crate::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The run fails.
    Error,
    /// The run goes on.
    Warning,
    /// Information from a pass.
    Remark,
}

/// A message about user input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Who says so, for programs: the name of a pass, or the stage (`input`, `verify`, `pipeline`, `plugin`, `usage`, `panic`).
    pub code: Option<&'static str>,
    /// What was expected and what was found.
    pub message: String,
    /// Where.
    pub span: Option<Span>,
    /// Text under the primary span.
    pub label: Option<String>,
    /// Further places of the same excerpt.
    pub labels: Vec<(Span, String)>,
    /// Facts that belong to it, with or without a place.
    pub notes: Vec<(Option<Span>, String)>,
    /// How to mend it.
    pub help: Option<String>,
}

/// The result of what may refuse user input.
pub type Result<T, E = Diagnostic> = std::result::Result<T, E>;

impl Diagnostic {
    fn new(severity: Severity, message: impl Into<String>) -> Self {
        Self {
            severity,
            code: None,
            message: message.into(),
            span: None,
            label: None,
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// An error without a place.
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message)
    }

    /// A warning without a place.
    pub fn warning(message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, message)
    }

    /// A remark without a place.
    pub fn remark(message: impl Into<String>) -> Self {
        Self::new(Severity::Remark, message)
    }

    /// The same message at a place; one it has already stays.
    #[must_use]
    pub fn at(mut self, span: impl Into<Option<Span>>) -> Self {
        self.span = self.span.or(span.into());
        self
    }

    /// With a code; one it has already stays.
    #[must_use]
    pub fn coded(mut self, code: &'static str) -> Self {
        self.code = self.code.or(Some(code));
        self
    }

    /// With text under the primary span.
    #[must_use]
    pub fn with_label(mut self, text: impl Into<String>) -> Self {
        self.label = Some(text.into());
        self
    }

    /// With a further labelled place.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push((span, text.into()));
        self
    }

    /// With a note.
    #[must_use]
    pub fn with_note(mut self, span: Option<Span>, text: impl Into<String>) -> Self {
        self.notes.push((span, text.into()));
        self
    }

    /// With a fix hint.
    #[must_use]
    pub fn with_help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }
}

impl From<tf_types::TypeError> for Diagnostic {
    fn from(error: tf_types::TypeError) -> Self {
        let mut diagnostic = Self::error(error.message);
        diagnostic.help = error.help;
        diagnostic
    }
}
