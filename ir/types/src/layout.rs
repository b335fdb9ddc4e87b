//! Layouts: coordinate to offset maps (spec: shard §2, §3).

use crate::intern::interned_handle;
use crate::{Dim, ShardLayout};

interned_handle! {
    /// A strided layout. Coordinates are decomposed first axis fastest.
    Layout => LayoutData
}

/// The data of a [`Layout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LayoutData<'c> {
    /// Extents, interned.
    pub shape: &'c [Dim<'c>],
    /// Strides in elements, one per axis; `None`: not materialised yet.
    pub strides: Option<&'c [Dim<'c>]>,
}

interned_handle! {
    /// `c -> inner(offset + outer(c))`; an absent part is the identity.
    ComposedLayout => ComposedLayoutData
}

/// The data of a [`ComposedLayout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ComposedLayoutData<'c> {
    /// Applied last.
    pub inner: Option<Layout<'c>>,
    /// Added between, in elements.
    pub offset: Dim<'c>,
    /// Applied first.
    pub outer: Option<OuterLayout<'c>>,
}

/// What a [`ComposedLayout`] may apply first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OuterLayout<'c> {
    /// A sliced mesh or a slice of an unplaced tensor.
    Plain(Layout<'c>),
    /// A slice of a placed tensor.
    Shard(ShardLayout<'c>),
}

impl<'c> ComposedLayout<'c> {
    /// The placement under a slice of a placed tensor (spec: shard §3 `shard_layout_of`).
    #[must_use]
    pub fn shard(self) -> Option<ShardLayout<'c>> {
        match (self.inner, self.outer) {
            (None, Some(OuterLayout::Shard(shard))) => Some(shard),
            _ => None,
        }
    }
}
