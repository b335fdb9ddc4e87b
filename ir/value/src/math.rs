//! Exponentials, logarithms and what is made of them, without branches and table look-ups, so that loops over them become vector code.
//!
//! Each is within 1.1 units in the last place of f32 (the tests say which within how much): `exp` and `exp2` in f32 with fused multiply-adds, the
//! others in f64. Coefficients are Chebyshev fits over the reduced range.

use std::f32::consts::LN_2 as LN_2_F32;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, LN_2, LOG2_E, SQRT_2};

/// Adding it to a small number leaves that number, rounded to nearest even, in the low bits.
const ROUND_F32: f32 = 1.5 * (1 << 23) as f32;
const ROUND_F64: f64 = 1.5 * (1u64 << 52) as f64;
/// ln 2 in two parts; the first has few enough bits that its products with exponents are exact.
const LN_2_HIGH: f32 = 0.693_145_75;
const LN_2_LOW: f32 = 1.428_606_8e-6;

/// `c0 + c1 x + c2 x^2 + …`
macro_rules! polynomial {
    ($name:ident, $type:ty) => {
        #[inline(always)]
        fn $name<const N: usize>(x: $type, coefficients: [$type; N]) -> $type {
            coefficients.into_iter().rev().reduce(|sum, next| sum.mul_add(x, next)).unwrap_or_default()
        }
    };
}

polynomial!(polynomial_f32, f32);
polynomial!(polynomial_f64, f64);

/// `x * 2^n` for `n` from -252 to 254, rounded once.
#[inline(always)]
fn scale(x: f32, n: i32) -> f32 {
    let half = n >> 1;
    let power = |n: i32| f32::from_bits((n.wrapping_add(127) << 23).cast_unsigned());
    x * power(half) * power(n.wrapping_sub(half))
}

/// The nearest integer, as float and as integer.
#[inline(always)]
fn rounded(x: f32) -> (f32, i32) {
    let shifted = x + ROUND_F32;
    (shifted - ROUND_F32, shifted.to_bits().wrapping_sub(ROUND_F32.to_bits()).cast_signed())
}

/// `e^x`
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // Beyond these bounds the result is 0 or infinite, and NaN passes both.
    let x = x.clamp(-104.0, 89.0);
    let (n, exponent) = rounded(x * std::f32::consts::LOG2_E);
    let r = n.mul_add(-LN_2_LOW, n.mul_add(-LN_2_HIGH, x));
    let tail = polynomial_f32(r, [0.5, 0.166_665_76, 0.041_666_552, 0.008_363_233, 0.001_392_625]);
    scale(1.0 + (r * r).mul_add(tail, r), exponent)
}

/// `e^x` for `x` up to 0 and NaN, in fewer steps.
#[inline(always)]
pub(crate) fn exp_not_positive(x: f32) -> f32 {
    // Powers of two are this much too great at first, so that none of them is below the normal ones, and the result is rounded once.
    const MORE: u32 = 64;
    // Below, the result is 0; NaN passes.
    let x = if x < -104.0 { -104.0 } else { x };
    let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUND_F32);
    let n = shifted - ROUND_F32;
    let r = n.mul_add(-LN_2_LOW, n.mul_add(-LN_2_HIGH, x));
    let tail = polynomial_f32(r, [1.0, 0.5, 0.166_665_76, 0.041_666_552, 0.008_363_233, 0.001_392_625]);
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add((127 + MORE) << 23));
    r.mul_add(tail, 1.0) * power * f32::from_bits((127 - MORE) << 23)
}

/// `2^x`
#[inline(always)]
pub(crate) fn exp2(x: f32) -> f32 {
    let x = x.clamp(-150.5, 128.5);
    let (n, exponent) = rounded(x);
    let r = x - n;
    let tail = polynomial_f32(
        r,
        [LN_2_F32, 0.240_226_5, 0.055_504_11, 0.009_618_056, 0.001_333_350_2, 0.000_154_615_61, 1.529_741_3e-5],
    );
    scale(r.mul_add(tail, 1.0), exponent)
}

/// `e^x` for `x` from -700 to 700, to 1e-11.
#[inline(always)]
fn exp_f64(x: f64) -> f64 {
    let shifted = x.mul_add(LOG2_E, ROUND_F64);
    let r = (shifted - ROUND_F64).mul_add(-LN_2, x);
    let tail = polynomial_f64(
        r,
        [
            0.5,
            0.166_666_666_698_893_33,
            0.041_666_666_719_295_684,
            0.008_333_298_344_023_092,
            0.001_388_885_390_994_504,
            0.000_198_993_901_836_792_32,
            2.485_969_439_475_207e-5,
        ],
    );
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    (r * r).mul_add(tail, r).mul_add(power, power)
}

