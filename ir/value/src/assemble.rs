//! Tensors put together: joins, insertions, repetitions, ranges.

use tf_types::DType;

use crate::cast::{promote, promoted};
use crate::element::{Element, SharedArray};
use crate::kernel::{CHUNK, fill_chunks, made_in_chunks};
use crate::tensor::{element_count, from_parts, owned, row_major, show_shape};
use crate::{Tensor, ValueError, normalize_axis, with_array};

/// Extents before and after an axis, multiplied.
pub(crate) fn around(shape: &[usize], axis: usize) -> (usize, usize) {
    (shape[..axis].iter().product(), shape[axis + 1..].iter().product())
}

fn joined<T: Element>(parts: &[Tensor], axis: usize, shape: &[usize]) -> Tensor {
    let inner = around(shape, axis).1;
    let parts: Vec<_> = parts
        .iter()
        .map(|part| {
            let array = T::array(part).expect("all parts have the common dtype");
            (row_major(array), array.shape()[axis] * inner)
        })
        .collect();
    let (count, row) = (shape.iter().product(), (shape[axis] * inner).max(1));
    let out = made_in_chunks(count, row * (CHUNK / row).max(1), &|from, out| {
        for (row, mut out) in (from / row..).zip(out.chunks_mut(row)) {
            for (elements, length) in &parts {
                let (part, rest) = out.split_at_mut(*length);
                match part {
                    [one] => *one = elements[row],
                    _ => part.copy_from_slice(&elements[row * length..(row + 1) * length]),
                }
                out = rest;
            }
        }
    });
    T::wrap(from_parts(shape, out))
}

impl Tensor {
    /// The parts one after the other along an axis. Unequal dtypes promote.
    ///
    /// # Errors
    /// No part; an axis out of range; extents of the other axes that differ; dtypes that do not promote.
    pub fn concat(parts: &[Self], axis: i64) -> Result<Self, ValueError> {
        let Some((first, rest)) = parts.split_first() else {
            return Err(ValueError::new("concat takes at least one tensor, found none"));
        };
        let axis = normalize_axis(axis, first.rank())?;
        let mut shape = first.shape().to_vec();
        let mut dtype = first.dtype();
        for part in rest {
            let fits = part.rank() == shape.len()
                && part.shape().iter().zip(&shape).enumerate().all(|(at, (a, b))| at == axis || a == b);
            if !fits {
                return Err(ValueError::new(format!(
                    "concat along axis {axis} joins {} with {}: the other extents differ",
                    show_shape(first.shape()),
                    show_shape(part.shape())
                )));
            }
            shape[axis] += part.shape()[axis];
            if part.dtype() != dtype {
                dtype = promote(&first.cast(dtype)?, part)?;
            }
        }
        let parts = parts.iter().map(|part| part.cast(dtype)).collect::<Result<Vec<_>, _>>()?;
        element_count(&shape, parts[0].width())?;
        fn of<T: Element>(_: &SharedArray<T>, parts: &[Tensor], axis: usize, shape: &[usize]) -> Tensor {
            joined::<T>(parts, axis, shape)
        }
        Ok(with_array!(&parts[0], array => of(array, &parts, axis, &shape)))
    }

    /// The parts side by side along a new axis; a negative one counts in the result's rank.
    ///
    /// # Errors
    /// No part; an axis out of range; unequal shapes; dtypes that do not promote.
    pub fn stack(parts: &[Self], axis: i64) -> Result<Self, ValueError> {
        let Some(first) = parts.first() else {
            return Err(ValueError::new("stack takes at least one tensor, found none"));
        };
        let axis = normalize_axis(axis, first.rank() + 1)?;
        if let Some(other) = parts.iter().find(|part| part.shape() != first.shape()) {
            return Err(ValueError::new(format!(
                "stack takes tensors of one shape, found {} and {}",
                show_shape(first.shape()),
                show_shape(other.shape())
            )));
        }
        let mut shape = first.shape().to_vec();
        shape.insert(axis, 1);
        let parts = parts.iter().map(|part| part.reshape(&shape)).collect::<Result<Vec<_>, _>>()?;
        Self::concat(&parts, axis as i64)
    }

