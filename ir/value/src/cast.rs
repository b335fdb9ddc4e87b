//! Casts and dtype promotion.

use half::{bf16, f16};
use tf_types::DType;

use crate::element::{Element, Numeric, SharedArray};
use crate::kernel::{BLOCK, CHUNK, made_in_chunks};
use crate::tensor::{f4e2m1_refused, from_parts, row_major};
use crate::{F8E8M0, Fp8E4M3, Tensor, ValueError};

/// Converts every element, block by block through `step`.
fn convert<T: Element, O: Element>(array: &SharedArray<T>, step: fn(&[T], &mut [O])) -> SharedArray<O> {
    let source = row_major(array);
    let out = made_in_chunks(source.len(), CHUNK, &|from, out| {
        for (out, source) in out.chunks_mut(BLOCK).zip(source[from..].chunks(BLOCK)) {
            step(&source[..out.len()], out);
        }
    });
    from_parts(array.shape(), out)
}

/// Converts the elements of a block one by one.
fn each<T: Copy, O>(source: &[T], out: &mut [O], f: impl Fn(T) -> O) {
    for (out, &value) in out.iter_mut().zip(source) {
        *out = f(value);
    }
}

/// Through f32, which every float fits exactly.
fn from_float<T: Numeric<Wide = f32>>(array: &SharedArray<T>, dtype: DType) -> Result<Tensor, ValueError> {
    fn rounded<T: Numeric<Wide = f32>, O: Numeric<Wide = f32>>(array: &SharedArray<T>) -> Tensor {
        O::wrap(convert(array, |source: &[T], out: &mut [O]| {
            let mut wide = [0.0; BLOCK];
            T::load(source, &mut wide[..source.len()]);
            O::store(&wide[..source.len()], out);
        }))
    }
    Ok(match dtype {
        DType::F32 => rounded::<T, f32>(array),
        DType::F16 => rounded::<T, f16>(array),
        DType::BF16 => rounded::<T, bf16>(array),
        DType::Fp8E4M3 => rounded::<T, Fp8E4M3>(array),
        // `as` truncates toward zero, saturates and maps NaN to 0.
        DType::I32 => Tensor::I32(convert(array, |source: &[T], out| each(source, out, |x| x.widen() as i32))),
        DType::I64 => Tensor::I64(convert(array, |source: &[T], out| each(source, out, |x| x.widen() as i64))),
        DType::Bool => Tensor::Bool(convert(array, |source: &[T], out| each(source, out, |x| x.widen() != 0.0))),
        DType::F8E8M0 => {
            let elements =
                row_major(array).iter().map(|x| F8E8M0::from_f32(x.widen())).collect::<Result<Vec<_>, _>>()?;
            Tensor::F8E8M0(from_parts(array.shape(), elements))
        }
        DType::F4E2M1 => return Err(f4e2m1_refused()),
    })
}

impl Tensor {
    /// The same values in another dtype: floats to integers toward zero, saturating, NaN to 0; to f16 and bf16 nearest even;
    /// to fp8e4m3 nearest even with NaN beyond 464; i64 to i32 wraps; to bool, non-zero (NaN too) is true. The same dtype shares storage.
    ///
    /// # Errors
    /// `f4e2m1`; a negative value to `f8e8m0`.
    pub fn cast(&self, dtype: DType) -> Result<Self, ValueError> {
        if self.dtype() == dtype {
            return Ok(self.clone());
        }
        match self {
            Self::F32(array) => from_float(array, dtype),
            Self::F16(array) => from_float(array, dtype),
            Self::BF16(array) => from_float(array, dtype),
            Self::Fp8E4M3(array) => from_float(array, dtype),
            Self::F8E8M0(array) => {
                Self::F32(convert(array, |source, out| each(source, out, F8E8M0::to_f32))).cast(dtype)
            }
            Self::I32(array) => match dtype {
                DType::I64 => Ok(Self::I64(convert(array, |source, out| each(source, out, i64::from)))),
                DType::Bool => Ok(Self::Bool(convert(array, |source, out| each(source, out, |x| x != 0)))),
                _ => Self::F32(convert(array, |source, out| each(source, out, |x| x as f32))).cast(dtype),
            },
            Self::I64(array) => match dtype {
                DType::I32 => Ok(Self::I32(convert(array, |source, out| each(source, out, |x| x as i32)))),
                DType::Bool => Ok(Self::Bool(convert(array, |source, out| each(source, out, |x| x != 0)))),
                _ => Self::F32(convert(array, |source, out| each(source, out, |x| x as f32))).cast(dtype),
            },
            Self::Bool(array) => match dtype {
                DType::I32 => Ok(Self::I32(convert(array, |source, out| each(source, out, i32::from)))),
                DType::I64 => Ok(Self::I64(convert(array, |source, out| each(source, out, i64::from)))),
                _ => Self::F32(convert(array, |source, out| each(source, out, |x| f32::from(u8::from(x))))).cast(dtype),
            },
        }
    }
}

