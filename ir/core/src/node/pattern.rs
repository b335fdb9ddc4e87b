//! Predicates that parsers and dispatch share.

use std::fmt;

use tf_types::{DType, Symbol, Type};

use crate::{Diagnostic, Result};

/// What an operand's type must be; overloads are told apart by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// Anything.
    Any,
    /// A tensor of rank 0.
    Scalar,
    /// A tensor of any rank above 0.
    Tensor,
    /// A tensor of a rank above 0 with more demands.
    TensorOf {
        /// Exactly that rank.
        rank: Option<usize>,
        /// Exactly that dtype.
        dtype: Option<DType>,
    },
    /// All of them.
    And(&'static [Pattern]),
}

impl Pattern {
    /// Whether a type fits.
    #[must_use]
    pub fn matches(&self, ty: Type<'_>) -> bool {
        let mut left = vec![self];
        while let Some(pattern) = left.pop() {
            let fits = match *pattern {
                Self::Any => true,
                Self::Tensor => ty.as_tensor().is_some_and(|t| t.rank() > 0),
                Self::Scalar => ty.as_tensor().is_some_and(|t| t.rank() == 0),
                Self::TensorOf { rank, dtype } => ty.as_tensor().is_some_and(|t| {
                    t.rank() > 0 && rank.is_none_or(|rank| t.rank() == rank) && dtype.is_none_or(|d| t.dtype == d)
                }),
                Self::And(parts) => {
                    left.extend(parts);
                    true
                }
            };
            if !fits {
                return false;
            }
        }
        true
    }
}

/// A half-open range `[lo, hi)` of the dim variable of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DimVarRangePat<'c> {
    /// The variable; its own bounds stand at it.
    pub dim: Symbol<'c>,
    /// Least value.
    pub lo: i64,
    /// Exclusive end.
    pub hi: i64,
}

impl<'c> DimVarRangePat<'c> {
    /// The range.
    ///
    /// # Errors
    /// No name; an empty range.
    pub fn new(dim: Symbol<'c>, lo: i64, hi: i64) -> Result<Self> {
        if dim.as_str().is_empty() {
            return Err(Diagnostic::error("a range pattern names a dim variable, found an empty name"));
        }
        if lo >= hi {
            let help = format!("a single value {lo} is [{lo}, {})", lo.saturating_add(1));
            return Err(Diagnostic::error(format!("the range [{lo}, {hi}) of `{dim}` is empty")).with_help(help));
        }
        Ok(Self { dim, lo, hi })
    }

    /// Whether the value lies in the range; the name takes no part.
    #[must_use]
    pub fn matches(self, value: i64) -> bool {
        (self.lo..self.hi).contains(&value)
    }
}

impl fmt::Display for DimVarRangePat<'_> {
    /// Its part of a variant's signature: `dim$lo_hi`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}${}_{}", self.dim, self.lo, self.hi)
    }
}

#[cfg(test)]
mod tests {
    use tf_types::{DType, Storage, TypeContext};

    use super::{DimVarRangePat, Pattern};
    use crate::Arena;

    #[test]
    fn types_fit_patterns() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let scalar = cx.scalar(DType::F32);
        let matrix = cx.tensor(cx.const_dims(&[2, 3]), DType::BF16, None, Storage::Gmem);
        let tensor = |rank, dtype| Pattern::TensorOf { rank, dtype };
        assert!(Pattern::Scalar.matches(scalar) && !Pattern::Scalar.matches(matrix));
        assert!(Pattern::Tensor.matches(matrix) && !Pattern::Tensor.matches(scalar));
        assert!(tensor(Some(2), Some(DType::BF16)).matches(matrix));
        assert!(!tensor(Some(1), None).matches(matrix) && !tensor(None, Some(DType::F32)).matches(matrix));
        assert!(!Pattern::Tensor.matches(cx.tuple(&[matrix])));
        const BOTH: Pattern = Pattern::And(&[
            Pattern::TensorOf { rank: Some(2), dtype: None },
            Pattern::TensorOf { rank: None, dtype: Some(DType::F32) },
        ]);
        assert!(!BOTH.matches(matrix));
        assert!(BOTH.matches(cx.tensor(cx.const_dims(&[2, 3]), DType::F32, None, Storage::Gmem)));
        assert!(Pattern::And(&[]).matches(scalar) && Pattern::Any.matches(cx.unit()));
    }

    #[test]
    fn ranges_are_half_open_and_not_empty() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let s = cx.symbol("S");
        let range = DimVarRangePat::new(s, 1, 5).unwrap();
        assert!(range.matches(1) && range.matches(4) && !range.matches(5) && !range.matches(0));
        assert_eq!(range.to_string(), "S$1_5");
        assert_eq!(DimVarRangePat::new(s, 3, 3).unwrap_err().message, "the range [3, 3) of `S` is empty");
        assert_eq!(DimVarRangePat::new(s, 3, 3).unwrap_err().help.unwrap(), "a single value 3 is [3, 4)");
        let message = DimVarRangePat::new(cx.symbol(""), 0, 1).unwrap_err().message;
        assert_eq!(message, "a range pattern names a dim variable, found an empty name");
    }
}