/// `ln x` for normal positive `x`, to 1e-10.
#[inline(always)]
fn ln_f64(x: f64) -> f64 {
    // The mantissa between sqrt(1/2) and sqrt(2), so that nothing cancels where the logarithm is small.
    let shift = x.to_bits().wrapping_sub((SQRT_2 / 2.0).to_bits());
    let exponent = shift.cast_signed() >> 52;
    let mantissa = f64::from_bits(x.to_bits().wrapping_sub((exponent << 52).cast_unsigned()));
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let series = polynomial_f64(square, [2.0, 2.0 / 3.0, 2.0 / 5.0, 2.0 / 7.0, 2.0 / 9.0, 2.0 / 11.0]);
    // Exponents are small; this way to a float needs no conversion of 64-bit integers.
    let exponent = f64::from_bits(ROUND_F64.to_bits().wrapping_add_signed(exponent)) - ROUND_F64;
    s.mul_add(series, exponent * LN_2)
}

/// What a logarithm is of 0, negative numbers, infinity and NaN; elsewhere `finite`.
#[inline(always)]
fn logarithm(x: f32, finite: f64) -> f32 {
    let edge = if x == 0.0 {
        f32::NEG_INFINITY
    } else if x > 0.0 {
        x
    } else {
        f32::NAN
    };
    if x > 0.0 && x < f32::INFINITY { finite as f32 } else { edge }
}

/// `ln x`
#[inline(always)]
pub(crate) fn ln(x: f32) -> f32 {
    logarithm(x, ln_f64(f64::from(x)))
}

/// `log2 x`
#[inline(always)]
pub(crate) fn log2(x: f32) -> f32 {
    logarithm(x, ln_f64(f64::from(x)) * LOG2_E)
}

/// `1 / (1 + e^-x)`, to 1e-11.
#[inline(always)]
fn sigmoid_f64(x: f64) -> f64 {
    1.0 / (1.0 + exp_f64((-x).clamp(-700.0, 700.0)))
}

/// `x` times a share of it that is 0 below `bound`: there `x` times the share is 0 in f32, and of -inf it is NaN.
#[inline(always)]
fn gated(x: f32, share: f64, bound: f32) -> f32 {
    (f64::from(x) * if x < bound { 0.0 } else { share }) as f32
}

/// `1 / (1 + e^-x)`
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    sigmoid_f64(f64::from(x)) as f32
}

/// `x / (1 + e^-x)`
#[inline(always)]
pub(crate) fn silu(x: f32) -> f32 {
    gated(x, sigmoid_f64(f64::from(x)), -120.0)
}

/// `tanh x`
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    let decay = exp_f64(f64::from(x.abs().min(20.0)) * -2.0);
    let size = ((1.0 - decay) / (1.0 + decay)) as f32;
    // Below the first bound `x` is the nearest float; NaN fails both comparisons.
    if x.abs() >= 1e-4 { size.copysign(x) } else { x }
}

/// `ln(1 + e^x)`; `x` itself above 20, where f32 cannot tell them apart.
#[inline(always)]
pub(crate) fn softplus(x: f32) -> f32 {
    let e = exp_f64(f64::from(x.clamp(-110.0, 20.0)));
    // Where `e` is small, `1 + e` loses its digits.
    let y = if x < -15.0 { (e * -0.5).mul_add(e, e) } else { ln_f64(1.0 + e) };
    if x <= 20.0 { y as f32 } else { x }
}

/// `x * Phi(x)` with the normal distribution's Phi. The complementary error function of `z >= 0` is `t e^(P(t) - z^2)`, `t = 1 / (1 + z/2)`.
#[inline(always)]
pub(crate) fn gelu(x: f32) -> f32 {
    let z = f64::from(x.abs().min(16.0)) * FRAC_1_SQRT_2;
    let t = 1.0 / (0.5 * z + 1.0);
    let exponent = polynomial_f64(
        t,
        [
            -1.2655119563225798,
            0.9999968039976274,
            0.3749837248936167,
            0.08443287781900376,
            -0.10148901903689812,
            -0.020464682633666395,
            -0.7332724262590051,
            2.351733658374134,
            -5.842240163384054,
            11.023608455061389,
            -13.752666549499743,
            10.98456657926652,
            -5.463220664138083,
            1.553806890886374,
            -0.19426352905255984,
        ],
    );
    let tail = t * exp_f64(z.mul_add(-z, exponent));
    let phi = if x < 0.0 { 0.5 * tail } else { (-0.5f64).mul_add(tail, 1.0) };
    gated(x, phi, -16.0)
}

