//! Elementwise ops of one operand.

use tf_types::DType;
use tf_types::kinds::UnaryKind;

use crate::element::{Numeric, SharedArray};
use crate::kernel::{each, map};
use crate::{Tensor, ValueError, math};

/// 0 where negative, else `x`: NaN and `-0.0` stay, as torch has it.
fn relu(x: f32) -> f32 {
    if x < 0.0 { 0.0 } else { x }
}

/// How a kind works on a block of floats; `None` for kinds that take none.
fn float_kernel(kind: UnaryKind) -> Option<fn(&mut [f32])> {
    Some(match kind {
        UnaryKind::Neg => |x| each(x, |v| -v),
        UnaryKind::Abs => |x| each(x, f32::abs),
        UnaryKind::Rsqrt => |x| each(x, |v| 1.0 / v.sqrt()),
        UnaryKind::Square => |x| each(x, |v| v * v),
        UnaryKind::Relu => |x| each(x, relu),
        UnaryKind::Exp => |x| each(x, math::exp),
        UnaryKind::Log => |x| each(x, math::ln),
        UnaryKind::Ceil => |x| each(x, f32::ceil),
        UnaryKind::Round => |x| each(x, f32::round_ties_even),
        UnaryKind::Exp2 => |x| each(x, math::exp2),
        UnaryKind::Log2 => |x| each(x, math::log2),
        UnaryKind::Not | UnaryKind::Cast => return None,
    })
}

macro_rules! integer_kernel {
    ($name:ident, $type:ty) => {
        /// How a kind works on a block of integers; `None` for kinds that take none.
        fn $name(kind: UnaryKind) -> Option<fn(&mut [$type])> {
            Some(match kind {
                UnaryKind::Neg => |x| each(x, <$type>::wrapping_neg),
                UnaryKind::Abs => |x| each(x, <$type>::wrapping_abs),
                UnaryKind::Square => |x| each(x, |v| v.wrapping_mul(v)),
                UnaryKind::Relu => |x| each(x, |v| v.max(0)),
                UnaryKind::Ceil | UnaryKind::Round => |_| {},
                _ => return None,
            })
        }
    };
}

integer_kernel!(i32_kernel, i32);
integer_kernel!(i64_kernel, i64);

fn apply<T: Numeric>(
    x: SharedArray<T>,
    kernel: Option<fn(&mut [T::Wide])>,
    kind: UnaryKind,
) -> Result<Tensor, ValueError> {
    match kernel {
        Some(kernel) => Ok(T::wrap(map(x, kernel))),
        None => Err(refused(kind, T::DTYPE)),
    }
}

fn refused(kind: UnaryKind, found: DType) -> ValueError {
    match kind {
        UnaryKind::Cast => {
            ValueError::new("`cast` has no value as a unary kind").with_help("use the op `cast`, which states a dtype")
        }
        UnaryKind::Not => ValueError::new(format!("`{kind}` takes bool, found {found}")),
        _ if found == DType::Bool => ValueError::new(format!("`{kind}` takes numbers, found bool")),
        _ => ValueError::new(format!("`{kind}` takes floats, found {found}")).with_help("cast to a float dtype first"),
    }
}

impl Tensor {
    /// `kind` of every element, in this tensor's dtype; 16- and 8-bit floats are computed in f32 and rounded once. In place where nobody else
    /// holds the elements, as all methods that take `self`.
    ///
    /// # Errors
    /// A dtype the kind does not take: `not` takes bool, all others refuse it; rsqrt and the exponentials and logarithms take
    /// floats; the kind `cast`.
    pub fn unary(self, kind: UnaryKind) -> Result<Self, ValueError> {
        match self {
            Self::F32(x) => apply(x, float_kernel(kind), kind),
            Self::F16(x) => apply(x, float_kernel(kind), kind),
            Self::BF16(x) => apply(x, float_kernel(kind), kind),
            Self::Fp8E4M3(x) => apply(x, float_kernel(kind), kind),
            Self::F8E8M0(_) => self.cast(DType::F32)?.unary(kind)?.cast(DType::F8E8M0),
            Self::I32(x) => apply(x, i32_kernel(kind), kind),
            Self::I64(x) => apply(x, i64_kernel(kind), kind),
            Self::Bool(x) => apply(x, (kind == UnaryKind::Not).then_some(|x| each(x, |v: bool| !v)), kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use tf_types::DType;
    use tf_types::kinds::UnaryKind;

    use crate::Tensor;

    #[test]
    fn refused_dtypes() {
        let refusal = |dtype, kind| Tensor::zeros(&[2], dtype).unwrap().unary(kind).unwrap_err().message;
        for kind in [UnaryKind::Exp, UnaryKind::Exp2, UnaryKind::Log, UnaryKind::Log2, UnaryKind::Rsqrt] {
            assert_eq!(refusal(DType::I32, kind), format!("`{kind}` takes floats, found i32"));
        }
        for &kind in UnaryKind::ALL.iter().filter(|&&kind| kind != UnaryKind::Not) {
            refusal(DType::Bool, kind);
        }
        assert_eq!(refusal(DType::F32, UnaryKind::Not), "`not` takes bool, found f32");
        assert!(refusal(DType::F32, UnaryKind::Cast).contains("`cast` has no value"));
        let powers = Tensor::scalar_from_f64(2.0, DType::F8E8M0).unwrap();
        assert!(powers.clone().unary(UnaryKind::Neg).unwrap_err().message.contains("negative"));
    }

    #[test]
    fn large_and_strided_tensors() {
        let n = 100_003;
        let x = Tensor::from_vec(&[2, n], (0..2 * n as i64).collect()).unwrap();
        let view = x.permute(&[1, 0]).unwrap();
        let neg = view.clone().unary(UnaryKind::Neg).unwrap();
        assert_eq!(neg.shape(), &[n, 2]);
        let want: Vec<i64> = (0..n as i64).flat_map(|i| [-i, -(i + n as i64)]).collect();
        assert_eq!(neg.to_vec::<i64>().unwrap(), want);
    }
}
