//! Arithmetic on compile-time numbers and dims, as Python does it.

use ruff_python_ast::{Operator, UnaryOp};
use tf_core::Span;
use tf_types::Dim;

use super::special::{binary_names, unary_name};
use crate::parser::Parser;
use crate::refusal::{AtSpan, Refusal, Res};
use crate::value::Value;

/// So that normal forms stay cheap; far above what programs say.
const MOST_DIM_OPS: u64 = 256;

/// Steps that the normal form of one operation on dims counts as.
const DIM_STEPS: usize = 6;

/// A float without a fraction as the integer that it is.
pub(super) fn exact(value: f64) -> Option<i64> {
    // Both bounds are floats; the upper one is no integer of 64 bits any more.
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value);
    (fits && value.fract() == 0.0).then_some(value as i64)
}

/// Whether a float holds the integer as it is.
fn is_exact(value: i64) -> bool {
    value.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS
}

fn overflow(op: &str, span: Span) -> Refusal {
    Refusal::unread(span, format!("the result of `{op}` does not fit into 64 bits"))
}

/// Operators on bits, which bodies have not; none for other operators.
fn bit_op(op: Operator, a: i64, b: i64) -> Option<Option<i64>> {
    Some(match op {
        Operator::BitAnd => Some(a & b),
        Operator::BitOr => Some(a | b),
        Operator::BitXor => Some(a ^ b),
        Operator::LShift => {
            let factor = u32::try_from(b).ok().and_then(|b| 1_i64.checked_shl(b)).filter(|factor| *factor > 0);
            factor.and_then(|factor| a.checked_mul(factor))
        }
        Operator::RShift => u32::try_from(b).ok().map(|b| a >> b.min(63)),
        _ => return None,
    })
}

fn int_op<'c>(op: Operator, a: i64, b: i64, span: Span) -> Res<Value<'c>> {
    let by_zero =
        || Refusal::wrong(span, format!("`{a} {} {b}` divides by zero", op.as_str())).raises("ZeroDivisionError");
    let floor = |a: i64, b: i64| {
        let quotient = a.checked_div(b)?;
        Some(quotient - i64::from(a % b != 0 && (a < 0) != (b < 0)))
    };
    let value = match op {
        Operator::Add => a.checked_add(b),
        Operator::Sub => a.checked_sub(b),
        Operator::Mult => a.checked_mul(b),
        Operator::Div if b == 0 => return Err(by_zero()),
        Operator::Div if is_exact(a) && is_exact(b) => return Ok(Value::Float(a as f64 / b as f64)),
        Operator::Div if a.checked_rem(b).is_none_or(|rest| rest == 0) => {
            return Ok(Value::Float(a.checked_div(b).map_or(-(a as f64), |a| a as f64)));
        }
        Operator::Div => {
            let message = format!("`{a} / {b}` is not read: an operand is above 2 ** 53");
            return Err(Refusal::unread(span, message));
        }
        Operator::FloorDiv | Operator::Mod if b == 0 => return Err(by_zero()),
        Operator::FloorDiv => floor(a, b),
        Operator::Mod => floor(a, b).map(|q| a.wrapping_sub(q.wrapping_mul(b))),
        Operator::Pow if b < 0 && a == 0 => return Err(by_zero()),
        Operator::Pow if b < 0 => return float_op(op, a as f64, b as f64, span),
        Operator::Pow => match a {
            0 | 1 if b > 0 => Some(a),
            -1 => Some(if b % 2 == 0 { 1 } else { -1 }),
            _ => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
        },
        _ => return Err(unread_operator(op, span)),
    };
    value.map(Value::Int).ok_or_else(|| overflow(op.as_str(), span))
}

