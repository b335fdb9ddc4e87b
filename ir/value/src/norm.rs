//! Softmax and normalisations: f32 inside, one rounding at the end.

use crate::fold::{SPAN, joined};
use crate::kernel::{each, each_pair};
use crate::rows::{greatest, sum};
use crate::tensor::show_shape;
use crate::vector::vectorized;
use crate::view::normalize_axis;
use crate::{Tensor, ValueError, math};

fn softmax(_: usize, row: &mut [f32]) {
    let most = greatest(row);
    let scale = 1.0 / row.chunks_mut(SPAN).fold(0.0, |total, block| total + exponentials(block, most));
    each(row, move |x| x * scale);
}

/// Independent partial sums.
const LANES: usize = 64;

/// Replaces every element `x` by `e^(x - most)`; their sum.
fn exponentials(block: &mut [f32], most: f32) -> f32 {
    vectorized(
        #[inline(always)]
        move || {
            let mut lanes = [0.0; LANES];
            let (whole, rest) = block.as_chunks_mut::<LANES>();
            let step = |(x, lane): (&mut f32, &mut f32)| {
                *x = math::exp_not_positive(*x - most);
                *lane += *x;
            };
            for chunk in whole {
                chunk.iter_mut().zip(&mut lanes).for_each(step);
            }
            rest.iter_mut().zip(&mut lanes).for_each(step);
            joined(lanes, |a, b| a + b)
        },
    )
}

/// The elements of a scale or an offset, which has one for each element of a row.
fn affine(what: &str, name: &str, tensor: &Tensor, row: &[usize]) -> Result<Vec<f32>, ValueError> {
    let (found, floats) = (tensor.shape(), tensor.dtype().is_float());
    if found != row || !floats {
        let (dtype, found, row) = (tensor.dtype(), show_shape(found), show_shape(row));
        return Err(ValueError::new(format!(
            "{what} takes a {name} of floats of shape {row}, found {dtype} of {found}"
        )));
    }
    Ok(tensor.to_f32_vec())
}

impl Tensor {
    /// `e^(x - max) / sum of e^(x - max)` along an axis. A row of -inf only gives NaN.
    ///
    /// # Errors
    /// An axis out of range; integers and bool.
    pub fn softmax(self, axis: i64) -> Result<Self, ValueError> {
        let axis = normalize_axis(axis, self.rank())?;
        let (last, length) = (self.rank() - 1, self.shape()[axis]);
        if axis == last {
            return self.map_rows("softmax", length, &softmax);
        }
        let mut swapped: Vec<_> = (0..self.rank()).collect();
        swapped.swap(axis, last);
        self.permute(&swapped)?.map_rows("softmax", length, &softmax)?.permute(&swapped)
    }

    /// `(x - mean) * rsqrt(mean((x - mean)^2) + eps) * weight + bias` over the axes from `axis` on.
    ///
    /// # Errors
    /// An axis out of range; a weight or bias of another shape than those axes; dtypes that are no floats.
    pub fn layer_norm(self, weight: &Self, bias: &Self, axis: i64, eps: f64) -> Result<Self, ValueError> {
        let row = &self.shape()[normalize_axis(axis, self.rank())?..];
        let weight = affine("layer_norm", "weight", weight, row)?;
        let bias = affine("layer_norm", "bias", bias, row)?;
        let (count, eps) = (weight.len() as f32, eps as f32);
        self.map_rows("layer_norm", weight.len(), &|_, row| {
            let mean = sum(row, |x| x) / count;
            let variance = sum(row, move |x| (x - mean) * (x - mean)) / count;
            let (scale, weight, bias) = (1.0 / (variance + eps).sqrt(), weight.as_slice(), bias.as_slice());
            vectorized(
                #[inline(always)]
                move || {
                    for (x, (weight, bias)) in row.iter_mut().zip(weight.iter().zip(bias)) {
                        *x = (*x - mean) * scale * weight + bias;
                    }
                },
            );
        })
    }

