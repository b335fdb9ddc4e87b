//! Symbolic dimensions (spec: types §5).

use crate::Symbol;
use crate::intern::interned_handle;

interned_handle! {
    /// An extent, stride or bound: an integer, a dim variable, or arithmetic over those.
    /// Built raw by [`crate::TypeContext::dim_op`], in normal form by `simplify`.
    Dim => DimKind
}

/// A named extent, drawn from the half-open range `[lo, hi)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DimVar<'c> {
    /// Non-empty name, unique within a signature.
    pub name: Symbol<'c>,
    /// Least value.
    pub lo: i64,
    /// One past the greatest value.
    pub hi: i64,
}

/// Arithmetic on dims; division and remainder floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DimOp {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a // b`
    FloorDiv,
    /// `a % b`
    Mod,
    /// `min(a, b)`
    Min,
    /// `max(a, b)`
    Max,
}

/// The form of a [`Dim`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DimKind<'c> {
    /// A plain integer.
    Const(i64),
    /// A variable.
    Var(DimVar<'c>),
    /// A binary operation.
    Op(DimOp, Dim<'c>, Dim<'c>),
}

impl Dim<'_> {
    /// The integer, if this is one.
    #[must_use]
    pub fn as_const(self) -> Option<i64> {
        match *self.0 {
            DimKind::Const(value) => Some(value),
            _ => None,
        }
    }
}
