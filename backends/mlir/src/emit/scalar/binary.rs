//! Elements of two operands.
use super::{Built, Scalars, refused};
use crate::math::Target;
use melior::ir::{Value, ValueLike};
use tf_types::{DType, dtype::DTypeFamily, kinds::BinaryKind};

pub(super) fn emit<'m, 'a>(
    s: &Scalars<'a, 'm>,
    kind: BinaryKind,
    dtype: DType,
    a: Value<'m, 'a>,
    b: Value<'m, 'a>,
) -> Built<'m, 'a> {
    match dtype.family() {
        DTypeFamily::Float => {
            let (a, b) = (s.widen(dtype, a)?, s.widen(dtype, b)?);
            let result = floats(s, kind, dtype, a, b)?;
            if kind.is_comparison() { Ok(result) } else { s.narrow(dtype, result) }
        }
        DTypeFamily::Integer => integers(s, kind, dtype, a, b),
        DTypeFamily::Bool => bools(s, kind, a, b),
    }
}

fn floats<'m, 'a>(
    s: &Scalars<'a, 'm>,
    kind: BinaryKind,
    dtype: DType,
    a: Value<'m, 'a>,
    b: Value<'m, 'a>,
) -> Built<'m, 'a> {
    match kind {
        BinaryKind::Add => s.same("arith.addf", a, b),
        BinaryKind::Sub => s.same("arith.subf", a, b),
        BinaryKind::Mul => s.same("arith.mulf", a, b),
        BinaryKind::Div => s.same("arith.divf", a, b),
        BinaryKind::Min => extreme(s, "ole", "arith.minimumf", a, b),
        BinaryKind::Max => maximum(s, a, b),
        BinaryKind::Eq => s.compare_float("oeq", a, b),
        BinaryKind::Ne => s.compare_float("une", a, b),
        BinaryKind::Lt => s.compare_float("olt", a, b),
        BinaryKind::Le => s.compare_float("ole", a, b),
        BinaryKind::Gt => s.compare_float("ogt", a, b),
        BinaryKind::Ge => s.compare_float("oge", a, b),
        BinaryKind::FloorDiv | BinaryKind::Mod => Err(refused(kind, "i32 or i64", dtype)),
        BinaryKind::And | BinaryKind::Or => Err(refused(kind, "bool", dtype)),
    }
}

/// The greater of two f32; NaN on either side wins.
pub(super) fn maximum<'m, 'a>(s: &Scalars<'a, 'm>, a: Value<'m, 'a>, b: Value<'m, 'a>) -> Built<'m, 'a> {
    extreme(s, "oge", "arith.maximumf", a, b)
}

/// On the CPU `a` where it is NaN or at least as good, else `b`, so that of two zeros the first is the result as the evaluator has it; on
/// the GPU one instruction, which orders the zeros.
fn extreme<'m, 'a>(
    s: &Scalars<'a, 'm>,
    as_good: &str,
    instruction: &str,
    a: Value<'m, 'a>,
    b: Value<'m, 'a>,
) -> Built<'m, 'a> {
    if s.target == Target::Gpu {
        return s.same(instruction, a, b);
    }
    let wins = s.compare_float(as_good, a, b)?;
    let nan = s.compare_float("uno", a, a)?;
    let first = s.same("arith.ori", nan, wins)?;
    s.select(first, a, b)
}

fn integers<'m, 'a>(
    s: &Scalars<'a, 'm>,
    kind: BinaryKind,
    dtype: DType,
    a: Value<'m, 'a>,
    b: Value<'m, 'a>,
) -> Built<'m, 'a> {
    match kind {
        BinaryKind::Add => s.same("arith.addi", a, b),
        BinaryKind::Sub => s.same("arith.subi", a, b),
        BinaryKind::Mul => s.same("arith.muli", a, b),
        BinaryKind::Div | BinaryKind::FloorDiv | BinaryKind::Mod => divide(s, kind, dtype, a, b),
        BinaryKind::Min => s.same("arith.minsi", a, b),
        BinaryKind::Max => s.same("arith.maxsi", a, b),
        BinaryKind::Eq => s.compare_int("eq", a, b),
        BinaryKind::Ne => s.compare_int("ne", a, b),
        BinaryKind::Lt => s.compare_int("slt", a, b),
        BinaryKind::Le => s.compare_int("sle", a, b),
        BinaryKind::Gt => s.compare_int("sgt", a, b),
        BinaryKind::Ge => s.compare_int("sge", a, b),
        BinaryKind::And | BinaryKind::Or => Err(refused(kind, "bool", dtype)),
    }
}

/// The processor's division must see neither a zero divisor nor least / -1, which overflows.
fn divide<'m, 'a>(
    s: &Scalars<'a, 'm>,
    kind: BinaryKind,
    dtype: DType,
    a: Value<'m, 'a>,
    b: Value<'m, 'a>,
) -> Built<'m, 'a> {
    let (zero, one) = (s.integer_like(0, b)?, s.integer_like(1, b)?);
    let nonzero = s.compare_int("ne", b, zero)?;
    s.require(nonzero, &format!("`{kind}` of {dtype} divides by zero"))?;
    let minus = s.compare_int("eq", b, s.integer_like(-1, b)?)?;
    let unsafe_divisor = s.same("arith.ori", minus, s.compare_int("eq", b, zero)?)?;
    let divisor = s.select(unsafe_divisor, one, b)?;
    let quotient = s.same("arith.divsi", a, divisor)?;
    // Wraps for the least integer.
    let negated = s.same("arith.subi", zero, a)?;
    let quotient = s.select(minus, negated, quotient)?;
    if kind == BinaryKind::Div {
        return Ok(quotient);
    }
    // The remainder of a division by 1 is also that of a division by -1.
    let rest = s.same("arith.remsi", a, divisor)?;
    let inexact = s.compare_int("ne", rest, zero)?;
    let opposite = s.compare_int("slt", s.same("arith.xori", rest, b)?, zero)?;
    let adjust = s.same("arith.andi", inexact, opposite)?;
    if kind == BinaryKind::Mod {
        let moved = s.same("arith.addi", rest, b)?;
        return s.select(adjust, moved, rest);
    }
    let down = s.same("arith.subi", quotient, one)?;
    s.select(adjust, down, quotient)
}

fn bools<'m, 'a>(s: &Scalars<'a, 'm>, kind: BinaryKind, a: Value<'m, 'a>, b: Value<'m, 'a>) -> Built<'m, 'a> {
    match kind {
        BinaryKind::And | BinaryKind::Min => s.op("arith.andi", &[a, b], a.r#type()),
        BinaryKind::Or | BinaryKind::Max => s.op("arith.ori", &[a, b], a.r#type()),
        BinaryKind::Eq => s.compare_int("eq", a, b),
        BinaryKind::Ne => s.compare_int("ne", a, b),
        // True is 1: unsigned.
        BinaryKind::Lt => s.compare_int("ult", a, b),
        BinaryKind::Le => s.compare_int("ule", a, b),
        BinaryKind::Gt => s.compare_int("ugt", a, b),
        BinaryKind::Ge => s.compare_int("uge", a, b),
        BinaryKind::Add
        | BinaryKind::Sub
        | BinaryKind::Mul
        | BinaryKind::Div
        | BinaryKind::FloorDiv
        | BinaryKind::Mod => Err(refused(kind, "numbers", DType::Bool)),
    }
}
