//! What a node carries besides its meaning.

use tf_types::Symbol;

use crate::Span;

/// Metadata of a node: at most one value of each class, never part of equality.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meta<'c> {
    /// Where the author wrote it.
    pub span: Option<Span>,
    /// The name the author bound it to.
    pub name: Option<Symbol<'c>>,
}

impl<'c> Meta<'c> {
    /// Only a source position.
    #[must_use]
    pub fn at(span: impl Into<Option<Span>>) -> Self {
        Self { span: span.into(), name: None }
    }

    /// The same metadata with a binding name.
    #[must_use]
    pub fn named(self, name: Symbol<'c>) -> Self {
        Self { name: Some(name), ..self }
    }
}
