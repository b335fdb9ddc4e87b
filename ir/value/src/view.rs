//! Shapes and windows: slices, permutations, reshapes, broadcasting.

use ndarray::{Axis, IxDyn, Slice};

use crate::element::{Element, SharedArray};
use crate::gather::gather;
use crate::tensor::{element_count, from_parts, row_major, show_shape};
use crate::{Tensor, ValueError, with_array};

/// The shape that operands of `shapes` broadcast to: right-aligned, extent 1 expands.
///
/// # Errors
/// Two unequal extents, neither of them 1.
pub fn broadcast_shapes(lhs: &[usize], rhs: &[usize]) -> Result<Vec<usize>, ValueError> {
    let rank = lhs.len().max(rhs.len());
    let extent = |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |at| shape[at]);
    (0..rank)
        .map(|axis| match (extent(lhs, axis), extent(rhs, axis)) {
            (a, b) if a == b || b == 1 => Ok(a),
            (1, b) => Ok(b),
            (a, b) => Err(ValueError::new(format!(
                "shapes {} and {} do not broadcast: {a} meets {b} on axis {axis}",
                show_shape(lhs),
                show_shape(rhs)
            ))),
        })
        .collect()
}

/// An axis number from 0; a negative one counts from the end.
///
/// # Errors
/// Out of range.
pub fn normalize_axis(axis: i64, rank: usize) -> Result<usize, ValueError> {
    let from_start = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(from_start)
        .ok()
        .filter(|&axis| axis < rank)
        .ok_or_else(|| ValueError::new(format!("axis {axis} is out of range for rank {rank}")))
}

fn each<T: Element>(array: &SharedArray<T>, view: impl FnOnce(SharedArray<T>) -> SharedArray<T>) -> Tensor {
    T::wrap(view(array.clone()))
}

impl Tensor {
    /// The window `starts[a] + i * strides[a]`, `i < sizes[a]`, of every axis `a`. Shares storage.
    ///
    /// # Errors
    /// Another number of entries than the rank, a zero stride, a window that leaves the axis.
    pub fn slice(&self, starts: &[i64], sizes: &[usize], strides: &[usize]) -> Result<Self, ValueError> {
        let rank = self.rank();
        for (what, count) in [("starts", starts.len()), ("sizes", sizes.len()), ("strides", strides.len())] {
            if count != rank {
                return Err(ValueError::new(format!("slice of rank {rank} needs {rank} {what}, found {count}")));
            }
        }
        let mut window = Vec::with_capacity(rank);
        for (axis, &extent) in self.shape().iter().enumerate() {
            let (start, size, stride) = (starts[axis], sizes[axis], strides[axis]);
            if stride == 0 {
                return Err(ValueError::new(format!("slice stride of axis {axis} must be positive, found 0")));
            }
            // `stop` is one past the last element; an empty window may stand at the very end.
            let span = if size == 0 { Some(0) } else { (size - 1).checked_mul(stride).and_then(|n| n.checked_add(1)) };
            let first = usize::try_from(start).ok();
            let stop = first.zip(span).and_then(|(start, span)| start.checked_add(span)).filter(|&stop| stop <= extent);
            let (Some(first), Some(stop)) = (first, stop) else {
                let step = if stride == 1 { String::new() } else { format!(" and stride {stride}") };
                return Err(ValueError::new(format!(
                    "slice of size {size} from {start}{step} leaves axis {axis} of extent {extent}"
                )));
            };
            window.push(Slice::new(first as isize, Some(stop as isize), stride as isize));
        }
        Ok(with_array!(self, array => each(array, |mut view| {
            for (axis, slice) in window.into_iter().enumerate() {
                view.slice_axis_inplace(Axis(axis), slice);
            }
            view
        })))
    }

    /// The same elements with axis `i` of the result being axis `perm[i]` of this tensor. Shares storage.
    ///
    /// # Errors
    /// `perm` is no permutation of the axes.
    pub fn permute(&self, perm: &[usize]) -> Result<Self, ValueError> {
        let rank = self.rank();
        let mut seen = vec![false; rank];
        let ok =
            perm.len() == rank && perm.iter().all(|&axis| axis < rank && !std::mem::replace(&mut seen[axis], true));
        if !ok {
            return Err(ValueError::new(format!("{perm:?} is no permutation of the {rank} axes")));
        }
        Ok(with_array!(self, array => each(array, |view| view.permuted_axes(IxDyn(perm)))))
    }

