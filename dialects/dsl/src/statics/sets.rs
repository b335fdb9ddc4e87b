//! Methods of sets.

use tf_core::Span;

use super::Dict;
use super::methods::unread;
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// Those that change the set.
const SET_CHANGES: &[&str] = &[
    "add",
    "clear",
    "difference_update",
    "discard",
    "intersection_update",
    "pop",
    "remove",
    "symmetric_difference_update",
    "update",
];
const SET: &[&str] =
    &["copy", "difference", "intersection", "isdisjoint", "issubset", "issuperset", "symmetric_difference", "union"];

/// Whether a set has a method of that name.
pub(super) fn is_method(name: &str, is_frozen: bool) -> bool {
    SET.contains(&name) || SET_CHANGES.contains(&name) && !is_frozen
}

impl<'c> Parser<'_, 'c> {
    pub(super) fn set_method(
        &mut self,
        owner: &Value<'c>,
        name: &str,
        values: &[Value<'c>],
        span: Span,
    ) -> Res<Value<'c>> {
        let Value::Set(set) = owner else { return Err(unread(owner, name, span)) };
        let count = set.get().items.len();
        match (name, values) {
            ("add" | "discard" | "remove", [item]) => {
                let key = self.key(item, "element of a set", span)?;
                let is_there = set.get().items.get(&key).is_some();
                match name {
                    "add" if !is_there => set.change().items.put(key, item.clone(), Value::None),
                    "add" => {}
                    "remove" if !is_there => {
                        return Err(
                            Refusal::unread(span, format!("{} is not in the set", item.describe())).raises("KeyError")
                        );
                    }
                    _ => {
                        self.step(count, span)?;
                        set.change().items.remove(&key);
                    }
                }
                return Ok(Value::None);
            }
            ("pop", []) if count == 1 => {
                let only = set.get().items.items()[0].0.clone();
                set.change().items = Dict::default();
                return Ok(only);
            }
            ("pop", []) => {
                return Err(Refusal::unread(
                    span,
                    format!("which item `pop` takes of {} is not known", owner.describe()),
                ));
            }
            ("clear", []) => {
                set.change().items = Dict::default();
                return Ok(Value::None);
            }
            _ => {}
        }
        let mut result = set.get().items.clone();
        let is_frozen = set.get().is_frozen;
        self.step(count, span)?;
        let mut others = Vec::with_capacity(values.len());
        for value in values {
            let items = self.any_order(value, span)?;
            others.push(self.distinct(items, span)?);
        }
        let within = |a: &Dict<'c>, b: &Dict<'c>| a.keys().all(|key| b.get(key).is_some());
        match (name, &others[..]) {
            ("issubset", [other]) => return Ok(Value::Bool(within(&result, other))),
            ("issuperset", [other]) => return Ok(Value::Bool(within(other, &result))),
            ("isdisjoint", [other]) => return Ok(Value::Bool(!result.keys().any(|key| other.get(key).is_some()))),
            ("symmetric_difference" | "symmetric_difference_update", [_]) | ("copy", []) => {}
            ("union" | "update" | "intersection" | "intersection_update" | "difference" | "difference_update", _) => {}
            _ => return Err(unread(owner, name, span)),
        }
        for other in others {
            let kept = match name {
                "union" | "update" => result.entries().into_iter().chain(other.entries()).collect(),
                "symmetric_difference" | "symmetric_difference_update" => {
                    let own = result.entries().into_iter().filter(|(key, ..)| other.get(key).is_none());
                    own.chain(other.entries().into_iter().filter(|(key, ..)| result.get(key).is_none())).collect()
                }
                _ => {
                    let keeps = name.starts_with("intersection");
                    let mut own = result.entries();
                    own.retain(|(key, ..)| other.get(key).is_some() == keeps);
                    own
                }
            };
            self.step(kept.len(), span)?;
            let mut next = Dict::default();
            for (key, item, value) in kept {
                if next.get(&key).is_none() {
                    next.put(key, item, value);
                }
            }
            result = next;
        }
        if name == "update" || name.ends_with("_update") {
            set.change().items = result;
            return Ok(Value::None);
        }
        Ok(self.heap.set(result, is_frozen))
    }
}
