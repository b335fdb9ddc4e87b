//! Rows chosen by index vectors.

use half::{bf16, f16};
use tf_types::DType;

use crate::assemble::around;
use crate::cast::promoted;
use crate::element::{Element, Numeric, SharedArray};
use crate::tensor::{element_count, from_parts, owned, row_major, show_shape};
use crate::{Fp8E4M3, Tensor, ValueError, normalize_axis, with_array};

/// The positions that an index vector names along an axis.
fn positions(index: &Tensor, axis: usize, extent: usize) -> Result<Vec<usize>, ValueError> {
    if index.rank() != 1 || !index.dtype().is_integer() {
        return Err(ValueError::new(format!(
            "an index is a vector of i32 or i64, found {} of shape {}",
            index.dtype(),
            show_shape(index.shape())
        )));
    }
    let position = |(at, value): (usize, i64)| {
        usize::try_from(value).ok().filter(|&position| position < extent).ok_or_else(|| {
            ValueError::new(format!("index {value} (number {at}) leaves axis {axis} of extent {extent}"))
        })
    };
    index.to_i64_vec()?.into_iter().enumerate().map(position).collect()
}

/// The destination of one block of `inner` elements and where they come from.
type Step<'s, T> = &'s dyn Fn(&mut [T], &[T]);

/// Calls `step` with each row of `dst` that an index names and the row of `src` of the same number.
fn scatter<T: Copy>(dst: &mut [T], extent: usize, src: &[T], positions: &[usize], inner: usize, step: Step<'_, T>) {
    if inner == 0 || positions.is_empty() {
        return;
    }
    for (outer, src) in src.chunks(positions.len() * inner).enumerate() {
        for (src, position) in src.chunks(inner).zip(positions) {
            let at = (outer * extent + position) * inner;
            step(&mut dst[at..at + inner], src);
        }
    }
}

/// Added in the wide type, rounded once.
fn added<T: Numeric>(
    dst: SharedArray<T>,
    positions: &[usize],
    src: &Tensor,
    axis: usize,
    step: Step<'_, T::Wide>,
) -> Tensor {
    let wide = |source: &[T]| {
        let mut wide = vec![T::Wide::default(); source.len()];
        T::load(source, &mut wide);
        wide
    };
    let mut out = owned(dst);
    let (extent, inner) = (out.shape()[axis], around(out.shape(), axis).1);
    let elements = out.as_slice_mut().expect("owned arrays are row-major");
    let (mut sum, src) = (wide(elements), wide(&row_major(T::array(src).expect("both have one dtype"))));
    scatter(&mut sum, extent, &src, positions, inner, step);
    T::store(&sum, elements);
    T::wrap(out.into_shared())
}

fn add<W: Copy>(dst: &mut [W], src: &[W], sum: impl Fn(W, W) -> W) {
    for (dst, &src) in dst.iter_mut().zip(src) {
        *dst = sum(*dst, src);
    }
}

impl Tensor {
    /// The slices along an axis that `index` names, in its order.
    ///
    /// # Errors
    /// An axis out of range; an index that is no integer vector; a position outside the axis.
    pub fn index_select(&self, index: &Self, axis: i64) -> Result<Self, ValueError> {
        let axis = normalize_axis(axis, self.rank())?;
        let extent = self.shape()[axis];
        let positions = positions(index, axis, extent)?;
        let mut shape = self.shape().to_vec();
        shape[axis] = positions.len();
        element_count(&shape, self.width())?;
        fn selected<T: Element>(x: &SharedArray<T>, positions: &[usize], axis: usize, shape: &[usize]) -> Tensor {
            let ((outer, inner), extent) = (around(shape, axis), x.shape()[axis]);
            let source = row_major(x);
            let mut out = Vec::with_capacity(outer * positions.len() * inner);
            for outer in 0..outer {
                for position in positions {
                    let at = (outer * extent + position) * inner;
                    out.extend_from_slice(&source[at..at + inner]);
                }
            }
            T::wrap(from_parts(shape, out))
        }
        Ok(with_array!(self, x => selected(x, &positions, axis, &shape)))
    }

    /// The positions of `index` and the checked axis of an update by rows.
    fn rows(&self, index: &Self, src: &Self, axis: i64) -> Result<(usize, Vec<usize>), ValueError> {
        let axis = normalize_axis(axis, self.rank())?;
        let positions = positions(index, axis, self.shape()[axis])?;
        let mut shape = self.shape().to_vec();
        shape[axis] = positions.len();
        if src.shape() != shape {
            return Err(ValueError::new(format!(
                "{} indices along axis {axis} of {} take a source of shape {}, found {}",
                positions.len(),
                show_shape(self.shape()),
                show_shape(&shape),
                show_shape(src.shape())
            )));
        }
        Ok((axis, positions))
    }

    /// This tensor with the slices of `src` added at the positions of `index`; repeated ones accumulate, floats in f32 and rounded once.
    ///
    /// # Errors
    /// As [`Tensor::index_select`]; a source of another shape, or a dtype that does not promote; bool.
    pub fn index_add(self, index: &Self, src: &Self, axis: i64) -> Result<Self, ValueError> {
        let (axis, positions) = self.rows(index, src, axis)?;
        let (dst, src) = promoted(self, src)?;
        let src = &src;
        fn float<T: Numeric<Wide = f32>>(
            dst: SharedArray<T>,
            positions: &[usize],
            src: &Tensor,
            axis: usize,
        ) -> Tensor {
            added::<T>(dst, positions, src, axis, &|dst, src| add(dst, src, |a, b| a + b))
        }
        Ok(match dst {
            Self::F32(dst) => float::<f32>(dst, &positions, src, axis),
            Self::F16(dst) => float::<f16>(dst, &positions, src, axis),
            Self::BF16(dst) => float::<bf16>(dst, &positions, src, axis),
            Self::Fp8E4M3(dst) => float::<Fp8E4M3>(dst, &positions, src, axis),
            Self::F8E8M0(_) => {
                let wide = |x: &Self| x.cast(DType::F32);
                return wide(&dst)?.index_add(index, &wide(src)?, axis as i64)?.cast(DType::F8E8M0);
            }
            Self::I32(dst) => added(dst, &positions, src, axis, &|dst, src| add(dst, src, i32::wrapping_add)),
            Self::I64(dst) => added(dst, &positions, src, axis, &|dst, src| add(dst, src, i64::wrapping_add)),
            Self::Bool(_) => return Err(ValueError::new("index_add takes numbers, found bool")),
        })
    }

