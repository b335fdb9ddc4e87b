//! Inputs that tell programs apart.

use tf_core::special::with_callees;
use tf_core::{AnyFunction, Diagnostic, Expr};
use tf_types::{DType, Symbol, vars::DimVars};
use tf_value::{Tensor, ValueError};

use crate::DimSizes;
use crate::boundary::given;
use crate::random::{Numbers, drawn_count};
use crate::reading::{refused, wanted};

/// The most values of a dim's range that are drawn from, counted from its least.
const SIZES: i64 = 65;

/// The greatest size that a dim takes so that another variant runs.
const LARGEST: i64 = 4096;

/// What the numbers of a set of inputs are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// Floats in `[-2, 2]`, integers from 0 to 7.
    Plain,
    /// Few different values, so that many are equal: -1, 0 and 1, integers from 0 to 2.
    Ties,
    /// Half of them signed zeros, extremes, denormals and infinities, the least and the greatest integers.
    Extreme,
    /// A quarter of them NaNs and signed zeros; integers from -8 to 7.
    Nan,
    /// Any exponent of the dtype, any number of bits.
    Wide,
    /// One NaN, infinity, extreme or denormal in each tensor, the other numbers plain.
    Lone,
}

impl Flavour {
    /// All of them, in the order of the sets.
    pub const ALL: [Self; 6] = [Self::Plain, Self::Ties, Self::Extreme, Self::Nan, Self::Wide, Self::Lone];

    /// Of the set of that number: all flavours in turn.
    #[must_use]
    pub const fn of(sample: usize) -> Self {
        Self::ALL[sample % Self::ALL.len()]
    }

    /// Whether its numbers behave as real ones do: none is special, and none makes a special one soon.
    #[must_use]
    pub const fn is_tame(self) -> bool {
        matches!(self, Self::Plain | Self::Ties)
    }

    /// Whether sums of its numbers are near each other in every order: no two of them are so large that a sum leaves the dtype, or that
    /// what is added between them is lost.
    #[must_use]
    pub const fn is_summed_in_any_order(self) -> bool {
        matches!(self, Self::Plain | Self::Ties | Self::Nan)
    }

    /// What messages call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain numbers",
            Self::Ties => "numbers with ties",
            Self::Extreme => "extremes, denormals, infinities and signed zeros among plain numbers",
            Self::Nan => "NaNs and signed zeros among plain numbers, integers of both signs",
            Self::Wide => "numbers of all magnitudes",
            Self::Lone => "one special value in each tensor of plain numbers",
        }
    }

    /// The special floats of a dtype, and how many numbers there are for one that is special beside the one that always is.
    fn floats(self, range: Range) -> (Vec<f32>, Option<u64>) {
        let Range { greatest, normal, denormal, .. } = range;
        let zeros = [0.0, -0.0];
        let mut extremes = vec![greatest, -greatest, normal, denormal, -denormal];
        if range.is_unbounded {
            extremes.extend([f32::INFINITY, f32::NEG_INFINITY]);
        }
        match self {
            Self::Plain | Self::Ties | Self::Wide => (Vec::new(), None),
            Self::Extreme => ([&zeros, &extremes[..]].concat(), Some(2)),
            Self::Nan => ([&[f32::NAN], &zeros[..]].concat(), Some(4)),
            Self::Lone => ([&[f32::NAN, -0.0], &extremes[..]].concat(), None),
        }
    }
}

/// What floats of a dtype there are.
#[derive(Clone, Copy)]
struct Range {
    greatest: f32,
    normal: f32,
    denormal: f32,
    /// Exponents of normal numbers.
    exponents: (i64, i64),
    /// Whether there are infinities.
    is_unbounded: bool,
}

impl Range {
    fn of(dtype: DType) -> Self {
        let (greatest, normal, denormal, exponents) = match dtype {
            DType::F16 => (65504.0, 6.103_515_6e-5, 5.960_464_5e-8, (-14, 15)),
            DType::BF16 => (3.389_531_4e38, f32::MIN_POSITIVE, 9.183_55e-41, (-126, 127)),
            DType::Fp8E4M3 => (448.0, 0.015_625, 0.001_953_125, (-6, 7)),
            _ => (f32::MAX, f32::MIN_POSITIVE, f32::from_bits(1), (-126, 127)),
        };
        Self { greatest, normal, denormal, exponents, is_unbounded: dtype != DType::Fp8E4M3 }
    }
}

