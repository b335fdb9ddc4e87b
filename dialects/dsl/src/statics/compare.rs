//! Truth and comparison of constants, as Python has them.

use ruff_python_ast::CmpOp;
use std::cmp::Ordering;
use tf_core::Span;

use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// Values in what is compared.
const COMPARED: usize = 1 << 16;

impl<'c> Parser<'_, 'c> {
    /// `a op b` of constants.
    pub(crate) fn decided(&mut self, op: CmpOp, a: &Value<'c>, b: &Value<'c>, span: Span) -> Res<bool> {
        self.weigh(a, 1, span)?;
        if let CmpOp::In | CmpOp::NotIn = op {
            self.weigh(a, b.count().unwrap_or(0), span)?;
        }
        a.compare(op, b).ok_or_else(|| {
            let (a, b) = (a.describe(), b.describe());
            Refusal::unread(span, format!("`{}` is not decided between {a} and {b}", op.as_str()))
        })
    }

    /// Counts that a constant is compared so often.
    pub(super) fn weigh(&mut self, value: &Value<'c>, times: usize, span: Span) -> Res<()> {
        match value {
            Value::Tuple(_) | Value::List(_) | Value::Dict(_) | Value::Object(_) => {}
            _ if times < 2 || self.body.is_some() => return Ok(()),
            _ => {}
        }
        let weight = value.weight(COMPARED);
        if weight == COMPARED {
            return Err(Refusal::unread(
                span,
                format!("{} of more than {COMPARED} values is not compared", value.describe()),
            ));
        }
        self.count_elements(weight.saturating_mul(times), span)
    }
}

impl<'c> Value<'c> {
    /// Whether a constant is true.
    pub(crate) fn truth(&self) -> Option<bool> {
        match self {
            Self::None => Some(false),
            Self::Bool(value) => Some(*value),
            Self::Int(value) => Some(*value != 0),
            Self::Float(value) => Some(*value != 0.0),
            Self::Str(text) => Some(!text.as_str().is_empty()),
            Self::Tuple(items) | Self::List(items) => Some(!items.items.is_empty()),
            Self::Dict(items) => Some(!items.items().is_empty()),
            Self::Object(object) => Some(!object.is_tuple || !object.values.is_empty()),
            Self::Module(_) | Self::Factory(_) | Self::Record(_) | Self::Function(_) => Some(true),
            _ => None,
        }
    }

    /// An integer or float as a float.
    pub(crate) fn as_float(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether two constants are equal; none where that is not known here.
    pub(crate) fn static_eq(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::None, Self::None) => Some(true),
            (Self::Bool(a), Self::Bool(b)) => Some(a == b),
            (Self::Bool(a), Self::Int(b)) | (Self::Int(b), Self::Bool(a)) => Some(i64::from(*a) == *b),
            (Self::Int(a), Self::Int(b)) => Some(a == b),
            (Self::Str(a), Self::Str(b)) => Some(a == b),
            (Self::Dim(a), Self::Dim(b)) => Some(a == b),
            (Self::DType(a), Self::DType(b)) => Some(a == b),
            (Self::Storage(a), Self::Storage(b)) => Some(a == b),
            (Self::Object(a), Self::Object(b)) => {
                if std::rc::Rc::ptr_eq(a, b) {
                    return Some(true);
                }
                if a.record != b.record || a.names != b.names {
                    return Some(false);
                }
                a.values.iter().zip(&b.values).try_fold(true, |same, (a, b)| Some(same && a.static_eq(b)?))
            }
            (Self::Dict(a), Self::Dict(b)) => {
                if a.items().len() != b.items().len() {
                    return Some(false);
                }
                a.items().iter().try_fold(true, |same, (key, a)| match b.get(key) {
                    Some(b) => Some(same && a.static_eq(b)?),
                    None => Some(false),
                })
            }
            (Self::Tuple(a), Self::Tuple(b)) | (Self::List(a), Self::List(b)) => {
                if std::rc::Rc::ptr_eq(a, b) {
                    return Some(true);
                }
                if a.items.len() != b.items.len() {
                    return Some(false);
                }
                a.items.iter().zip(&b.items).try_fold(true, |same, (a, b)| Some(same && a.static_eq(b)?))
            }
            (
                Self::None | Self::Bool(_) | Self::Int(_) | Self::Float(_) | Self::Str(_) | Self::Tuple(_),
                Self::None | Self::Bool(_) | Self::Int(_) | Self::Float(_) | Self::Str(_) | Self::Tuple(_),
            ) => match (self.as_float(), other.as_float()) {
                (Some(a), Some(b)) => Some(a == b),
                _ => Some(false),
            },
            (Self::None, _) | (_, Self::None) => Some(false),
            _ => None,
        }
    }

    /// The order of two constants; none where they have none here.
    pub(crate) fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Some(a.cmp(b)),
            (Self::Bool(a), Self::Bool(b)) => Some(a.cmp(b)),
            (Self::Str(a), Self::Str(b)) => Some(a.as_str().cmp(b.as_str())),
            (Self::Tuple(a), Self::Tuple(b)) | (Self::List(a), Self::List(b)) => {
                for (a, b) in a.items.iter().zip(&b.items) {
                    if !a.static_eq(b)? {
                        return a.order(b);
                    }
                }
                Some(a.items.len().cmp(&b.items.len()))
            }
            _ => self.as_float()?.partial_cmp(&other.as_float()?),
        }
    }

    /// `a op b` of constants; none where it is not defined here.
    pub(crate) fn compare(&self, op: CmpOp, other: &Self) -> Option<bool> {
        let order = || self.order(other);
        let is_identity = || {
            let is_single = |value: &Self| matches!(value, Self::None | Self::Bool(_) | Self::Object(_));
            is_single(self) || is_single(other)
        };
        let is_in = || match other {
            Self::Dict(items) => Some(items.get(self).is_some()),
            Self::Str(text) => match self {
                Self::Str(part) => Some(text.as_str().contains(part.as_str())),
                _ => None,
            },
            _ => other.as_sequence()?.iter().try_fold(false, |found, item| Some(found || item.static_eq(self)?)),
        };
        match op {
            CmpOp::Eq => self.static_eq(other),
            CmpOp::NotEq => self.static_eq(other).map(|same| !same),
            CmpOp::Is if is_identity() => self.static_eq(other),
            CmpOp::IsNot if is_identity() => self.static_eq(other).map(|same| !same),
            CmpOp::Lt => order().map(|order| order == Ordering::Less),
            CmpOp::LtE => order().map(|order| order != Ordering::Greater),
            CmpOp::Gt => order().map(|order| order == Ordering::Greater),
            CmpOp::GtE => order().map(|order| order != Ordering::Less),
            CmpOp::In => is_in(),
            CmpOp::NotIn => is_in().map(|found| !found),
            _ => None,
        }
    }
}
