//! Elementwise operations with attributes or three operands.

use std::borrow::Cow;

use ndarray::IxDyn;
use tf_types::DType;
use tf_types::kinds::BinaryKind;

use crate::cast::promoted;
use crate::element::{Element, SharedArray};
use crate::gather::gather;
use crate::kernel::{CHUNK, each, fill_chunks, map};
use crate::tensor::{element_count, from_parts, owned, row_major};
use crate::view::broadcast_shapes;
use crate::{Tensor, ValueError, math, with_array};

/// The elements of an operand as the result's shape reads them, row-major.
fn spread<'a, T: Element>(array: &'a SharedArray<T>, shape: &[usize]) -> Cow<'a, [T]> {
    if array.shape() == shape {
        return row_major(array);
    }
    let view = array.broadcast(IxDyn(shape)).expect("operands broadcast to the result");
    gather(view).into()
}

impl Tensor {
    /// `min(max(x, lo), hi)` in this tensor's dtype: the upper bound wins, NaN stays. Bounds of integers are cut toward zero and saturate,
    /// which is the bound on the exact result cast back.
    ///
    /// # Errors
    /// bool; a negative result in f8e8m0.
    pub fn clamp(self, lo: f64, hi: f64) -> Result<Self, ValueError> {
        let dtype = self.dtype();
        if dtype.bits() == 8 {
            // Bounds that these dtypes lack still bound.
            return self.cast(DType::F32)?.clamp(lo, hi)?.cast(dtype);
        }
        if dtype == DType::Bool {
            return Err(ValueError::new("clamp takes numbers, found bool"));
        }
        let (lo, hi) = (Self::scalar_of(lo, dtype)?, Self::scalar_of(hi, dtype)?);
        self.binary(lo, BinaryKind::Max)?.binary(hi, BinaryKind::Min)
    }

    /// A rank-0 tensor of `dtype` from a number: integers are cut toward zero and saturate, floats round once from f32.
    ///
    /// # Errors
    /// `f4e2m1`; a negative number for `f8e8m0`.
    pub fn scalar_of(value: f64, dtype: DType) -> Result<Self, ValueError> {
        match dtype {
            DType::I32 => Ok(Self::scalar(value as i32)),
            DType::I64 => Ok(Self::scalar(value as i64)),
            _ => Self::scalar_from_f64(value, dtype),
        }
    }

    /// `log(1 + e^x)`, computed in f32 and rounded once; `x` itself above 20.
    ///
    /// # Errors
    /// Integers and bool.
    pub fn softplus(self) -> Result<Self, ValueError> {
        Ok(match self {
            Self::F32(x) => Self::F32(map(x, |x| each(x, math::softplus))),
            Self::F16(x) => Self::F16(map(x, |x| each(x, math::softplus))),
            Self::BF16(x) => Self::BF16(map(x, |x| each(x, math::softplus))),
            Self::Fp8E4M3(x) => Self::Fp8E4M3(map(x, |x| each(x, math::softplus))),
            Self::F8E8M0(_) => return self.cast(DType::F32)?.softplus()?.cast(DType::F8E8M0),
            Self::I32(_) | Self::I64(_) | Self::Bool(_) => {
                return Err(ValueError::new(format!("softplus takes floats, found {}", self.dtype()))
                    .with_help("cast to a float dtype first"));
            }
        })
    }

    /// `yes` where this tensor is true, `no` elsewhere; all three broadcast. Unequal dtypes of the branches promote.
    ///
    /// # Errors
    /// This tensor is not bool; shapes that do not broadcast; dtypes that do not promote.
    pub fn select(&self, yes: Self, no: &Self) -> Result<Self, ValueError> {
        fn chosen<T: Element>(
            condition: &SharedArray<bool>,
            yes: SharedArray<T>,
            no: &Tensor,
            shape: &[usize],
        ) -> Tensor {
            let no = T::array(no).expect("both branches have the common dtype");
            let (condition, no) = (spread(condition, shape), spread(no, shape));
            let mut out = if yes.shape() == shape {
                owned(yes)
            } else {
                owned(from_parts(shape, spread(&yes, shape).into_owned()))
            };
            let elements = out.as_slice_mut().expect("owned arrays are row-major");
            fill_chunks(elements, CHUNK, &|from, out| {
                let end = from + out.len();
                for ((out, &condition), &no) in out.iter_mut().zip(&condition[from..end]).zip(&no[from..end]) {
                    *out = if condition { *out } else { no };
                }
            });
            T::wrap(out.into_shared())
        }
        let Self::Bool(condition) = self else {
            return Err(ValueError::new(format!("where takes a bool condition, found {}", self.dtype())));
        };
        let (yes, no) = promoted(yes, no)?;
        let shape = broadcast_shapes(&broadcast_shapes(condition.shape(), yes.shape())?, no.shape())?;
        element_count(&shape, yes.width())?;
        Ok(with_array!(yes, yes => chosen(condition, yes, &no, &shape)))
    }
}

#[cfg(test)]
mod tests {
    use tf_types::DType;

    use crate::Tensor;

    #[test]
    fn clamp_bounds() {
        let x = Tensor::from_f32(&[4], &[f32::NAN, -3.0, 0.25, 9.0]).unwrap();
        let clamped = x.clone().clamp(-1.0, 2.0).unwrap().to_f32_vec();
        assert!(clamped[0].is_nan());
        assert_eq!(clamped[1..], [-1.0, 0.25, 2.0]);
        assert_eq!(x.clone().clamp(2.0, 0.5).unwrap().to_f32_vec()[1..], [0.5, 0.5, 0.5]);
        let ints = Tensor::from_vec(&[3], vec![i64::MIN, 0, i64::MAX]).unwrap();
        assert_eq!(ints.clone().clamp(-2.5, 1e30).unwrap().to_vec::<i64>().unwrap(), [-2, 0, i64::MAX]);
        let narrow = x.cast(DType::Fp8E4M3).unwrap().clamp(-1e9, 1e9).unwrap();
        assert_eq!(narrow.to_f32_vec()[1..], [-3.0, 0.25, 9.0]);
        let error = Tensor::zeros(&[1], DType::Bool).unwrap().clamp(0.0, 1.0).unwrap_err();
        assert_eq!(error.message, "clamp takes numbers, found bool");
    }

    #[test]
    fn softplus_ends() {
        let x = Tensor::from_f32(&[5], &[-200.0, 0.0, 20.5, f32::INFINITY, f32::NEG_INFINITY]).unwrap();
        let y = x.clone().softplus().unwrap().to_f32_vec();
        assert_eq!((y[0], y[2], y[3], y[4]), (0.0, 20.5, f32::INFINITY, 0.0));
        assert!((y[1] - 2f32.ln()).abs() < 1e-7);
        let error = Tensor::zeros(&[1], DType::I64).unwrap().softplus().unwrap_err();
        assert_eq!(error.message, "softplus takes floats, found i64");
    }

    #[test]
    fn select_broadcasts_and_promotes() {
        let condition = Tensor::from_vec(&[2, 1], vec![true, false]).unwrap();
        let yes = Tensor::from_vec(&[3], vec![1i32, 2, 3]).unwrap();
        let no = Tensor::scalar(0.5f32);
        let y = condition.select(yes.clone(), &no).unwrap();
        assert_eq!((y.shape(), y.dtype()), (&[2, 3][..], DType::F32));
        assert_eq!(y.to_f32_vec(), [1.0, 2.0, 3.0, 0.5, 0.5, 0.5]);
        assert_eq!(yes.select(yes.clone(), &yes).unwrap_err().message, "where takes a bool condition, found i32");
    }
}
