//! Activations.

use tf_types::DType;

use crate::element::{Numeric, SharedArray};
use crate::kernel::{each, map};
use crate::{Tensor, ValueError, math};

/// An elementwise function of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `1 / (1 + e^-x)`
    Sigmoid,
    /// `tanh x`
    Tanh,
    /// `x / (1 + e^-x)`
    Silu,
    /// `x * Phi(x)`, with the normal distribution's Phi.
    Gelu,
    /// `x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))`
    GeluTanh,
}

impl Activation {
    const fn name(self) -> &'static str {
        match self {
            Self::Sigmoid => "sigmoid",
            Self::Tanh => "tanh",
            Self::Silu => "silu",
            Self::Gelu | Self::GeluTanh => "gelu",
        }
    }

    fn kernel(self) -> fn(&mut [f32]) {
        match self {
            Self::Sigmoid => |x| each(x, math::sigmoid),
            Self::Tanh => |x| each(x, math::tanh),
            Self::Silu => |x| each(x, math::silu),
            Self::Gelu => |x| each(x, math::gelu),
            Self::GeluTanh => |x| each(x, math::gelu_tanh),
        }
    }
}

impl Tensor {
    /// The function of every element, in this tensor's dtype; computed in f32 and rounded once.
    ///
    /// # Errors
    /// Integers and bool; a negative result in `f8e8m0`.
    pub fn activate(self, function: Activation) -> Result<Self, ValueError> {
        fn apply<T: Numeric<Wide = f32>>(x: SharedArray<T>, function: Activation) -> Tensor {
            T::wrap(map(x, function.kernel()))
        }
        match self {
            Self::F32(x) => Ok(apply(x, function)),
            Self::F16(x) => Ok(apply(x, function)),
            Self::BF16(x) => Ok(apply(x, function)),
            Self::Fp8E4M3(x) => Ok(apply(x, function)),
            Self::F8E8M0(_) => self.cast(DType::F32)?.activate(function)?.cast(DType::F8E8M0),
            Self::I32(_) | Self::I64(_) | Self::Bool(_) => {
                Err(ValueError::new(format!("`{}` takes floats, found {}", function.name(), self.dtype()))
                    .with_help("cast to a float dtype first"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tf_types::DType;

    use super::Activation;
    use crate::Tensor;

    fn of(function: Activation, x: f32) -> f32 {
        Tensor::scalar(x).activate(function).unwrap().to_f32_vec()[0]
    }

    #[test]
    fn limits() {
        for function in [Activation::Sigmoid, Activation::Tanh, Activation::Silu, Activation::Gelu] {
            assert!(of(function, f32::NAN).is_nan());
        }
        assert_eq!((of(Activation::Sigmoid, -200.0), of(Activation::Sigmoid, 200.0)), (0.0, 1.0));
        assert_eq!((of(Activation::Tanh, -200.0), of(Activation::Tanh, 200.0)), (-1.0, 1.0));
        assert!(of(Activation::Tanh, -0.0).is_sign_negative());
        for function in [Activation::Silu, Activation::Gelu, Activation::GeluTanh] {
            assert_eq!(of(function, f32::INFINITY), f32::INFINITY);
            assert_eq!((of(function, -130.0).abs(), of(function, 130.0)), (0.0, 130.0));
        }
    }

    #[test]
    fn the_two_forms_of_gelu_are_near() {
        for i in -60..60 {
            let x = i as f32 / 10.0;
            assert!((of(Activation::Gelu, x) - of(Activation::GeluTanh, x)).abs() < 5e-4, "{x}");
        }
        assert!((f64::from(of(Activation::Gelu, -4.0)) + 1.266_849e-4).abs() < 1e-9);
    }

    #[test]
    fn refused_dtypes() {
        let of = |dtype| Tensor::zeros(&[2], dtype).unwrap().activate(Activation::Silu).unwrap_err().message;
        assert_eq!(of(DType::I32), "`silu` takes floats, found i32");
        assert_eq!(of(DType::Bool), "`silu` takes floats, found bool");
    }
}
