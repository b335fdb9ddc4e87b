//! Types of the language: dtypes, symbolic dims, layouts, meshes, sharding.
//!
//! Everything here is an immutable value interned in a [`TypeContext`]: two equal values are one
//! pointer, so `==` and `Hash` of a handle are pointer operations. No program value occurs in a
//! type (dims are an algebra of their own), and no IR node is known here.

pub mod access;
pub mod arena;
pub mod dim;
pub mod dtype;
pub mod error;
pub mod kinds;
pub mod layout;
pub mod mesh;
pub mod mesh_slice;
pub mod shard;
pub mod storage;
pub mod sugar;
pub mod types;
pub mod vars;

pub mod intern;
pub mod inverse;
pub mod propagate;
pub mod reshard;
pub mod size;

mod context;
mod fits;
mod fmt;
mod injective;
mod level;
mod local;
mod normal;
mod range;
mod reshape;
mod runs;
mod substitute;
#[cfg(test)]
mod test_util;

pub use access::{AccessRelation, AffineMap, AxisAccess};
pub use arena::Arena;
pub use context::TypeContext;
pub use dim::{Dim, DimKind, DimOp, DimVar};
pub use dtype::DType;
pub use error::TypeError;
pub use fmt::DimTuple;
pub use intern::Symbol;
pub use layout::{ComposedLayout, Layout, OuterLayout};
pub use mesh::{Mesh, MeshLayout, Topology};
pub use mesh_slice::MeshKey;
pub use reshard::separates_instances;
pub use shard::{ShardAttr, ShardLayout, layout_axis_to_tensor_axis};
pub use size::same_element_count;
pub use storage::Storage;
pub use sugar::{PlacementSugar, SugarAxis};
pub use types::{Fit, TensorLayout, TensorType, Type, TypeKind};
pub use vars::DimVars;
