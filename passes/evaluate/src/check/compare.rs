//! Whether two results are the same.

use tf_types::DType;
use tf_value::{Tensor, show_shape};

/// How far a value may move: `|after - before| <= absolute + relative * |before|`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// In units of the value.
    pub absolute: f64,
    /// In parts of the value before.
    pub relative: f64,
}

impl Tolerance {
    /// Of a dtype: a few roundings of a float, nothing of what is exact.
    #[must_use]
    pub const fn of(dtype: DType) -> Self {
        let (absolute, relative) = match dtype {
            DType::F32 => (1e-6, 1e-5),
            DType::F16 => (1e-3, 4e-3),
            DType::BF16 => (1e-2, 3e-2),
            DType::Fp8E4M3 => (0.03125, 0.25),
            DType::F8E8M0 | DType::F4E2M1 | DType::I32 | DType::I64 | DType::Bool => (0.0, 0.0),
        };
        Self { absolute, relative }
    }

    /// NaN equals NaN, an infinity itself, and a zero the zero of its sign.
    fn holds(self, before: f64, after: f64) -> bool {
        if before.is_nan() || after.is_nan() {
            return before.is_nan() && after.is_nan();
        }
        if before == after {
            return before != 0.0 || before.is_sign_negative() == after.is_sign_negative();
        }
        before.is_finite() && (after - before).abs() <= self.absolute + self.relative * before.abs()
    }
}

/// What differs first between the results before and after, in words; `None`: nothing.
#[must_use]
pub fn difference(before: &[Tensor], after: &[Tensor]) -> Option<String> {
    if before.len() != after.len() {
        return Some(format!("there are {} results, there were {}", after.len(), before.len()));
    }
    before.iter().zip(after).enumerate().find_map(|(at, (before, after))| {
        if (before.dtype(), before.shape()) != (after.dtype(), after.shape()) {
            let of = |tensor: &Tensor| format!("{} of shape {}", tensor.dtype(), show_shape(tensor.shape()));
            return Some(format!("result {at} is {}, it was {}", of(after), of(before)));
        }
        let tolerance = Tolerance::of(before.dtype());
        let (element, old, new) = match (before.to_i64_vec(), after.to_i64_vec()) {
            (Ok(old), Ok(new)) if !before.dtype().is_float() => {
                let element = old.iter().zip(&new).position(|(old, new)| old != new)?;
                (element, old[element].to_string(), new[element].to_string())
            }
            _ => {
                let (old, new) = (before.to_f64_vec(), after.to_f64_vec());
                let element = old.iter().zip(&new).position(|(&old, &new)| !tolerance.holds(old, new))?;
                (element, show(old[element]), show(new[element]))
            }
        };
        let index = index_of(element, before.shape());
        let Tolerance { absolute, relative } = tolerance;
        let allowed = match before.dtype().is_float() {
            true => format!("{absolute:?} + {relative:?} of the value"),
            false => "none".to_owned(),
        };
        Some(format!("result {at} at {index:?} is {new}, it was {old} (tolerance of {}: {allowed})", before.dtype()))
    })
}

/// No float dtype is wider than f32.
fn show(value: f64) -> String {
    format!("{:?}", value as f32)
}

/// The coordinates of an element by its place in row-major order.
fn index_of(mut element: usize, shape: &[usize]) -> Vec<usize> {
    let mut index: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&extent| {
            let coordinate = element % extent;
            element /= extent;
            coordinate
        })
        .collect();
    index.reverse();
    index
}

#[cfg(test)]
mod tests {
    use tf_value::Tensor;

    use super::difference;

    fn floats(values: &[f32]) -> [Tensor; 1] {
        [Tensor::from_f32(&[values.len()], values).unwrap()]
    }

    #[test]
    fn equal_within_the_tolerance() {
        let before = floats(&[1.0, f32::NAN, f32::INFINITY, -0.0]);
        assert_eq!(difference(&before, &floats(&[1.000_001, f32::NAN, f32::INFINITY, -0.0])), None);
        assert_eq!(difference(&[], &[]), None);
    }

    #[test]
    fn the_first_difference_is_named() {
        let of = |before: &[f32], after: &[f32]| difference(&floats(before), &floats(after)).unwrap();
        assert_eq!(
            of(&[1.0, 2.0, 3.0], &[1.0, 2.5, 4.0]),
            "result 0 at [1] is 2.5, it was 2.0 (tolerance of f32: 1e-6 + 1e-5 of the value)"
        );
        assert!(of(&[-0.0], &[0.0]).starts_with("result 0 at [0] is 0.0, it was -0.0"));
        assert!(of(&[f32::NAN], &[0.0]).starts_with("result 0 at [0] is 0.0, it was NaN"));
        assert!(of(&[f32::INFINITY], &[f32::MAX]).contains("it was inf"));
        assert!(of(&[f32::MAX], &[f32::INFINITY]).contains("is inf"));
    }

    #[test]
    fn integers_are_exact_and_have_an_index() {
        let before = Tensor::from_vec(&[2, 3], vec![0_i64, 1, 2, 3, 4, i64::MAX]).unwrap();
        let after = Tensor::from_vec(&[2, 3], vec![0_i64, 1, 2, 3, 4, i64::MAX - 1]).unwrap();
        let found = difference(std::slice::from_ref(&before), &[after]).unwrap();
        assert!(found.starts_with("result 0 at [1, 2] is 9223372036854775806, it was 9223372036854775807"), "{found}");
        assert!(found.ends_with("(tolerance of i64: none)"), "{found}");
        let other = Tensor::from_vec(&[6], vec![0_i64; 6]).unwrap();
        let found = difference(&[before], &[other]).unwrap();
        assert!(found.starts_with("result 0 is i64 of shape "), "{found}");
    }

    #[test]
    fn another_number_of_results() {
        assert_eq!(difference(&floats(&[1.0]), &[]).unwrap(), "there are 0 results, there were 1");
    }
}