/// The common dtype of two operands as torch promotes: bool, integers, floats in that order; within one family the wider, f32 for f16 with
/// bf16. A rank-0 operand yields to one with axes of its own or a higher family.
///
/// # Errors
/// An 8-bit float with another dtype.
pub fn promote(lhs: &Tensor, rhs: &Tensor) -> Result<DType, ValueError> {
    let (a, b) = (lhs.dtype(), rhs.dtype());
    if a == b {
        return Ok(a);
    }
    if let Some(narrow) = [a, b].into_iter().find(|dtype| dtype.bits() == 8) {
        return Err(ValueError::new(format!("{a} and {b} have no common dtype: {narrow} is not promoted"))
            .with_help("cast one operand"));
    }
    let family = |dtype: DType| match dtype {
        DType::Bool => 0,
        DType::I32 | DType::I64 => 1,
        _ => 2,
    };
    match (lhs.rank(), rhs.rank()) {
        (0, 1..) if family(a) <= family(b) => return Ok(b),
        (1.., 0) if family(b) <= family(a) => return Ok(a),
        _ => {}
    }
    Ok(match family(a).cmp(&family(b)) {
        std::cmp::Ordering::Less => b,
        std::cmp::Ordering::Greater => a,
        std::cmp::Ordering::Equal if a.is_integer() => DType::I64,
        std::cmp::Ordering::Equal => DType::F32,
    })
}

/// Two operands in their common dtype.
///
/// # Errors
/// As [`promote`].
pub(crate) fn promoted(lhs: Tensor, rhs: &Tensor) -> Result<(Tensor, Tensor), ValueError> {
    let dtype = promote(&lhs, rhs)?;
    Ok((if lhs.dtype() == dtype { lhs } else { lhs.cast(dtype)? }, rhs.cast(dtype)?))
}

#[cfg(test)]
mod tests {
    use tf_types::DType;

    use super::promote;
    use crate::Tensor;

    #[test]
    fn floats_to_integers_saturate() {
        let x = Tensor::from_f32(&[5], &[1e20, -1e20, f32::NAN, 2.9, -2.9]).unwrap();
        assert_eq!(x.cast(DType::I32).unwrap().to_vec::<i32>().unwrap(), [i32::MAX, i32::MIN, 0, 2, -2]);
        assert_eq!(x.cast(DType::I64).unwrap().to_vec::<i64>().unwrap(), [i64::MAX, i64::MIN, 0, 2, -2]);
    }

    #[test]
    fn refused_casts() {
        let x = Tensor::from_f32(&[1], &[-2.0]).unwrap();
        assert!(x.cast(DType::F8E8M0).unwrap_err().message.contains("negative"));
        assert!(x.cast(DType::F4E2M1).unwrap_err().message.contains("f4e2m1"));
    }

    #[test]
    fn promotion_is_torchs() {
        let of = |dtype, shape: &[usize]| Tensor::zeros(shape, dtype).unwrap();
        let pair = |a, b| promote(&of(a, &[2]), &of(b, &[2])).unwrap();
        assert_eq!(pair(DType::F16, DType::BF16), DType::F32);
        assert_eq!(pair(DType::I64, DType::F16), DType::F16);
        assert_eq!(pair(DType::I32, DType::I64), DType::I64);
        assert_eq!(pair(DType::Bool, DType::I32), DType::I32);
        assert_eq!(promote(&of(DType::BF16, &[2]), &of(DType::F32, &[])).unwrap(), DType::BF16);
        assert_eq!(promote(&of(DType::F32, &[]), &of(DType::BF16, &[2])).unwrap(), DType::BF16);
        assert_eq!(promote(&of(DType::I64, &[]), &of(DType::I32, &[2])).unwrap(), DType::I32);
        assert_eq!(promote(&of(DType::I32, &[2]), &of(DType::F32, &[])).unwrap(), DType::F32);
        assert_eq!(promote(&of(DType::F32, &[]), &of(DType::I32, &[2])).unwrap(), DType::F32);
        assert_eq!(promote(&of(DType::F16, &[]), &of(DType::F32, &[])).unwrap(), DType::F32);
        assert!(promote(&of(DType::Fp8E4M3, &[2]), &of(DType::F32, &[2])).is_err());
    }
}
