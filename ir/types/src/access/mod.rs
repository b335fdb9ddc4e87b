//! Access relations: from which elements of its operands an op makes the elements of its result.
//!
//! An op goes through the points of an iteration domain. At each point it reads one element through every [`Read`] and
//! contributes to one element of the result. An axis is indexed by an [`AxisAccess`], a function of the point.

pub mod fmt;
mod map;

pub use map::{AffineMap, Term};

use crate::{Dim, TypeContext};

/// How many values a domain dim takes, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent<'c> {
    /// As many as this dim says.
    Dim(Dim<'c>),
    /// As many as the number in this operand says.
    Value(usize),
}

/// The position on one axis as a function of the domain point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AxisAccess<'c> {
    /// Exactly this domain dim: coefficient 1, no offset.
    Proj(usize),
    /// Always position 0.
    Const,
    /// Anything else. Where the position is not on the axis, the point does not access it.
    Map(AffineMap<'c>),
}

/// A domain dim that an axis follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Follows<'c> {
    /// The dim.
    pub dim: usize,
    /// So many neighbours on the axis (1 if absent) belong to so many neighbours of the dim; `None`: one to one.
    pub blocks: Option<(Option<Dim<'c>>, Dim<'c>)>,
}

impl<'c> Follows<'c> {
    /// The run of the dim that belongs to a run of the axis; `None` where the run cuts a block.
    #[must_use]
    pub fn run(&self, cx: &TypeContext<'c>, run: Dim<'c>) -> Option<Dim<'c>> {
        let Some((width, block)) = self.blocks else { return Some(run) };
        let (width, run) = (width.map_or(Some(1), Dim::as_const)?, run.as_const()?);
        (width > 0 && run % width == 0).then(|| cx.dim_mul(cx.dim(run / width), block))
    }
}

/// One element of one operand a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read<'c> {
    /// Number of the operand in the call.
    pub operand: usize,
    /// Which tensor of an operand that is a tuple, counted through nested ones; 0 of a tensor.
    pub field: usize,
    /// One access an axis.
    pub axes: Vec<AxisAccess<'c>>,
    /// Reads only at the points where this domain dim has this value.
    pub only_at: Option<(usize, i64)>,
}

/// What one tensor of the result is made from. Several relations describe a tuple, or a result that is written in steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRelation<'c> {
    /// Extents of the iteration domain.
    pub domain: Vec<Extent<'c>>,
    /// The elements that a point takes.
    pub reads: Vec<Read<'c>>,
    /// Which tensor of a result that is a tuple, counted through nested ones; 0 of a tensor.
    pub field: usize,
    /// The element that a point contributes to: one access an axis of the result.
    pub result: Vec<AxisAccess<'c>>,
    /// Replaces what the relations before wrote to an element, instead of adding to it.
    pub replaces: bool,
    /// Dims summed over: a Split of one makes the result Partial.
    pub partial: Vec<usize>,
    /// Dims reduced completely: a Split of one makes the result Broadcast.
    pub complete: Vec<usize>,
    /// The result has a new buffer: strides are row-major instead of the operand's.
    pub fresh: bool,
}

/// Every axis of that rank, by projection.
#[must_use]
pub fn identity<'c>(rank: usize) -> Vec<AxisAccess<'c>> {
    (0..rank).map(AxisAccess::Proj).collect()
}

impl<'c> AxisAccess<'c> {
    /// The domain dim that the axis follows, exactly or in blocks: a Split of one is a Split of the other.
    #[must_use]
    pub fn follows(&self, domain: &[Extent<'c>]) -> Option<Follows<'c>> {
        match self {
            Self::Proj(dim) => Some(Follows { dim: *dim, blocks: None }),
            Self::Const => None,
            Self::Map(map) => map.follows(domain),
        }
    }

    /// Whether the position depends on the dim.
    #[must_use]
    pub fn mentions(&self, dim: usize) -> bool {
        match self {
            Self::Proj(own) => *own == dim,
            Self::Const => false,
            Self::Map(map) => map.terms.iter().any(|term| term.dim == dim),
        }
    }
}

impl<'c> AccessRelation<'c> {
    /// A point for every element of a result of that shape.
    #[must_use]
    pub fn to(shape: &[Dim<'c>]) -> Self {
        Self::over(shape).writes(identity(shape.len()))
    }

    /// A domain of that shape; what it reads and writes follows.
    #[must_use]
    pub fn over(shape: &[Dim<'c>]) -> Self {
        Self {
            domain: shape.iter().copied().map(Extent::Dim).collect(),
            reads: Vec::new(),
            field: 0,
            result: Vec::new(),
            replaces: false,
            partial: Vec::new(),
            complete: Vec::new(),
            fresh: false,
        }
    }

    /// Element by element: every operand of `count` is read where the result is written.
    #[must_use]
    pub fn elementwise(shape: &[Dim<'c>], count: usize) -> Self {
        (0..count).fold(Self::to(shape), |relation, operand| relation.reads(operand, identity(shape.len())))
    }

    /// With one more domain dim.
    #[must_use]
    pub fn dim(mut self, extent: Dim<'c>) -> Self {
        self.domain.push(Extent::Dim(extent));
        self
    }

    /// With a read of that operand.
    #[must_use]
    pub fn reads(mut self, operand: usize, axes: Vec<AxisAccess<'c>>) -> Self {
        self.reads.push(Read { operand, field: 0, axes, only_at: None });
        self
    }

    /// The last read happens only where the dim has the value.
    #[must_use]
    pub fn only_at(mut self, dim: usize, value: i64) -> Self {
        if let Some(read) = self.reads.last_mut() {
            read.only_at = Some((dim, value));
        }
        self
    }

    /// The last read is of that tensor of a tuple.
    #[must_use]
    pub fn of_field(mut self, field: usize) -> Self {
        if let Some(read) = self.reads.last_mut() {
            read.field = field;
        }
        self
    }

    /// Contributing to these positions of the result.
    #[must_use]
    pub fn writes(mut self, axes: Vec<AxisAccess<'c>>) -> Self {
        self.result = axes;
        self
    }

    /// Of that tensor of the result, which is a tuple.
    #[must_use]
    pub fn to_field(mut self, field: usize) -> Self {
        self.field = field;
        self
    }

    /// Replacing what the relations before wrote.
    #[must_use]
    pub fn replacing(mut self) -> Self {
        self.replaces = true;
        self
    }

    /// Summing over these dims.
    #[must_use]
    pub fn sums(mut self, dims: impl IntoIterator<Item = usize>) -> Self {
        self.partial.extend(dims);
        self
    }

    /// Reducing these dims completely.
    #[must_use]
    pub fn completes(mut self, dims: impl IntoIterator<Item = usize>) -> Self {
        self.complete.extend(dims);
        self
    }

    /// Into a new buffer.
    #[must_use]
    pub fn fresh(mut self) -> Self {
        self.fresh = true;
        self
    }
}