/// Sizes of the dims of a function's parameters, inside their ranges: small ones, then the least, then any, and in turn with those the
/// bounds of variants that it calls.
#[must_use]
pub fn sizes<'c>(function: AnyFunction<'c>, sample: usize) -> DimSizes<'c> {
    let mut vars = DimVars::default();
    let shapes = function.params().iter().filter_map(|param| param.ty().as_tensor());
    shapes.flat_map(|ty| ty.shape).for_each(|&dim| vars.add_dim(dim));
    let called = match function {
        AnyFunction::Hir(function) => with_callees(&[function]),
        AnyFunction::Tir(_) => Vec::new(),
    };
    let ranges = || called.iter().flat_map(|callee| callee.variants).flat_map(|variant| variant.specializations);
    let size = |name: Symbol<'c>, lo: i64, hi: i64| {
        let inside = |size: &i64| (lo..hi.min(LARGEST)).contains(size);
        let bounds: Vec<_> = ranges().filter(|range| range.dim == name).map(|range| range.lo).filter(inside).collect();
        if sample.is_multiple_of(2) && sample > 0 && !bounds.is_empty() {
            return bounds[(sample / 2 - 1) % bounds.len()];
        }
        let count = hi.saturating_sub(lo).clamp(1, if sample == 0 { 8 } else { SIZES });
        let drawn = Numbers::new(sample as u64, name.as_str()).next() % count.cast_unsigned();
        lo + if sample == 1 { 0 } else { drawn.cast_signed() }
    };
    vars.as_slice().iter().map(|var| (var.name, size(var.name, var.lo, var.hi))).collect()
}

/// Whether there are zeros among integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zeros {
    /// As they are drawn.
    #[default]
    Kept,
    /// Ones in their places, for programs that divide by them.
    Replaced,
}

/// A tensor of a set of inputs.
///
/// # Errors
/// A shape too large for memory; `f4e2m1`.
pub fn draw(sample: usize, name: &str, dtype: DType, shape: &[usize], zeros: Zeros) -> Result<Tensor, ValueError> {
    let count = drawn_count(shape, dtype)?;
    let flavour = Flavour::of(sample);
    let mut numbers = Numbers::new(sample as u64, name);
    if dtype == DType::F8E8M0 {
        return Tensor::from_vec::<f32>(shape, scales(flavour, count, &mut numbers))?.cast(dtype);
    }
    if dtype.is_float() {
        return Tensor::from_vec::<f32>(shape, floats(flavour, dtype, count, &mut numbers))?.cast(dtype);
    }
    let mut values = integers(flavour, dtype, count, &mut numbers);
    if zeros == Zeros::Replaced && dtype != DType::Bool {
        values.iter_mut().filter(|value| **value == 0).for_each(|value| *value = 1);
    }
    Tensor::from_vec(shape, values)?.cast(dtype)
}

/// The set of that number as tensors by name: what `--check-each` evaluates a function on. Constants are none of them.
///
/// # Errors
/// A parameter that is no tensor, or one that cannot be drawn.
pub fn generated_inputs<'c>(
    function: impl Into<AnyFunction<'c>>,
    sample: usize,
    zeros: Zeros,
) -> Result<Vec<(String, Tensor)>, Diagnostic> {
    let function = function.into();
    let dims = sizes(function, sample);
    let draw_one = |param: Expr<'_>| {
        let name = param.var_name().map_or("", |name| name.as_str());
        let Some(ty) = param.ty().as_tensor() else {
            return Err(Diagnostic::error(format!("parameter `{name}` is no tensor")).at(param.span()));
        };
        let tensor = wanted(ty, &dims).and_then(|shape| draw(sample, name, ty.dtype, &shape, zeros));
        Ok((name.to_owned(), tensor.map_err(|error| refused(error).at(param.span()))?))
    };
    activations(function).map(draw_one).collect()
}

/// A number in `[0, 1)`, in more bits than any float has here: sums of such numbers are rounded.
fn unit(numbers: &mut Numbers) -> f64 {
    (numbers.next() >> 11) as f64 / (1u64 << 53) as f64
}

