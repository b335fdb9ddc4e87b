//! Two-dimensional convolution: windows laid out as matrices, then products.

use std::ops::Range;

use rayon::prelude::*;
use tf_types::DType;
use tf_types::kinds::BinaryKind;

use crate::element::{Element, SharedArray};
use crate::tensor::{element_count, from_parts, row_major, show_shape};
use crate::vector::vectorized;
use crate::{Tensor, ValueError, with_array};

/// How windows lie on an image: height, then width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvGeometry {
    /// Distance of neighbouring windows.
    pub stride: [usize; 2],
    /// Zeros on both sides.
    pub padding: [usize; 2],
    /// Distance of neighbouring elements of one window.
    pub dilation: [usize; 2],
    /// Groups of channels that do not mix.
    pub groups: usize,
}

impl ConvGeometry {
    /// Number of windows along an axis; `None` where the kernel does not fit, or the stride is 0.
    #[must_use]
    pub fn windows(&self, axis: usize, image: usize, kernel: usize) -> Option<usize> {
        let span = self.dilation[axis].checked_mul(kernel.checked_sub(1)?)?.checked_add(1)?;
        let padded = image.checked_add(self.padding[axis].checked_mul(2)?)?;
        Some(padded.checked_sub(span)?.checked_div(self.stride[axis])? + 1)
    }

    /// `(n, c, h, w)` to `(n, c * kh * kw, oh * ow)`: column `(oh, ow)` holds that window's elements.
    fn columns<T: Element>(
        &self,
        x: &SharedArray<T>,
        kernel: [usize; 2],
        out: [usize; 2],
    ) -> Result<Tensor, ValueError> {
        let (n, c, [h, w]) = (x.shape()[0], x.shape()[1], [x.shape()[2], x.shape()[3]]);
        let (taps, windows) = (kernel[0] * kernel[1], out[0] * out[1]);
        let source = row_major(x);
        let shape = [n, c * taps, windows];
        let mut columns = vec![T::default(); element_count(&shape, T::BYTES)?];
        columns.par_chunks_mut(windows.max(1)).enumerate().for_each(|(row, columns)| {
            let (plane, tap) = (row / taps, row % taps);
            let image = &source[plane * h * w..(plane + 1) * h * w];
            let (rows, top) = self.on_image(0, tap / kernel[1], (h, out[0]));
            let (taken, left) = self.on_image(1, tap % kernel[1], (w, out[1]));
            for (at, row) in rows.enumerate() {
                let line = &image[(top + at * self.stride[0]) * w..][..w];
                let columns = &mut columns[row * out[1]..][taken.clone()];
                let line = &line[left.min(w)..];
                match self.stride[1] {
                    1 => columns.copy_from_slice(&line[..columns.len()]),
                    stride => columns.iter_mut().zip(line.iter().step_by(stride)).for_each(|(to, from)| *to = *from),
                }
            }
        });
        Ok(T::wrap(from_parts(&shape, columns)))
    }

    /// The windows along an axis whose element `tap` lies on an image of that extent, and the image's index of the first of them.
    #[inline(always)]
    fn on_image(&self, axis: usize, tap: usize, (image, windows): (usize, usize)) -> (Range<usize>, usize) {
        let (stride, offset) = (self.stride[axis], tap * self.dilation[axis]);
        let first = self.padding[axis].saturating_sub(offset).div_ceil(stride);
        let end = (image + self.padding[axis]).saturating_sub(offset).div_ceil(stride).min(windows);
        (first.min(windows)..end.max(first.min(windows)), (first * stride + offset).saturating_sub(self.padding[axis]))
    }

