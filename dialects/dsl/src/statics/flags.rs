//! `Flag` and `IntFlag`: members that are put together.

use ruff_python_ast::Operator;
use tf_core::Span;

use super::class::Kind;
use super::{Instance, Unread};
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::Value;

impl<'c> Parser<'_, 'c> {
    /// The class and the bits of a flag; none for other values.
    pub(super) fn bits(&self, value: &Value<'c>) -> Option<(usize, i64)> {
        let Value::Object(object) = value else { return None };
        let class = object.get().class()?;
        self.records[class].flags.as_ref()?;
        match object.get().own(self.cx.symbol("value")) {
            Some(Value::Int(bits)) => Some((class, bits)),
            _ => None,
        }
    }

    /// All bits that the members of a class have.
    fn mask(&self, class: usize) -> i64 {
        let record = &self.records[class];
        let flags = record.members.iter().chain(record.flags.iter().flatten());
        flags.filter_map(|flag| self.bits(flag)).fold(0, |mask, (_, bits)| mask | bits)
    }

    /// The flag of a class with these bits, which is one: a member, or several.
    pub(super) fn flag(&mut self, class: usize, bits: i64, span: Span) -> Res<Value<'c>> {
        self.step(self.records[class].flags.as_ref().map_or(0, Vec::len) / 8, span)?;
        let record = &self.records[class];
        let mut known = record.members.iter().chain(record.flags.iter().flatten());
        if let Some(flag) = known.find(|flag| self.bits(flag) == Some((class, bits))) {
            return Ok(flag.clone());
        }
        if bits & !self.mask(class) != 0 {
            let message = format!("`{}` has no flags for {bits}", record.name);
            return Err(match record.kind {
                Kind::Enum { payload: None } => Refusal::wrong(span, message).raises("ValueError"),
                _ => Refusal::unread(span, message),
            });
        }
        let name = Unread::value("the name of several flags differs between versions of Python", span);
        let attributes = vec![(self.cx.symbol("name"), name), (self.cx.symbol("value"), Value::Int(bits))];
        let flag = self.heap.instance(Instance::of(class, attributes, true));
        if let Some(flags) = &mut self.records[class].flags {
            flags.push(flag.clone());
        }
        Ok(flag)
    }

    /// `a | b`, `a & b` and `a ^ b` of flags; none for other values and operators.
    pub(super) fn flag_op(&mut self, op: Operator, a: &Value<'c>, b: &Value<'c>, span: Span) -> Res<Option<Value<'c>>> {
        let (a, b) = match (self.bits(a), self.bits(b)) {
            (None, None) => return Ok(None),
            (Some((class, x)), Some((other, y))) if class == other => ((class, x), y),
            _ if !matches!(op, Operator::BitAnd | Operator::BitOr | Operator::BitXor) => return Ok(None),
            _ => {
                let message = format!("`{}` of {} and {} is not read", op.as_str(), a.describe(), b.describe());
                return Err(Refusal::unread(span, message));
            }
        };
        let bits = match op {
            Operator::BitAnd => a.1 & b,
            Operator::BitOr => a.1 | b,
            Operator::BitXor => a.1 ^ b,
            _ => return Ok(None),
        };
        self.flag(a.0, bits, span).map(Some)
    }

    /// `~flag`: the other flags of its class.
    pub(super) fn other_flags(&mut self, value: &Value<'c>, span: Span) -> Res<Option<Value<'c>>> {
        let Some((class, bits)) = self.bits(value) else { return Ok(None) };
        match self.records[class].kind {
            Kind::Enum { payload: None } => {
                let mask = self.mask(class);
                let alone = self.records[class].members.iter().filter_map(|flag| self.bits(flag));
                let alone = alone.filter(|(_, bits)| bits.count_ones() == 1).fold(0, |all, (_, bits)| all | bits);
                if mask != alone {
                    let message = "`~` of a flag is not read where a member has bits that no other names alone";
                    return Err(Refusal::unread(span, message));
                }
                let others = mask & !bits;
                self.flag(class, others, span).map(Some)
            }
            _ => Err(Refusal::unread(span, "`~` of an `IntFlag` differs between versions of Python")),
        }
    }
}