fn float_op<'c>(op: Operator, a: f64, b: f64, span: Span) -> Res<Value<'c>> {
    if b == 0.0 && matches!(op, Operator::Div | Operator::FloorDiv | Operator::Mod) {
        return Err(
            Refusal::wrong(span, format!("`{a:?} {} {b:?}` divides by zero", op.as_str())).raises("ZeroDivisionError")
        );
    }
    let value = match op {
        Operator::Add => a + b,
        Operator::Sub => a - b,
        Operator::Mult => a * b,
        Operator::Div => a / b,
        Operator::FloorDiv | Operator::Mod => {
            // As CPython: the rest is exact and has the sign of the divisor, the quotient follows from it.
            let rest = a % b;
            let wraps = rest != 0.0 && (rest < 0.0) != (b < 0.0);
            let whole = (a - rest) / b - if wraps { 1.0 } else { 0.0 };
            let floor = whole.floor();
            match op {
                Operator::Mod if rest == 0.0 => 0.0_f64.copysign(b),
                Operator::Mod => rest + if wraps { b } else { 0.0 },
                _ if whole == 0.0 => 0.0_f64.copysign(a / b),
                _ => floor + if whole - floor > 0.5 { 1.0 } else { 0.0 },
            }
        }
        Operator::Pow if a == 0.0 && b < 0.0 => {
            return Err(Refusal::wrong(span, format!("`{a:?} ** {b:?}` divides by zero")).raises("ZeroDivisionError"));
        }
        Operator::Pow => {
            let power = a.powf(b);
            if power.is_nan() && !a.is_nan() && !b.is_nan() {
                return Err(Refusal::unread(
                    span,
                    format!("`{a:?} ** {b:?}` is a complex number, and those are not read"),
                ));
            }
            if power.is_infinite() && a.is_finite() && b.is_finite() {
                return Err(Refusal::wrong(span, format!("`{a:?} ** {b:?}` is too large for a float")));
            }
            power
        }
        _ => return Err(unread_operator(op, span)),
    };
    // The bits of a nan do not depend on the machine.
    Ok(Value::Float(if value.is_nan() { f64::NAN } else { value }))
}

pub(crate) fn unread_operator(op: Operator, span: Span) -> Refusal {
    let op = op.as_str();
    let refusal = Refusal::unread(span, format!("the operator `{op}` is not part of the language"));
    match op {
        "&" => refusal.help("the logical and is `and`"),
        "|" => refusal.help("the logical or is `or`"),
        "**" => refusal.help("a square is `x * x`, or `tf.square(x)`"),
        _ => refusal,
    }
}

