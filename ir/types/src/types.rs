//! Types of values.

use crate::intern::interned_handle;
use crate::{ComposedLayout, DType, Dim, Layout, Mesh, ShardAttr, ShardLayout, Storage, TypeContext, TypeError};

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

impl<'c> Type<'c> {
    /// Whether a loop that carries this type may yield `next`: equal shape, dtype, storage and placement; strides
    /// are free.
    #[must_use]
    pub fn carries(self, next: Self) -> bool {
        if self == next {
            return true;
        }
        let (Some(a), Some(b)) = (self.as_tensor(), next.as_tensor()) else { return false };
        a.shape == b.shape && a.dtype == b.dtype && a.storage == b.storage && a.same_placement(b)
    }

    /// Compares a loop's phi with its yield, or its initial value with the phi: shape, dtype, storage and placement
    /// agree; what has no layout or no strides takes those that follow.
    #[must_use]
    pub fn fit(self, next: Self) -> Fit {
        if self == next {
            return Fit::Same;
        }
        let (Some(have), Some(want)) = (self.as_tensor(), next.as_tensor()) else { return Fit::Differs };
        let is_open = match (have.layout, want.layout) {
            (None, Some(_)) => TensorType { layout: None, ..*want } == *have,
            (Some(TensorLayout::Plain(layout)), Some(TensorLayout::Plain(other))) => {
                layout.strides().is_none() && layout.shape() == other.shape() && self.carries(next)
            }
            (Some(TensorLayout::Shard(shard)), _) => shard.layout.strides().is_none() && self.carries(next),
            _ => false,
        };
        match is_open {
            true => Fit::Retype,
            false if self.carries(next) => Fit::Same,
            false => Fit::Differs,
        }
    }
}

/// How a value fits what a loop carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Equal, or all but the strides.
    Same,
    /// The layout or the strides are taken from what follows.
    Retype,
    /// Another shape, dtype, storage or placement.
    Differs,
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

    /// Whether two tensors are placed alike, or not at all; strides do not count.
    #[must_use]
    pub fn same_placement(&self, other: &Self) -> bool {
        match (self.shard(), other.shard()) {
            (None, None) => true,
            (Some(a), Some(b)) => a.same_placement(b),
            _ => false,
        }
    }

    /// The extents as integers; `None` if one is symbolic.
    #[must_use]
    pub fn static_shape(&self) -> Option<Vec<i64>> {
        self.shape.iter().map(|d| d.as_const()).collect()
    }
}

impl<'c> TypeContext<'c> {
    /// Rank 0 with the empty layout in `umat`: shape elements and results of dim ops. Unequal to
    /// [`TypeContext::scalar`], which has no layout.
    pub fn umat_scalar(&self, dtype: DType) -> Type<'c> {
        self.umat_tensor(&[], dtype)
    }

    /// A ranked `umat` tensor with the empty layout: shape vectors.
    pub fn umat_tensor(&self, shape: &[Dim<'c>], dtype: DType) -> Type<'c> {
        let empty = self.layout(&[], Some(&[]));
        self.tensor(shape, dtype, Some(TensorLayout::Plain(empty)), Storage::Umat)
    }

    /// A tensor placed canonically by attributes on logical axes.
    ///
    /// # Errors
    /// As [`TypeContext::canonical_shard_layout`].
    pub fn shard_tensor(
        &self,
        shape: &[Dim<'c>],
        dtype: DType,
        storage: Storage,
        mesh: Mesh<'c>,
        attrs: &[ShardAttr<'c>],
    ) -> Result<Type<'c>, TypeError> {
        let shard = self.canonical_shard_layout(shape, mesh, attrs)?;
        Ok(self.tensor(shape, dtype, Some(TensorLayout::Shard(shard)), storage))
    }
}

#[cfg(test)]
mod tests {
    use crate::test_util::{dims, mesh};
    use crate::{Arena, DType, DimOp, OuterLayout, ShardAttr, Storage, TensorLayout, Topology, TypeContext};

    #[test]
    fn dims_of_types_are_in_normal_form() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let s = dims(cx, "S")[0];
        let sum = cx.dim_op(DimOp::Sub, cx.dim_op(DimOp::Add, s, cx.dim(1)), cx.dim(1));
        let layout = |dim| Some(TensorLayout::Plain(cx.layout(&[dim], Some(&[dim]))));
        let ty = |dim| cx.tensor(&[dim], DType::F32, layout(dim), Storage::Gmem);
        assert_eq!(ty(sum), ty(s));
        let levels = |size| cx.topologies(&[Topology { name: cx.symbol("cta"), size: Some(size) }]);
        assert_eq!(levels(sum), levels(s));
        assert_eq!(cx.composed_layout(None, sum, None), cx.composed_layout(None, s, None));
    }

    #[test]
    fn signatures_have_strides() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let open = cx.layout(dims(cx, "4 S"), None);
        let of = |layout| cx.tensor(dims(cx, "4 S"), DType::F32, Some(layout), Storage::Gmem);
        let text = |ty| cx.signature_type(ty).to_string();
        assert_eq!(text(of(TensorLayout::Plain(open))), r#"Tensor[(4, S), "f32", (4, S):(S, 1)]"#);
        let composed = cx.composed_layout(None, cx.dim(8), Some(OuterLayout::Plain(open)));
        let composed = cx.signature_type(of(TensorLayout::Composed(composed)));
        let TensorLayout::Composed(composed) = composed.as_tensor().unwrap().layout.unwrap() else {
            panic!("composed")
        };
        assert_eq!(composed.outer, Some(OuterLayout::Plain(cx.c_order_layout(dims(cx, "4 S")))));
        let m = mesh(cx, &[("thread", 4)], &[("w", 4)]);
        let placed = cx.shard_layout(cx.layout(dims(cx, "4 2"), None), &[ShardAttr::Split(0)], m);
        let placed = cx.tensor(dims(cx, "8"), DType::F32, Some(TensorLayout::Shard(placed)), Storage::Gmem);
        let pair = cx.signature_type(cx.tuple(&[placed, cx.scalar(DType::I64)]));
        let strides = pair.leaves()[0].shard().unwrap().layout.static_strides();
        assert_eq!(strides.as_deref(), Some(&[2, 1][..]));
        assert_eq!(cx.signature_type(pair), pair);
    }

    #[test]
    fn constructors() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        assert_ne!(cx.scalar(DType::I64), cx.umat_scalar(DType::I64));
        assert_eq!(cx.umat_tensor(dims(cx, "3"), DType::I64).to_string(), r#"Tensor[(3,), "i64", ():(), "umat"]"#);
        let m = mesh(cx, &[("thread", 4)], &[("w", 4)]);
        let placed = cx.shard_tensor(dims(cx, "8"), DType::F32, Storage::Rmem, m, &[ShardAttr::Split(0)]).unwrap();
        assert_eq!(placed.to_string(), r#"Tensor[(8,), "f32", (4 @ w, 2), "rmem"]"#);
        // Equal values are one pointer, also from another thread's context.
        let fork = &cx.fork();
        let again = fork.shard_tensor(dims(fork, "8"), DType::F32, Storage::Rmem, m, &[ShardAttr::Split(0)]);
        assert_eq!(again.unwrap(), placed);
    }
}
