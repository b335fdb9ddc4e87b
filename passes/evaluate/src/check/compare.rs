//! Whether two results are the same.

use tf_core::Span;
use tf_framework::Numerics;
use tf_types::DType;
use tf_value::{Tensor, show_shape};

/// How far a finite value may move: `|after - before| <= absolute + relative * |before|`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// In units of the value.
    pub absolute: f64,
    /// In parts of the value before.
    pub relative: f64,
}

impl Tolerance {
    /// No difference at all.
    pub const NONE: Self = Self { absolute: 0.0, relative: 0.0 };

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

    /// Of a dtype where a lowering adds in another order, and computes in steps what was one op.
    #[must_use]
    pub const fn of_lowering(dtype: DType) -> Self {
        match dtype {
            DType::F32 => Self { absolute: 1e-4, relative: 1e-4 },
            _ => Self::of(dtype),
        }
    }

    /// NaN equals NaN, an infinity itself, and a zero the zero of its sign; in fast mathematics none of them tells anything, and in a
    /// lowering the sign of a zero does not.
    fn holds(self, before: f64, after: f64, allowed: Allowed) -> bool {
        let numerics = match allowed {
            Allowed::By(numerics) => numerics,
            Allowed::Lowering => Numerics::Rounds,
        };
        if before.to_bits() == after.to_bits() || before.is_nan() && after.is_nan() {
            return true;
        }
        if numerics == Numerics::FastMath && !(before.is_finite() && after.is_finite()) {
            return true;
        }
        if before == 0.0 && after == 0.0 {
            return numerics == Numerics::FastMath || allowed == Allowed::Lowering;
        }
        before.is_finite() && (after - before).abs() <= self.absolute + self.relative * before.abs()
    }
}

/// What a pass may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// What it says of itself.
    By(Numerics),
    /// What a pass may that makes statements of values.
    Lowering,
}

impl Allowed {
    fn tolerance(self, dtype: DType) -> Tolerance {
        match self {
            Self::By(Numerics::Exact) => Tolerance::NONE,
            Self::By(_) => Tolerance::of(dtype),
            Self::Lowering => Tolerance::of_lowering(dtype),
        }
    }
}

/// What differs, in words.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    /// The element, both values and the tolerance.
    pub what: String,
    /// Whether rounding explains it.
    pub is_rounding: bool,
    /// A place that it has beside the function's.
    pub at: Option<Span>,
    /// The number of the result, where one differs.
    pub result: Option<usize>,
}

impl Difference {
    /// One that rounding does not explain.
    pub fn new(what: String) -> Self {
        Self { what, is_rounding: false, at: None, result: None }
    }
}