/// One of the values, in the place of one of the numbers.
fn place<T: Copy>(values: &mut [T], special: &[T], numbers: &mut Numbers) {
    if !special.is_empty() && !values.is_empty() {
        let at = numbers.below(values.len());
        values[at] = special[numbers.below(special.len())];
    }
}

fn floats(flavour: Flavour, dtype: DType, count: usize, numbers: &mut Numbers) -> Vec<f32> {
    let range = Range::of(dtype);
    let (special, often) = flavour.floats(range);
    let number = |numbers: &mut Numbers| match (flavour, often) {
        (_, Some(often)) if numbers.next().is_multiple_of(often) => special[numbers.below(special.len())],
        (Flavour::Ties, _) => (numbers.next() % 3) as f32 - 1.0,
        (Flavour::Wide, _) => {
            let (least, most) = range.exponents;
            let exponent = least + (numbers.next() % (most - least).cast_unsigned()).cast_signed();
            let sign = if numbers.next().is_multiple_of(2) { 1.0 } else { -1.0 };
            // In f64, where none of them is out of range.
            (sign * (1.0 + unit(numbers)) * 2f64.powi(exponent as i32)) as f32
        }
        _ => (4.0 * unit(numbers) - 2.0) as f32,
    };
    let mut values: Vec<_> = (0..count).map(|_| number(numbers)).collect();
    place(&mut values, &special, numbers);
    values
}

/// Powers of two, which have neither sign nor zero nor infinity.
fn scales(flavour: Flavour, count: usize, numbers: &mut Numbers) -> Vec<f32> {
    let mut values: Vec<_> = (0..count)
        .map(|_| match flavour {
            Flavour::Ties => [0.5, 1.0, 2.0][numbers.below(3)],
            Flavour::Wide => 2f32.powi(numbers.below(250) as i32 - 125),
            _ => 1.0 + unit(numbers) as f32,
        })
        .collect();
    let special: &[f32] = match flavour {
        Flavour::Plain | Flavour::Ties | Flavour::Wide => &[],
        Flavour::Extreme => &[f32::MIN_POSITIVE, 1.701_411_8e38],
        Flavour::Nan | Flavour::Lone => &[f32::NAN],
    };
    place(&mut values, special, numbers);
    values
}

fn integers(flavour: Flavour, dtype: DType, count: usize, numbers: &mut Numbers) -> Vec<i64> {
    let (least, most) = match dtype {
        DType::Bool => return (0..count).map(|_| (numbers.next() % 2).cast_signed()).collect(),
        DType::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    };
    let special = [least, most, least + 1, -1, 0, 1];
    let number = |numbers: &mut Numbers| match flavour {
        Flavour::Ties => (numbers.next() % 3).cast_signed(),
        Flavour::Extreme if numbers.next().is_multiple_of(2) => special[numbers.below(special.len())],
        Flavour::Nan => (numbers.next() % 16).cast_signed() - 8,
        Flavour::Wide => {
            let bits = numbers.next() % u64::from(dtype.bits());
            numbers.next().cast_signed() >> (63 - bits)
        }
        _ => (numbers.next() % 8).cast_signed(),
    };
    let mut values: Vec<_> = (0..count).map(|_| number(numbers)).collect();
    if matches!(flavour, Flavour::Extreme | Flavour::Lone) {
        place(&mut values, &special, numbers);
    }
    values
}

/// What is given to a function and is no constant.
pub fn activations<'c>(function: AnyFunction<'c>) -> impl Iterator<Item = Expr<'c>> {
    given(function).into_iter().filter(|param| !param.is_const_param())
}

/// What two functions must share so that inputs of one fit the other: dtype and rank of each activation.
#[must_use]
pub fn fit_each_other<'c>(a: AnyFunction<'c>, b: AnyFunction<'c>) -> bool {
    let form = |param: Expr<'c>| param.ty().as_tensor().map(|ty| (ty.dtype, ty.rank()));
    activations(a).map(form).eq(activations(b).map(form))
}