/// `x/2 * (1 + tanh u)` with `u = sqrt(2/pi) * (x + 0.044715 x^3)`, as `x / (1 + e^-2u)`.
#[inline(always)]
pub(crate) fn gelu_tanh(x: f32) -> f32 {
    let wide = f64::from(x);
    let u = (FRAC_2_SQRT_PI * FRAC_1_SQRT_2) * (wide * wide * wide).mul_add(0.044_715, wide);
    gated(x, sigmoid_f64(2.0 * u), -16.0)
}

#[cfg(test)]
mod tests {
    use super::{exp, exp_not_positive, exp2, gelu, gelu_tanh, ln, log2, sigmoid, silu, softplus, tanh};

    /// The distance of `got` from `want` in steps between floats of `want`'s size.
    fn steps(got: f32, want: f64) -> f64 {
        let size = want.abs().max(f64::from(f32::MIN_POSITIVE));
        (f64::from(got) - want).abs() / (size.log2().floor() - 23.0).exp2()
    }

    /// Every 1009th float of both signs, and their ends.
    fn floats() -> impl Iterator<Item = f32> {
        let ends = [0.0, -0.0, 1.0, f32::MIN_POSITIVE, f32::MAX, f32::MIN];
        (0..u32::MAX).step_by(1009).map(f32::from_bits).filter(|x| x.is_finite()).chain(ends)
    }

    fn check(name: &str, f: fn(f32) -> f32, exact: impl Fn(f64) -> f64, bound: f64) {
        let (mut worst, mut at) = (0.0, 0.0);
        for x in floats() {
            let (got, want) = (f(x), exact(f64::from(x)));
            if want.is_nan() || want.abs() > f64::from(f32::MAX) {
                let want = want as f32;
                assert!(got.is_nan() == want.is_nan() && (want.is_nan() || got.abs() >= f32::MAX), "{name} {x}: {got}");
                continue;
            }
            let distance = steps(got, want);
            if distance > worst {
                (worst, at) = (distance, x);
            }
        }
        assert!(worst <= bound, "{name} is off by {worst} at {at}: {} for {}", f(at), exact(f64::from(at)));
    }

    #[test]
    fn within_a_unit_in_the_last_place() {
        check("exp", exp, f64::exp, 1.1);
        check("exp of what is not positive", |x| exp_not_positive(-x.abs()), |x| (-x.abs()).exp(), 1.3);
        check("exp2", exp2, f64::exp2, 1.1);
        check("ln", ln, f64::ln, 0.51);
        check("log2", log2, f64::log2, 0.51);
        check("tanh", tanh, f64::tanh, 0.51);
        check("sigmoid", sigmoid, |x| 1.0 / (1.0 + (-x).exp()), 0.51);
        check("silu", silu, |x| x / (1.0 + (-x).exp()), 0.51);
        check("softplus", softplus, |x| if x > 20.0 { x } else { x.exp().ln_1p() }, 0.51);
        check("gelu", gelu, |x| 0.5 * x * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2), 0.51);
        check(
            "gelu_tanh",
            gelu_tanh,
            |x| {
                let u = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
                x / (1.0 + (-2.0 * u).exp())
            },
            0.51,
        );
    }

    #[test]
    fn ends() {
        let inf = f32::INFINITY;
        for f in [exp, exp2, ln, log2, tanh, sigmoid, silu, softplus, gelu, gelu_tanh] {
            assert!(f(f32::NAN).is_nan());
        }
        assert!(exp_not_positive(f32::NAN).is_nan() && exp_not_positive(f32::from_bits(0x7fc0_0001)).is_nan());
        assert_eq!((exp_not_positive(-inf), exp_not_positive(-0.0)), (0.0, 1.0));
        let at = |f: fn(f32) -> f32| (f(-inf), f(inf));
        assert_eq!((at(exp), at(exp2), at(tanh)), ((0.0, inf), (0.0, inf), (-1.0, 1.0)));
        assert_eq!((at(sigmoid), at(softplus), ln(inf), log2(inf)), ((0.0, 1.0), (0.0, inf), inf, inf));
        assert_eq!((ln(0.0), ln(-0.0), log2(0.0), log2(-0.0)), (-inf, -inf, -inf, -inf));
        assert!(ln(-1.0).is_nan() && log2(-inf).is_nan() && silu(-inf).is_nan() && gelu(-inf).is_nan());
        assert_eq!((silu(inf), gelu(inf), gelu_tanh(inf)), (inf, inf, inf));
        for f in [tanh, silu, gelu, gelu_tanh] {
            assert!(f(-0.0).is_sign_negative() && f(0.0).is_sign_positive());
        }
        assert_eq!(
            (exp(0.0), exp2(-149.0), exp2(127.0), log2(8.0), ln(1.0)),
            (1.0, f32::from_bits(1), 2f32.powi(127), 3.0, 0.0)
        );
    }
}
