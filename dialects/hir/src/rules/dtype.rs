//! Dtype rules: no promotion, and the families each kind takes.

use tf_core::op::RuleError;
use tf_types::{DType, TensorType};

/// Which dtypes an op of some kind takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// All.
    Any,
    /// Floats and integers.
    Numbers,
    /// Floats.
    Floats,
    /// `i32` and `i64`.
    Integers,
    /// `bool`.
    Bool,
}

impl Takes {
    fn accepts(self, dtype: DType) -> bool {
        match self {
            Self::Any => true,
            Self::Numbers => dtype != DType::Bool,
            Self::Floats => dtype.is_float(),
            Self::Integers => dtype.is_integer(),
            Self::Bool => dtype == DType::Bool,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Any => "any dtype",
            Self::Numbers => "floats or integers",
            Self::Floats => "floats",
            Self::Integers => "integers (i32, i64)",
            Self::Bool => "bool",
        }
    }

    const fn help(self) -> &'static str {
        match self {
            Self::Floats => "cast to a float dtype first",
            Self::Numbers => "cast to a number first",
            Self::Integers => "cast to an integer dtype first",
            Self::Any | Self::Bool => "compare first: `x != 0.0` gives bool",
        }
    }
}

/// Refuses an operand whose dtype the kind does not take.
///
/// # Errors
/// As said; `what` is the op, or the op and its kind.
pub fn check(what: &str, takes: Takes, index: usize, operand: &TensorType<'_>) -> Result<(), RuleError> {
    if takes.accepts(operand.dtype) {
        return Ok(());
    }
    Err(RuleError::new(format!("{what} takes {}, found {}", takes.words(), operand.dtype))
        .operand(index, format!("{operand}"))
        .with_help(takes.help()))
}

/// Refuses two operands of unequal dtype.
///
/// # Errors
/// As said: nothing is promoted.
pub fn equal(what: &str, lhs: &TensorType<'_>, rhs: &TensorType<'_>) -> Result<(), RuleError> {
    if lhs.dtype == rhs.dtype {
        return Ok(());
    }
    Err(RuleError::new(format!("{what} takes operands of one dtype, found {} and {}", lhs.dtype, rhs.dtype))
        .operand(0, format!("{lhs}"))
        .operand(1, format!("{rhs}"))
        .with_help("nothing is promoted: cast one operand; only a float literal takes its fellow's dtype"))
}
