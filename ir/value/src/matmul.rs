//! Matrix products.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, Axis, Ix2, IxDyn, s};
use rayon::prelude::*;
use tf_types::DType;

use crate::element::{Element, SharedArray};
use crate::tensor::{element_count, from_parts, show_shape};
use crate::view::broadcast_shapes;
use crate::{Tensor, ValueError};

/// Rows and columns of one task; fixed, so that results do not depend on the number of threads.
const TILE_ROWS: usize = 128;
const TILE_COLUMNS: usize = 512;

/// One operand broadcast over the batch axes, and the matrix number `at` of it.
struct Batch<T> {
    array: SharedArray<T>,
    shape: Vec<usize>,
}

impl<T: Element> Batch<T> {
    fn new(array: &SharedArray<T>, batch: &[usize]) -> Self {
        let mut shape = batch.to_vec();
        shape.extend_from_slice(&array.shape()[array.ndim() - 2..]);
        Self { array: array.clone(), shape }
    }

    fn matrix(&self, mut at: usize) -> ArrayView2<'_, T> {
        let mut view = self.array.broadcast(IxDyn(&self.shape)).expect("batch axes broadcast");
        for axis in (0..self.shape.len() - 2).rev() {
            view = view.index_axis_move(Axis(axis), at % self.shape[axis]);
            at /= self.shape[axis];
        }
        view.into_dimensionality::<Ix2>().expect("two axes are left")
    }
}

