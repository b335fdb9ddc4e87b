//! The float dtypes by their definitions: which numbers there are, and which one a value becomes.

use tf_types::DType;

/// What is special about a dtype whose values are `m * 2^(e - mantissa)` with `m < 2^(mantissa + 1)` and `e >= least`.
struct Format {
    mantissa: i32,
    least: i32,
    greatest: f64,
    /// What lies beyond the greatest value becomes.
    beyond: f64,
}

fn format(dtype: DType) -> Format {
    let (mantissa, least, greatest, beyond) = match dtype {
        DType::F16 => (10, -14, 65504.0, f64::INFINITY),
        DType::BF16 => (7, -126, (2.0 - 2f64.powi(-7)) * 2f64.powi(127), f64::INFINITY),
        DType::Fp8E4M3 => (3, -6, 448.0, f64::NAN),
        other => panic!("{other} has no such format"),
    };
    Format { mantissa, least, greatest, beyond }
}

/// The greatest `e` with `2^e <= |x|`; `x` is finite and not 0.
fn exponent(x: f64) -> i32 {
    let estimate = x.abs().log2().floor() as i32;
    (estimate - 1..=estimate + 1).rev().find(|&e| 2f64.powi(e) <= x.abs()).unwrap()
}

/// The value of the dtype that stands for `x`: computations are done in f32, hence two roundings. `f8e8m0` takes no
/// negative ones.
pub fn round(x: f64, dtype: DType) -> f64 {
    let x = f64::from(x as f32);
    if dtype == DType::F32 || x.is_nan() {
        return x;
    }
    if dtype == DType::F8E8M0 {
        return power(x);
    }
    let Format { mantissa, least, greatest, beyond } = format(dtype);
    if x == 0.0 {
        return x;
    }
    if x.is_infinite() {
        return beyond.copysign(x);
    }
    let unit = 2f64.powi(exponent(x).max(least) - mantissa);
    let rounded = (x / unit).round_ties_even() * unit;
    if rounded.abs() > greatest { beyond.copysign(x) } else { rounded }
}

/// The nearest power of two, halves up; nothing lies between 2^-127 and 2^-126.
fn power(x: f64) -> f64 {
    assert!(x >= 0.0);
    if x.is_infinite() {
        return f64::NAN;
    }
    if x <= 2f64.powi(-127) {
        return 2f64.powi(-127);
    }
    if x < 2f64.powi(-126) {
        return 2f64.powi(-126);
    }
    let below = exponent(x);
    let nearest = if x / 2f64.powi(below) >= 1.5 { below + 1 } else { below };
    if nearest > 127 { f64::NAN } else { 2f64.powi(nearest) }
}

/// Numbers at which a dtype may go wrong.
pub fn specials(dtype: DType) -> Vec<f64> {
    let (tiny, normal, greatest) = match dtype {
        DType::F32 => (2f64.powi(-149), 2f64.powi(-126), f64::from(f32::MAX)),
        DType::F8E8M0 => {
            return [-127, -126, -1, 0, 1, 126, 127].map(|e| 2f64.powi(e)).into_iter().chain([f64::NAN]).collect();
        }
        _ => {
            let Format { mantissa, least, greatest, .. } = format(dtype);
            (2f64.powi(least - mantissa), 2f64.powi(least), greatest)
        }
    };
    let inf = if dtype == DType::Fp8E4M3 { f64::NAN } else { f64::INFINITY };
    let positive = [0.0, tiny, normal, 0.5, 1.0, 1.5, 2.5, 3.5, 11.5, 20.0, 20.5, 88.5, 104.0, greatest, inf];
    positive.into_iter().flat_map(|x| [x, -x]).chain([f64::NAN]).map(|x| round(x, dtype)).collect()
}
