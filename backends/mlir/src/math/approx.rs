//! Math functions of an f32 from the GPU's own approximations (`ex2.approx`, `rsqrt.approx`) and
//! short expansions.
use super::{MathFn, ops::Ops};
use crate::BackendError;
use melior::ir::{BlockLike, Value, ValueLike};
use std::f64::consts::{LN_2, LOG2_E};

/// 2^x, relative error below 2^-22.
pub(super) const EX2: &str = "llvm.nvvm.ex2.approx.f32";
/// 1 / sqrt(x), relative error below 2^-22.
pub(super) const RSQRT: &str = "llvm.nvvm.rsqrt.approx.f";

type Built<'c, 'a> = Result<Value<'c, 'a>, BackendError>;

pub(super) fn emit<'c: 'a, 'a, B: BlockLike<'c, 'a>>(
    ops: &Ops<'_, 'c, B>,
    function: MathFn,
    x: Value<'c, 'a>,
) -> Built<'c, 'a> {
    match function {
        MathFn::Exp => exp(ops, x),
        MathFn::Exp2 => ops.intrinsic(EX2, &[x]),
        MathFn::Rsqrt => ops.intrinsic(RSQRT, &[x]),
        MathFn::Log => {
            let (mantissa, exponent) = log_parts(ops, x)?;
            let (high, low) = split(LN_2);
            let sum = ops.fma(exponent, ops.constant(low, x.r#type())?, mantissa)?;
            let sum = ops.fma(exponent, ops.constant(high, x.r#type())?, sum)?;
            log_edges(ops, x, sum)
        }
        MathFn::Log2 => {
            let (mantissa, exponent) = log_parts(ops, x)?;
            let sum = ops.fma(mantissa, ops.constant(LOG2_E, x.r#type())?, exponent)?;
            log_edges(ops, x, sum)
        }
        MathFn::Tanh => tanh(ops, x),
        MathFn::Erf => erf(ops, x),
        MathFn::Abs | MathFn::Ceil | MathFn::Floor | MathFn::Log1p | MathFn::RoundEven | MathFn::Sqrt => {
            Err(BackendError::new(format!("`{}` is not approximated", function.name())))
        }
    }
}

/// A constant as an f32 and the f32 nearest to what that leaves out.
fn split(value: f64) -> (f64, f64) {
    let high = value as f32;
    (f64::from(high), value - f64::from(high))
}

/// e^x = 2^i * 2^r with i the nearest integer to x log2(e). Computing r with two fused
/// multiply-adds keeps the rounding of the product out of the exponent, so large |x| stay
/// accurate. The clamp of i leaves the ends to r: the product overflows to infinity, or shrinks
/// through the subnormal range to zero.
fn exp<'c: 'a, 'a, B: BlockLike<'c, 'a>>(ops: &Ops<'_, 'c, B>, x: Value<'c, 'a>) -> Built<'c, 'a> {
    let float = x.r#type();
    let (high, low) = split(LOG2_E);
    let high = ops.constant(high, float)?;
    let i = ops.mul(x, high)?;
    let i = ops.intrinsic("llvm.maxnum.f32", &[i, ops.constant(-126.0, float)?])?;
    let i = ops.intrinsic("llvm.minnum.f32", &[i, ops.constant(127.0, float)?])?;
    let i = ops.intrinsic("llvm.roundeven.f32", &[i])?;
    let minus_i = ops.op("arith.negf", &[i], float)?;
    let r = ops.fma(x, high, minus_i)?;
    let r = ops.fma(x, ops.constant(low, float)?, r)?;
    let fraction = ops.intrinsic(EX2, &[r])?;
    let bits = ops.op("arith.fptosi", &[i], ops.i32())?;
    let bits = ops.binary("arith.addi", bits, ops.int(127)?)?;
    let bits = ops.binary("arith.shli", bits, ops.int(23)?)?;
    let scale = ops.op("arith.bitcast", &[bits], float)?;
    ops.mul(fraction, scale)
}

/// `(ln m, e)` with x = m * 2^e and m in about [2/3, 4/3), so that nothing cancels near x = 1.
/// ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| <= 0.2; the series' tail is below 2^-31.
fn log_parts<'c: 'a, 'a, B: BlockLike<'c, 'a>>(
    ops: &Ops<'_, 'c, B>,
    x: Value<'c, 'a>,
) -> Result<(Value<'c, 'a>, Value<'c, 'a>), BackendError> {
    let float = x.r#type();
    let subnormal = ops.compare("olt", x, ops.constant(f64::from(f32::MIN_POSITIVE), float)?)?;
    let grown = ops.mul(x, ops.constant(f64::from(1 << 23), float)?)?;
    let normal = ops.select(subnormal, grown, x)?;
    let shift = ops.select(subnormal, ops.int(-23)?, ops.int(0)?)?;
    let bits = ops.op("arith.bitcast", &[normal], ops.i32())?;
    let two_thirds = ops.int((2f32 / 3.0).to_bits() as i32)?;
    let exponent = ops.binary("arith.subi", bits, two_thirds)?;
    let exponent = ops.binary("arith.shrsi", exponent, ops.int(23)?)?;
    let scale = ops.binary("arith.shli", exponent, ops.int(23)?)?;
    let mantissa = ops.op("arith.bitcast", &[ops.binary("arith.subi", bits, scale)?], float)?;
    let exponent = ops.binary("arith.addi", exponent, shift)?;
    let exponent = ops.op("arith.sitofp", &[exponent], float)?;
    let one = ops.constant(1.0, float)?;
    let s = ops.div(ops.sub(mantissa, one)?, ops.add(mantissa, one)?)?;
    let square = ops.mul(s, s)?;
    let tail = ops.polynomial(square, &[2.0 / 13.0, 2.0 / 11.0, 2.0 / 9.0, 2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0])?;
    let tail = ops.mul(ops.mul(tail, square)?, s)?;
    let log = ops.fma(ops.constant(2.0, float)?, s, tail)?;
    Ok((log, exponent))
}

/// Zero gives -inf, negative numbers and NaN give NaN, +inf stays.
fn log_edges<'c: 'a, 'a, B: BlockLike<'c, 'a>>(
    ops: &Ops<'_, 'c, B>,
    x: Value<'c, 'a>,
    log: Value<'c, 'a>,
) -> Built<'c, 'a> {
    let float = x.r#type();
    let zero = ops.constant(0.0, float)?;
    let infinity = ops.constant(f64::INFINITY, float)?;
    let inside = ops.compare("olt", x, infinity)?;
    let log = ops.select(inside, log, x)?;
    let positive = ops.compare("ogt", x, zero)?;
    let is_zero = ops.compare("oeq", x, zero)?;
    let nan = ops.constant(f64::NAN, float)?;
    let edge = ops.select(is_zero, ops.constant(f64::NEG_INFINITY, float)?, nan)?;
    ops.select(positive, log, edge)
}

/// Near zero the [5/4] Padé approximant (error below 2^-29 for |x| < 5/8), which has no
/// cancellation; elsewhere 1 - 2 / (e^(2|x|) + 1) with the sign of x.
fn tanh<'c: 'a, 'a, B: BlockLike<'c, 'a>>(ops: &Ops<'_, 'c, B>, x: Value<'c, 'a>) -> Built<'c, 'a> {
    let float = x.r#type();
    let square = ops.mul(x, x)?;
    let above = ops.mul(x, ops.polynomial(square, &[1.0, 105.0, 945.0])?)?;
    let near = ops.div(above, ops.polynomial(square, &[15.0, 420.0, 945.0])?)?;
    let magnitude = ops.intrinsic("llvm.fabs.f32", &[x])?;
    let one = ops.constant(1.0, float)?;
    let power = exp(ops, ops.add(magnitude, magnitude)?)?;
    let rest = ops.div(ops.constant(2.0, float)?, ops.add(power, one)?)?;
    let far = ops.intrinsic("llvm.copysign.f32", &[ops.sub(one, rest)?, x])?;
    let small = ops.compare("olt", magnitude, ops.constant(0.625, float)?)?;
    ops.select(small, near, far)
}

/// Near zero the Maclaurin series, elsewhere Abramowitz and Stegun 7.1.26 (absolute error below
/// 1.5e-7) with the sign of x.
fn erf<'c: 'a, 'a, B: BlockLike<'c, 'a>>(ops: &Ops<'_, 'c, B>, x: Value<'c, 'a>) -> Built<'c, 'a> {
    let float = x.r#type();
    let square = ops.mul(x, x)?;
    // 2 / sqrt(pi) * (-1)^n / (n! (2n + 1)), highest n first.
    let mut series = [0f64; 11];
    let mut factorial = 1.0;
    for n in 0..series.len() {
        factorial *= if n == 0 { 1.0 } else { -(n as f64) };
        series[10 - n] = std::f64::consts::FRAC_2_SQRT_PI / (factorial * (2 * n + 1) as f64);
    }
    let near = ops.mul(x, ops.polynomial(square, &series)?)?;
    let magnitude = ops.intrinsic("llvm.fabs.f32", &[x])?;
    let one = ops.constant(1.0, float)?;
    let t = ops.div(one, ops.fma(ops.constant(0.327_591_1, float)?, magnitude, one)?)?;
    let poly = ops.polynomial(t, &[1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592])?;
    let power = exp(ops, ops.op("arith.negf", &[square], float)?)?;
    let rest = ops.mul(ops.mul(poly, t)?, power)?;
    let far = ops.intrinsic("llvm.copysign.f32", &[ops.sub(one, rest)?, x])?;
    let small = ops.compare("olt", magnitude, one)?;
    ops.select(small, near, far)
}
