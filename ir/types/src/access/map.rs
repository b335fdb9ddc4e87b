//! Positions that are quasi-affine in the domain point, and may add a run-time index.

use super::{AxisAccess, Extent, Follows};
use crate::{Dim, TypeContext};

/// `(dim floordiv block) * factor`; what is absent is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term<'c> {
    /// The domain dim.
    pub dim: usize,
    /// How many neighbours count as one.
    pub block: Option<Dim<'c>>,
    /// The coefficient.
    pub factor: Option<Dim<'c>>,
}

/// `((sum of terms + offset + value) floordiv divisor) mod modulus`; what is absent takes no part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AffineMap<'c> {
    /// The linear part.
    pub terms: Vec<Term<'c>>,
    /// Added to it.
    pub offset: Option<Dim<'c>>,
    /// The operand whose element, read at the same point, is added.
    pub value: Option<usize>,
    /// Divides the sum, rounding down.
    pub divisor: Option<Dim<'c>>,
    /// The remainder by it is the position.
    pub modulus: Option<Dim<'c>>,
}

impl<'c> AffineMap<'c> {
    /// The element that the operand holds at the same point.
    #[must_use]
    pub fn value(operand: usize) -> Self {
        Self { value: Some(operand), ..Self::default() }
    }

    /// A fixed position.
    #[must_use]
    pub fn at(offset: Dim<'c>) -> Self {
        Self::default().plus(offset)
    }

    /// `dim floordiv block`
    #[must_use]
    pub fn blocks(dim: usize, block: Dim<'c>) -> Self {
        Self::default().and_blocks(dim, block, None)
    }

    /// With `dim * factor`; no factor is 1.
    #[must_use]
    pub fn term(mut self, dim: usize, factor: impl Into<Option<Dim<'c>>>) -> Self {
        self.terms.push(Term { dim, block: None, factor: factor.into() });
        self
    }

    /// With `(dim floordiv block) * factor`; no factor is 1.
    #[must_use]
    pub fn and_blocks(mut self, dim: usize, block: Dim<'c>, factor: impl Into<Option<Dim<'c>>>) -> Self {
        self.terms.push(Term { dim, block: Some(block), factor: factor.into() });
        self
    }

    /// With that offset.
    #[must_use]
    pub fn plus(mut self, offset: Dim<'c>) -> Self {
        self.offset = Some(offset);
        self
    }

    /// The remainder by `modulus`.
    #[must_use]
    pub fn modulo(mut self, modulus: Dim<'c>) -> Self {
        self.modulus = Some(modulus);
        self
    }

    /// The dim `d` where the map is `(d floordiv b) * r + t` with a dim `t` of extent `r`, or without `t` and with an `r` of 1.
    pub(super) fn follows(&self, domain: &[Extent<'c>]) -> Option<Follows<'c>> {
        if self.offset.is_some() || self.value.is_some() || self.divisor.is_some() || self.modulus.is_some() {
            return None;
        }
        match self.terms[..] {
            [Term { dim, block, factor: None }] => Some(Follows { dim, blocks: block.map(|block| (None, block)) }),
            [
                Term { dim, block: Some(block), factor: Some(width) },
                Term { dim: within, block: None, factor: None },
            ] => {
                let is_within = domain.get(within) == Some(&Extent::Dim(width));
                is_within.then_some(Follows { dim, blocks: Some((Some(width), block)) })
            }
            _ => None,
        }
    }
}

impl<'c> TypeContext<'c> {
    /// The positions on the axes of `shape` of the element whose row-major number is that of the point in a domain whose
    /// dims from `first` on have the extents `domain`.
    #[must_use]
    pub fn row_major(&self, first: usize, domain: &[Dim<'c>], shape: &[Dim<'c>]) -> Vec<AxisAccess<'c>> {
        let after = |extents: &[Dim<'c>], axis: usize| self.product(&extents[axis + 1..]);
        let number = (0..domain.len()).fold(AffineMap::default(), |map, at| map.term(first + at, after(domain, at)));
        let position = |axis: usize| match shape[axis].as_const() {
            Some(1) => AxisAccess::Const,
            // Nothing is left over on the outermost axis.
            _ => AxisAccess::Map(AffineMap {
                divisor: Some(after(shape, axis)),
                modulus: (axis > 0).then_some(shape[axis]),
                ..number.clone()
            }),
        };
        (0..shape.len()).map(position).collect()
    }
}
