//! `math` on constants.

use ruff_python_ast as ast;
use tf_core::Span;

use super::numbers::exact;
use crate::parser::Parser;
use crate::refusal::Res;
use crate::value::Value;

/// The names of the module.
pub(super) const NAMES: &str = "\
    acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc exp exp2 expm1 \
    fabs factorial floor fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan isqrt lcm ldexp lgamma \
    log log10 log1p log2 modf nan nextafter perm pi pow prod radians remainder sin sinh sqrt tan tanh tau trunc \
    ulp";

impl<'c> Parser<'_, 'c> {
    /// `math.pi` and others.
    pub(crate) fn math_constant(&self, name: &str) -> Value<'c> {
        let value = match name {
            "pi" => std::f64::consts::PI,
            "e" => std::f64::consts::E,
            "tau" => std::f64::consts::TAU,
            "inf" => f64::INFINITY,
            "nan" => f64::NAN,
            _ => return Value::Math(self.cx.symbol(name)),
        };
        Value::Float(value)
    }

    /// `math.sqrt(x)` and others.
    pub(crate) fn math_call(&mut self, name: &str, values: &[Value<'c>], span: Span) -> Res<Value<'c>> {
        let what = format!("math.{name}");
        let unread = || self.not_read(&what, values, span);
        match (name, values) {
            ("prod", [items]) => {
                let items = self.items_of(items, span)?;
                let multiply =
                    |total: Value<'c>, item: &Value<'c>| self.static_binary(ast::Operator::Mult, &total, item, span);
                return items.iter().try_fold(Value::Int(1), multiply);
            }
            ("gcd" | "lcm", [_, ..]) => {
                let numbers: Option<Vec<u64>> = values
                    .iter()
                    .map(|value| match value {
                        Value::Int(number) => Some(number.unsigned_abs()),
                        _ => None,
                    })
                    .collect();
                let numbers = numbers.ok_or_else(unread)?.into_iter();
                let result = match name {
                    "gcd" => Some(numbers.fold(0, gcd)),
                    _ => numbers.into_iter().try_fold(1_u64, |all, b| match gcd(all, b) {
                        0 => Some(0),
                        common => (all / common).checked_mul(b),
                    }),
                };
                return result.and_then(|value| i64::try_from(value).ok()).map(Value::Int).ok_or_else(unread);
            }
            ("factorial", [Value::Int(a)]) => {
                let product = (1..=*a.min(&21)).try_fold(1_i64, i64::checked_mul);
                return product.filter(|_| *a >= 0).map(Value::Int).ok_or_else(unread);
            }
            ("comb", [Value::Int(n @ 0..=66), Value::Int(k @ 0..)]) => {
                let ways = (0..*k.min(n)).fold(1_i128, |ways, at| ways * i128::from(n - at) / i128::from(at + 1));
                return Ok(Value::Int(if k > n { 0 } else { i64::try_from(ways).map_err(|_| unread())? }));
            }
            ("isqrt", [Value::Int(a)]) if *a >= 0 => return Ok(Value::Int(a.isqrt())),
            ("ceil" | "floor" | "trunc", [Value::Int(a)]) => return Ok(Value::Int(*a)),
            _ => {}
        }
        let floats: Option<Vec<f64>> = values.iter().map(|value| self.plain(value.clone()).as_float()).collect();
        let is_finite = floats.iter().flatten().all(|value| value.is_finite());
        let whole = |value: f64| exact(value).map(Value::Int);
        let result = match (name, floats.as_deref().ok_or_else(unread)?) {
            ("ceil", [a]) => return whole(a.ceil()).ok_or_else(unread),
            ("floor", [a]) => return whole(a.floor()).ok_or_else(unread),
            ("trunc", [a]) => return whole(a.trunc()).ok_or_else(unread),
            ("sqrt", [a]) if *a >= 0.0 => a.sqrt(),
            ("exp", [a]) => a.exp(),
            ("log", [a]) if *a > 0.0 => a.ln(),
            ("log", [a, base]) if *a > 0.0 && *base > 0.0 => a.ln() / base.ln(),
            ("log2", [a]) if *a > 0.0 => a.log2(),
            ("log10", [a]) if *a > 0.0 => a.log10(),
            ("sin", [a]) => a.sin(),
            ("cos", [a]) => a.cos(),
            ("tanh", [a]) => a.tanh(),
            ("fabs", [a]) => a.abs(),
            ("pow", [a, b]) => a.powf(*b),
            _ => return Err(unread()),
        };
        if is_finite && !result.is_finite() {
            // Python raises an error.
            return Err(unread());
        }
        Ok(Value::Float(result))
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