    /// The same elements, in row-major order, in another shape. Shares storage where they lie in that order.
    ///
    /// # Errors
    /// Another number of elements.
    pub fn reshape(&self, shape: &[usize]) -> Result<Self, ValueError> {
        let (old, new) = (self.len(), element_count(shape, 0)?);
        if old != new {
            return Err(ValueError::new(format!(
                "reshape of {} to {}: {old} elements cannot become {new}",
                show_shape(self.shape()),
                show_shape(shape)
            )));
        }
        fn reshaped<T: Element>(array: &SharedArray<T>, shape: &[usize]) -> Tensor {
            T::wrap(match array.is_standard_layout() {
                true => array.clone().into_shape_with_order(IxDyn(shape)).expect("row-major elements of equal number"),
                false => from_parts(shape, row_major(array).into_owned()),
            })
        }
        Ok(with_array!(self, array => reshaped(array, shape)))
    }

    /// This tensor repeated to `shape` (right-aligned, extent 1 expands). Shares storage only where nothing is repeated: elementwise
    /// helpers broadcast by themselves, without a copy.
    ///
    /// # Errors
    /// `shape` is not what this shape broadcasts to.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Self, ValueError> {
        if self.shape() == shape {
            return Ok(self.clone());
        }
        element_count(shape, self.width())?;
        fn repeated<T: Element>(array: &SharedArray<T>, shape: &[usize]) -> Option<Tensor> {
            Some(T::wrap(from_parts(shape, gather(array.broadcast(IxDyn(shape))?))))
        }
        with_array!(self, array => repeated(array, shape)).ok_or_else(|| {
            ValueError::new(format!("shape {} does not broadcast to {}", show_shape(self.shape()), show_shape(shape)))
        })
    }

    /// The same tensor with its elements in row-major order; shares storage where they are already.
    #[must_use]
    pub fn contiguous(&self) -> Self {
        fn packed<T: Element>(array: &SharedArray<T>) -> Tensor {
            T::wrap(match array.is_standard_layout() {
                true => array.clone(),
                false => from_parts(array.shape(), row_major(array).into_owned()),
            })
        }
        with_array!(self, array => packed(array))
    }
}

#[cfg(test)]
mod tests {
    use super::{broadcast_shapes, normalize_axis};
    use crate::Tensor;

    fn counted(shape: &[usize]) -> Tensor {
        Tensor::from_vec(shape, (0..shape.iter().product::<usize>() as i32).collect()).unwrap()
    }

    #[test]
    fn windows_that_leave_the_axis_are_refused() {
        let x = counted(&[4, 6]);
        let error = x.slice(&[3, 0], &[2, 6], &[1, 1]).unwrap_err();
        assert_eq!(error.message, "slice of size 2 from 3 leaves axis 0 of extent 4");
        let error = x.slice(&[0, 1], &[4, 4], &[1, 2]).unwrap_err();
        assert_eq!(error.message, "slice of size 4 from 1 and stride 2 leaves axis 1 of extent 6");
        assert!(x.slice(&[-1, 0], &[1, 6], &[1, 1]).is_err());
        assert!(x.slice(&[0, 0], &[usize::MAX, 6], &[3, 1]).is_err());
        assert_eq!(x.slice(&[0], &[1], &[1]).unwrap_err().message, "slice of rank 2 needs 2 starts, found 1");
        assert!(x.slice(&[0, 0], &[1, 1], &[0, 1]).unwrap_err().message.contains("stride of axis 0"));
        assert_eq!(x.slice(&[4, 0], &[0, 6], &[1, 1]).unwrap().shape(), &[0, 6]);
    }

    #[test]
    fn views_share_storage_and_reads_follow_the_view() {
        let x = counted(&[4, 6]);
        let view = x.slice(&[1, 1], &[3, 2], &[1, 3]).unwrap().permute(&[1, 0]).unwrap();
        assert_eq!(view.to_vec::<i32>().unwrap(), [7, 13, 19, 10, 16, 22]);
        assert_eq!(view.reshape(&[6]).unwrap().to_vec::<i32>().unwrap(), [7, 13, 19, 10, 16, 22]);
        assert_eq!(view.contiguous().to_le_bytes(), view.to_le_bytes());
    }

    #[test]
    fn shape_refusals() {
        let x = counted(&[4, 6]);
        let error = x.reshape(&[5, 5]).unwrap_err();
        assert_eq!(error.message, "reshape of (4, 6) to (5, 5): 24 elements cannot become 25");
        assert_eq!(x.permute(&[0, 0]).unwrap_err().message, "[0, 0] is no permutation of the 2 axes");
        assert_eq!(x.broadcast_to(&[4, 5]).unwrap_err().message, "shape (4, 6) does not broadcast to (4, 5)");
        let error = broadcast_shapes(&[2, 3], &[4, 3]).unwrap_err();
        assert_eq!(error.message, "shapes (2, 3) and (4, 3) do not broadcast: 2 meets 4 on axis 0");
        assert_eq!(broadcast_shapes(&[0, 3], &[1]).unwrap(), [0, 3]);
        assert_eq!(normalize_axis(-1, 3), Ok(2));
        assert_eq!(normalize_axis(3, 3).unwrap_err().message, "axis 3 is out of range for rank 3");
    }
}
