//! Layouts: coordinate to offset maps.

use crate::intern::interned_handle;
use crate::{Dim, DimTuple, ShardLayout, TypeContext, TypeError};

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

impl<'c> Layout<'c> {
    /// Number of axes.
    #[must_use]
    pub fn rank(self) -> usize {
        self.data().shape.len()
    }

    /// The extents.
    #[must_use]
    pub fn shape(self) -> &'c [Dim<'c>] {
        self.data().shape
    }

    /// The strides, if materialised.
    #[must_use]
    pub fn strides(self) -> Option<&'c [Dim<'c>]> {
        self.data().strides
    }

    /// The extents as integers; `None` if one is symbolic.
    #[must_use]
    pub fn static_shape(self) -> Option<Vec<i64>> {
        static_dims(self.shape())
    }

    /// The strides as integers; `None` if they are not materialised or one is symbolic.
    #[must_use]
    pub fn static_strides(self) -> Option<Vec<i64>> {
        static_dims(self.strides()?)
    }

    /// The product of the extents; `None` if one is symbolic or the product overflows.
    #[must_use]
    pub fn size(self) -> Option<i64> {
        static_product(self.shape())
    }
}

/// All dims as integers; `None` if one is symbolic.
#[must_use]
pub fn static_dims(dims: &[Dim<'_>]) -> Option<Vec<i64>> {
    dims.iter().map(|d| d.as_const()).collect()
}

/// The product of integer dims; `None` if one is symbolic or the product overflows.
#[must_use]
pub fn static_product(dims: &[Dim<'_>]) -> Option<i64> {
    dims.iter().try_fold(1i64, |product, d| product.checked_mul(d.as_const()?))
}

impl<'c> TypeContext<'c> {
    /// A layout whose strides are checked.
    ///
    /// # Errors
    /// As many strides as axes are needed.
    pub fn new_layout(&self, shape: &[Dim<'c>], strides: Option<&[Dim<'c>]>) -> Result<Layout<'c>, TypeError> {
        if let Some(strides) = strides
            && strides.len() != shape.len()
        {
            return Err(TypeError::new(format!(
                "a layout of {} axes has {} strides: {} and {}",
                shape.len(),
                strides.len(),
                DimTuple(shape),
                DimTuple(strides)
            )));
        }
        Ok(self.layout(shape, strides))
    }

    /// Row-major strides `(s1*s2, s2, 1)`, symbolic products allowed.
    pub fn c_order_strides(&self, shape: &[Dim<'c>]) -> Vec<Dim<'c>> {
        let mut strides = vec![self.dim(1); shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = self.dim_mul(shape[axis], strides[axis]);
        }
        strides
    }

    /// Row-major strides; `None` if an extent is symbolic.
    pub fn try_c_order_strides(&self, shape: &[Dim<'c>]) -> Option<Vec<Dim<'c>>> {
        static_dims(shape)?;
        Some(self.c_order_strides(shape))
    }

    /// The row-major layout of that shape.
    pub fn c_order_layout(&self, shape: &[Dim<'c>]) -> Layout<'c> {
        self.layout(shape, Some(&self.c_order_strides(shape)))
    }
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
    /// Extents of the domain: the outer's, else the inner's, else none.
    #[must_use]
    pub fn shape(self) -> &'c [Dim<'c>] {
        match (self.outer, self.inner) {
            (Some(OuterLayout::Plain(layout)), _) | (None, Some(layout)) => layout.shape(),
            (Some(OuterLayout::Shard(shard)), _) => shard.layout.shape(),
            (None, None) => &[],
        }
    }

    /// The placement under a slice of a placed tensor.
    #[must_use]
    pub fn shard(self) -> Option<ShardLayout<'c>> {
        match (self.inner, self.outer) {
            (None, Some(OuterLayout::Shard(shard))) => Some(shard),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::test_util::dims;
    use crate::{Arena, TypeContext};

    #[test]
    fn strides_match_axes() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let shape = dims(cx, "16 64");
        assert_eq!(cx.new_layout(shape, Some(dims(cx, "64 1"))).unwrap(), cx.c_order_layout(shape));
        assert_eq!(
            cx.new_layout(shape, Some(dims(cx, "64 1 1"))).unwrap_err().message,
            "a layout of 2 axes has 3 strides: (16, 64) and (64, 1, 1)"
        );
    }
}
