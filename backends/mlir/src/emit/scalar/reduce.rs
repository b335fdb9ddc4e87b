//! Reductions, one element at a time.
use super::{Built, Scalars, binary::maximum, refused, unary::magnitude};
use crate::math::MathFn;
use melior::ir::{Value, ValueLike};
use tf_core::Literal;
use tf_types::{DType, dtype::DTypeFamily, kinds::ReduceKind};

pub(super) fn identity<'m, 'a>(s: &Scalars<'a, 'm>, kind: ReduceKind, dtype: DType) -> Built<'m, 'a> {
    match (dtype.family(), kind) {
        (DTypeFamily::Float, ReduceKind::Max) => {
            // fp8e4m3 has no infinity.
            let least = if dtype == DType::Fp8E4M3 { -448.0 } else { f64::NEG_INFINITY };
            s.float(least, s.mlir_type(DType::F32)?)
        }
        (DTypeFamily::Float, _) => s.float(0.0, s.mlir_type(DType::F32)?),
        (DTypeFamily::Integer, ReduceKind::Sum) => s.constant(dtype, Literal::Int(0)),
        (DTypeFamily::Integer, ReduceKind::Max | ReduceKind::AbsMax) => {
            let least = if dtype == DType::I32 { i64::from(i32::MIN) } else { i64::MIN };
            s.constant(dtype, Literal::Int(least))
        }
        (DTypeFamily::Bool, ReduceKind::Max) => s.constant(dtype, Literal::Bool(false)),
        (DTypeFamily::Integer, ReduceKind::Mean) => Err(refused(kind, "floats", dtype)),
        (DTypeFamily::Bool, _) => Err(refused(kind, "numbers", dtype)),
    }
}

pub(super) fn combine<'m, 'a>(
    s: &Scalars<'a, 'm>,
    kind: ReduceKind,
    dtype: DType,
    acc: Value<'m, 'a>,
    x: Value<'m, 'a>,
) -> Built<'m, 'a> {
    match dtype.family() {
        DTypeFamily::Float => {
            let x = s.widen(dtype, x)?;
            match kind {
                ReduceKind::Sum | ReduceKind::Mean => s.same("arith.addf", acc, x),
                ReduceKind::Max => maximum(s, acc, x),
                ReduceKind::AbsMax => maximum(s, acc, s.math(MathFn::Abs, x)?),
            }
        }
        DTypeFamily::Integer => match kind {
            ReduceKind::Sum => s.same("arith.addi", acc, x),
            ReduceKind::Max => s.same("arith.maxsi", acc, x),
            ReduceKind::AbsMax => s.same("arith.maxsi", acc, magnitude(s, x)?),
            ReduceKind::Mean => Err(refused(kind, "floats", dtype)),
        },
        DTypeFamily::Bool if kind == ReduceKind::Max => s.same("arith.ori", acc, x),
        DTypeFamily::Bool => Err(refused(kind, "numbers", dtype)),
    }
}

pub(super) fn finish<'m, 'a>(
    s: &Scalars<'a, 'm>,
    kind: ReduceKind,
    dtype: DType,
    acc: Value<'m, 'a>,
    count: i64,
) -> Built<'m, 'a> {
    match (dtype.family(), kind) {
        (DTypeFamily::Float, ReduceKind::Mean) => {
            let mean = s.same("arith.divf", acc, s.float(count as f64, acc.r#type())?)?;
            s.narrow(dtype, mean)
        }
        (DTypeFamily::Float, _) => s.narrow(dtype, acc),
        // Of no elements the greatest absolute value is 0.
        (DTypeFamily::Integer, ReduceKind::AbsMax) if count == 0 => s.integer_like(0, acc),
        _ => Ok(acc),
    }
}
