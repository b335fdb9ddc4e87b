//! Inputs that tell programs apart.

use tf_core::{Diagnostic, Expr, Function};
use tf_types::{DType, Symbol, vars::DimVars};
use tf_value::{Tensor, ValueError};

use crate::DimSizes;
use crate::boundary::activations;
use crate::random::Numbers;
use crate::reading::{refused, wanted};

/// The most values of a dim's range that are drawn from, counted from its least.
const SIZES: i64 = 65;

/// What the numbers of a set of inputs are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// Floats in `[-2, 2)`, integers from 0 to 7.
    Plain,
    /// Few different values, so that many are equal: halves from -1 to 1, integers from 0 to 2.
    Ties,
    /// Signed zeros, extremes and infinities among plain numbers.
    Extreme,
    /// NaNs and signed zeros among plain numbers.
    Nan,
}

impl Flavour {
    /// Of the set of that number: all flavours in turn.
    #[must_use]
    pub const fn of(sample: usize) -> Self {
        match sample % 4 {
            0 => Self::Plain,
            1 => Self::Ties,
            2 => Self::Extreme,
            _ => Self::Nan,
        }
    }

    /// What messages call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain numbers",
            Self::Ties => "numbers with ties",
            Self::Extreme => "extremes, infinities and signed zeros among plain numbers",
            Self::Nan => "NaNs and signed zeros among plain numbers",
        }
    }
}

/// Sizes of the dims of a function's parameters, inside their ranges: small ones, then the least, then any.
#[must_use]
pub fn sizes<'c>(function: Function<'c>, sample: usize) -> DimSizes<'c> {
    let mut vars = DimVars::default();
    let shapes = function.data().params.iter().filter_map(|param| param.ty().as_tensor());
    shapes.flat_map(|ty| ty.shape).for_each(|&dim| vars.add_dim(dim));
    let size = |name: Symbol<'c>, lo: i64, hi: i64| {
        let count = hi.saturating_sub(lo).clamp(1, if sample == 0 { 8 } else { SIZES });
        let drawn = Numbers::new(sample as u64, name.as_str()).next() % count.cast_unsigned();
        lo + if sample == 1 { 0 } else { drawn.cast_signed() }
    };
    vars.as_slice().iter().map(|var| (var.name, size(var.name, var.lo, var.hi))).collect()
}

/// A tensor of a set of inputs.
///
/// # Errors
/// A shape too large for memory; `f4e2m1`.
pub fn draw(sample: usize, name: &str, dtype: DType, shape: &[usize]) -> Result<Tensor, ValueError> {
    let count = shape.iter().try_fold(1usize, |count, &n| count.checked_mul(n));
    let count = count.ok_or_else(|| ValueError::new("a tensor of that size does not fit memory"))?;
    let flavour = Flavour::of(sample);
    let mut numbers = Numbers::new(sample as u64, name);
    if dtype.is_float() {
        let values = (0..count).map(|_| float(flavour, dtype, &mut numbers)).collect();
        return Tensor::from_vec::<f32>(shape, values)?.cast(dtype);
    }
    let values: Vec<i64> = (0..count).map(|_| integer(flavour, dtype, &mut numbers)).collect();
    Tensor::from_vec(shape, values)?.cast(dtype)
}

/// The set of that number as tensors by name: what `--check-each` evaluates a function on. Constants are none of them.
///
/// # Errors
/// A parameter that is no tensor, or one that cannot be drawn.
pub fn generated_inputs(function: Function<'_>, sample: usize) -> Result<Vec<(String, Tensor)>, Diagnostic> {
    let dims = sizes(function, sample);
    let draw_one = |param: Expr<'_>| {
        let name = param.var_name().map_or("", |name| name.as_str());
        let Some(ty) = param.ty().as_tensor() else {
            return Err(Diagnostic::error(format!("parameter `{name}` is no tensor")).at(param.span()));
        };
        let tensor = wanted(ty, &dims).and_then(|shape| draw(sample, name, ty.dtype, &shape));
        Ok((name.to_owned(), tensor.map_err(|error| refused(error).at(param.span()))?))
    };
    activations(function).map(draw_one).collect()
}

