//! Layouts as functions: application, coalescing, inverses, scopes of positions.

use crate::layout::OuterLayout;
use crate::mesh::MeshLayout;
use crate::{ComposedLayout, Layout, Mesh, TypeContext, TypeError};

/// Extents and strides as integers; missing strides are prefix products.
fn axes_of(layout: Layout<'_>) -> Option<Vec<(i64, i64)>> {
    let shape = layout.static_shape()?;
    let strides = match layout.strides() {
        Some(_) => layout.static_strides()?,
        None => prefix_product(&shape)?,
    };
    Some(shape.into_iter().zip(strides).collect())
}

/// Column-major strides `(1, s0, s0*s1)`; `None` on overflow.
#[must_use]
pub fn prefix_product(shape: &[i64]) -> Option<Vec<i64>> {
    let mut next = 1i64;
    let mut strides = Vec::with_capacity(shape.len());
    for (axis, &extent) in shape.iter().enumerate() {
        strides.push(next);
        if axis + 1 < shape.len() {
            next = next.checked_mul(extent)?;
        }
    }
    Some(strides)
}

/// Whether divisions by the sorted strides recover a coordinate.
fn projectable(axes: &[(i64, i64)]) -> bool {
    let mut sorted: Vec<_> = axes.iter().filter(|a| a.0 != 1).collect();
    sorted.sort_by_key(|a| a.1);
    let mut current = 1i64;
    sorted.into_iter().all(|&(extent, stride)| {
        let divisible = stride > 0 && current > 0 && stride % current == 0;
        current = stride.saturating_mul(extent);
        divisible
    })
}

/// Drops unit axes and merges each axis that continues the one before.
fn coalesced(axes: impl IntoIterator<Item = (i64, i64)>) -> Vec<(i64, i64)> {
    let mut out: Vec<(i64, i64)> = Vec::new();
    for (extent, stride) in axes {
        match out.last_mut() {
            _ if extent == 1 => {}
            Some(last) if last.0.checked_mul(last.1) == Some(stride) && last.0.checked_mul(extent).is_some() => {
                last.0 *= extent;
            }
            _ => out.push((extent, stride)),
        }
    }
    out
}

/// Axes with their column-major position strides, sorted by stride, as far as they are contiguous.
fn right_inverse_axes(axes: &[(i64, i64)]) -> Option<Vec<(i64, i64)>> {
    let shape: Vec<i64> = axes.iter().map(|a| a.0).collect();
    let positions = prefix_product(&shape)?;
    let mut sorted: Vec<_> = axes.iter().zip(positions).filter(|(axis, _)| axis.0 != 1).collect();
    sorted.sort_by_key(|(axis, _)| axis.1);
    let mut extent = 1i64;
    let mut inverse = Vec::new();
    for (&(size, stride), position) in sorted {
        if stride != extent {
            break;
        }
        extent = extent.checked_mul(size)?;
        inverse.push((size, position));
    }
    Some(coalesced(inverse))
}

fn not_projectable(what: impl std::fmt::Display) -> TypeError {
    TypeError::new(format!("{what} cannot be projected: positions do not determine coordinates by division"))
}

impl Layout<'_> {
    /// The offset of a one-dimensional coordinate, decomposed first axis fastest. Missing strides are prefix
    /// products. `None` if an extent or stride is symbolic or the sum overflows.
    #[must_use]
    pub fn apply(self, coordinate: i64) -> Option<i64> {
        let mut rest = coordinate;
        axes_of(self)?.into_iter().try_fold(0i64, |offset, (extent, stride)| {
            if extent <= 0 {
                return None;
            }
            let own = rest.rem_euclid(extent);
            rest = rest.div_euclid(extent);
            offset.checked_add(own.checked_mul(stride)?)
        })
    }

    /// One past the offset of the last coordinate; 0 without coordinates. `None` as for [`Layout::apply`].
    #[must_use]
    pub fn cosize(self) -> Option<i64> {
        match self.size()? {
            0 => Some(0),
            size => self.apply(size - 1)?.checked_add(1),
        }
    }

    /// Whether a coordinate can be recovered from an offset by division.
    #[must_use]
    pub fn is_inverse_projectable(self) -> bool {
        axes_of(self).is_some_and(|axes| projectable(&axes))
    }
}

