//! Elementwise ops of two operands.

use rayon::prelude::*;
use tf_types::DType;
use tf_types::kinds::BinaryKind;

use crate::cast::promoted;
use crate::element::{Element, Numeric, SharedArray};
use crate::kernel::{Arithmetic, CHUNK, Test, arithmetic, each_pair, each_test, predicate};
use crate::tensor::row_major;
use crate::view::broadcast_shapes;
use crate::{Tensor, ValueError};

/// The greater, of two zeros the first; NaN on either side wins.
pub(crate) fn max_f32(a: f32, b: f32) -> f32 {
    if a.is_nan() || a >= b { a } else { b }
}

/// The lesser, of two zeros the first; NaN on either side wins.
fn min_f32(a: f32, b: f32) -> f32 {
    if a.is_nan() || a <= b { a } else { b }
}

/// How a kind works on two blocks; `$arithmetic` lists the kinds that give the operands' type. Comparisons are the same for all types.
macro_rules! kernels {
    ($arithmetic:ident, $comparison:ident, $type:ty, { $($kind:ident => $f:expr,)+ }) => {
        fn $arithmetic(kind: BinaryKind) -> Option<Arithmetic<$type>> {
            Some(match kind {
                $(BinaryKind::$kind => |a, b| each_pair(a, b, $f),)+
                _ => return None,
            })
        }

        fn $comparison(kind: BinaryKind) -> Option<Test<$type>> {
            Some(match kind {
                BinaryKind::Eq => |a, b, out| each_test(a, b, out, |a, b| a == b),
                BinaryKind::Ne => |a, b, out| each_test(a, b, out, |a, b| a != b),
                BinaryKind::Lt => |a, b, out| each_test(a, b, out, |a, b| a < b),
                BinaryKind::Le => |a, b, out| each_test(a, b, out, |a, b| a <= b),
                BinaryKind::Gt => |a, b, out| each_test(a, b, out, |a, b| a > b),
                BinaryKind::Ge => |a, b, out| each_test(a, b, out, |a, b| a >= b),
                _ => return None,
            })
        }
    };
}

kernels!(f32_arithmetic, f32_comparison, f32, {
    Add => |a, b| a + b,
    Sub => |a, b| a - b,
    Mul => |a, b| a * b,
    Div => |a, b| a / b,
    Min => min_f32,
    Max => max_f32,
});

macro_rules! integer_kernels {
    ($arithmetic:ident, $comparison:ident, $type:ty) => {
        kernels!($arithmetic, $comparison, $type, {
            Add => <$type>::wrapping_add,
            Sub => <$type>::wrapping_sub,
            Mul => <$type>::wrapping_mul,
            // Divisors are not 0: `refuse_zero_divisor` has seen them.
            Div => <$type>::wrapping_div,
            FloorDiv => |a, b| {
                let inexact = a.wrapping_rem(b) != 0;
                a.wrapping_div(b) - <$type>::from(inexact && (a < 0) != (b < 0))
            },
            Mod => |a, b| {
                let rest = a.wrapping_rem(b);
                if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
            },
            Min => <$type>::min,
            Max => <$type>::max,
        });
    };
}

integer_kernels!(i32_arithmetic, i32_comparison, i32);
integer_kernels!(i64_arithmetic, i64_comparison, i64);

kernels!(bool_arithmetic, bool_comparison, bool, {
    And => |a, b| a && b,
    Min => |a, b| a && b,
    Or => |a, b| a || b,
    Max => |a, b| a || b,
});

fn apply<T: Numeric>(
    a: SharedArray<T>,
    b: SharedArray<T>,
    of: Option<Arithmetic<T::Wide>>,
    tests: Option<Test<T::Wide>>,
    kind: BinaryKind,
) -> Result<Tensor, ValueError> {
    match (of, tests) {
        (Some(f), _) => Ok(T::wrap(arithmetic(a, b, f)?)),
        (None, Some(f)) => Ok(Tensor::Bool(predicate(&a, &b, f)?)),
        (None, None) => Err(refused(kind, T::DTYPE)),
    }
}

fn floats<T: Numeric<Wide = f32>>(
    a: SharedArray<T>,
    b: SharedArray<T>,
    kind: BinaryKind,
) -> Result<Tensor, ValueError> {
    apply(a, b, f32_arithmetic(kind), f32_comparison(kind), kind)
}

