//! Matrix products.

use ndarray::{ArrayView2, ArrayViewD, ArrayViewMut2, Axis, Ix2, IxDyn, s};
use rayon::prelude::*;
use tf_types::DType;

use crate::element::{Element, SharedArray};
use crate::product::product;
use crate::tensor::{element_count, from_parts, row_major, show_shape};
use crate::vector::vectorized;
use crate::view::broadcast_shapes;
use crate::{Tensor, ValueError};

/// Rows and columns of one task of integers.
const TILE_ROWS: usize = 128;
const TILE_COLUMNS: usize = 512;

/// One operand broadcast over the batch axes, and the matrix number `at` of it.
pub(crate) struct Batch<'a, T> {
    view: ArrayViewD<'a, T>,
}

impl<'a, T: Element> Batch<'a, T> {
    pub(crate) fn new(array: &'a SharedArray<T>, batch: &[usize]) -> Self {
        let mut shape = batch.to_vec();
        shape.extend_from_slice(&array.shape()[array.ndim() - 2..]);
        Self { view: array.broadcast(IxDyn(&shape)).expect("batch axes broadcast") }
    }

    /// Columns of each matrix.
    pub(crate) fn columns(&self) -> usize {
        self.view.shape()[self.view.ndim() - 1]
    }

    pub(crate) fn matrix(&self, mut at: usize) -> ArrayView2<'a, T> {
        let mut view = self.view.clone();
        for axis in (0..self.view.ndim() - 2).rev() {
            let extent = self.view.shape()[axis];
            view = view.index_axis_move(Axis(axis), at % extent);
            at /= extent;
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

fn in_order<T: Element>(array: &SharedArray<T>) -> SharedArray<T> {
    match array.is_standard_layout() {
        true => array.clone(),
        false => from_parts(array.shape(), row_major(array).into_owned()),
    }
}

/// Rows of `b` scaled by the elements of `a` and added up: the innermost loop runs over consecutive elements.
macro_rules! integers {
    ($name:ident, $type:ty) => {
        fn $name(lhs: &SharedArray<$type>, rhs: &SharedArray<$type>) -> Result<SharedArray<$type>, ValueError> {
            let rhs = in_order(rhs);
            batched(lhs, &rhs, |a, b, mut out| {
                for (mut out, a) in out.rows_mut().into_iter().zip(a.rows()) {
                    let out = out.as_slice_mut().expect("rows of the result are runs of memory");
                    vectorized(
                        #[inline(always)]
                        || {
                            for (&scale, b) in a.iter().zip(b.rows()) {
                                let b = b.to_slice().expect("rows of a row-major matrix are runs of memory");
                                for (out, &b) in out.iter_mut().zip(b) {
                                    *out = out.wrapping_add(scale.wrapping_mul(b));
                                }
                            }
                        },
                    );
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
            (Self::F32(a), Self::F32(b)) => Ok(Self::F32(product(a, b)?)),
            (Self::F16(a), Self::F16(b)) => Ok(Self::F16(product(a, b)?)),
            (Self::BF16(a), Self::BF16(b)) => Ok(Self::BF16(product(a, b)?)),
            (Self::Fp8E4M3(a), Self::Fp8E4M3(b)) => Ok(Self::Fp8E4M3(product(a, b)?)),
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

    fn counted(m: usize, n: usize) -> Tensor {
        let elements: Vec<_> = (0..m * n).map(|i| ((i * 37 % 23) as f32) - 11.0).collect();
        Tensor::from_f32(&[m, n], &elements).unwrap()
    }

    /// The same matrix, column by column.
    fn turned(x: &Tensor) -> Tensor {
        x.permute(&[1, 0]).unwrap().contiguous().permute(&[1, 0]).unwrap()
    }

    /// Few rows, few columns, edges of tiles and blocks, every order of the operands' elements: sums of integers are exact.
    #[test]
    fn products_of_every_size_and_order() {
        for m in [1, 3, 7, 8, 13, 130] {
            for k in [1, 6, 256, 259, 515] {
                for n in [1, 7, 31, 64, 530] {
                    let (a, b) = (counted(m, k), counted(k, n));
                    let want = naive(&a, &b);
                    for (a, b) in [(&a, &b), (&turned(&a), &b), (&a, &turned(&b)), (&turned(&a), &turned(&b))] {
                        assert_eq!(a.matmul(b).unwrap().to_f64_vec(), want, "{m} {k} {n}");
                    }
                }
            }
        }
        let (a, b) = (counted(130, 40), counted(40, 520));
        let want = naive(&a, &b);
        let (a, b) = (a.cast(DType::I32).unwrap(), turned(&b).cast(DType::I32).unwrap());
        assert_eq!(a.matmul(&b).unwrap().to_f64_vec(), want);
        // Neither rows nor columns are runs of memory.
        let (a, b) = (counted(26, 60), counted(60, 40));
        let part = |x: &Tensor| x.slice(&[1, 2], &[x.shape()[0] / 2 - 1, x.shape()[1] / 2 - 2], &[2, 2]).unwrap();
        let (a, b) = (part(&a), part(&b).slice(&[0, 0], &[28, 18], &[1, 1]).unwrap());
        assert_eq!(a.matmul(&b).unwrap().to_f64_vec(), naive(&a.contiguous(), &b.contiguous()));
    }

    #[test]
    fn narrow_floats_are_summed_in_f32_and_rounded_once() {
        for (m, k, n) in [(1, 700, 600), (3, 70, 5), (40, 300, 70), (300, 20, 2)] {
            for dtype in [DType::BF16, DType::F16, DType::Fp8E4M3] {
                let (a, b) = (counted(m, k).cast(dtype).unwrap(), counted(k, n).cast(dtype).unwrap());
                let wide = |x: &Tensor| x.cast(DType::F32).unwrap();
                for b in [&b, &turned(&b)] {
                    let want = wide(&a).matmul(&wide(b)).unwrap().cast(dtype).unwrap();
                    let got = a.matmul(b).unwrap();
                    assert_eq!((got.dtype(), got.to_le_bytes()), (dtype, want.to_le_bytes()), "{m} {k} {n} {dtype}");
                }
            }
        }
    }

    /// Few rows are summed in blocks too, however the matrix lies.
    #[test]
    fn long_products_stay_accurate() {
        let k = 200_000;
        for (m, n) in [(1, 1), (1, 40), (3, 40), (3, 5)] {
            let (a, b) = (Tensor::full(&[m, k], 0.1f32).unwrap(), Tensor::full(&[k, n], 1.0f32).unwrap());
            let want = f64::from(0.1f32) * k as f64;
            for b in [&b, &turned(&b)] {
                let got = a.matmul(b).unwrap().to_f64_vec();
                assert!(got.iter().all(|x| (x / want - 1.0).abs() < 1e-5), "{m} {n}: {}", got[0]);
            }
        }
    }

    /// Every way of sharing the work, into memory that holds NaNs.
    #[test]
    fn threads_change_nothing() {
        let waves = |shape: &[usize]| {
            let count = shape.iter().product::<usize>();
            Tensor::from_f32(shape, &(0..count).map(|i| (i as f32 * 0.37).sin()).collect::<Vec<_>>()).unwrap()
        };
        let cases: [(&[usize], &[usize]); 8] = [
            (&[300, 600], &[600, 1100]),
            (&[500, 300], &[300, 3]),
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