/// What differs first between the results before and after; `None`: nothing.
#[must_use]
pub fn difference(before: &[Tensor], after: &[Tensor], allowed: Allowed) -> Option<Difference> {
    if before.len() != after.len() {
        return Some(Difference::new(format!("there are {} results, there were {}", after.len(), before.len())));
    }
    before.iter().zip(after).enumerate().find_map(|(at, (before, after))| {
        if (before.dtype(), before.shape()) != (after.dtype(), after.shape()) {
            let of = |tensor: &Tensor| format!("{} of shape {}", tensor.dtype(), show_shape(tensor.shape()));
            let what = format!("result {at} is {}, it was {}", of(after), of(before));
            return Some(Difference { result: Some(at), ..Difference::new(what) });
        }
        let dtype = before.dtype();
        let tolerance = allowed.tolerance(dtype);
        let (element, old, new, is_rounding) = match (before.to_i64_vec(), after.to_i64_vec()) {
            (Ok(old), Ok(new)) if !dtype.is_float() => {
                let element = old.iter().zip(&new).position(|(old, new)| old != new)?;
                (element, old[element].to_string(), new[element].to_string(), false)
            }
            _ => {
                let (old, new) = (before.to_f64_vec(), after.to_f64_vec());
                let element = old.iter().zip(&new).position(|(&old, &new)| !tolerance.holds(old, new, allowed))?;
                let (old, new) = (old[element], new[element]);
                let is_rounding = Tolerance::of(dtype).holds(old, new, Allowed::By(Numerics::Rounds));
                (element, show(old), show(new), is_rounding)
            }
        };
        let index = index_of(element, before.shape());
        let Tolerance { absolute, relative } = tolerance;
        let text = match tolerance == Tolerance::NONE || !dtype.is_float() {
            true => "none".to_owned(),
            false => format!("{absolute:?} + {relative:?} of the value"),
        };
        let what = format!("result {at} at {index:?} is {new}, it was {old} (tolerance of {dtype}: {text})");
        Some(Difference { what, is_rounding, at: None, result: Some(at) })
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
    use tf_framework::Numerics::{Exact, FastMath, Rounds};
    use tf_value::Tensor;

    use super::Allowed::{By, Lowering};
    use super::difference;

    fn floats(values: &[f32]) -> [Tensor; 1] {
        [Tensor::from_f32(&[values.len()], values).unwrap()]
    }

    #[test]
    fn how_near_the_pass_says() {
        let special = [1.0, f32::NAN, f32::INFINITY, -0.0, f32::MAX];
        let before = floats(&special);
        for numerics in [Exact, Rounds, FastMath] {
            assert_eq!(difference(&before, &floats(&special), By(numerics)), None);
            assert_eq!(difference(&[], &[], By(numerics)), None);
        }
        let differs = |at: usize, value: f32, numerics| {
            let mut values = special;
            values[at] = value;
            difference(&before, &floats(&values), By(numerics))
        };
        let near = differs(0, 1.000_001, Exact).unwrap();
        assert!(
            near.is_rounding && near.what.ends_with("is 1.000001, it was 1.0 (tolerance of f32: none)"),
            "{near:?}"
        );
        assert_eq!(differs(0, 1.000_001, Rounds), None);
        assert!(differs(0, 1.5, FastMath).is_some());
        // A NaN, an infinity or the sign of a zero gone, an infinity come.
        for (at, value) in [(1, 0.0), (2, f32::MAX), (3, 0.0), (4, f32::INFINITY)] {
            for numerics in [Exact, Rounds] {
                assert!(differs(at, value, numerics).is_some_and(|found| !found.is_rounding), "{at} {value}");
            }
            assert_eq!(differs(at, value, FastMath), None);
        }
    }

    #[test]
    fn the_first_difference_is_named() {
        let of = |before: &[f32], after: &[f32]| difference(&floats(before), &floats(after), By(Rounds)).unwrap().what;
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
        let found = difference(std::slice::from_ref(&before), &[after], By(FastMath)).unwrap().what;
        assert!(found.starts_with("result 0 at [1, 2] is 9223372036854775806, it was 9223372036854775807"), "{found}");
        assert!(found.ends_with("(tolerance of i64: none)"), "{found}");
        let other = Tensor::from_vec(&[6], vec![0_i64; 6]).unwrap();
        let found = difference(&[before], &[other], By(Exact)).unwrap().what;
        assert!(found.starts_with("result 0 is i64 of shape "), "{found}");
    }

    #[test]
    fn another_number_of_results() {
        assert_eq!(difference(&floats(&[1.0]), &[], By(Exact)).unwrap().what, "there are 0 results, there were 1");
    }

    #[test]
    fn a_lowering_sums_in_another_order() {
        let of = |before: f32, after: f32| difference(&floats(&[before]), &floats(&[after]), Lowering).is_none();
        assert!(of(-0.0, 0.0) && of(2.0, 2.0001) && of(f32::NAN, f32::NAN) && of(f32::INFINITY, f32::INFINITY));
        assert!(!of(2.0, 2.001) && !of(f32::NAN, 0.0) && !of(f32::INFINITY, f32::MAX));
    }
}
