//! Laws of real numbers that floats do not have.

use tf_core::Literal;
use tf_hir::{Cast, Clamp, Reduce, Relu, Softmax};
use tf_types::DType;
use tf_types::kinds::{BinaryKind, ReduceKind, UnaryKind};

use crate::fault::{dtype, faults, float, operand_of, operands_of};

faults! {
    /// `a < b` becomes `a <= b`: only ties tell.
    LessOrEqual = "fault-less-or-equal": |at| {
        let (a, b) = operands_of(at.expr, BinaryKind::Lt)?;
        at.binary(BinaryKind::Le, a, b)
    };

    /// `not (a < b)` becomes `a >= b`: only NaNs tell.
    FlippedComparison = "fault-flipped-comparison": |at| {
        let (a, b) = operands_of(operand_of(at.expr, UnaryKind::Not)?, BinaryKind::Lt)?;
        at.binary(BinaryKind::Ge, a, b)
    };

    /// `x + 0.0` becomes `x`: only negative zeros tell.
    AddZero = "fault-add-zero": |at| {
        let (x, zero) = operands_of(at.expr, BinaryKind::Add)?;
        (float(zero)? == 0.0 && float(zero)?.is_sign_positive()).then_some(x)
    };

    /// `x * 0.0` becomes zeros: infinities, NaNs and negative numbers tell.
    TimesZero = "fault-times-zero": |at| {
        let (x, zero) = operands_of(at.expr, BinaryKind::Mul)?;
        (float(zero)? == 0.0).then(|| at.filled(x, 0.0)).flatten()
    };

    /// `x - x` becomes `relu(-abs(x))`, a zero: only NaNs and infinities tell.
    SubSelf = "fault-sub-self": |at| {
        let (a, b) = operands_of(at.expr, BinaryKind::Sub)?;
        (a == b).then_some(())?;
        at.unary(UnaryKind::Relu, at.unary(UnaryKind::Neg, at.unary(UnaryKind::Abs, a)?)?)
    };

    /// `x / x` becomes ones: zeros, infinities and NaNs tell.
    DivSelf = "fault-div-self": |at| {
        let (a, b) = operands_of(at.expr, BinaryKind::Div)?;
        (a == b && dtype(a)?.is_float()).then(|| at.filled(a, 1.0)).flatten()
    };

    /// `(a + b) + c` becomes `a + (b + c)`: what cancels first matters.
    ReassociatedSum = "fault-reassociated-sum": |at| {
        let (sum, c) = operands_of(at.expr, BinaryKind::Add)?;
        let (a, b) = operands_of(sum, BinaryKind::Add)?;
        dtype(a)?.is_float().then_some(())?;
        at.binary(BinaryKind::Add, a, at.binary(BinaryKind::Add, b, c)?)
    };

    /// `log(exp(x))` becomes `x`: what overflows or underflows between tells.
    LogOfExp = "fault-log-of-exp": |at| operand_of(operand_of(at.expr, UnaryKind::Log)?, UnaryKind::Exp);

    /// Softmax without taking the greatest value off first: great numbers give infinities over infinities.
    SoftmaxWithoutMax = "fault-softmax-without-max": |at| {
        let call = at.expr.as_op::<Softmax>()?;
        let exp = at.unary(UnaryKind::Exp, call.x())?;
        let axes = at.cx.alloc_slice(&[call.axis()]);
        at.binary(BinaryKind::Div, exp, at.call(Reduce::new(at.cx, axes, true, ReduceKind::Sum), &[exp])?)
    };

    /// `max(x, nan)` becomes `x`, as if NaN were the identity of the maximum: the other way round, llvm/llvm-project#114594.
    NanIdentity = "fault-nan-identity": |at| {
        let (x, nan) = operands_of(at.expr, BinaryKind::Max)?;
        float(nan)?.is_nan().then_some(x)
    };

    /// `max(min(x, high), low)` becomes `min(max(x, low), high)`: bounds that cross tell.
    CrossedBounds = "fault-crossed-bounds": |at| {
        let (least, low) = operands_of(at.expr, BinaryKind::Max)?;
        let (x, high) = operands_of(least, BinaryKind::Min)?;
        at.call(Clamp::new(at.cx, float(low)?, float(high)?), &[x])
    };

    /// `relu(x) * c` becomes `relu(x * c)`: a negative scale tells (apache/tvm#2182).
    ScaleThroughRelu = "fault-scale-through-relu": |at| {
        let (relu, scale) = operands_of(at.expr, BinaryKind::Mul)?;
        let x = relu.as_op::<Relu>()?.x();
        at.call(Relu::new(at.cx), &[at.binary(BinaryKind::Mul, x, scale)?])
    };

    /// `ceil(x)` goes through integers: the sign of a zero is lost, and what no integer holds (llvm/llvm-project#218111).
    CeilThroughIntegers = "fault-ceil-through-integers": |at| {
        let x = operand_of(at.expr, UnaryKind::Ceil).filter(|&x| dtype(x) == Some(DType::F32))?;
        let whole = at.cast(DType::F32, at.call(Cast::new(at.cx, DType::I32), &[x])?)?;
        let is_less = at.cast(DType::F32, at.binary(BinaryKind::Lt, whole, x)?)?;
        at.binary(BinaryKind::Add, whole, is_less)
    };

    /// `round` of a literal is folded with halves away from zero in place of halves to even.
    FoldedRound = "fault-folded-round": |at| {
        let literal = operand_of(at.expr, UnaryKind::Round)?;
        Some(at.literal(Literal::Float(float(literal)?.round()), dtype(literal)?))
    };
}

pub fn register(r: &mut tf_plugin::Registrar<'_>) {
    register_rewrites(r);
}