impl<'c> Parser<'_, 'c> {
    /// `a op b` on compile-time values.
    pub(crate) fn static_binary(&mut self, op: Operator, a: &Value<'c>, b: &Value<'c>, span: Span) -> Res<Value<'c>> {
        self.read(a, span)?;
        self.read(b, span)?;
        if let (Value::Object(_), _) | (_, Value::Object(_)) = (a, b) {
            if let Some(flag) = self.flag_op(op, a, b, span)? {
                return Ok(flag);
            }
            let (x, y) = (self.payload(a), self.payload(b));
            if x.is_some() || y.is_some() {
                return self.static_binary(op, &x.unwrap_or(a.clone()), &y.unwrap_or(b.clone()), span);
            }
            let (own, reflected) = binary_names(op);
            if let Some(value) = self.special_of_two(own, reflected, a, b, span)? {
                return Ok(value);
            }
        }
        if let (Value::Bool(a), Value::Bool(b)) = (a, b)
            && let Some(Some(bits)) = bit_op(op, i64::from(*a), i64::from(*b))
            && matches!(op, Operator::BitAnd | Operator::BitOr | Operator::BitXor)
            && self.body.is_none()
        {
            return Ok(Value::Bool(bits == 1));
        }
        let number = |value: &Value<'c>| match value {
            Value::Bool(value) => Value::Int(i64::from(*value)),
            other => other.clone(),
        };
        if let (Value::Bool(_), Value::Bool(_) | Value::Int(_) | Value::Float(_))
        | (Value::Int(_) | Value::Float(_), Value::Bool(_)) = (a, b)
        {
            return self.static_binary(op, &number(a), &number(b), span);
        }
        match (a, b) {
            (Value::Int(a), Value::Int(b))
                if self.body.is_none()
                    && let Some(bits) = bit_op(op, *a, *b) =>
            {
                bits.map(Value::Int).ok_or_else(|| overflow(op.as_str(), span))
            }
            (Value::Int(a), Value::Int(b)) => int_op(op, *a, *b, span),
            (Value::Float(a), Value::Float(b)) => float_op(op, *a, *b, span),
            (Value::Int(a), Value::Float(b)) => float_op(op, *a as f64, *b, span),
            (Value::Float(a), Value::Int(b)) => float_op(op, *a, *b as f64, span),
            (Value::Dim(_), Value::Dim(_) | Value::Int(_)) | (Value::Int(_), Value::Dim(_)) => {
                let cx = self.cx;
                let (lhs, rhs) = (self.to_dim(a, "an operand", span)?, self.to_dim(b, "an operand", span)?);
                self.step_dims(&[lhs, rhs], span)?;
                let dim = match op {
                    Operator::Add => cx.dim_add(lhs, rhs),
                    Operator::Sub => cx.dim_sub(lhs, rhs),
                    Operator::Mult => cx.dim_mul(lhs, rhs),
                    Operator::FloorDiv | Operator::Mod => {
                        cx.check_divisor(rhs).at(span)?;
                        if op == Operator::Mod { cx.dim_mod(lhs, rhs) } else { cx.dim_floor_div(lhs, rhs) }
                    }
                    _ => {
                        let message = format!("dims have no operator `{}`; they have + - * // %", op.as_str());
                        return Err(Refusal::wrong(span, message));
                    }
                };
                self.computed_dim(dim, span)
            }
            _ if let Some(joined) = self.joined(op, a, b, span) => joined,
            _ => {
                let message = format!("`{}` is not defined between {} and {}", op.as_str(), a.describe(), b.describe());
                Err(Refusal::unread(span, message))
            }
        }
    }

    /// Counts what the normal form of dims takes, outside bodies.
    pub(super) fn step_dims(&mut self, dims: &[Dim<'c>], span: Span) -> Res<()> {
        if self.body.is_some() {
            return Ok(());
        }
        let ops = dims.iter().map(|dim| dim.op_count()).sum::<u64>().min(MOST_DIM_OPS * 2);
        self.step(DIM_STEPS * (1 + ops as usize), span)
    }

    /// A dim in normal form that an operation made.
    pub(crate) fn computed_dim(&self, dim: Dim<'c>, span: Span) -> Res<Value<'c>> {
        if dim.op_count() > MOST_DIM_OPS {
            let message = format!("a dim of more than {MOST_DIM_OPS} operations");
            return Err(Refusal::unread(span, message).help("a `DimVar` of its own can stand for a part of it"));
        }
        Ok(dim.as_const().map_or(Value::Dim(dim), Value::Int))
    }

    /// `op a` on a compile-time value.
    pub(crate) fn static_unary(&mut self, op: UnaryOp, value: &Value<'c>, span: Span) -> Res<Value<'c>> {
        self.read(value, span)?;
        if op == UnaryOp::Not {
            if let Some(truth) = self.truth_known(value, span)? {
                return Ok(Value::Bool(!truth));
            }
        } else if let UnaryOp::Invert = op
            && let Some(flag) = self.other_flags(value, span)?
        {
            return Ok(flag);
        } else if let Some(name) = unary_name(op)
            && let Some(value) = self.run_special(value, name, Vec::new(), span)?
        {
            return Ok(value);
        }
        let plain = match self.plain(value.clone()) {
            Value::Bool(truth) if self.body.is_none() => Value::Int(i64::from(truth)),
            plain => plain,
        };
        match (op, &plain) {
            (UnaryOp::USub, Value::Int(a)) => a.checked_neg().map(Value::Int).ok_or_else(|| overflow("-", span)),
            (UnaryOp::USub, Value::Float(a)) => Ok(Value::Float(-a)),
            (UnaryOp::USub, Value::Dim(dim)) => {
                self.step_dims(&[*dim], span)?;
                Ok(self.dim_value(self.cx.dim_sub(self.cx.dim(0), *dim)))
            }
            (UnaryOp::UAdd, Value::Int(_) | Value::Float(_) | Value::Dim(_)) => Ok(plain),
            (UnaryOp::Invert, Value::Int(a)) if self.body.is_none() => Ok(Value::Int(!a)),
            _ => {
                let message = format!("`{}` is not defined for {}", op.as_str(), value.describe());
                Err(Refusal::unread(span, message))
            }
        }
    }
}
