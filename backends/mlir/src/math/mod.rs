//! Scalar math functions for both targets.
//!
//! On the CPU they are `math` operations. On the GPU MLIR would lower those to calls into a
//! vendor library that PTX cannot resolve, so they are built from the hardware's approximations
//! and short expansions; relative error stays near 2^-21.
mod approx;
mod ops;

use crate::BackendError;
use melior::{
    Context,
    ir::{BlockLike, Location, Type, TypeLike, Value, ValueLike},
};
use ops::Ops;

/// Where the emitted code will run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The host, through the JIT.
    Cpu,
    /// An NVIDIA GPU, through PTX.
    Gpu,
}

/// Unary functions of a floating-point scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MathFn {
    /// |x|
    Abs,
    /// Least integer not below x.
    Ceil,
    /// Error function.
    Erf,
    /// e^x
    Exp,
    /// 2^x
    Exp2,
    /// Greatest integer not above x.
    Floor,
    /// Natural logarithm.
    Log,
    /// ln(1 + x)
    Log1p,
    /// Logarithm to base 2.
    Log2,
    /// Nearest integer, ties to even.
    RoundEven,
    /// 1 / sqrt(x)
    Rsqrt,
    /// Square root, correctly rounded.
    Sqrt,
    /// Hyperbolic tangent.
    Tanh,
}

impl MathFn {
    /// Every function, in declaration order.
    pub const ALL: [Self; 13] = [
        Self::Abs,
        Self::Ceil,
        Self::Erf,
        Self::Exp,
        Self::Exp2,
        Self::Floor,
        Self::Log,
        Self::Log1p,
        Self::Log2,
        Self::RoundEven,
        Self::Rsqrt,
        Self::Sqrt,
        Self::Tanh,
    ];

    /// The name in the `math` dialect, without its prefix.
    pub fn name(self) -> &'static str {
        match self {
            Self::Abs => "absf",
            Self::Ceil => "ceil",
            Self::Erf => "erf",
            Self::Exp => "exp",
            Self::Exp2 => "exp2",
            Self::Floor => "floor",
            Self::Log => "log",
            Self::Log1p => "log1p",
            Self::Log2 => "log2",
            Self::RoundEven => "roundeven",
            Self::Rsqrt => "rsqrt",
            Self::Sqrt => "sqrt",
            Self::Tanh => "tanh",
        }
    }

    /// The LLVM intrinsic that NVPTX turns into one exact instruction, if there is one.
    fn exact_intrinsic(self) -> Option<&'static str> {
        match self {
            Self::Abs => Some("llvm.fabs"),
            Self::Ceil => Some("llvm.ceil"),
            Self::Floor => Some("llvm.floor"),
            Self::RoundEven => Some("llvm.roundeven"),
            Self::Sqrt => Some("llvm.sqrt"),
            _ => None,
        }
    }
}

/// Appends math functions to one block.
pub struct MathBuilder<'m, 'c, B> {
    ops: Ops<'m, 'c, B>,
    target: Target,
}

impl<'m, 'c: 'a, 'a, B: BlockLike<'c, 'a>> MathBuilder<'m, 'c, B> {
    /// A builder that appends to the end of `block`.
    pub fn new(context: &'c Context, block: &'m B, location: Location<'c>, target: Target) -> Self {
        Self { ops: Ops::new(context, block, location), target }
    }

    /// `function(x)` for a scalar of type f32 or f64; the result has the type of `x`.
    ///
    /// # Errors
    /// Types other than f32 and f64 (narrow floats are widened before), and on the GPU f64 for
    /// functions without an instruction.
    pub fn unary(&self, function: MathFn, x: Value<'c, 'a>) -> Result<Value<'c, 'a>, BackendError> {
        let suffix = self.float_suffix(function.name(), x.r#type())?;
        if function == MathFn::Log1p {
            return self.log1p(x);
        }
        if self.target == Target::Cpu {
            return self.ops.op(&format!("math.{}", function.name()), &[x], x.r#type());
        }
        if let Some(name) = function.exact_intrinsic() {
            return self.ops.intrinsic(&format!("{name}.{suffix}"), &[x]);
        }
        if suffix != "f32" {
            return Err(BackendError::new(format!("math function `{}` of {suffix} has no GPU form", function.name())));
        }
        approx::emit(&self.ops, function, x)
    }

    /// `x * y + z` with one rounding, for f32 or f64.
    ///
    /// # Errors
    /// Other types.
    pub fn fma(&self, x: Value<'c, 'a>, y: Value<'c, 'a>, z: Value<'c, 'a>) -> Result<Value<'c, 'a>, BackendError> {
        let suffix = self.float_suffix("fma", x.r#type())?;
        match self.target {
            Target::Cpu => self.ops.op("math.fma", &[x, y, z], x.r#type()),
            Target::Gpu => self.ops.intrinsic(&format!("llvm.fma.{suffix}"), &[x, y, z]),
        }
    }

    /// log(t) * x / (t - 1) with t = 1 + x cancels the rounding of t.
    fn log1p(&self, x: Value<'c, 'a>) -> Result<Value<'c, 'a>, BackendError> {
        let ops = &self.ops;
        let one = ops.constant(1.0, x.r#type())?;
        let t = ops.add(one, x)?;
        let log = self.unary(MathFn::Log, t)?;
        let rounded = ops.sub(t, one)?;
        let corrected = ops.div(ops.mul(log, x)?, rounded)?;
        let infinity = ops.constant(f64::INFINITY, x.r#type())?;
        let tiny = ops.compare("oeq", t, one)?;
        let corrected = ops.select(tiny, x, corrected)?;
        let huge = ops.compare("oeq", x, infinity)?;
        ops.select(huge, x, corrected)
    }

    fn float_suffix(&self, function: &str, r#type: Type<'c>) -> Result<&'static str, BackendError> {
        match r#type {
            t if t.is_f32() => Ok("f32"),
            t if t.is_f64() => Ok("f64"),
            t => Err(BackendError::new(format!("math function `{function}` takes f32 or f64, not {t}"))),
        }
    }
}
