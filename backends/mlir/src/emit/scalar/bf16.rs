//! bf16 on the CPU, by its bits: x86 code generation of LLVM 22 has no shuffles of bf16 vectors and ends the process
//! where vectorised conversions need one.
use super::{Built, Scalars};
use melior::ir::{Type, Value, r#type::IntegerType};
use tf_types::DType;

/// The bits as the upper half of an f32's.
pub(super) fn widen<'m, 'a>(s: &Scalars<'a, 'm>, x: Value<'m, 'a>) -> Built<'m, 'a> {
    let i32 = s.mlir_type(DType::I32)?;
    let bits = s.op("arith.extui", &[s.op("arith.bitcast", &[x], half(s))?], i32)?;
    let bits = s.same("arith.shli", bits, s.integer(16, i32)?)?;
    s.op("arith.bitcast", &[bits], s.mlir_type(DType::F32)?)
}

/// An f32 to the nearest, ties to even: a carry goes into the exponent.
pub(super) fn narrow<'m, 'a>(s: &Scalars<'a, 'm>, x: Value<'m, 'a>) -> Built<'m, 'a> {
    let i32 = s.mlir_type(DType::I32)?;
    let bits = s.op("arith.bitcast", &[x], i32)?;
    let upper = s.same("arith.shrui", bits, s.integer(16, i32)?)?;
    let odd = s.same("arith.andi", upper, s.integer(1, i32)?)?;
    let rounded = s.same("arith.addi", bits, s.same("arith.addi", odd, s.integer(0x7fff, i32)?)?)?;
    let rounded = s.same("arith.shrui", rounded, s.integer(16, i32)?)?;
    // A NaN stays one, and quiet.
    let quiet = s.same("arith.ori", upper, s.integer(0x40, i32)?)?;
    let result = s.select(s.compare_float("uno", x, x)?, quiet, rounded)?;
    s.op("arith.bitcast", &[s.op("arith.trunci", &[result], half(s))?], s.mlir_type(DType::BF16)?)
}

fn half<'m>(s: &Scalars<'_, 'm>) -> Type<'m> {
    IntegerType::new(s.session.context(), 16).into()
}
