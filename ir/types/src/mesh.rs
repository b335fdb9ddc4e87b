//! Hardware levels and meshes of positions (spec: shard §4).

use crate::intern::interned_handle;
use crate::{ComposedLayout, Dim, Layout, Symbol};

/// A level of parallel hardware and its position count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Topology<'c> {
    /// `cta`, `thread`, …
    pub name: Symbol<'c>,
    /// Number of positions; `None`: deferred to the target or a launch.
    pub size: Option<Dim<'c>>,
}

interned_handle! {
    /// Named axes over the positions of one or more levels.
    Mesh => MeshData
}

/// The data of a [`Mesh`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MeshData<'c> {
    /// Levels, outermost first.
    pub topologies: &'c [Topology<'c>],
    /// Positions: axis extents and strides, with an offset once sliced.
    pub layout: MeshLayout<'c>,
    /// Axis names; empty: `x y z` name the first three axes.
    pub names: &'c [Symbol<'c>],
}

/// The positions of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MeshLayout<'c> {
    /// All of its levels.
    Plain(Layout<'c>),
    /// A slice `m[…]`: offset plus the selected extents.
    Sliced(ComposedLayout<'c>),
}
