//! Activations through exp and log, in forms that do not overflow where the result does not.

use tf_core::op::OpView;
use tf_core::op::rules::typed;
use tf_core::{Expr, Literal, Result};
use tf_hir::{Approximation, Clamp, Gelu};
use tf_types::DType;
use tf_types::kinds::{BinaryKind, UnaryKind};

use super::decompose::{Parts, as_is, in_f32};
use crate::lowerer::Lowerer;

pub(super) fn relu<'c>(lowerer: &mut Lowerer<'_, 'c>, expr: Expr<'c>, view: OpView<'c>) -> Result<Expr<'c>> {
    as_is(lowerer, expr, |parts| parts.unary(UnaryKind::Relu, view.args[0]))
}

/// `1 + e^-x`: infinite where the quotient by it is 0.
fn logistic_divisor<'c>(parts: &Parts<'_, 'c>, x: Expr<'c>) -> Result<Expr<'c>> {
    let exp = parts.unary(UnaryKind::Exp, parts.unary(UnaryKind::Neg, x)?)?;
    parts.add(exp, parts.constant(1.0))
}

pub(super) fn sigmoid<'c>(lowerer: &mut Lowerer<'_, 'c>, expr: Expr<'c>, view: OpView<'c>) -> Result<Expr<'c>> {
    in_f32(lowerer, expr, view.args[0], |parts, x| parts.div(parts.constant(1.0), logistic_divisor(parts, x)?))
}

pub(super) fn silu<'c>(lowerer: &mut Lowerer<'_, 'c>, expr: Expr<'c>, view: OpView<'c>) -> Result<Expr<'c>> {
    in_f32(lowerer, expr, view.args[0], |parts, x| parts.div(x, logistic_divisor(parts, x)?))
}

/// `c * (tanh a / a)` with `c` = x between -10 and 10 and `a = max(|c|, 2^-12)`, below which the quotient rounds to 1: zero keeps its
/// sign and small x their digits. `tanh a = m / (m + 2)` with `m = e^2a - 1`, where `(u - 1) / log u` for `u = e^2a` does not depend on
/// how `u` was rounded.
pub(super) fn tanh<'c>(lowerer: &mut Lowerer<'_, 'c>, expr: Expr<'c>, view: OpView<'c>) -> Result<Expr<'c>> {
    const LIMIT: f64 = 10.0;
    in_f32(lowerer, expr, view.args[0], |parts, x| {
        let bounded = parts.within(x, LIMIT)?;
        let size = parts.unary(UnaryKind::Abs, bounded)?;
        let size = parts.binary(BinaryKind::Max, size, parts.constant(1.0 / 4096.0))?;
        let exp = parts.unary(UnaryKind::Exp, parts.add(size, size)?)?;
        let slope = parts.div(parts.sub(exp, parts.constant(1.0))?, parts.unary(UnaryKind::Log, exp)?)?;
        let slope = parts.add(slope, slope)?;
        let divisor = parts.add(parts.mul(slope, size)?, parts.constant(2.0))?;
        let product = parts.mul(bounded, parts.div(slope, divisor)?)?;
        parts.within(product, 1.0)
    })
}

pub(super) fn gelu<'c>(lowerer: &mut Lowerer<'_, 'c>, expr: Expr<'c>, view: OpView<'c>) -> Result<Expr<'c>> {
    let call = typed::<Gelu>(view);
    in_f32(lowerer, expr, call.x(), |parts, x| match call.approximate() {
        Approximation::Tanh => gelu_tanh(parts, x),
        Approximation::None => gelu_exact(parts, x),
    })
}

/// `x / (1 + e^-2u)` with `u = sqrt(2/pi) * (x + 0.044715 x^3)`, as `(1 + tanh u) / 2 = 1 / (1 + e^-2u)`.
fn gelu_tanh<'c>(parts: &Parts<'_, 'c>, x: Expr<'c>) -> Result<Expr<'c>> {
    let scale = 2.0 * (2.0 / std::f64::consts::PI).sqrt();
    let square = parts.unary(UnaryKind::Square, x)?;
    let factor = parts.add(parts.mul(square, parts.constant(scale * 0.044_715))?, parts.constant(scale))?;
    parts.div(x, logistic_divisor(parts, parts.mul(x, factor)?)?)
}

