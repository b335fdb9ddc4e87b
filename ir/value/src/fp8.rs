//! The two 8-bit floating dtypes, as raw bits with conversions.

use crate::ValueError;

/// `fp8e4m3` (`float8_e4m3fn`): sign, 4 exponent bits (bias 7), 3 mantissa bits; no infinities, `0x7f` and `0xff` are NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fp8E4M3(pub u8);

impl Fp8E4M3 {
    /// The greatest finite value.
    pub const MAX: f32 = 448.0;

    /// The nearest value, halves to even. Beyond 464 and infinities become NaN: there is no saturation.
    #[must_use]
    pub fn from_f32(value: f32) -> Self {
        const MIN_NORMAL: f32 = 1.0 / 64.0;
        let sign = ((value.to_bits() >> 24) & 0x80) as u8;
        let magnitude = value.abs();
        if magnitude.is_nan() || magnitude >= 480.0 {
            return Self(sign | 0x7f);
        }
        let bits = if magnitude < MIN_NORMAL {
            // Subnormals count units of 2^-9; eight of them are the bits of the least normal value.
            (magnitude * 512.0).round_ties_even() as u8
        } else {
            let bits = magnitude.to_bits();
            let rounded = bits + 0x7_ffff + ((bits >> 20) & 1);
            ((rounded >> 20) - ((127 - 7) << 3)) as u8
        };
        Self(sign | bits)
    }

    /// The value, exactly.
    #[must_use]
    pub fn to_f32(self) -> f32 {
        let (exponent, mantissa) = (u32::from(self.0 >> 3) & 0xf, u32::from(self.0) & 7);
        let magnitude = match (exponent, mantissa) {
            (0xf, 7) => f32::NAN,
            (0, m) => m as f32 / 512.0,
            (e, m) => f32::from_bits(((e + 120) << 23) | (m << 20)),
        };
        if self.0 & 0x80 == 0 { magnitude } else { -magnitude }
    }
}

/// `f8e8m0`: the power of two `2^(bits - 127)`; `0xff` is NaN. There is neither zero nor a sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct F8E8M0(pub u8);

impl F8E8M0 {
    /// The nearest power of two as torch rounds: halves go up, zero and anything not above 2^-127 gives 2^-127,
    /// `1.5 * 2^127` and more give NaN.
    ///
    /// # Errors
    /// A negative value.
    pub fn from_f32(value: f32) -> Result<Self, ValueError> {
        if value < 0.0 {
            return Err(ValueError::new(format!("f8e8m0 holds no negative values, {value} cannot be cast to it"))
                .with_help("take the absolute value first"));
        }
        let bits = value.abs().to_bits();
        let (exponent, mantissa) = (bits >> 23, bits & 0x7f_ffff);
        let up = match exponent {
            0xff => false,
            // 2^-127 is a subnormal f32, whose half bit is the top mantissa bit.
            0 => mantissa > 0x40_0000,
            _ => mantissa >= 0x40_0000,
        };
        Ok(Self((exponent + u32::from(up)) as u8))
    }

    /// The value, exactly.
    #[must_use]
    pub fn to_f32(self) -> f32 {
        match self.0 {
            0xff => f32::NAN,
            0 => f32::from_bits(0x40_0000),
            exponent => f32::from_bits(u32::from(exponent) << 23),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{F8E8M0, Fp8E4M3};

    #[test]
    fn every_e4m3_pattern_round_trips() {
        for bits in 0..=255u8 {
            let value = Fp8E4M3(bits).to_f32();
            let back = Fp8E4M3::from_f32(value);
            assert!(
                back.0 == bits || (value.is_nan() && back.0 & 0x7f == 0x7f),
                "{bits:#x} -> {value} -> {:#x}",
                back.0
            );
        }
    }

    #[test]
    fn e4m3_rounds_to_the_nearest_even_neighbour() {
        let finite: Vec<u8> = (0..0x7f).collect();
        for pair in finite.windows(2) {
            let (low, high) = (Fp8E4M3(pair[0]).to_f32(), Fp8E4M3(pair[1]).to_f32());
            let half = (low + high) / 2.0;
            let even = if pair[0] % 2 == 0 { pair[0] } else { pair[1] };
            assert_eq!(Fp8E4M3::from_f32(half).0, even, "half of {low} and {high}");
            assert_eq!(Fp8E4M3::from_f32(half.next_down()).0, pair[0]);
            assert_eq!(Fp8E4M3::from_f32(half.next_up()).0, pair[1]);
            assert_eq!(Fp8E4M3::from_f32(-half).0, even | 0x80);
        }
        assert_eq!(Fp8E4M3::from_f32(464.0).0, 0x7e);
        assert_eq!(Fp8E4M3::from_f32(464.1).0, 0x7f);
        assert_eq!(Fp8E4M3::from_f32(f32::NEG_INFINITY).0, 0xff);
    }

    #[test]
    fn every_e8m0_pattern_round_trips() {
        for bits in 0..=255u8 {
            assert_eq!(F8E8M0::from_f32(F8E8M0(bits).to_f32()), Ok(F8E8M0(bits)));
        }
        assert_eq!(F8E8M0::from_f32(3.0), Ok(F8E8M0(129)));
        assert_eq!(F8E8M0::from_f32(-0.0), Ok(F8E8M0(0)));
        assert_eq!(F8E8M0::from_f32(f32::INFINITY), Ok(F8E8M0(0xff)));
    }

    #[test]
    fn negative_to_e8m0_is_refused() {
        let error = F8E8M0::from_f32(-2.0).unwrap_err();
        assert_eq!(error.message, "f8e8m0 holds no negative values, -2 cannot be cast to it");
    }
}