    /// This tensor with `update` in place of the window of its shape that begins at `offsets`.
    ///
    /// # Errors
    /// Unequal ranks; dtypes that do not promote; a window that leaves an axis.
    pub fn insert(self, update: &Self, offsets: &[i64]) -> Result<Self, ValueError> {
        if update.rank() != self.rank() || offsets.len() != self.rank() {
            return Err(ValueError::new(format!(
                "insert into rank {} takes an update of that rank and {} offsets, found rank {} and {}",
                self.rank(),
                self.rank(),
                update.rank(),
                offsets.len()
            )));
        }
        let mut window = Vec::with_capacity(offsets.len());
        for (axis, (&offset, &size)) in offsets.iter().zip(update.shape()).enumerate() {
            let extent = self.shape()[axis];
            let first = usize::try_from(offset).ok().filter(|&first| first.saturating_add(size) <= extent);
            let Some(first) = first else {
                let end = i128::from(offset) + size as i128;
                return Err(ValueError::new(format!(
                    "insert window [{offset}, {end}) leaves axis {axis} of extent {extent}"
                )));
            };
            window.push(ndarray::Slice::from(first..first + size));
        }
        fn inserted<T: Element>(array: SharedArray<T>, update: &Tensor, window: &[ndarray::Slice]) -> Tensor {
            let mut out = owned(array);
            let update = T::array(update).expect("both have one dtype");
            out.slice_each_axis_mut(|axis| window[axis.axis.index()]).assign(update);
            T::wrap(out.into_shared())
        }
        let (dst, update) = promoted(self, update)?;
        Ok(with_array!(dst, array => inserted(array, &update, &window)))
    }

    /// Every element `repeats` times in a row along an axis.
    ///
    /// # Errors
    /// An axis out of range; a result too large for memory.
    pub fn repeat_interleave(&self, repeats: usize, axis: i64) -> Result<Self, ValueError> {
        let axis = normalize_axis(axis, self.rank())?;
        let mut shape = self.shape().to_vec();
        let extent = shape[axis].checked_mul(repeats);
        shape[axis] = extent.ok_or_else(|| ValueError::new(format!("{repeats} repeats are too many")))?;
        element_count(&shape, self.width())?;
        fn repeated<T: Element>(array: &SharedArray<T>, repeats: usize, axis: usize, shape: &[usize]) -> Tensor {
            let inner = around(shape, axis).1;
            let mut out = Vec::with_capacity(shape.iter().product());
            if inner > 0 && repeats > 0 {
                for row in row_major(array).chunks(inner) {
                    for _ in 0..repeats {
                        out.extend_from_slice(row);
                    }
                }
            }
            T::wrap(from_parts(shape, out))
        }
        Ok(with_array!(self, array => repeated(array, repeats, axis, &shape)))
    }

    /// `start + i * step` for `i < length`, i32 or i64, wrapping.
    ///
    /// # Errors
    /// Another dtype; a length too large for memory.
    pub fn arange(length: usize, start: i64, step: i64, dtype: DType) -> Result<Self, ValueError> {
        if !dtype.is_integer() {
            return Err(ValueError::new(format!("arange makes i32 or i64, found {dtype}")));
        }
        let mut out = vec![0i64; element_count(&[length], size_of::<i64>())?];
        fill_chunks(&mut out, CHUNK, &|from, out| {
            for (at, out) in out.iter_mut().enumerate() {
                *out = start.wrapping_add(((from + at) as i64).wrapping_mul(step));
            }
        });
        Self::from_vec(&[length], out)?.cast(dtype)
    }
}

#[cfg(test)]
mod tests {
    use tf_types::DType;

    use crate::Tensor;

    fn counted(shape: &[usize]) -> Tensor {
        Tensor::from_vec(shape, (0..shape.iter().product::<usize>() as i32).collect()).unwrap()
    }

