//! The kind enumerations of `binary`, `unary` and `reduce`.
//!
//! A kind's name is its value in the language: lower case, accepted as a string where the enum attribute is expected.

use crate::TypeError;

macro_rules! kinds {
    ($(#[$doc:meta])* $name:ident, $what:literal { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$vdoc])* $variant,)+
        }

        impl $name {
            /// All kinds, in the order of the specification.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The value in source and textual IR.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// The kind of that name.
            ///
            /// # Errors
            /// An unknown name; the message lists the valid ones.
            pub fn from_name(name: &str) -> Result<Self, TypeError> {
                Self::ALL.iter().copied().find(|kind| kind.name() == name).ok_or_else(|| {
                    let known: Vec<_> = Self::ALL.iter().map(|kind| kind.name()).collect();
                    TypeError::new(format!("unknown {} kind `{name}`; expected one of {}", $what, known.join(", ")))
                })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

kinds! {
    /// What a `binary` op computes from two operands of one dtype.
    BinaryKind, "binary" {
        /// Sum; integers wrap.
        Add = "add",
        /// Difference; integers wrap.
        Sub = "sub",
        /// Product; integers wrap.
        Mul = "mul",
        /// Quotient; integers truncate toward zero, a zero divisor of integers is an error.
        Div = "div",
        /// Integer quotient rounded down.
        FloorDiv = "floor_div",
        /// Integer remainder with the divisor's sign.
        Mod = "mod",
        /// Lesser operand; NaN wins.
        Min = "min",
        /// Greater operand; NaN wins.
        Max = "max",
        /// Equal; the result is bool.
        Eq = "eq",
        /// Not equal; the result is bool.
        Ne = "ne",
        /// Less; the result is bool.
        Lt = "lt",
        /// Less or equal; the result is bool.
        Le = "le",
        /// Greater; the result is bool.
        Gt = "gt",
        /// Greater or equal; the result is bool.
        Ge = "ge",
        /// Conjunction of bools.
        And = "and",
        /// Disjunction of bools.
        Or = "or",
    }
}

kinds! {
    /// What a `unary` op computes.
    UnaryKind, "unary" {
        /// Negation; integers wrap.
        Neg = "neg",
        /// Absolute value; integers wrap.
        Abs = "abs",
        /// Reciprocal square root, floats only.
        Rsqrt = "rsqrt",
        /// Negation of a bool.
        Not = "not",
        /// Product with itself; integers wrap.
        Square = "square",
        /// Positive part; NaN stays.
        Relu = "relu",
        /// Natural exponential, floats only.
        Exp = "exp",
        /// Natural logarithm, floats only.
        Log = "log",
        /// Least integral value not below; the identity on integers.
        Ceil = "ceil",
        /// Nearest integral value, halves to even; the identity on integers.
        Round = "round",
        /// Base-2 exponential, floats only.
        Exp2 = "exp2",
        /// Base-2 logarithm, floats only.
        Log2 = "log2",
        /// Named in the enum; `cast` is an op of its own and this kind is not evaluated.
        Cast = "cast",
    }
}

impl BinaryKind {
    /// Whether the result is bool whatever the operands are.
    #[must_use]
    pub const fn is_comparison(self) -> bool {
        matches!(self, Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge)
    }
}

kinds! {
    /// How `reduce` combines the elements of the reduced axes.
    ReduceKind, "reduce" {
        /// Arithmetic mean, floats only.
        Mean = "mean",
        /// Sum; integers wrap, bool is refused.
        Sum = "sum",
        /// Greatest absolute value.
        AbsMax = "abs_max",
        /// Greatest value; NaN wins.
        Max = "max",
    }
}

#[cfg(test)]
mod tests {
    use super::{BinaryKind, ReduceKind, UnaryKind};

    #[test]
    fn names_round_trip() {
        for &kind in BinaryKind::ALL {
            assert_eq!(BinaryKind::from_name(kind.name()), Ok(kind));
        }
        for &kind in UnaryKind::ALL {
            assert_eq!(UnaryKind::from_name(kind.name()), Ok(kind));
        }
        for &kind in ReduceKind::ALL {
            assert_eq!(ReduceKind::from_name(kind.name()), Ok(kind));
        }
    }

    #[test]
    fn unknown_name_lists_the_valid_ones() {
        let error = ReduceKind::from_name("SUM").unwrap_err();
        assert_eq!(error.message, "unknown reduce kind `SUM`; expected one of mean, sum, abs_max, max");
    }
}
