//! Quantisation to 8-bit floats with one scale a group.

use tf_types::DType;

use crate::tensor::{from_parts, row_major, show_shape};
use crate::{Fp8E4M3, Tensor, ValueError};

impl Tensor {
    /// Groups of `group` elements of the last axis as fp8e4m3, and their f32 scales: with `a` the greatest magnitude of a group, the scale
    /// is `a / 448` (1 if `a` is 0) and an element is `x / scale`, clamped to `[-448, 448]` and rounded. NaN makes its group NaN.
    ///
    /// # Errors
    /// A dtype other than a float; rank 0; a group that does not divide the last axis.
    pub fn quantize(&self, group: usize) -> Result<(Self, Self), ValueError> {
        if !self.dtype().is_float() {
            return Err(ValueError::new(format!("quant takes floats, found {}", self.dtype())));
        }
        let last = self.shape().last().copied();
        let Some(last) = last.filter(|last| group > 0 && last % group == 0) else {
            return Err(ValueError::new(format!(
                "quant groups of {group} do not divide the last axis of shape {}",
                show_shape(self.shape())
            )));
        };
        let wide = self.cast(DType::F32)?;
        let Self::F32(array) = &wide else { unreachable!("a cast to f32 is f32") };
        let source = row_major(array);
        let (mut values, mut scales) = (Vec::with_capacity(source.len()), Vec::with_capacity(source.len() / group));
        for group in source.chunks(group) {
            let greatest = group.iter().fold(0.0f32, |a, x| if a.is_nan() || a > x.abs() { a } else { x.abs() });
            let scale = if greatest == 0.0 { 1.0 } else { greatest / Fp8E4M3::MAX };
            scales.push(scale);
            values.extend(group.iter().map(|x| Fp8E4M3::from_f32((x / scale).clamp(-Fp8E4M3::MAX, Fp8E4M3::MAX))));
        }
        let mut shape = self.shape().to_vec();
        let values = from_parts(&shape, values);
        if let Some(extent) = shape.last_mut() {
            *extent = last / group;
        }
        Ok((Self::Fp8E4M3(values), Self::F32(from_parts(&shape, scales))))
    }
}

#[cfg(test)]
mod tests {
    use tf_types::DType;

    use crate::Tensor;

    #[test]
    fn groups() {
        let x = Tensor::from_f32(&[1, 6], &[0.0, 0.0, 1.0, -2.0, f32::NAN, 1.0]).unwrap();
        let (values, scales) = x.quantize(2).unwrap();
        assert_eq!((values.shape(), scales.shape()), (&[1, 6][..], &[1, 3][..]));
        assert_eq!(values.to_f32_vec()[..4], [0.0, 0.0, 224.0, -448.0]);
        assert_eq!(scales.to_f32_vec()[..2], [1.0, 2.0 / 448.0]);
        assert!(scales.to_f32_vec()[2].is_nan() && values.to_f32_vec()[5].is_nan());
        let error = x.quantize(4).unwrap_err();
        assert_eq!(error.message, "quant groups of 4 do not divide the last axis of shape (1, 6)");
        assert!(Tensor::scalar(1.0f32).quantize(1).is_err() && x.quantize(0).is_err());
        assert!(Tensor::zeros(&[2], DType::I32).unwrap().quantize(2).is_err());
    }
}