    /// The sums of all windows, plane by plane of the result, for groups of so few planes that laying out the windows for them costs more than the
    /// products.
    fn direct(&self, x: &SharedArray<f32>, weight: &SharedArray<f32>, out: [usize; 2]) -> Result<Tensor, ValueError> {
        let (&[n, c, h, w], &[o, per_group, kh, kw]) = (x.shape(), weight.shape()) else {
            unreachable!("four axes each");
        };
        let (source, weights, shape) = (row_major(x), row_major(weight), [n, o, out[0], out[1]]);
        let mut sums = vec![0.0f32; element_count(&shape, f32::BYTES)?];
        sums.par_chunks_mut((out[0] * out[1]).max(1)).enumerate().for_each(|(plane, sums)| {
            let (image, channel) = (plane / o, plane % o);
            let group = channel / (o / self.groups);
            let taps = (0..per_group * kh * kw).zip(&weights[channel * per_group * kh * kw..]);
            vectorized(
                #[inline(always)]
                || {
                    for (tap, &factor) in taps {
                        let from = (image * c + group * per_group + tap / (kh * kw)) * h * w;
                        let (rows, top) = self.on_image(0, tap / kw % kh, (h, out[0]));
                        let (columns, left) = self.on_image(1, tap % kw, (w, out[1]));
                        for (at, row) in rows.enumerate() {
                            let line = &source[from + (top + at * self.stride[0]) * w..][..w];
                            let (line, sums) = (&line[left.min(w)..], &mut sums[row * out[1]..][columns.clone()]);
                            match self.stride[1] {
                                1 => sums.iter_mut().zip(line).for_each(|(sum, x)| *sum += factor * x),
                                stride => {
                                    let line = line.iter().step_by(stride);
                                    sums.iter_mut().zip(line).for_each(|(sum, x)| *sum += factor * x);
                                }
                            }
                        }
                    }
                },
            );
        });
        Ok(Tensor::F32(from_parts(&shape, sums)))
    }
}

/// Planes of a group below which its windows are not laid out.
const FEW: usize = 8;

impl Tensor {
    /// `out[n, o, y, x] = bias[o] + sum over c, i, j of input[n, c, …] * weight[o, c, i, j]`, cross-correlation as torch's
    /// `conv2d`. Floats accumulate in f32 and are rounded once; integers wrap.
    ///
    /// # Errors
    /// Ranks other than 4, 4 and 1; extents that do not fit each other or the groups; a window larger than the
    /// image; bool or unequal dtypes, which torch does not promote here.
    pub fn conv2d(&self, weight: &Self, bias: &Self, geometry: &ConvGeometry) -> Result<Self, ValueError> {
        let (&[n, c, h, w], &[o, per_group, kh, kw], &[length]) = (self.shape(), weight.shape(), bias.shape()) else {
            let shapes = [self, weight, bias].map(|t| show_shape(t.shape())).join(", ");
            return Err(ValueError::new(format!("conv2d takes (n, c, h, w), (o, c, kh, kw) and (o,), found {shapes}")));
        };
        let groups = geometry.groups;
        if groups == 0 || c != per_group * groups || o % groups != 0 || length != o {
            return Err(ValueError::new(format!(
                "conv2d of {c} channels in {groups} groups with a weight of {} and a bias of {}",
                show_shape(weight.shape()),
                show_shape(bias.shape())
            )));
        }
        if geometry.stride.contains(&0) {
            return Err(ValueError::new(format!("conv2d takes strides of 1 or more, found {:?}", geometry.stride)));
        }
        let (Some(oh), Some(ow)) = (geometry.windows(0, h, kh), geometry.windows(1, w, kw)) else {
            return Err(ValueError::new(format!("conv2d has no window of ({kh}, {kw}) on an image of ({h}, {w})")));
        };
        let dtype = self.dtype();
        if dtype == DType::Bool || weight.dtype() != dtype || bias.dtype() != dtype {
            let dtypes = [self, weight, bias].map(|t| t.dtype().to_string()).join(", ");
            return Err(ValueError::new(format!("conv2d takes numbers of one dtype, found {dtypes}")));
        }
        let inner = if dtype.is_float() { DType::F32 } else { dtype };
        let (x, weight, bias) = (self.cast(inner)?, weight.cast(inner)?, bias.cast(inner)?);
        let bias = bias.reshape(&[o, 1, 1])?;
        if let (Self::F32(x), Self::F32(weight)) = (&x, &weight)
            && o / groups < FEW
            // The zeros of the padding times anything else are NaN.
            && weight.iter().all(|factor| factor.is_finite())
        {
            return geometry.direct(x, weight, [oh, ow])?.binary(bias, BinaryKind::Add)?.cast(dtype);
        }
        let columns = with_array!(&x, array => geometry.columns(array, [kh, kw], [oh, ow]))?;
        let depth = per_group * kh * kw;
        let columns = columns.reshape(&[n, groups, depth, oh * ow])?;
        let product = weight.reshape(&[1, groups, o / groups, depth])?.matmul(&columns)?;
        let sum = product.reshape(&[n, o, oh, ow])?.binary(bias, BinaryKind::Add)?;
        sum.cast(dtype)
    }
}

#[cfg(test)]
mod tests {
    use tf_types::DType;

    use super::ConvGeometry;
    use crate::Tensor;