/// A divisor that no result element uses (the result is empty) may be zero.
fn refuse_zero_divisor<T: Element>(a: &SharedArray<T>, b: &SharedArray<T>, kind: BinaryKind) -> Result<(), ValueError> {
    if !matches!(kind, BinaryKind::Div | BinaryKind::FloorDiv | BinaryKind::Mod) {
        return Ok(());
    }
    let zero = T::default();
    let used = !broadcast_shapes(a.shape(), b.shape())?.contains(&0);
    // Where there are none, which is the rule, nobody needs to know their indices.
    let divisors = row_major(b);
    if !used || !divisors.par_chunks(CHUNK).any(|divisors| divisors.contains(&zero)) {
        return Ok(());
    }
    match b.indexed_iter().find(|(_, divisor)| **divisor == zero) {
        Some((at, _)) => {
            let at: Vec<usize> = ndarray::Dimension::slice(&at).to_vec();
            Err(ValueError::new(format!("`{kind}` of {} divides by zero: the divisor at {at:?} is 0", T::DTYPE)))
        }
        None => Ok(()),
    }
}

fn refused(kind: BinaryKind, found: DType) -> ValueError {
    let takes = match kind {
        BinaryKind::And | BinaryKind::Or => "bool",
        BinaryKind::FloorDiv | BinaryKind::Mod => "i32 or i64",
        _ => "numbers",
    };
    ValueError::new(format!("`{kind}` takes {takes}, found {found}"))
}