fn float(flavour: Flavour, dtype: DType, numbers: &mut Numbers) -> f32 {
    let greatest = match dtype {
        DType::F16 => 65504.0,
        DType::Fp8E4M3 => 448.0,
        _ => f32::MAX,
    };
    // A power of two: it has neither sign nor zero nor infinity.
    let is_scale = dtype == DType::F8E8M0;
    // One number in four is special: more would leave little of a sum.
    let special: &[f32] = match flavour {
        Flavour::Ties if is_scale => return [0.5, 1.0, 2.0][(numbers.next() % 3) as usize],
        Flavour::Ties => return ((numbers.next() % 5) as f32 - 2.0) / 2.0,
        Flavour::Plain => &[],
        Flavour::Extreme if is_scale => &[f32::MIN_POSITIVE, 1.701_411_8e38],
        Flavour::Extreme => &[0.0, -0.0, greatest, -greatest, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE],
        Flavour::Nan if is_scale => &[f32::NAN],
        Flavour::Nan => &[f32::NAN, 0.0, -0.0],
    };
    if let Some(&value) = special.get((numbers.next() % (4 * special.len().max(1)) as u64) as usize) {
        return value;
    }
    let unit = (numbers.next() >> 40) as f32 / (1u64 << 24) as f32;
    if is_scale { 1.0 + unit } else { 4.0 * unit - 2.0 }
}

fn integer(flavour: Flavour, dtype: DType, numbers: &mut Numbers) -> i64 {
    let (least, greatest) = match dtype {
        DType::Bool => return (numbers.next() % 2).cast_signed(),
        DType::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    };
    match (flavour, numbers.next() % 16) {
        (Flavour::Extreme, at @ 0..4) => [least, greatest, -1, 0][at as usize],
        (Flavour::Ties, _) => (numbers.next() % 3).cast_signed(),
        _ => (numbers.next() % 8).cast_signed(),
    }
}

/// What two functions must share so that inputs of one fit the other: dtype and rank of each activation.
#[must_use]
pub fn fit_each_other<'c>(a: Function<'c>, b: Function<'c>) -> bool {
    let form = |param: Expr<'c>| param.ty().as_tensor().map(|ty| (ty.dtype, ty.rank()));
    activations(a).map(form).eq(activations(b).map(form))
}

/// Whether inputs drawn for one are those drawn for the other.
#[must_use]
pub fn draw_alike<'c>(a: Function<'c>, b: Function<'c>) -> bool {
    let form = |param: &Expr<'c>| (param.var_name(), param.ty().as_tensor().map(|ty| (ty.dtype, ty.shape)));
    a.data().params.iter().map(form).eq(b.data().params.iter().map(form))
}

#[cfg(test)]
mod tests {
    use tf_types::DType;

    use super::draw;

    #[test]
    fn each_flavour_has_its_values() {
        let values = |sample| draw(sample, "x", DType::F32, &[1000]).unwrap().to_f64_vec();
        assert!(values(0).iter().all(|value| (-2.0..2.0).contains(value)));
        assert!(values(1).iter().all(|value| (value * 2.0).fract() == 0.0 && value.abs() <= 1.0));
        let extreme = values(2);
        for wanted in [f64::INFINITY, f64::NEG_INFINITY, f64::from(f32::MAX), f64::from(f32::MIN_POSITIVE)] {
            assert!(extreme.contains(&wanted), "{wanted}");
        }
        assert!(extreme.iter().any(|value| *value == 0.0 && value.is_sign_negative()));
        assert!(values(3).iter().any(|value| value.is_nan()) && values(3).iter().any(|value| value.is_finite()));
        assert_eq!(values(4).len(), 1000);
        assert_ne!(values(0), values(4));
    }

    #[test]
    fn every_dtype_is_drawn() {
        for dtype in DType::ALL.into_iter().filter(|dtype| *dtype != DType::F4E2M1) {
            for sample in 0..4 {
                assert_eq!(draw(sample, "x", dtype, &[3, 5]).unwrap().dtype(), dtype);
            }
        }
        let integers = draw(2, "i", DType::I32, &[200]).unwrap().to_i64_vec().unwrap();
        assert!(integers.contains(&i64::from(i32::MIN)) && integers.contains(&i64::from(i32::MAX)));
        assert!(draw(0, "x", DType::F32, &[usize::MAX, 2]).unwrap_err().message.contains("does not fit memory"));
    }
}