    /// This tensor with the slices of `src` instead of those at the positions of `index`; of repeated ones the last stays.
    ///
    /// # Errors
    /// As [`Tensor::index_select`]; a source of another shape, or a dtype that does not promote.
    pub fn index_copy(self, index: &Self, src: &Self, axis: i64) -> Result<Self, ValueError> {
        let (axis, positions) = self.rows(index, src, axis)?;
        fn copied<T: Element>(dst: SharedArray<T>, positions: &[usize], src: &Tensor, axis: usize) -> Tensor {
            let src = row_major(T::array(src).expect("both have one dtype"));
            let mut out = owned(dst);
            let (extent, inner) = (out.shape()[axis], around(out.shape(), axis).1);
            let elements = out.as_slice_mut().expect("owned arrays are row-major");
            scatter(elements, extent, &src, positions, inner, &|dst, src| dst.copy_from_slice(src));
            T::wrap(out.into_shared())
        }
        let (dst, src) = promoted(self, src)?;
        Ok(with_array!(dst, dst => copied(dst, &positions, &src, axis)))
    }
}

#[cfg(test)]
mod tests {
    use half::bf16;
    use tf_types::DType;

    use crate::Tensor;

    fn index(values: &[i64]) -> Tensor {
        Tensor::from_vec(&[values.len()], values.to_vec()).unwrap()
    }

    #[test]
    fn rows_and_columns() {
        let x = Tensor::from_vec(&[2, 3], vec![0i32, 1, 2, 3, 4, 5]).unwrap();
        let columns = x.index_select(&index(&[2, 0, 2]), 1).unwrap();
        assert_eq!(columns.to_vec::<i32>().unwrap(), [2, 0, 2, 5, 3, 5]);
        let view = x.permute(&[1, 0]).unwrap();
        assert_eq!(view.index_select(&index(&[1]), 0).unwrap().to_vec::<i32>().unwrap(), [1, 4]);
        let src = Tensor::from_vec(&[2, 2], vec![10i32, 20, 30, 40]).unwrap();
        let sum = x.clone().index_add(&index(&[1, 1]), &src, 1).unwrap();
        assert_eq!(sum.to_vec::<i32>().unwrap(), [0, 31, 2, 3, 74, 5]);
        let copy = x.clone().index_copy(&index(&[0, 2]), &src, 1).unwrap();
        assert_eq!(copy.to_vec::<i32>().unwrap(), [10, 1, 20, 30, 4, 40]);
    }

    #[test]
    fn bf16_rounds_once() {
        let dst = Tensor::full(&[1], bf16::from_f32(1.0)).unwrap();
        let src = Tensor::full(&[4], bf16::from_f32(1.0 / 512.0)).unwrap();
        let sum = dst.clone().index_add(&index(&[0; 4]), &src, 0).unwrap();
        assert_eq!(sum.to_f32_vec(), [1.0078125]);
    }

    #[test]
    fn unequal_dtypes_promote() {
        let dst = Tensor::from_vec(&[2], vec![1i32, 2]).unwrap();
        let src = Tensor::from_f32(&[1], &[0.5]).unwrap();
        let sum = dst.clone().index_add(&index(&[1]), &src, 0).unwrap();
        assert_eq!((sum.dtype(), sum.to_f32_vec()), (DType::F32, vec![1.0, 2.5]));
        let copy = dst.clone().index_copy(&index(&[0]), &src.cast(DType::F16).unwrap(), 0).unwrap();
        assert_eq!((copy.dtype(), copy.to_f32_vec()), (DType::F16, vec![0.5, 2.0]));
        let narrow = src.cast(DType::Fp8E4M3).unwrap();
        let error = dst.index_copy(&index(&[0]), &narrow, 0).unwrap_err();
        assert_eq!(error.message, "i32 and fp8e4m3 have no common dtype: fp8e4m3 is not promoted");
    }

    #[test]
    fn refusals() {
        let x = Tensor::zeros(&[2, 3], DType::F32).unwrap();
        let message = |values: &[i64]| x.index_select(&index(values), 1).unwrap_err().message;
        assert_eq!(message(&[0, 3]), "index 3 (number 1) leaves axis 1 of extent 3");
        assert_eq!(message(&[-1]), "index -1 (number 0) leaves axis 1 of extent 3");
        let error = x.index_select(&x, 0).unwrap_err();
        assert_eq!(error.message, "an index is a vector of i32 or i64, found f32 of shape (2, 3)");
        let error = x.clone().index_add(&index(&[0]), &x, 0).unwrap_err();
        assert_eq!(error.message, "1 indices along axis 0 of (2, 3) take a source of shape (1, 3), found (2, 3)");
        let flags = Tensor::zeros(&[1], DType::Bool).unwrap();
        assert!(
            flags.clone().index_add(&index(&[0]), &flags, 0).is_err()
                && flags.clone().index_copy(&index(&[0]), &flags, 0).is_ok()
        );
    }
}
