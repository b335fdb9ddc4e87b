//! Enums: their members, which are one each.

use std::rc::Rc;

use ruff_python_ast as ast;
use tf_core::Span;
use tf_types::Symbol;

use super::class::Kind;
use super::{Args, Instance, Python};
use crate::names::Builtin;
use crate::parser::{Binding, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// What members of an enum are besides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Payload {
    Int,
    Str,
    /// `(int, Enum)` or `(str, Enum)`, which strings show by name.
    Named,
}

fn is_auto(value: &Value<'_>) -> bool {
    matches!(value, Value::Builtin(Builtin::Python(Python::Auto)))
}

impl<'c> Parser<'_, 'c> {
    /// The members of an enum in order.
    pub(super) fn members_of(&self, class: usize) -> Option<Rc<Vec<Value<'c>>>> {
        let record = &self.records[class];
        matches!(record.kind, Kind::Enum { .. }).then(|| Rc::clone(&record.members))
    }

    /// `Enum("Color", "RED BLUE")`.
    pub(super) fn enum_of(&mut self, python: Python, args: Args<'c>, span: Span) -> Res<Value<'c>> {
        let values = args.values(python.name())?;
        let [Value::Str(name), members] = &values[..] else { return Err(self.not_read(python.name(), &values, span)) };
        let payload = (python == Python::IntEnum).then_some(Payload::Int);
        let record = self.new_record(*name, Kind::Enum { payload }, Vec::new(), Vec::new());
        let mut pairs = Vec::new();
        match members {
            Value::Str(text) => {
                let words = text.as_str().split([' ', ',']).filter(|word| !word.is_empty());
                pairs.extend(words.map(|word| (self.cx.symbol(word), None)));
            }
            Value::Dict(dict) => {
                for (name, value) in dict.get().items() {
                    let Value::Str(name) = name else { return Err(self.not_read(python.name(), &values, span)) };
                    pairs.push((*name, Some(value.clone())));
                }
            }
            other => {
                for item in self.items_of(other, span)? {
                    match (&item, item.as_sequence().as_deref().map(|pair| &pair[..])) {
                        (Value::Str(name), _) => pairs.push((*name, None)),
                        (_, Some([Value::Str(name), value])) => pairs.push((*name, Some(value.clone()))),
                        _ => return Err(self.not_read(python.name(), &values, span)),
                    }
                }
            }
        }
        let mut assigned = Vec::with_capacity(pairs.len());
        for (at, (name, value)) in (1..).zip(pairs) {
            let value = value.unwrap_or(Value::Int(at));
            self.records[record].names.borrow_mut().insert(name, Binding::Value(value));
            assigned.push(name);
        }
        self.enum_members(record, payload, &assigned, span)?;
        Ok(Value::Record(record))
    }

    /// `@unique`: refuses two names of one member.
    pub(super) fn unique(&self, class: usize, span: Span) -> Res<Value<'c>> {
        let names = self.records[class].names.borrow();
        let members = names.values().filter(|binding| match binding {
            Binding::Value(Value::Object(member)) => member.get().class() == Some(class),
            _ => false,
        });
        match members.count() == self.records[class].members.len() {
            true => Ok(Value::Record(class)),
            false => {
                Err(Refusal::wrong(span, "the enum is unique, and has two names of one member").raises("ValueError"))
            }
        }
    }

    /// Makes the members of an enum of the values that its statements assign.
    pub(super) fn enum_members(
        &mut self,
        record: usize,
        payload: Option<Payload>,
        assigned: &[Symbol<'c>],
        at: Span,
    ) -> Res<()> {
        let mut values: Vec<Value<'c>> = Vec::new();
        for (place, &name) in assigned.iter().enumerate() {
            let bound = self.records[record].names.borrow().get(&name).cloned();
            let value = match bound {
                Some(Binding::Value(Value::Factory(_) | Value::Wrapped(..))) => continue,
                Some(Binding::Value(value)) => value,
                _ => return Err(Refusal::Reported),
            };
            if name.as_str().starts_with("__") {
                continue;
            }
            if assigned[..place].contains(&name) {
                return Err(Refusal::wrong(at, format!("the enum has two members `{name}`")));
            }
            let is_flag = self.records[record].flags.is_some();
            let fits = match payload {
                _ if is_flag => matches!(value, Value::Int(0..)),
                None => true,
                Some(Payload::Int) => matches!(value, Value::Int(_)),
                Some(Payload::Str) => matches!(value, Value::Str(_)),
                Some(Payload::Named) => matches!(value, Value::Int(_) | Value::Str(_)),
            };
            if !fits {
                return self
                    .unread_class(at, &format!("with the member `{name}`, {}, which is not read", value.describe()));
            }
            let mut alias = None;
            self.step(values.len(), at)?;
            let members = Rc::clone(&self.records[record].members);
            let flags = self.records[record].flags.clone().unwrap_or_default();
            for flag in &flags {
                if let (Some((_, bits)), Value::Int(value)) = (self.bits(flag), &value)
                    && bits == *value
                {
                    alias = Some(flag.clone());
                }
            }
            for (known, member) in values.iter().zip(&*members) {
                if self.equal(known, &value, at)? {
                    alias = Some(member.clone());
                }
            }
            drop(members);
            let member = match alias {
                Some(member) => member,
                None => {
                    let attributes =
                        vec![(self.cx.symbol("name"), Value::Str(name)), (self.cx.symbol("value"), value.clone())];
                    let member = self.heap.instance(Instance::of(record, attributes, true));
                    // Several flags under one name are no member of their own.
                    let is_one = !matches!(value, Value::Int(bits) if is_flag && bits.count_ones() != 1);
                    match &mut self.records[record].flags {
                        Some(flags) if !is_one => flags.push(member.clone()),
                        _ => {
                            values.push(value);
                            Rc::make_mut(&mut self.records[record].members).push(member.clone());
                        }
                    }
                    member
                }
            };
            self.records[record].names.borrow_mut().insert(name, Binding::Value(member));
        }
        Ok(())
    }

    /// Notes the names that a statement of a class assigns. In an enum `auto()` is a number from here on.
    pub(super) fn assigned_members(
        &mut self,
        record: usize,
        names: Vec<Symbol<'c>>,
        value: &ast::Expr,
        assigned: &mut Vec<Symbol<'c>>,
    ) -> Res<()> {
        if let Kind::Enum { payload } = self.records[record].kind {
            let mut made: Option<Value<'c>> = None;
            for &name in &names {
                let bound = self.records[record].names.borrow().get(&name).and_then(Binding::value);
                match bound {
                    Some(auto) if is_auto(&auto) && value.is_call_expr() => {
                        let at = self.span(value);
                        let number =
                            made.take().map_or_else(|| self.automatic(record, assigned, payload, name, at), Ok)?;
                        self.records[record].names.borrow_mut().insert(name, Binding::Value(number.clone()));
                        made = Some(number);
                    }
                    Some(Value::Tuple(items)) if !items.iter().any(is_auto) => {}
                    Some(other) if is_auto(&other) || matches!(other, Value::Tuple(_)) => {
                        let why = format!("with `auto()` in `{}`, which is not read", self.text(value));
                        return self.unread_class(self.span(value), &why);
                    }
                    _ => {}
                }
            }
        }
        assigned.extend(names);
        Ok(())
    }

    /// What `auto()` stands for after the members of these names.
    fn automatic(
        &self,
        record: usize,
        assigned: &[Symbol<'c>],
        payload: Option<Payload>,
        name: Symbol<'c>,
        at: Span,
    ) -> Res<Value<'c>> {
        if payload == Some(Payload::Str) {
            return Ok(Value::Str(self.cx.symbol(&name.as_str().to_lowercase())));
        }
        let names = self.records[record].names.borrow();
        let values = assigned.iter().filter(|name| !name.as_str().starts_with("__")).filter_map(|name| names.get(name));
        let ints: Option<Vec<i64>> = values
            .filter_map(|binding| match binding {
                Binding::Value(Value::Factory(_) | Value::Wrapped(..)) => None,
                Binding::Value(Value::Int(value)) => Some(Some(*value)),
                _ => Some(None),
            })
            .collect();
        if self.records[record].flags.is_some() {
            let most = ints.as_ref().map(|ints| ints.iter().copied().max().unwrap_or(0));
            return match most {
                Some(most @ 0..) if most < 1 << 61 => Ok(Value::Int(1 << (64 - most.leading_zeros()))),
                _ => self.unread_class(at, "with `auto()` after such flags, which is not read"),
            };
        }
        let last =
            ints.as_ref().map(|ints| (ints.last().copied().unwrap_or(0), ints.iter().max().copied().unwrap_or(0)));
        match last {
            Some((last, most)) if last == most && payload != Some(Payload::Named) && last < i64::MAX => {
                Ok(Value::Int(last + 1))
            }
            _ => self.unread_class(at, "with `auto()` after values that do not ascend, which is not read"),
        }
    }
}
