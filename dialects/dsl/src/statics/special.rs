//! Methods of plain classes that Python calls for operators and built-in functions.

use ruff_python_ast::{CmpOp, Operator, UnaryOp};
use tf_core::Span;

use super::{Args, Python};
use crate::names::Builtin;
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// The method of an operator, and that of its right operand.
pub(super) fn binary_names(op: Operator) -> (&'static str, &'static str) {
    match op {
        Operator::Add => ("__add__", "__radd__"),
        Operator::Sub => ("__sub__", "__rsub__"),
        Operator::Mult => ("__mul__", "__rmul__"),
        Operator::MatMult => ("__matmul__", "__rmatmul__"),
        Operator::Div => ("__truediv__", "__rtruediv__"),
        Operator::FloorDiv => ("__floordiv__", "__rfloordiv__"),
        Operator::Mod => ("__mod__", "__rmod__"),
        Operator::Pow => ("__pow__", "__rpow__"),
        Operator::LShift => ("__lshift__", "__rlshift__"),
        Operator::RShift => ("__rshift__", "__rrshift__"),
        Operator::BitAnd => ("__and__", "__rand__"),
        Operator::BitOr => ("__or__", "__ror__"),
        Operator::BitXor => ("__xor__", "__rxor__"),
    }
}

/// The method of `op=`.
pub(super) fn inplace_name(op: Operator) -> String {
    binary_names(op).0.replacen("__", "__i", 1)
}

pub(super) fn unary_name(op: UnaryOp) -> Option<&'static str> {
    Some(match op {
        UnaryOp::USub => "__neg__",
        UnaryOp::UAdd => "__pos__",
        UnaryOp::Invert => "__invert__",
        UnaryOp::Not => return None,
    })
}

/// The method of a comparison, and that of its right operand.
pub(super) fn compare_names(op: CmpOp) -> Option<(&'static str, &'static str)> {
    Some(match op {
        CmpOp::Eq => ("__eq__", "__eq__"),
        CmpOp::NotEq => ("__ne__", "__ne__"),
        CmpOp::Lt => ("__lt__", "__gt__"),
        CmpOp::LtE => ("__le__", "__ge__"),
        CmpOp::Gt => ("__gt__", "__lt__"),
        CmpOp::GtE => ("__ge__", "__le__"),
        _ => return None,
    })
}

impl<'c> Parser<'_, 'c> {
    /// What a special method of an instance gives; none where its class has none.
    pub(super) fn run_special(
        &mut self,
        owner: &Value<'c>,
        name: &str,
        args: Vec<Value<'c>>,
        span: Span,
    ) -> Res<Option<Value<'c>>> {
        let Value::Object(object) = owner else { return Ok(None) };
        let class = object.get().class();
        let Some(class) = class else { return Ok(None) };
        self.known(owner, span)?;
        match self.class_attribute(class, name, span)? {
            None | Some(Value::None) => Ok(None),
            Some(Value::Factory(at)) => {
                let args = Args::of([owner.clone()].into_iter().chain(args), span);
                self.nested(span, |p| p.factory_call(at, args, span)).map(Some)
            }
            Some(other) => Err(Refusal::unread(span, format!("`{name}` is {}, which is not run", other.describe()))),
        }
    }

    /// `a op b`: the method of the left operand, then that of the right one; of a class that extends the other's, first.
    pub(super) fn special_of_two(
        &mut self,
        own: &str,
        reflected: &str,
        a: &Value<'c>,
        b: &Value<'c>,
        span: Span,
    ) -> Res<Option<Value<'c>>> {
        let class = |value: &Value<'c>| match value {
            Value::Object(object) => object.get().class(),
            _ => None,
        };
        let mut tries = [(a, own, b), (b, reflected, a)];
        if let (Some(left), Some(right)) = (class(a), class(b))
            && left != right
            && self.extends(right, left)
        {
            tries.reverse();
        }
        for (owner, name, other) in tries {
            match self.run_special(owner, name, vec![other.clone()], span)? {
                None | Some(Value::Builtin(Builtin::Python(Python::NotImplemented))) => {}
                Some(value) => return Ok(Some(value)),
            }
        }
        Ok(None)
    }
}