    fn counted(shape: &[usize]) -> Tensor {
        Tensor::from_vec(shape, (0..shape.iter().product::<usize>() as i64).map(|i| i * 31 % 17 - 8).collect()).unwrap()
    }

    /// The definition, with every index.
    fn by_indices(x: &Tensor, weight: &Tensor, bias: &Tensor, g: &ConvGeometry, out: [usize; 4]) -> Vec<i64> {
        let [c, h, w] = [x.shape()[1], x.shape()[2], x.shape()[3]];
        let [per_group, kh, kw] = [weight.shape()[1], weight.shape()[2], weight.shape()[3]];
        let (x, weight, bias) = (x.to_i64_vec().unwrap(), weight.to_i64_vec().unwrap(), bias.to_i64_vec().unwrap());
        let mut values = Vec::new();
        for at in 0..out.iter().product::<usize>() {
            let (n, o, i, j) =
                (at / (out[1] * out[2] * out[3]), at / (out[2] * out[3]) % out[1], at / out[3] % out[2], at % out[3]);
            let mut sum = bias[o];
            for (ci, a, b) in (0..per_group * kh * kw).map(|k| (k / (kh * kw), k / kw % kh, k % kw)) {
                let channel = o / (out[1] / g.groups) * per_group + ci;
                let y = (i * g.stride[0] + a * g.dilation[0]) as i64 - g.padding[0] as i64;
                let z = (j * g.stride[1] + b * g.dilation[1]) as i64 - g.padding[1] as i64;
                if (0..h as i64).contains(&y) && (0..w as i64).contains(&z) {
                    let image = x[((n * c + channel) * h + y as usize) * w + z as usize];
                    sum += image * weight[((o * per_group + ci) * kh + a) * kw + b];
                }
            }
            values.push(sum);
        }
        values
    }

    #[test]
    fn agrees_with_index_arithmetic() {
        for (groups, stride, padding, dilation) in
            [(1, [1, 1], [0, 0], [1, 1]), (2, [2, 3], [1, 0], [1, 2]), (4, [1, 2], [2, 3], [2, 1])]
        {
            let geometry = ConvGeometry { stride, padding, dilation, groups };
            let (x, weight, bias) = (counted(&[2, 4, 7, 6]), counted(&[8, 4 / groups, 3, 2]), counted(&[8]));
            let got = x.conv2d(&weight, &bias, &geometry).unwrap();
            let shape = <[usize; 4]>::try_from(got.shape().to_vec()).unwrap();
            assert_eq!(got.to_i64_vec().unwrap(), by_indices(&x, &weight, &bias, &geometry, shape), "{geometry:?}");
            let float = |t: &Tensor| t.cast(DType::F32).unwrap();
            let floats = float(&x).conv2d(&float(&weight), &float(&bias), &geometry).unwrap();
            assert_eq!(floats.to_f64_vec(), got.to_f64_vec());
        }
    }

    #[test]
    fn no_images_and_refusals() {
        let geometry = ConvGeometry { stride: [1, 1], padding: [0, 0], dilation: [1, 1], groups: 1 };
        let of = |x: &[usize], weight: &[usize], bias: &[usize]| {
            let result = counted(x).conv2d(&counted(weight), &counted(bias), &geometry);
            result.map(|t| t.shape().to_vec()).map_err(|e| e.message)
        };
        assert_eq!(of(&[0, 3, 4, 4], &[2, 3, 3, 3], &[2]), Ok(vec![0, 2, 2, 2]));
        assert_eq!(of(&[1, 0, 4, 4], &[2, 0, 3, 3], &[2]), Ok(vec![1, 2, 2, 2]));
        assert_eq!(
            of(&[1, 3, 2, 4], &[2, 3, 3, 3], &[2]).unwrap_err(),
            "conv2d has no window of (3, 3) on an image of (2, 4)"
        );
        assert!(of(&[1, 3, 4, 4], &[2, 4, 3, 3], &[2]).unwrap_err().contains("3 channels in 1 groups"));
        assert!(of(&[3, 4, 4], &[2, 3, 3, 3], &[2]).unwrap_err().contains("found (3, 4, 4)"));
        let (x, float) = (counted(&[1, 1, 1, 1]), Tensor::zeros(&[1], DType::F32).unwrap());
        let error = x.conv2d(&x, &float, &geometry).unwrap_err();
        assert_eq!(error.message, "conv2d takes numbers of one dtype, found i64, i64, f32");
    }
}