/// Whether inputs drawn for one are those drawn for the other.
#[must_use]
pub fn draw_alike<'c>(a: AnyFunction<'c>, b: AnyFunction<'c>) -> bool {
    let form = |param: Expr<'c>| (param.var_name(), param.ty().as_tensor().map(|ty| (ty.dtype, ty.shape)));
    given(a).into_iter().map(form).eq(given(b).into_iter().map(form))
}

#[cfg(test)]
mod tests {
    use tf_types::DType;

    use super::Zeros::{Kept, Replaced};
    use super::draw;

    #[test]
    fn each_flavour_has_its_values() {
        let values = |sample| draw(sample, "x", DType::F32, &[1000], Kept).unwrap().to_f64_vec();
        assert!(values(0).iter().all(|value| (-2.0..=2.0).contains(value)));
        assert!(values(1).iter().all(|value| value.fract() == 0.0 && value.abs() <= 1.0));
        let extreme = values(2);
        let denormal = f64::from(f32::from_bits(1));
        for wanted in [f64::INFINITY, f64::NEG_INFINITY, f64::from(f32::MAX), f64::from(f32::MIN_POSITIVE), denormal] {
            assert!(extreme.contains(&wanted), "{wanted}");
        }
        assert!(extreme.iter().any(|value| *value == 0.0 && value.is_sign_negative()));
        assert!(values(3).iter().any(|value| value.is_nan()) && values(3).iter().any(|value| value.is_finite()));
        let wide = values(4);
        assert!(wide.iter().any(|value| value.abs() > 1e30) && wide.iter().any(|value| value.abs() < 1e-30));
        let is_special = |value: &&f64| !(1e-30..2.1).contains(&value.abs());
        assert_eq!(values(5).iter().filter(is_special).count(), 1);
        assert_ne!(values(0), values(6));
    }

    #[test]
    fn small_tensors_have_special_values_too() {
        let is_plain = |value: f64| value != 0.0 && value.abs() <= 2.0 && value.abs() > 1e-30;
        for (sample, name) in [2, 3, 5, 8, 9, 11].into_iter().flat_map(|sample| ["x", "y"].map(|name| (sample, name))) {
            let values = draw(sample, name, DType::F32, &[2], Kept).unwrap().to_f64_vec();
            assert!(!values.iter().all(|&value| is_plain(value)), "{sample} {name}: {values:?}");
        }
    }

    #[test]
    fn every_dtype_is_drawn() {
        for dtype in DType::ALL.into_iter().filter(|dtype| *dtype != DType::F4E2M1) {
            for sample in 0..6 {
                assert_eq!(draw(sample, "x", dtype, &[3, 5], Kept).unwrap().dtype(), dtype);
                assert_eq!(draw(sample, "x", dtype, &[0], Kept).unwrap().shape(), [0]);
            }
        }
        let integers = draw(2, "i", DType::I32, &[200], Kept).unwrap().to_i64_vec().unwrap();
        assert!(integers.contains(&i64::from(i32::MIN)) && integers.contains(&i64::from(i32::MAX)));
        let without = draw(2, "i", DType::I32, &[200], Replaced).unwrap().to_i64_vec().unwrap();
        let changed: Vec<_> = integers.iter().zip(&without).filter(|(old, new)| old != new).collect();
        assert!(!changed.is_empty() && changed.iter().all(|change| *change == (&0, &1)), "{changed:?}");
        for shape in [&[usize::MAX, 2][..], &[1 << 50]] {
            assert!(
                draw(0, "x", DType::F32, shape, Kept)
                    .unwrap_err()
                    .message
                    .contains("too large for this machine's memory")
            );
        }
    }

    #[test]
    fn extremes_are_those_of_the_dtype() {
        for (dtype, greatest, denormal) in [
            (DType::F16, 65504.0, 2f64.powi(-24)),
            (DType::BF16, 3.389_531_389_251_535_5e38, 2f64.powi(-133)),
            (DType::Fp8E4M3, 448.0, 2f64.powi(-9)),
        ] {
            let values = draw(2, "x", dtype, &[1000], Kept).unwrap().to_f64_vec();
            assert!(values.contains(&greatest) && values.contains(&denormal), "{dtype}");
            assert_eq!(values.contains(&f64::INFINITY), dtype != DType::Fp8E4M3);
            assert!(!values.iter().any(|value| value.is_nan()), "{dtype}");
        }
    }
}
