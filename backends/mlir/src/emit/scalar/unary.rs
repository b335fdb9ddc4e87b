//! Elements of one operand.
use super::{Built, Scalars, refused};
use crate::{BackendError, math::MathFn};
use melior::ir::{Value, ValueLike};
use tf_types::{DType, dtype::DTypeFamily, kinds::UnaryKind};

pub(super) fn emit<'m, 'a>(s: &Scalars<'a, 'm>, kind: UnaryKind, dtype: DType, x: Value<'m, 'a>) -> Built<'m, 'a> {
    if kind == UnaryKind::Cast {
        return Err(BackendError::new("`cast` has no value without the dtype of its result"));
    }
    match dtype.family() {
        DTypeFamily::Float => {
            let wide = s.widen(dtype, x)?;
            let result = floats(s, kind, dtype, wide)?;
            s.narrow(dtype, result)
        }
        DTypeFamily::Integer => integers(s, kind, dtype, x),
        DTypeFamily::Bool if kind == UnaryKind::Not => s.same("arith.xori", x, s.integer_like(1, x)?),
        DTypeFamily::Bool => Err(refused(kind, "numbers", dtype)),
    }
}

fn floats<'m, 'a>(s: &Scalars<'a, 'm>, kind: UnaryKind, dtype: DType, x: Value<'m, 'a>) -> Built<'m, 'a> {
    match kind {
        UnaryKind::Neg => s.op("arith.negf", &[x], x.r#type()),
        UnaryKind::Abs => s.math(MathFn::Abs, x),
        UnaryKind::Rsqrt => s.math(MathFn::Rsqrt, x),
        UnaryKind::Square => s.same("arith.mulf", x, x),
        UnaryKind::Relu => {
            let zero = s.float(0.0, x.r#type())?;
            // Less, and not its converse: NaN and -0.0 stay.
            let negative = s.compare_float("olt", x, zero)?;
            s.select(negative, zero, x)
        }
        UnaryKind::Exp => s.math(MathFn::Exp, x),
        UnaryKind::Exp2 => s.math(MathFn::Exp2, x),
        UnaryKind::Log => s.math(MathFn::Log, x),
        UnaryKind::Log2 => s.math(MathFn::Log2, x),
        UnaryKind::Ceil => s.math(MathFn::Ceil, x),
        UnaryKind::Round => s.math(MathFn::RoundEven, x),
        UnaryKind::Not | UnaryKind::Cast => Err(refused(kind, "bool", dtype)),
    }
}

fn integers<'m, 'a>(s: &Scalars<'a, 'm>, kind: UnaryKind, dtype: DType, x: Value<'m, 'a>) -> Built<'m, 'a> {
    match kind {
        UnaryKind::Neg => s.same("arith.subi", s.integer_like(0, x)?, x),
        UnaryKind::Abs => magnitude(s, x),
        UnaryKind::Square => s.same("arith.muli", x, x),
        UnaryKind::Relu => s.same("arith.maxsi", x, s.integer_like(0, x)?),
        UnaryKind::Ceil | UnaryKind::Round => Ok(x),
        UnaryKind::Not | UnaryKind::Cast => Err(refused(kind, "bool", dtype)),
        UnaryKind::Rsqrt | UnaryKind::Exp | UnaryKind::Log | UnaryKind::Exp2 | UnaryKind::Log2 => {
            Err(refused(kind, "floats", dtype))
        }
    }
}

/// The absolute value of an integer; that of the least integer wraps to itself.
pub(super) fn magnitude<'m, 'a>(s: &Scalars<'a, 'm>, x: Value<'m, 'a>) -> Built<'m, 'a> {
    let zero = s.integer_like(0, x)?;
    let negated = s.same("arith.subi", zero, x)?;
    let negative = s.compare_int("slt", x, zero)?;
    s.select(negative, negated, x)
}