impl Tensor {
    /// `kind` of every pair of elements; operands broadcast (without a copy) and, where their dtypes differ, are promoted as torch does.
    /// The result has the operands' dtype, bool for comparisons; 16- and 8-bit floats are computed in f32 and rounded once.
    ///
    /// # Errors
    /// Shapes that do not broadcast, dtypes without a promotion, a dtype the kind does not take (`floor_div` and `mod` take
    /// integers, `and` and `or` take bool, arithmetic refuses bool), a zero divisor of integers, a negative result in `f8e8m0`.
    pub fn binary(self, rhs: Self, kind: BinaryKind) -> Result<Self, ValueError> {
        match (self, rhs) {
            (Self::F32(a), Self::F32(b)) => floats(a, b, kind),
            (Self::F16(a), Self::F16(b)) => floats(a, b, kind),
            (Self::BF16(a), Self::BF16(b)) => floats(a, b, kind),
            (Self::Fp8E4M3(a), Self::Fp8E4M3(b)) => floats(a, b, kind),
            (Self::I32(a), Self::I32(b)) => {
                refuse_zero_divisor(&a, &b, kind)?;
                apply(a, b, i32_arithmetic(kind), i32_comparison(kind), kind)
            }
            (Self::I64(a), Self::I64(b)) => {
                refuse_zero_divisor(&a, &b, kind)?;
                apply(a, b, i64_arithmetic(kind), i64_comparison(kind), kind)
            }
            (Self::Bool(a), Self::Bool(b)) => apply(a, b, bool_arithmetic(kind), bool_comparison(kind), kind),
            (lhs @ Self::F8E8M0(_), rhs @ Self::F8E8M0(_)) => {
                let wide = lhs.cast(DType::F32)?.binary(rhs.cast(DType::F32)?, kind)?;
                if kind.is_comparison() { Ok(wide) } else { wide.cast(DType::F8E8M0) }
            }
            (lhs, rhs) => {
                let (lhs, rhs) = promoted(lhs, &rhs)?;
                lhs.binary(rhs, kind)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tf_types::DType;
    use tf_types::kinds::BinaryKind;

    use crate::Tensor;

    fn ints(values: &[i32]) -> Tensor {
        Tensor::from_vec(&[values.len()], values.to_vec()).unwrap()
    }

    #[test]
    fn integer_division() {
        let (a, b) = (ints(&[7, -7, 7, -7, i32::MIN]), ints(&[2, 2, -2, -2, -1]));
        let of = |kind| a.clone().binary(b.clone(), kind).unwrap().to_vec::<i32>().unwrap();
        assert_eq!(of(BinaryKind::Div), [3, -3, -3, 3, i32::MIN]);
        assert_eq!(of(BinaryKind::FloorDiv), [3, -4, -4, 3, i32::MIN]);
        assert_eq!(of(BinaryKind::Mod), [1, 1, -1, -1, 0]);
    }

    #[test]
    fn zero_divisors_are_refused_where_used() {
        let (a, zero) = (ints(&[7, 7]), ints(&[1, 0]));
        for kind in [BinaryKind::Div, BinaryKind::FloorDiv, BinaryKind::Mod] {
            let error = a.clone().binary(zero.clone(), kind).unwrap_err();
            assert_eq!(error.message, format!("`{kind}` of i32 divides by zero: the divisor at [1] is 0"));
        }
        let empty = Tensor::zeros(&[0, 2], DType::I32).unwrap();
        assert_eq!(empty.clone().binary(zero.clone(), BinaryKind::Div).unwrap().shape(), &[0, 2]);
    }

    #[test]
    fn refused_dtypes() {
        let of = |dtype, kind| {
            let x = Tensor::zeros(&[2], dtype).unwrap();
            x.clone().binary(x.clone(), kind).map(|t| t.dtype()).map_err(|e| e.message)
        };
        assert_eq!(of(DType::Bool, BinaryKind::Add), Err("`add` takes numbers, found bool".into()));
        assert_eq!(of(DType::F32, BinaryKind::Mod), Err("`mod` takes i32 or i64, found f32".into()));
        assert_eq!(of(DType::I64, BinaryKind::And), Err("`and` takes bool, found i64".into()));
        assert_eq!(of(DType::F16, BinaryKind::Or), Err("`or` takes bool, found f16".into()));
        assert_eq!(of(DType::Bool, BinaryKind::Lt), Ok(DType::Bool));
        assert_eq!(of(DType::F8E8M0, BinaryKind::Mul), Ok(DType::F8E8M0));
    }

    #[test]
    fn unequal_dtypes_promote() {
        let a = Tensor::from_f32(&[2], &[0.5, 1.5]).unwrap();
        let sum = a.clone().binary(ints(&[1, 2]), BinaryKind::Add).unwrap();
        assert_eq!((sum.dtype(), sum.to_f32_vec()), (DType::F32, vec![1.5, 3.5]));
    }

    #[test]
    fn nan_wins_and_zero_signs_stay() {
        let x = Tensor::from_f32(&[3], &[f32::NAN, 1.0, -0.0]).unwrap();
        let y = Tensor::from_f32(&[3], &[1.0, f32::NAN, -0.0]).unwrap();
        for kind in [BinaryKind::Min, BinaryKind::Max] {
            let got = x.clone().binary(y.clone(), kind).unwrap().to_f32_vec();
            assert!(got[0].is_nan() && got[1].is_nan() && got[2].is_sign_negative(), "{kind} {got:?}");
        }
    }

    /// Every way through the broadcasting loops against index arithmetic.
    #[test]
    fn broadcasting_agrees_with_indices() {
        let counted = |shape: &[usize]| {
            Tensor::from_vec(shape, (0..shape.iter().product::<usize>() as i64).map(|i| i * i % 1009).collect())
                .unwrap()
        };
        let cases: [(&[usize], &[usize]); 8] = [
            (&[3, 700], &[700]),
            (&[700], &[3, 700]),
            (&[3, 1], &[1, 700]),
            (&[3, 700], &[3, 1]),
            (&[40, 3, 2], &[3, 1]),
            (&[2, 1, 5, 64], &[3, 1, 64]),
            (&[30_000], &[]),
            (&[1, 1], &[1]),
        ];
        for (lhs, rhs) in cases {
            let (a, b) = (counted(lhs), counted(rhs));
            let got = a.clone().binary(b.clone(), BinaryKind::Sub).unwrap();
            let (wide_a, wide_b) = (a.broadcast_to(got.shape()).unwrap(), b.broadcast_to(got.shape()).unwrap());
            let pairs = wide_a.to_vec::<i64>().unwrap().into_iter().zip(wide_b.to_vec::<i64>().unwrap());
            assert_eq!(got.to_vec::<i64>().unwrap(), pairs.map(|(a, b)| a - b).collect::<Vec<_>>(), "{lhs:?} {rhs:?}");
        }
        // A transposed operand beside a broadcast one.
        let a = counted(&[64, 4]).permute(&[1, 0]).unwrap();
        let got = a.clone().binary(counted(&[64]), BinaryKind::Add).unwrap();
        let want = a.contiguous().binary(counted(&[64]), BinaryKind::Add).unwrap();
        assert_eq!(got.to_vec::<i64>(), want.to_vec::<i64>());
    }
}
