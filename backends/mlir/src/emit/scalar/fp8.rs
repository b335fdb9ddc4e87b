//! fp8e4m3 (`float8_e4m3fn`) as its bits: 4 exponent bits of bias 7, 3 mantissa bits, no infinities.
use super::{Built, Scalars};
use crate::math::MathFn;
use melior::ir::{Type, Value, r#type::IntegerType};
use tf_types::DType;

/// Bits of the NaN without a sign.
const NAN: i64 = 0x7f;

/// The bits as f32. Shifted into an f32's exponent and mantissa they are 2^120 times too small, subnormals too.
pub(super) fn widen<'m, 'a>(s: &Scalars<'a, 'm>, x: Value<'m, 'a>) -> Built<'m, 'a> {
    let (i32, f32) = (s.mlir_type(DType::I32)?, s.mlir_type(DType::F32)?);
    let bits = s.op("arith.extui", &[x], i32)?;
    let magnitude = s.same("arith.andi", bits, s.integer(NAN, i32)?)?;
    let small = s.same("arith.shli", magnitude, s.integer(20, i32)?)?;
    let small = s.op("arith.bitcast", &[small], f32)?;
    let value = s.same("arith.mulf", small, s.float(f64::from(120.0f32.exp2()), f32)?)?;
    let nan = s.compare_int("eq", magnitude, s.integer(NAN, i32)?)?;
    let value = s.select(nan, s.float(f64::NAN, f32)?, value)?;
    let sign = s.same("arith.andi", bits, s.integer(0x80, i32)?)?;
    let negative = s.compare_int("ne", sign, s.integer(0, i32)?)?;
    let negated = s.op("arith.negf", &[value], f32)?;
    s.select(negative, negated, value)
}

/// An f32 to the nearest, ties to even; beyond 464 NaN.
pub(super) fn narrow<'m, 'a>(s: &Scalars<'a, 'm>, x: Value<'m, 'a>) -> Built<'m, 'a> {
    let (i32, f32) = (s.mlir_type(DType::I32)?, s.mlir_type(DType::F32)?);
    let i8: Type = IntegerType::new(s.session.context(), 8).into();
    let magnitude = s.math(MathFn::Abs, x)?;
    let bits = s.op("arith.bitcast", &[magnitude], i32)?;
    // Normal values: the mantissa is rounded at bit 20, a carry goes into the exponent, which is rebiased.
    let odd = s.same("arith.andi", s.same("arith.shrui", bits, s.integer(20, i32)?)?, s.integer(1, i32)?)?;
    let rounded = s.same("arith.addi", bits, s.same("arith.addi", odd, s.integer(0x7_ffff, i32)?)?)?;
    let shifted = s.same("arith.shrui", rounded, s.integer(20, i32)?)?;
    let normal = s.same("arith.subi", shifted, s.integer(120 << 3, i32)?)?;
    // Subnormal values count units of 2^-9.
    let units = s.same("arith.mulf", magnitude, s.float(512.0, f32)?)?;
    let units = s.intrinsic_value("llvm.fptosi.sat.i32.f32", &[s.math(MathFn::RoundEven, units)?], i32)?;
    let is_small = s.compare_float("olt", magnitude, s.float(1.0 / 64.0, f32)?)?;
    let finite = s.select(is_small, units, normal)?;
    let beyond = s.compare_float("uge", magnitude, s.float(480.0, f32)?)?;
    let result = s.select(beyond, s.integer(NAN, i32)?, finite)?;
    let all = s.op("arith.bitcast", &[x], i32)?;
    let sign = s.same("arith.andi", s.same("arith.shrui", all, s.integer(24, i32)?)?, s.integer(0x80, i32)?)?;
    s.op("arith.trunci", &[s.same("arith.ori", result, sign)?], i8)
}
