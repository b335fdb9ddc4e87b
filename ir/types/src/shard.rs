//! Placement of a tensor on a mesh (spec: shard §5, §6).

use crate::intern::interned_handle;
use crate::{Layout, Mesh, Symbol};

/// What the positions along one mesh axis hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShardAttr<'c> {
    /// Different slices of this axis of the *layout*.
    Split(u32),
    /// The same value.
    Broadcast,
    /// Terms whose reduction (`sum`, `max`, `min`) is the value.
    Partial(Symbol<'c>),
    /// Ownership decided at run time.
    Dynamic,
}

interned_handle! {
    /// A factored layout plus one attribute per mesh axis.
    ShardLayout => ShardLayoutData
}

/// The data of a [`ShardLayout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ShardLayoutData<'c> {
    /// The logical shape with split axes factored.
    pub layout: Layout<'c>,
    /// One per mesh axis, in mesh-axis order.
    pub attrs: &'c [ShardAttr<'c>],
    /// The mesh.
    pub mesh: Mesh<'c>,
}
