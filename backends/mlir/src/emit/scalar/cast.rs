//! Conversions between dtypes.
use super::{Built, Scalars};
use melior::ir::Value;
use tf_types::{DType, dtype::DTypeFamily};

pub(super) fn emit<'m, 'a>(s: &Scalars<'a, 'm>, from: DType, to: DType, x: Value<'m, 'a>) -> Built<'m, 'a> {
    let result = s.mlir_type(to)?;
    if from == to {
        return Ok(x);
    }
    match (from.family(), to.family()) {
        (DTypeFamily::Float, DTypeFamily::Float) => {
            let wide = s.widen(from, x)?;
            s.narrow(to, wide)
        }
        // Toward zero, saturating, NaN to 0: the intrinsic's rule.
        (DTypeFamily::Float, DTypeFamily::Integer) => {
            let wide = s.widen(from, x)?;
            s.intrinsic_value(&format!("llvm.fptosi.sat.{to}.f32"), &[wide], result)
        }
        (DTypeFamily::Float, DTypeFamily::Bool) => {
            let wide = s.widen(from, x)?;
            s.compare_float("une", wide, s.float(0.0, s.mlir_type(DType::F32)?)?)
        }
        (DTypeFamily::Integer, DTypeFamily::Float) => through_f32(s, "arith.sitofp", to, x),
        (DTypeFamily::Bool, DTypeFamily::Float) => through_f32(s, "arith.uitofp", to, x),
        (DTypeFamily::Integer, DTypeFamily::Integer) if from == DType::I32 => s.op("arith.extsi", &[x], result),
        (DTypeFamily::Integer, DTypeFamily::Integer) => s.op("arith.trunci", &[x], result),
        (DTypeFamily::Integer, DTypeFamily::Bool) => s.compare_int("ne", x, s.integer_like(0, x)?),
        (DTypeFamily::Bool, DTypeFamily::Integer | DTypeFamily::Bool) => s.op("arith.extui", &[x], result),
    }
}

/// Rounded to f32 and then to the narrow dtype, as the evaluator does.
fn through_f32<'m, 'a>(s: &Scalars<'a, 'm>, name: &str, to: DType, x: Value<'m, 'a>) -> Built<'m, 'a> {
    let wide = s.op(name, &[x], s.mlir_type(DType::F32)?)?;
    s.narrow(to, wide)
}