    fn ints(tensor: &Tensor) -> Vec<i32> {
        tensor.to_vec().unwrap()
    }

    #[test]
    fn joins() {
        let x = counted(&[2, 2]);
        let transposed = x.permute(&[1, 0]).unwrap();
        let joined = Tensor::concat(&[x.clone(), transposed.clone()], -1).unwrap();
        assert_eq!(ints(&joined), [0, 1, 0, 2, 2, 3, 1, 3]);
        let stacked = Tensor::stack(&[x.clone(), transposed], -1).unwrap();
        assert_eq!((stacked.shape(), ints(&stacked)), (&[2, 2, 2][..], vec![0, 0, 1, 2, 2, 1, 3, 3]));
        assert!(Tensor::concat(&[], 0).is_err() && Tensor::stack(&[], 0).is_err());
        let error = Tensor::concat(&[x.clone(), counted(&[2, 3])], 0).unwrap_err();
        assert_eq!(error.message, "concat along axis 0 joins (2, 2) with (2, 3): the other extents differ");
        let error = Tensor::stack(&[x.clone(), counted(&[2, 3])], 0).unwrap_err();
        assert_eq!(error.message, "stack takes tensors of one shape, found (2, 2) and (2, 3)");
        let mixed = Tensor::concat(&[x, Tensor::zeros(&[1, 2], DType::F32).unwrap()], 0).unwrap();
        assert_eq!(mixed.dtype(), DType::F32);
    }

    #[test]
    fn insertions() {
        let x = counted(&[3, 3]);
        let update = Tensor::full(&[2, 1], 9i32).unwrap();
        let view = x.permute(&[1, 0]).unwrap();
        assert_eq!(ints(&view.clone().insert(&update, &[1, 2]).unwrap()), [0, 3, 6, 1, 4, 9, 2, 5, 9]);
        assert_eq!(ints(&x), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        let message = |offsets: &[i64]| x.clone().insert(&update, offsets).unwrap_err().message;
        assert_eq!(message(&[2, 0]), "insert window [2, 4) leaves axis 0 of extent 3");
        assert_eq!(message(&[-1, 0]), "insert window [-1, 1) leaves axis 0 of extent 3");
        assert_eq!(
            message(&[0, i64::MAX]),
            format!("insert window [{}, {}) leaves axis 1 of extent 3", i64::MAX, 1u64 << 63)
        );
        assert!(message(&[0]).ends_with("found rank 2 and 1"));
        let half = Tensor::from_f32(&[1, 1], &[0.5]).unwrap();
        let wide = x.slice(&[0, 0], &[1, 2], &[1, 1]).unwrap().insert(&half, &[0, 1]).unwrap();
        assert_eq!((wide.dtype(), wide.to_f32_vec()), (DType::F32, vec![0.0, 0.5]));
        let scalar = Tensor::scalar(1i32).insert(&Tensor::scalar(2i32), &[]).unwrap();
        assert_eq!(ints(&scalar), [2]);
    }

    #[test]
    fn repeats_and_ranges() {
        let x = counted(&[2, 2]);
        assert_eq!(ints(&x.repeat_interleave(2, 0).unwrap()), [0, 1, 0, 1, 2, 3, 2, 3]);
        assert_eq!(ints(&x.repeat_interleave(2, -1).unwrap()), [0, 0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(x.repeat_interleave(0, 1).unwrap().shape(), [2, 0]);
        assert!(x.repeat_interleave(usize::MAX, 0).is_err());
        assert_eq!(ints(&Tensor::arange(3, -1, 2, DType::I32).unwrap()), [-1, 1, 3]);
        let past = Tensor::arange(3, i64::MAX, 1, DType::I64).unwrap();
        assert_eq!(past.to_vec::<i64>().unwrap(), [i64::MAX, i64::MIN, i64::MIN + 1]);
        assert_eq!(Tensor::arange(1, 0, 1, DType::F32).unwrap_err().message, "arange makes i32 or i64, found f32");
    }
}
