//! What a node carries besides its meaning.

use tf_types::Symbol;

use crate::node::{Constraint, Expr};
use crate::{Context, SourceMap, Span};

/// Metadata of a node: at most one value of each class, never part of equality.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meta<'c> {
    /// Where the author wrote it.
    pub span: Option<Span>,
    /// The name the author bound it to.
    pub name: Option<Symbol<'c>>,
    /// What the author requires of its schedule.
    pub constraint: Option<Constraint<'c>>,
}

impl<'c> Meta<'c> {
    /// Only a source position.
    #[must_use]
    pub fn at(span: impl Into<Option<Span>>) -> Self {
        Self { span: span.into(), ..Self::default() }
    }

    /// The same metadata with a binding name.
    #[must_use]
    pub fn named(self, name: impl Into<Option<Symbol<'c>>>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// What a pass gives to a node that it puts in place of this one: position and name.
    #[must_use]
    pub fn source(self) -> Self {
        Self { constraint: None, ..self }
    }
}

/// A class of metadata; the set is closed.
pub trait MetaClass<'c>: Copy {
    /// The field of the class.
    fn field<'m>(meta: &'m mut Meta<'c>) -> &'m mut Option<Self>;
}

impl<'c> MetaClass<'c> for Span {
    fn field<'m>(meta: &'m mut Meta<'c>) -> &'m mut Option<Self> {
        &mut meta.span
    }
}

impl<'c> MetaClass<'c> for Symbol<'c> {
    fn field<'m>(meta: &'m mut Meta<'c>) -> &'m mut Option<Self> {
        &mut meta.name
    }
}

impl<'c> MetaClass<'c> for Constraint<'c> {
    fn field<'m>(meta: &'m mut Meta<'c>) -> &'m mut Option<Self> {
        &mut meta.constraint
    }
}

impl<'c> Expr<'c> {
    /// The metadata of a class: a [`Span`], a [`Symbol`] (the binding name) or a [`Constraint`].
    #[must_use]
    pub fn metadata<M: MetaClass<'c>>(self) -> Option<M> {
        *M::field(&mut { self.data().meta })
    }

    /// A copy with that metadata in place of the one of its class.
    #[must_use]
    pub fn replace_metadata<M: MetaClass<'c>>(self, cx: &Context<'c>, value: M) -> Self {
        let mut meta = self.data().meta;
        *M::field(&mut meta) = Some(value);
        cx.expr(self.data().kind, self.ty(), meta)
    }

    /// A copy without the metadata of a class; the node itself if it has none.
    #[must_use]
    pub fn remove_metadata<M: MetaClass<'c>>(self, cx: &Context<'c>) -> Self {
        let mut meta = self.data().meta;
        match M::field(&mut meta).take() {
            Some(_) => cx.expr(self.data().kind, self.ty(), meta),
            None => self,
        }
    }

    /// The name that the author bound the value to.
    #[must_use]
    pub fn binding_name(self) -> Option<Symbol<'c>> {
        self.data().meta.name
    }

    /// Where a message about the value points: `file:line:column`, else its binding name.
    #[must_use]
    pub fn diagnostic_location(self, sources: &SourceMap) -> Option<String> {
        match self.span() {
            Some(span) => Some(format!("{}:{}:{}", sources.file(span.file).name, span.line, span.column)),
            None => self.binding_name().map(|name| name.to_string()),
        }
    }

    /// Position and name, for a node that stands in for this one.
    #[must_use]
    pub fn source_metadata(self) -> Meta<'c> {
        self.data().meta.source()
    }
}
