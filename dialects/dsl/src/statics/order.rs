//! The order of constants, as Python has it, and sorting by it.

use std::cmp::Ordering;
use std::rc::Rc;

use ruff_python_ast::CmpOp;
use tf_core::Span;

use super::compare::numeric;
use super::{Args, Dict};
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::{SEQUENCE_DEPTH, Sequence, Value};

fn no_order(a: &Value<'_>, b: &Value<'_>, span: Span) -> Refusal {
    Refusal::unread(span, format!("{} and {} have no order", a.describe(), b.describe()))
}

impl<'c> Parser<'_, 'c> {
    /// `a < b` and its like.
    pub(super) fn ranked(&mut self, op: CmpOp, a: &Value<'c>, b: &Value<'c>, depth: u32, span: Span) -> Res<bool> {
        let holds = |order: Ordering| match op {
            CmpOp::Lt => order.is_lt(),
            CmpOp::LtE => order.is_le(),
            CmpOp::Gt => order.is_gt(),
            _ => order.is_ge(),
        };
        if let Some(order) = numeric(a, b) {
            return Ok(order.is_some_and(holds));
        }
        if depth > SEQUENCE_DEPTH {
            return Err(Refusal::unread(
                span,
                format!("values that nest more than {SEQUENCE_DEPTH} deep are not compared"),
            ));
        }
        self.known(a, span)?;
        self.known(b, span)?;
        match (a, b) {
            (Value::Str(a), Value::Str(b)) => Ok(holds(a.as_str().cmp(b.as_str()))),
            (Value::Set(x), Value::Set(y)) => {
                let (x, y) = (&x.get().items, &y.get().items);
                let within = |x: &Dict<'c>, y: &Dict<'c>| x.keys().all(|key| y.get(key).is_some());
                Ok(match op {
                    CmpOp::Lt => x.len() < y.len() && within(x, y),
                    CmpOp::LtE => within(x, y),
                    CmpOp::Gt => y.len() < x.len() && within(y, x),
                    _ => within(y, x),
                })
            }
            (Value::Tuple(_), Value::Tuple(_)) | (Value::List(_), Value::List(_)) => {
                let (Some(a), Some(b)) = (a.as_sequence(), b.as_sequence()) else { return Ok(false) };
                self.ranked_parts(op, &a, &b, depth, span)
            }
            (Value::Object(_), _) | (_, Value::Object(_)) => {
                let (x, y) = (self.payload(a), self.payload(b));
                if x.is_some() || y.is_some() {
                    return self.ranked(op, &x.unwrap_or(a.clone()), &y.unwrap_or(b.clone()), depth + 1, span);
                }
                if let Some(holds) = self.compare_objects(op, a, b, span)? {
                    return Ok(holds);
                }
                let (Value::Object(x), Value::Object(y)) = (a, b) else { return Err(no_order(a, b, span)) };
                let (class, other) = (x.get().class(), y.get().class());
                if x.get().is_tuple && y.get().is_tuple {
                    let (Some(a), Some(b)) = (a.as_sequence(), b.as_sequence()) else { return Ok(false) };
                    return self.ranked_parts(op, &a, &b, depth, span);
                }
                match class.filter(|class| other == Some(*class)).and_then(|class| self.order_of(class)) {
                    Some(owner) => {
                        let (a, b) = (self.compared_fields(owner, a, span)?, self.compared_fields(owner, b, span)?);
                        self.ranked_parts(op, &a, &b, depth, span)
                    }
                    None => Err(no_order(a, b, span)),
                }
            }
            _ => Err(no_order(a, b, span)),
        }
    }

    /// The first parts that differ decide.
    fn ranked_parts(&mut self, op: CmpOp, a: &[Value<'c>], b: &[Value<'c>], depth: u32, span: Span) -> Res<bool> {
        for (a, b) in a.iter().zip(b) {
            if !self.equal_parts(a, b, depth + 1, span)? {
                return self.ranked(op, a, b, depth + 1, span);
            }
        }
        let (a, b) = (Value::Int(a.len() as i64), Value::Int(b.len() as i64));
        self.ranked(op, &a, &b, depth, span)
    }

    /// The items in ascending order of what `key` gives, stable in both directions.
    pub(super) fn sorted(
        &mut self,
        items: Vec<Value<'c>>,
        key: Option<&Value<'c>>,
        reverse: bool,
        span: Span,
    ) -> Res<Vec<Value<'c>>> {
        self.step(items.len(), span)?;
        let mut ranked = Vec::with_capacity(items.len());
        for item in items {
            let rank = match key {
                Some(key) if !matches!(key, Value::None) => {
                    self.call_value(key, Args::of([item.clone()], span), span)?
                }
                _ => item.clone(),
            };
            if is_partial(&rank) {
                return Err(no_order(&rank, &rank, span));
            }
            ranked.push((rank, item));
        }
        let mut width = 1;
        while width < ranked.len() {
            let mut merged = Vec::with_capacity(ranked.len());
            let mut rest = ranked.into_iter().peekable();
            while rest.peek().is_some() {
                let left: Vec<_> = rest.by_ref().take(width).collect();
                let right: Vec<_> = rest.by_ref().take(width).collect();
                let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
                while let (Some((a, _)), Some((b, _))) = (left.peek(), right.peek()) {
                    self.step(1, span)?;
                    let is_after = match reverse {
                        false => self.ranked(CmpOp::Lt, b, a, 0, span)?,
                        true => self.ranked(CmpOp::Lt, a, b, 0, span)?,
                    };
                    merged.extend(if is_after { right.next() } else { left.next() });
                }
                merged.extend(left.chain(right));
            }
            ranked = merged;
            width *= 2;
        }
        Ok(ranked.into_iter().map(|(_, item)| item).collect())
    }
}

/// Whether a value is not in order with all others of its kind, so that how they are sorted depends on the steps.
fn is_partial(value: &Value<'_>) -> bool {
    let mut stack: Vec<(Value<'_>, u32)> = vec![(value.clone(), 0)];
    while let Some((value, depth)) = stack.pop() {
        match &value {
            Value::Float(number) if number.is_nan() => return true,
            Value::Set(_) => return true,
            Value::Tuple(_) | Value::List(_) if depth < 3 => {
                let items: Option<Rc<Sequence<'_>>> = value.as_sequence();
                stack
                    .extend(items.iter().flat_map(|items| items.iter().take(64)).map(|item| (item.clone(), depth + 1)));
            }
            _ => {}
        }
    }
    false
}