/// The batch product of two arrays of rank >= 2 whose inner extents agree; `multiply` computes one tile of one matrix.
fn batched<T: Element>(
    lhs: &SharedArray<T>,
    rhs: &SharedArray<T>,
    multiply: impl Fn(ArrayView2<'_, T>, ArrayView2<'_, T>, ArrayViewMut2<'_, T>) + Sync,
) -> Result<SharedArray<T>, ValueError> {
    let (m, n) = (lhs.shape()[lhs.ndim() - 2], rhs.shape()[rhs.ndim() - 1]);
    let mut shape = broadcast_shapes(&lhs.shape()[..lhs.ndim() - 2], &rhs.shape()[..rhs.ndim() - 2])?;
    let (lhs, rhs) = (Batch::new(lhs, &shape), Batch::new(rhs, &shape));
    shape.extend([m, n]);
    let mut out = vec![T::default(); element_count(&shape)?];
    if out.is_empty() {
        return Ok(from_parts(&shape, out));
    }
    out.par_chunks_mut(m * n).enumerate().for_each(|(at, out)| {
        let (a, b) = (lhs.matrix(at), rhs.matrix(at));
        out.par_chunks_mut(TILE_ROWS * n).enumerate().for_each(|(tile, rows)| {
            let (first, height) = (tile * TILE_ROWS, rows.len() / n);
            let a = a.slice(s![first..first + height, ..]);
            let mut rows = ArrayViewMut2::from_shape((height, n), rows).expect("whole rows");
            rows.axis_chunks_iter_mut(Axis(1), TILE_COLUMNS).into_par_iter().enumerate().for_each(|(tile, out)| {
                let first = tile * TILE_COLUMNS;
                multiply(a, b.slice(s![.., first..first + out.ncols()]), out);
            });
        });
    });
    Ok(from_parts(&shape, out))
}

fn floats(lhs: &SharedArray<f32>, rhs: &SharedArray<f32>) -> Result<SharedArray<f32>, ValueError> {
    batched(lhs, rhs, |a, b, mut out| general_mat_mul(1.0, &a, &b, 0.0, &mut out))
}

/// Rows of `b` scaled by the elements of `a` and added up: the innermost loop runs over consecutive elements.
macro_rules! integers {
    ($name:ident, $type:ty) => {
        fn $name(lhs: &SharedArray<$type>, rhs: &SharedArray<$type>) -> Result<SharedArray<$type>, ValueError> {
            batched(lhs, rhs, |a, b, mut out| {
                for (mut out, a) in out.rows_mut().into_iter().zip(a.rows()) {
                    for (&scale, b) in a.iter().zip(b.rows()) {
                        out.zip_mut_with(&b, |out, &b| *out = out.wrapping_add(scale.wrapping_mul(b)));
                    }
                }
            })
        }
    };
}

integers!(ints, i32);
integers!(longs, i64);

impl Tensor {
    /// The matrix product `(…, M, K) @ (…, K, N) -> (…, M, N)`; batch axes broadcast. Floats accumulate in f32 and are rounded once to the
    /// operands' dtype; integers wrap. Unequal dtypes are promoted as torch does.
    ///
    /// # Errors
    /// A rank below 2, unequal inner extents, batch axes that do not broadcast, bool, a negative result in `f8e8m0`.
    pub fn matmul(&self, rhs: &Self) -> Result<Self, ValueError> {
        for (side, operand) in [("left", self), ("right", rhs)] {
            if operand.rank() < 2 {
                let shape = show_shape(operand.shape());
                return Err(ValueError::new(format!(
                    "matmul takes operands of rank 2 or more, the {side} one is {shape}"
                )));
            }
        }
        let (k, k_rhs) = (self.shape()[self.rank() - 1], rhs.shape()[rhs.rank() - 2]);
        if k != k_rhs {
            return Err(ValueError::new(format!(
                "matmul contracts {k} with {k_rhs}: {} @ {}",
                show_shape(self.shape()),
                show_shape(rhs.shape())
            )));
        }
        match (self, rhs) {
            (Self::F32(a), Self::F32(b)) => Ok(Self::F32(floats(a, b)?)),
            (Self::I32(a), Self::I32(b)) => Ok(Self::I32(ints(a, b)?)),
            (Self::I64(a), Self::I64(b)) => Ok(Self::I64(longs(a, b)?)),
            (Self::Bool(_), Self::Bool(_)) => Err(ValueError::new("matmul takes numbers, found bool")),
            (a, b) if a.dtype() == b.dtype() => a.cast(DType::F32)?.matmul(&b.cast(DType::F32)?)?.cast(a.dtype()),
            (a, b) => {
                let dtype = crate::cast::promote(a, b)?;
                a.cast(dtype)?.matmul(&b.cast(dtype)?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tf_types::DType;

    use crate::Tensor;

    fn naive(a: &Tensor, b: &Tensor) -> Vec<f64> {
        let (m, k, n) = (a.shape()[0], a.shape()[1], b.shape()[1]);
        let (a, b) = (a.to_f64_vec(), b.to_f64_vec());
        (0..m * n).map(|at| (0..k).map(|i| a[at / n * k + i] * b[i * n + at % n]).sum()).collect()
    }

    #[test]
    fn products_of_many_tiles_and_transposed_operands() {
        let counted = |m: usize, n: usize| {
            Tensor::from_f32(&[m, n], &(0..m * n).map(|i| ((i * 37 % 23) as f32) - 11.0).collect::<Vec<_>>()).unwrap()
        };
        for (m, k, n) in [(1, 70, 1030), (300, 3, 5), (130, 40, 520)] {
            let (a, b) = (counted(m, k), counted(n, k).permute(&[1, 0]).unwrap());
            let want = naive(&a, &b);
            assert_eq!(a.matmul(&b).unwrap().to_f64_vec(), want);
            let (a, b) = (a.cast(DType::I32).unwrap(), b.cast(DType::I32).unwrap());
            assert_eq!(a.matmul(&b).unwrap().to_f64_vec(), want);
        }
    }

    #[test]
    fn refusals() {
        let of = |lhs: &[usize], rhs: &[usize], dtype| {
            let (a, b) = (Tensor::zeros(lhs, dtype).unwrap(), Tensor::zeros(rhs, dtype).unwrap());
            a.matmul(&b).unwrap_err().message
        };
        assert_eq!(of(&[8, 64], &[32, 16], DType::BF16), "matmul contracts 64 with 32: (8, 64) @ (32, 16)");
        assert_eq!(of(&[8], &[8, 2], DType::F32), "matmul takes operands of rank 2 or more, the left one is (8,)");
        assert_eq!(of(&[2, 2], &[2, 2], DType::Bool), "matmul takes numbers, found bool");
        assert!(of(&[2, 2, 2], &[3, 2, 2], DType::F32).contains("do not broadcast"));
    }
}
