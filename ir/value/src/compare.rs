//! Comparison of results with reference values.

use crate::Tensor;
use crate::tensor::show_shape;

/// How far results may lie from reference values: `|got - want| <= atol + rtol * |want|`, NaN equal to NaN, infinities equal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// Relative to the wanted value.
    pub rtol: f64,
    /// Absolute. Both 0: the values are equal.
    pub atol: f64,
    /// Whether -0.0 and 0.0 differ.
    pub signed_zero: bool,
}

/// The first element out of tolerance, in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Its index, one number per axis.
    pub index: Vec<usize>,
    /// What was computed.
    pub got: f64,
    /// What the reference holds.
    pub want: f64,
}

/// How a result compares with the reference.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Dtype or shape differ, in words; nothing else is compared then.
    pub unlike: Option<String>,
    /// Greatest `|got - want|`; infinite where exactly one is NaN, or unequal infinities meet.
    pub max_abs: f64,
    /// Greatest `|got - want| / |want|` over wanted values that are not 0.
    pub max_rel: f64,
    /// Elements out of tolerance.
    pub mismatches: usize,
    /// The first of them.
    pub first: Option<Mismatch>,
}

impl Comparison {
    /// Whether dtype and shape are equal and every element is within tolerance.
    #[must_use]
    pub fn pass(&self) -> bool {
        self.unlike.is_none() && self.mismatches == 0
    }
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.unlike, &self.first) {
            (Some(unlike), _) => f.write_str(unlike),
            (None, Some(Mismatch { index, got, want })) => write!(
                f,
                "{} elements differ, first at {index:?}: got {got}, want {want} (max abs {:e}, max rel {:e})",
                self.mismatches, self.max_abs, self.max_rel
            ),
            (None, None) => {
                write!(f, "equal within tolerance (max abs {:e}, max rel {:e})", self.max_abs, self.max_rel)
            }
        }
    }
}

impl Tolerance {
    /// Zeros of either sign are equal.
    #[must_use]
    pub const fn new(rtol: f64, atol: f64) -> Self {
        Self { rtol, atol, signed_zero: false }
    }

    /// Compares element by element; 8-bit floats compare as values.
    #[must_use]
    pub fn compare(&self, got: &Tensor, want: &Tensor) -> Comparison {
        let mut result = Comparison::default();
        if (got.dtype(), got.shape()) != (want.dtype(), want.shape()) {
            let of = |t: &Tensor| format!("{} of shape {}", t.dtype(), show_shape(t.shape()));
            result.unlike = Some(format!("got {}, want {}", of(got), of(want)));
            return result;
        }
        if let (Ok(got_exact), Ok(want_exact)) = (got.to_i64_vec(), want.to_i64_vec()) {
            // f64 holds no integers beyond 2^53: take differences before rounding.
            for (at, (&g, &w)) in got_exact.iter().zip(&want_exact).enumerate() {
                let difference = (i128::from(g) - i128::from(w)).unsigned_abs() as f64;
                let within = difference <= self.atol + self.rtol * (w as f64).abs();
                result.note(at, got.shape(), (g as f64, w as f64), difference, within);
            }
        } else {
            for (at, (g, w)) in got.to_f64_vec().into_iter().zip(want.to_f64_vec()).enumerate() {
                let equal = g == w || (g.is_nan() && w.is_nan());
                let difference = match (equal, (g - w).abs()) {
                    (true, _) => 0.0,
                    (false, d) if d.is_nan() => f64::INFINITY,
                    (false, d) => d,
                };
                let zero_sign =
                    self.signed_zero && g == 0.0 && w == 0.0 && g.is_sign_negative() != w.is_sign_negative();
                let near = difference.is_finite() && difference <= self.atol + self.rtol * w.abs();
                result.note(at, got.shape(), (g, w), difference, (equal || near) && !zero_sign);
            }
        }
        result
    }
}

impl Comparison {
    fn note(&mut self, at: usize, shape: &[usize], (got, want): (f64, f64), difference: f64, within: bool) {
        self.max_abs = self.max_abs.max(difference);
        if want != 0.0 && difference > 0.0 {
            let relative = difference / want.abs();
            self.max_rel = self.max_rel.max(if relative.is_nan() { f64::INFINITY } else { relative });
        }
        if !within {
            self.mismatches += 1;
            if self.first.is_none() {
                self.first = Some(Mismatch { index: unravel(at, shape), got, want });
            }
        }
    }
}

fn unravel(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (axis, &extent) in shape.iter().enumerate().rev() {
        index[axis] = at % extent;
        at /= extent;
    }
    index
}

/// Compares with zeros of either sign equal.
#[must_use]
pub fn compare(got: &Tensor, want: &Tensor, rtol: f64, atol: f64) -> Comparison {
    Tolerance::new(rtol, atol).compare(got, want)
}

#[cfg(test)]
mod tests {
    use tf_types::DType;

    use super::{Tolerance, compare};
    use crate::Tensor;

    fn f32s(values: &[f32]) -> Tensor {
        Tensor::from_f32(&[values.len()], values).unwrap()
    }

    #[test]
    fn specials() {
        let x = f32s(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0]);
        assert!(compare(&x, &x, 0.0, 0.0).pass());
        let y = f32s(&[1.0, f32::NEG_INFINITY, f32::NEG_INFINITY, -0.0]);
        let result = compare(&y, &x, 1.0, 1e9);
        assert_eq!((result.mismatches, result.max_abs), (2, f64::INFINITY));
        assert_eq!(result.first.unwrap().index, [0]);
        // An infinite reference is not near every finite value.
        assert!(!compare(&f32s(&[1.0]), &f32s(&[f32::INFINITY]), 0.1, 0.1).pass());
        let signed = Tolerance { signed_zero: true, ..Tolerance::default() };
        assert_eq!(signed.compare(&f32s(&[-0.0]), &f32s(&[0.0])).mismatches, 1);
    }

    #[test]
    fn tolerance_and_first_index() {
        let want = Tensor::from_f32(&[2, 2], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        let got = Tensor::from_f32(&[2, 2], &[1.0, 2.1, 3.0, 5.0]).unwrap();
        let result = compare(&got, &want, 0.06, 0.0);
        assert_eq!(result.mismatches, 1);
        assert_eq!(result.first.as_ref().unwrap().index, [1, 1]);
        assert_eq!((result.max_abs, result.max_rel), (1.0, 0.25));
        assert!(result.to_string().starts_with("1 elements differ, first at [1, 1]: got 5, want 4"), "{result}");
    }

    #[test]
    fn integers_compare_exactly() {
        let of = |value: i64| Tensor::from_vec(&[1], vec![value]).unwrap();
        assert!(!compare(&of((1 << 53) + 1), &of(1 << 53), 0.0, 0.0).pass());
        assert!(compare(&of(i64::MIN), &of(i64::MIN), 0.0, 0.0).pass());
    }

    #[test]
    fn unlike_tensors() {
        let result = compare(&f32s(&[1.0]), &f32s(&[1.0]).cast(DType::F16).unwrap(), 1.0, 1.0);
        assert!(!result.pass());
        assert_eq!(result.to_string(), "got f32 of shape (1,), want f16 of shape (1,)");
    }
}
