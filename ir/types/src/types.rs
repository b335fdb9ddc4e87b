//! Types of values (spec: types §1, §2).

use crate::intern::interned_handle;
use crate::{ComposedLayout, DType, Dim, Layout, ShardLayout, Storage};

interned_handle! {
    /// The type of an expression.
    Type => TypeKind
}

/// The form of a [`Type`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind<'c> {
    /// Every tensor and every scalar (shape `()`).
    Tensor(TensorType<'c>),
    /// Results of multi-output ops and functions.
    Tuple(&'c [Type<'c>]),
    /// Effects.
    Unit,
    /// Functions.
    Callable {
        /// Parameter types in order.
        params: &'c [Type<'c>],
        /// Return type; unit for a TIR function.
        result: Type<'c>,
    },
}

/// A tensor type. Interned: `shape` and the layout are unique pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TensorType<'c> {
    /// Logical extents, normalised; sharding never changes them.
    pub shape: &'c [Dim<'c>],
    /// Element type.
    pub dtype: DType,
    /// Placement or strides; `None`: not decided.
    pub layout: Option<TensorLayout<'c>>,
    /// Residency.
    pub storage: Storage,
}

/// A layout as a tensor type carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TensorLayout<'c> {
    /// Strides over the logical shape.
    Plain(Layout<'c>),
    /// A slice of either.
    Composed(ComposedLayout<'c>),
    /// A placement on a mesh.
    Shard(ShardLayout<'c>),
}

impl<'c> Type<'c> {
    /// The tensor type, if it is one.
    #[must_use]
    pub fn as_tensor(self) -> Option<&'c TensorType<'c>> {
        match self.0 {
            TypeKind::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }
}

impl<'c> TensorType<'c> {
    /// Number of logical axes.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The placement, if the layout is a [`ShardLayout`] or a slice of one.
    #[must_use]
    pub fn shard(&self) -> Option<ShardLayout<'c>> {
        match self.layout? {
            TensorLayout::Shard(shard) => Some(shard),
            TensorLayout::Composed(composed) => composed.shard(),
            TensorLayout::Plain(_) => None,
        }
    }

    /// The extents as integers; `None` if one is symbolic.
    #[must_use]
    pub fn static_shape(&self) -> Option<Vec<i64>> {
        self.shape.iter().map(|d| d.as_const()).collect()
    }
}
