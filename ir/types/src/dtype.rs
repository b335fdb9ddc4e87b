//! Element types.

use crate::TypeError;

/// An element type. The set is closed; each name is one descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    /// IEEE binary32.
    F32,
    /// IEEE binary16.
    F16,
    /// bfloat16: 8 exponent, 7 mantissa bits.
    BF16,
    /// 4 exponent, 3 mantissa bits, finite only (`float8_e4m3fn`).
    Fp8E4M3,
    /// Power-of-two scale: 8 exponent, no mantissa bits.
    F8E8M0,
    /// 2 exponent, 1 mantissa bits.
    F4E2M1,
    /// Signed 32-bit integer.
    I32,
    /// Signed 64-bit integer.
    I64,
    /// One logical bit, one byte in host memory.
    Bool,
}

/// What kind of number a dtype holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DTypeFamily {
    /// Binary floating point.
    Float,
    /// Signed integer.
    Integer,
    /// Truth value.
    Bool,
}

impl DType {
    /// All dtypes, in the order of the specification's table.
    pub const ALL: [Self; 9] =
        [Self::F32, Self::F16, Self::BF16, Self::Fp8E4M3, Self::F8E8M0, Self::F4E2M1, Self::I32, Self::I64, Self::Bool];

    /// The name in source and textual IR.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::Fp8E4M3 => "fp8e4m3",
            Self::F8E8M0 => "f8e8m0",
            Self::F4E2M1 => "f4e2m1",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::Bool => "bool",
        }
    }

    /// Logical width in bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::F32 | Self::I32 => 32,
            Self::F16 | Self::BF16 => 16,
            Self::Fp8E4M3 | Self::F8E8M0 => 8,
            Self::F4E2M1 => 4,
            Self::I64 => 64,
            Self::Bool => 1,
        }
    }

    /// Float, integer or bool.
    #[must_use]
    pub const fn family(self) -> DTypeFamily {
        match self {
            Self::I32 | Self::I64 => DTypeFamily::Integer,
            Self::Bool => DTypeFamily::Bool,
            _ => DTypeFamily::Float,
        }
    }

    /// Whether this is a floating-point dtype.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self.family(), DTypeFamily::Float)
    }

    /// Whether this is an integer dtype (bool is none).
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self.family(), DTypeFamily::Integer)
    }

    /// The dtype of that name.
    ///
    /// # Errors
    /// An unknown name; the message lists the valid ones.
    pub fn from_name(name: &str) -> Result<Self, TypeError> {
        Self::ALL.into_iter().find(|d| d.name() == name).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|d| d.name()).collect();
            TypeError::new(format!("unknown dtype `{name}`; expected one of {}", known.join(", ")))
        })
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