    /// `x * rsqrt(mean(x^2) + eps) * weight` over the last axis.
    ///
    /// # Errors
    /// Rank 0; a weight of another shape than the last axis; dtypes that are no floats.
    pub fn rms_norm(self, weight: &Self, eps: f64) -> Result<Self, ValueError> {
        let row = &self.shape()[normalize_axis(-1, self.rank())?..];
        let weight = affine("rms_norm", "weight", weight, row)?;
        let (count, eps) = (weight.len() as f32, eps as f32);
        self.map_rows("rms_norm", weight.len(), &|_, row| {
            let scale = 1.0 / (sum(row, |x| x * x) / count + eps).sqrt();
            each_pair(row, &weight, move |x, weight| x * scale * weight);
        })
    }
}

#[cfg(test)]
mod tests {
    use tf_types::DType;

    use crate::Tensor;

    fn waves(shape: &[usize]) -> Tensor {
        let values: Vec<_> = (0..shape.iter().product()).map(|i: usize| (i as f32 * 0.7).sin() * 3.0).collect();
        Tensor::from_f32(shape, &values).unwrap()
    }

    #[test]
    fn softmax_along_every_axis_agrees_with_index_arithmetic() {
        let shape = [2, 3, 700];
        let (x, values) = (waves(&shape), waves(&shape).to_f64_vec());
        for (axis, stride) in [(0i64, 2100), (1, 700), (2, 1)] {
            let (got, n) = (x.clone().softmax(axis).unwrap().to_f64_vec(), shape[axis as usize]);
            for (at, got) in got.iter().enumerate() {
                let first = at - at / stride % n * stride;
                let total: f64 = (0..n).map(|i| values[first + i * stride].exp()).sum();
                assert!((got - values[at].exp() / total).abs() < 1e-6, "{axis} {at}");
            }
        }
    }

    #[test]
    fn a_transposed_operand_is_read_in_its_order() {
        let x = waves(&[4, 6]).permute(&[1, 0]).unwrap();
        assert_eq!(x.clone().softmax(1).unwrap().to_f32_vec(), x.contiguous().softmax(1).unwrap().to_f32_vec());
        let weight = waves(&[4]);
        let norm = |x: &Tensor| x.clone().rms_norm(&weight, 1e-6).unwrap().to_f32_vec();
        assert_eq!(norm(&x), norm(&x.contiguous()));
    }

    #[test]
    fn empty_rows_and_no_rows() {
        let none = |shape: &[usize]| Tensor::zeros(shape, DType::F32).unwrap();
        for shape in [&[3, 0][..], &[0, 4]] {
            let x = none(shape);
            let weight = none(&shape[1..]);
            assert_eq!(x.clone().softmax(-1).unwrap().shape(), shape);
            assert_eq!(x.clone().softmax(0).unwrap().shape(), shape);
            assert_eq!(x.clone().rms_norm(&weight, 1e-6).unwrap().shape(), shape);
            assert_eq!(x.clone().layer_norm(&weight, &weight, 1, 1e-6).unwrap().shape(), shape);
        }
    }

    #[test]
    fn refusals() {
        let x = waves(&[4, 6]);
        assert_eq!(x.clone().softmax(2).unwrap_err().message, "axis 2 is out of range for rank 2");
        assert_eq!(Tensor::scalar(1.0f32).softmax(0).unwrap_err().message, "axis 0 is out of range for rank 0");
        let ints = Tensor::zeros(&[4, 6], DType::I32).unwrap();
        assert_eq!(ints.clone().softmax(1).unwrap_err().message, "softmax takes floats, found i32");
        let error = x.clone().rms_norm(&waves(&[4]), 1e-6).unwrap_err();
        assert_eq!(error.message, "rms_norm takes a weight of floats of shape (6,), found f32 of (4,)");
        let error = x.clone().layer_norm(&waves(&[6]), &waves(&[1, 6]), 1, 1e-5).unwrap_err();
        assert_eq!(error.message, "layer_norm takes a bias of floats of shape (6,), found f32 of (1, 6)");
    }
}
