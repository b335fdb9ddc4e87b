//! Elementwise ops of one operand (spec: hir §4; decisions 19, 22).

use tf_types::kinds::UnaryKind;

use crate::element::{Numeric, SharedArray};
use crate::kernel::map;
use crate::{Tensor, ValueError};

/// `x` where positive, else 0; NaN stays.
fn relu(x: f32) -> f32 {
    if x > 0.0 || x.is_nan() { x } else { 0.0 }
}

fn floats<T: Numeric<Wide = f32>>(x: &SharedArray<T>, kind: UnaryKind) -> Result<Tensor, ValueError> {
    Ok(T::wrap(match kind {
        UnaryKind::Neg => map(x, |v| -v),
        UnaryKind::Abs => map(x, f32::abs),
        UnaryKind::Rsqrt => map(x, |v| 1.0 / v.sqrt()),
        UnaryKind::Square => map(x, |v| v * v),
        UnaryKind::Relu => map(x, relu),
        UnaryKind::Exp => map(x, f32::exp),
        UnaryKind::Log => map(x, f32::ln),
        UnaryKind::Ceil => map(x, f32::ceil),
        UnaryKind::Round => map(x, f32::round_ties_even),
        UnaryKind::Exp2 => map(x, f32::exp2),
        UnaryKind::Log2 => map(x, f32::log2),
        UnaryKind::Not => return Err(refused(kind, "bool", T::DTYPE)),
        UnaryKind::Cast => return Err(cast_is_an_op()),
    }))
}

macro_rules! integers {
    ($name:ident, $type:ty) => {
        fn $name(x: &SharedArray<$type>, kind: UnaryKind) -> Result<Tensor, ValueError> {
            Ok(<$type as crate::element::Element>::wrap(match kind {
                UnaryKind::Neg => map(x, <$type>::wrapping_neg),
                UnaryKind::Abs => map(x, <$type>::wrapping_abs),
                UnaryKind::Square => map(x, |v| v.wrapping_mul(v)),
                UnaryKind::Relu => map(x, |v| v.max(0)),
                UnaryKind::Ceil | UnaryKind::Round => x.clone(),
                UnaryKind::Not => return Err(refused(kind, "bool", <$type as crate::element::Element>::DTYPE)),
                UnaryKind::Cast => return Err(cast_is_an_op()),
                UnaryKind::Rsqrt | UnaryKind::Exp | UnaryKind::Log | UnaryKind::Exp2 | UnaryKind::Log2 => {
                    return Err(refused(kind, "floats", <$type as crate::element::Element>::DTYPE)
                        .with_help("cast to a float dtype first"));
                }
            }))
        }
    };
}

integers!(ints, i32);
integers!(longs, i64);

fn refused(kind: UnaryKind, takes: &str, found: tf_types::DType) -> ValueError {
    ValueError::new(format!("`{kind}` takes {takes}, found {found}"))
}

fn cast_is_an_op() -> ValueError {
    ValueError::new("`cast` has no value as a unary kind").with_help("use the op `cast`, which states a dtype")
}

impl Tensor {
    /// `kind` of every element, in this tensor's dtype; 16- and 8-bit floats are computed in f32 and rounded once.
    ///
    /// # Errors
    /// A dtype the kind does not take (decision 19): `not` takes bool, all others refuse it; rsqrt and the exponentials and logarithms take
    /// floats; the kind `cast`.
    pub fn unary(&self, kind: UnaryKind) -> Result<Self, ValueError> {
        match self {
            Self::F32(x) => floats(x, kind),
            Self::F16(x) => floats(x, kind),
            Self::BF16(x) => floats(x, kind),
            Self::Fp8E4M3(x) => floats(x, kind),
            Self::F8E8M0(_) => self.cast(tf_types::DType::F32)?.unary(kind)?.cast(tf_types::DType::F8E8M0),
            Self::I32(x) => ints(x, kind),
            Self::I64(x) => longs(x, kind),
            Self::Bool(x) => match kind {
                UnaryKind::Not => Ok(Self::Bool(map(x, |v: bool| !v))),
                UnaryKind::Cast => Err(cast_is_an_op()),
                _ => Err(refused(kind, "numbers", tf_types::DType::Bool)),
            },
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
        assert!(powers.unary(UnaryKind::Neg).unwrap_err().message.contains("negative"));
    }

    #[test]
    fn large_and_strided_tensors() {
        let n = 100_003;
        let x = Tensor::from_vec(&[2, n], (0..2 * n as i64).collect()).unwrap();
        let view = x.permute(&[1, 0]).unwrap();
        let neg = view.unary(UnaryKind::Neg).unwrap();
        assert_eq!(neg.shape(), &[n, 2]);
        let want: Vec<i64> = (0..n as i64).flat_map(|i| [-i, -(i + n as i64)]).collect();
        assert_eq!(neg.to_vec::<i64>().unwrap(), want);
    }
}