impl<'c> TypeContext<'c> {
    fn layout_of_axes(&self, axes: &[(i64, i64)]) -> Layout<'c> {
        let (shape, strides): (Vec<i64>, Vec<i64>) = axes.iter().copied().unzip();
        self.layout(self.const_dims(&shape), Some(self.const_dims(&strides)))
    }

    /// The same function with unit axes dropped and contiguous neighbours merged; `None` if symbolic.
    pub fn coalesce(&self, layout: Layout<'c>) -> Option<Layout<'c>> {
        Some(self.layout_of_axes(&coalesced(axes_of(layout)?)))
    }

    /// `R` with `layout(R(i)) = i` on its whole domain; `None` if symbolic.
    pub fn right_inverse(&self, layout: Layout<'c>) -> Option<Layout<'c>> {
        Some(self.layout_of_axes(&right_inverse_axes(&axes_of(layout)?)?))
    }

    /// `L` with `L(layout(c)) = c` for every coordinate.
    ///
    /// # Errors
    /// The layout is symbolic or not projectable.
    pub fn left_inverse(&self, layout: Layout<'c>) -> Result<Layout<'c>, TypeError> {
        let axes = axes_of(layout).filter(|axes| projectable(axes)).ok_or_else(|| not_projectable(layout))?;
        let mut sorted: Vec<_> = axes.iter().copied().filter(|a| a.0 != 1).collect();
        sorted.sort_by_key(|a| a.1);
        let mut joined = axes.clone();
        let mut current = 1i64;
        for (extent, stride) in sorted {
            joined.push((stride / current, current));
            current = stride.saturating_mul(extent);
        }
        right_inverse_axes(&joined).map(|axes| self.layout_of_axes(&axes)).ok_or_else(|| not_projectable(layout))
    }

    /// The left inverse of `offset + layout`: `inner = left_inverse(layout)` after adding `-offset`.
    ///
    /// # Errors
    /// The scope has an inner layout, no plain outer one, a symbolic offset, or is not projectable.
    pub fn left_inverse_of_scope(&self, scope: ComposedLayout<'c>) -> Result<ComposedLayout<'c>, TypeError> {
        let (Some(OuterLayout::Plain(layout)), true) = (scope.outer, scope.has_identity_inner()) else {
            return Err(not_projectable(scope));
        };
        let offset = scope.offset.as_const().and_then(i64::checked_neg).ok_or_else(|| not_projectable(scope))?;
        Ok(self.composed_layout(Some(self.left_inverse(layout)?), self.dim(offset), None))
    }

    /// The positions that a mesh covers, as offset and layout.
    pub fn scope(&self, mesh: Mesh<'c>) -> ComposedLayout<'c> {
        match mesh.layout {
            MeshLayout::Sliced(composed) => composed,
            MeshLayout::Plain(layout) => self.composed_layout(None, self.dim(0), Some(OuterLayout::Plain(layout))),
        }
    }
}

impl<'c> ComposedLayout<'c> {
    fn has_identity_inner(self) -> bool {
        self.inner.is_none_or(|inner| match (inner.static_shape(), inner.strides()) {
            (_, None) => true,
            (Some(shape), Some(_)) => prefix_product(&shape).is_some_and(|p| inner.static_strides() == Some(p)),
            (None, Some(_)) => false,
        })
    }

    fn parts(self) -> Result<(i64, Layout<'c>), TypeError> {
        match (self.has_identity_inner(), self.offset.as_const(), self.outer) {
            (true, Some(offset), Some(OuterLayout::Plain(layout))) if layout.static_shape().is_some() => {
                Ok((offset, layout))
            }
            _ => Err(not_projectable(self)),
        }
    }

    /// The position of a coordinate: `offset + outer(coordinate)`.
    ///
    /// # Errors
    /// An inner layout other than the identity, an outer that is no plain integer layout.
    pub fn image(self, coordinate: i64) -> Result<i64, TypeError> {
        let (offset, layout) = self.parts()?;
        layout.apply(coordinate).and_then(|at| at.checked_add(offset)).ok_or_else(|| not_projectable(self))
    }

    /// The coordinates of a position, one an axis; `None` if the scope does not contain it.
    ///
    /// # Errors
    /// As [`ComposedLayout::image`], or an outer layout that is not projectable; there is no fallback.
    pub fn project(self, position: i64) -> Result<Option<Vec<i64>>, TypeError> {
        let (offset, layout) = self.parts()?;
        let axes = axes_of(layout).filter(|axes| projectable(axes)).ok_or_else(|| not_projectable(self))?;
        let mut order: Vec<usize> = (0..axes.len()).filter(|&axis| axes[axis].0 != 1).collect();
        order.sort_by_key(|&axis| std::cmp::Reverse(axes[axis].1));
        let Some(mut rest) = position.checked_sub(offset).filter(|&rest| rest >= 0) else { return Ok(None) };
        let mut coordinates = vec![0; axes.len()];
        for axis in order {
            let (extent, stride) = axes[axis];
            coordinates[axis] = rest / stride;
            rest %= stride;
            if coordinates[axis] >= extent {
                return Ok(None);
            }
        }
        Ok((rest == 0).then_some(coordinates))
    }

    /// Whether a position lies in the scope.
    ///
    /// # Errors
    /// As [`ComposedLayout::project`].
    pub fn contains(self, position: i64) -> Result<bool, TypeError> {
        Ok(self.project(position)?.is_some())
    }
}
