//! Matrix products.

use std::mem::MaybeUninit;

use gemm::Parallelism;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, Ix2, IxDyn, s};
use rayon::prelude::*;
use tf_types::DType;

use crate::element::{Element, SharedArray};
use crate::gather::gather;
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
    let mut out = vec![T::default(); element_count(&shape, T::BYTES)?];
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

/// Below as many rows a matrix is read once and no tile of it is used again, so that columns are what threads share.
const FEW_ROWS: usize = 8;

fn floats(lhs: &SharedArray<f32>, rhs: &SharedArray<f32>) -> Result<SharedArray<f32>, ValueError> {
    let (m, n) = (lhs.shape()[lhs.ndim() - 2], rhs.shape()[rhs.ndim() - 1]);
    let mut shape = broadcast_shapes(&lhs.shape()[..lhs.ndim() - 2], &rhs.shape()[..rhs.ndim() - 2])?;
    let (lhs, rhs) = (Batch::new(lhs, &shape), Batch::new(rhs, &shape));
    shape.extend([m, n]);
    let count = element_count(&shape, size_of::<f32>())?;
    let mut out = Vec::with_capacity(count);
    if count > 0 {
        // How the work is shared changes no result: every element is summed in the same order.
        let parallelism = match count / (m * n) {
            matrices if matrices < rayon::current_num_threads() => Parallelism::Rayon(0),
            _ => Parallelism::None,
        };
        out.spare_capacity_mut()[..count].par_chunks_mut(m * n).enumerate().for_each(|(at, out)| {
            let (a, b) = (lhs.matrix(at), rhs.matrix(at));
            let out = ArrayViewMut2::from_shape((m, n), out).expect("a matrix");
            match m < FEW_ROWS {
                true => columns(a, b, out, TILE_COLUMNS),
                false => in_order(a, b, out, parallelism),
            }
        });
        // SAFETY: the products have written every element.
        unsafe { out.set_len(count) };
    }
    Ok(from_parts(&shape, out))
}

/// The product of few rows with a matrix, in halves down to `width` columns.
fn columns(a: ArrayView2<'_, f32>, b: ArrayView2<'_, f32>, mut out: ArrayViewMut2<'_, MaybeUninit<f32>>, width: usize) {
    if out.ncols() > width {
        let middle = (out.ncols() / 2).next_multiple_of(width);
        let ((left, right), (out_left, out_right)) = (b.split_at(Axis(1), middle), out.split_at(Axis(1), middle));
        rayon::join(|| columns(a, left, out_left, width), || columns(a, right, out_right, width));
    } else {
        for (a, out) in a.axis_chunks_iter(Axis(0), 1).zip(out.axis_chunks_iter_mut(Axis(0), 1)) {
            multiply(a, b, out, Parallelism::None);
        }
    }
}

/// The product of two matrices. `gemm` reads the right one row by row; one that lies column by column, as a transposed weight does, is
/// copied into that order, or the product of the transposed matrices is, whichever has fewer elements.
fn in_order(
    a: ArrayView2<'_, f32>,
    b: ArrayView2<'_, f32>,
    mut out: ArrayViewMut2<'_, MaybeUninit<f32>>,
    parallelism: Parallelism,
) {
    let ((m, k), n) = (a.dim(), b.ncols());
    let matrix = |rows, columns, elements| {
        ArrayView2::from_shape((rows, columns), elements).expect("as many elements as the matrix has")
    };
    if b.strides()[1] == 1 || b.is_empty() {
        multiply(a, b, out, parallelism);
    } else if m * (k + n) < k * n {
        let across = gather(a.reversed_axes().into_dyn());
        let mut turned = Array2::uninit((n, m));
        multiply(b.reversed_axes(), matrix(k, m, &across), turned.view_mut(), parallelism);
        // SAFETY: the product has written every element.
        let turned = unsafe { turned.assume_init() };
        let product = gather(turned.view().reversed_axes().into_dyn());
        for (to, &from) in out.iter_mut().zip(&product) {
            to.write(from);
        }
    } else {
        let rows = gather(b.into_dyn());
        multiply(a, matrix(k, n, &rows), out, parallelism);
    }
}

/// One product of matrices.
fn multiply(
    a: ArrayView2<'_, f32>,
    b: ArrayView2<'_, f32>,
    mut out: ArrayViewMut2<'_, MaybeUninit<f32>>,
    parallelism: Parallelism,
) {
    let ((m, k), n) = (a.dim(), b.ncols());
    assert!(b.nrows() == k && out.dim() == (m, n));
    let strides = |strides: &[isize]| (strides[0], strides[1]);
    let ((a_row, a_column), (b_row, b_column)) = (strides(a.strides()), strides(b.strides()));
    let (out_row, out_column) = strides(out.strides());
    let to = out.as_mut_ptr().cast::<f32>();
    // SAFETY: pointers, extents and strides are those of three views, the last one exclusive; without `read_dst` the result is only written.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            to,
            out_column,
            out_row,
            false,
            a.as_ptr(),
            a_column,
            a_row,
            b.as_ptr(),
            b_column,
            b_row,
            0.0,
            1.0,
            false,
            false,
            false,
            parallelism,
        );
    }
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

    /// Every way of sharing the work, into memory that holds NaNs.
    #[test]
    fn threads_change_nothing() {
        let waves = |shape: &[usize]| {
            let count = shape.iter().product::<usize>();
            Tensor::from_f32(shape, &(0..count).map(|i| (i as f32 * 0.37).sin()).collect::<Vec<_>>()).unwrap()
        };
        let cases: [(&[usize], &[usize]); 6] = [
            (&[1, 300], &[300, 2000]),
            (&[7, 65], &[65, 700]),
            (&[200, 300], &[300, 400]),
            (&[3, 70, 300], &[300, 90]),
            (&[5, 1, 64], &[5, 64, 600]),
            (&[2, 3, 0], &[2, 0, 4]),
        ];
        for (lhs, rhs) in cases {
            let (a, b) = (waves(lhs), waves(rhs));
            let turned: Vec<_> = (0..rhs.len() - 2).chain([rhs.len() - 1, rhs.len() - 2]).collect();
            let across = b.permute(&turned).unwrap().contiguous().permute(&turned).unwrap();
            for b in [b, across] {
                let bits = |threads: usize| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    let product = pool.install(|| {
                        drop(Tensor::full(&[lhs[0] * rhs[1]], f32::NAN).unwrap());
                        a.matmul(&b).unwrap()
                    });
                    product.to_f32_vec().iter().map(|x| x.to_bits()).collect::<Vec<_>>()
                };
                let one = bits(1);
                assert!(one.iter().all(|&x| f32::from_bits(x).is_finite()));
                assert!(bits(2) == one && bits(3) == one && bits(8) == one, "{lhs:?} {rhs:?}");
            }
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