/// `max(x, 0) - |x| * h` where `h = erfc(|x| / sqrt 2) / 2`, approximated with an error below 1e-7 by
/// `t * (a1 + t * (a2 + …)) * e^(-x^2/2) / 2` with `t = 1 / (1 + p |x| / sqrt 2)` (Abramowitz and Stegun, 7.1.26).
fn gelu_exact<'c>(parts: &Parts<'_, 'c>, x: Expr<'c>) -> Result<Expr<'c>> {
    const P: f64 = 0.327_591_1;
    const A: [f64; 5] = [0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];
    // Beyond this `h` is 0: an infinite x must not meet it in a product, a negative one makes NaN as the formula does.
    const NO_TAIL: f64 = 15.0;
    let positive = parts.unary(UnaryKind::Relu, x)?;
    let bounded = parts.binary(BinaryKind::Min, positive, parts.constant(NO_TAIL))?;
    let negative = parts.binary(BinaryKind::Min, x, parts.constant(0.0))?;
    let size = parts.sub(bounded, negative)?;
    let scaled = parts.mul(size, parts.constant(P * std::f64::consts::FRAC_1_SQRT_2))?;
    let t = parts.div(parts.constant(1.0), parts.add(scaled, parts.constant(1.0))?)?;
    let [first @ .., last] = A;
    let mut sum = parts.constant(last / 2.0);
    for a in first.into_iter().rev() {
        sum = parts.add(parts.mul(sum, t)?, parts.constant(a / 2.0))?;
    }
    let exponent = parts.mul(parts.unary(UnaryKind::Square, size)?, parts.constant(-0.5))?;
    let h = parts.mul(parts.mul(sum, t)?, parts.unary(UnaryKind::Exp, exponent)?)?;
    parts.sub(positive, parts.mul(size, h)?)
}

/// `max(x, 0) + log(1 + u)` with `u = e^-|x|`. The logarithm is `u * (log w / (w - 1))` with `w = 1 + max(u, 2^-23)`: a small `u` is not
/// lost in the sum.
pub(super) fn softplus<'c>(lowerer: &mut Lowerer<'_, 'c>, expr: Expr<'c>, view: OpView<'c>) -> Result<Expr<'c>> {
    in_f32(lowerer, expr, view.args[0], |parts, x| {
        let size = parts.unary(UnaryKind::Abs, x)?;
        let tail = parts.unary(UnaryKind::Exp, parts.unary(UnaryKind::Neg, size)?)?;
        let least = parts.binary(BinaryKind::Max, tail, parts.constant(f64::from(f32::EPSILON)))?;
        let sum = parts.add(least, parts.constant(1.0))?;
        let slope = parts.div(parts.unary(UnaryKind::Log, sum)?, parts.sub(sum, parts.constant(1.0))?)?;
        parts.add(parts.unary(UnaryKind::Relu, x)?, parts.mul(tail, slope)?)
    })
}

/// Bounds of integers are cut toward zero; 8-bit floats, which may lack a bound, are clamped as f32.
pub(super) fn clamp<'c>(lowerer: &mut Lowerer<'_, 'c>, expr: Expr<'c>, view: OpView<'c>) -> Result<Expr<'c>> {
    let call = typed::<Clamp>(view);
    let dtype = lowerer.tensor(expr).dtype;
    let within = |parts: &Parts<'_, 'c>, x: Expr<'c>| {
        let dtype = x.ty().as_tensor().map_or(dtype, |t| t.dtype);
        let bound = |value: f64| match dtype {
            DType::I32 => parts.literal(Literal::Int(i64::from(value as i32)), dtype),
            DType::I64 => parts.literal(Literal::Int(value as i64), dtype),
            _ => parts.literal(Literal::Float(value), dtype),
        };
        let raised = parts.binary(BinaryKind::Max, x, bound(call.min_val()))?;
        parts.binary(BinaryKind::Min, raised, bound(call.max_val()))
    };
    match dtype.bits() {
        8 => in_f32(lowerer, expr, call.x(), within),
        _ => as_is(lowerer, expr, |parts| within(parts, call.x())),
    }
}
