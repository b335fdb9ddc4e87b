//! `copy.copy`, `copy.deepcopy` and the counts of `Counter`.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use tf_core::Span;

use super::class::Kind;
use super::{Args, Dict, Instance, Key, Ref, Set};
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::{SEQUENCE_DEPTH, Value};

/// Methods by which a class says how it is copied.
const OWN: &[&str] = &["__copy__", "__deepcopy__", "__reduce__", "__getstate__", "__setstate__"];

impl<'c> Parser<'_, 'c> {
    /// `copy.copy(value)`.
    pub(super) fn copy(&mut self, value: &Value<'c>, span: Span) -> Res<Value<'c>> {
        if let Value::Unread(unread) = value {
            return Ok(unread.another());
        }
        self.known(value, span)?;
        let weight = value.weight(1 << 12);
        self.step(weight, span)?;
        match value {
            Value::List(list) => Ok(self.heap.list(list.get().to_vec())),
            Value::Dict(dict) => Ok(self.heap.dict(dict.get().clone())),
            Value::Set(set) if !set.get().is_frozen => {
                let items = set.get().items.clone();
                Ok(self.heap.set(items, false))
            }
            Value::Object(object) if !self.is_one(value) => {
                self.check_copied(value, span)?;
                let copy = object.get().with(object.get().attributes.clone());
                Ok(self.heap.instance(copy))
            }
            Value::Iter(_) | Value::View(..) => Err(self.uncopied(value, span)),
            other => Ok(other.clone()),
        }
    }

    /// `copy.deepcopy(value)`: what is in it once stays so.
    pub(super) fn deep_copy(&mut self, value: &Value<'c>, span: Span) -> Res<Value<'c>> {
        self.deep_copied(value, 0, &mut FxHashMap::default(), span)
    }

    fn deep_copied(
        &mut self,
        value: &Value<'c>,
        depth: u32,
        known: &mut FxHashMap<usize, Value<'c>>,
        span: Span,
    ) -> Res<Value<'c>> {
        self.step(1, span)?;
        if depth > SEQUENCE_DEPTH {
            return Err(super::too_deep(span));
        }
        let place = match value {
            Value::List(list) => Rc::as_ptr(list).addr(),
            Value::Dict(dict) => Rc::as_ptr(dict).addr(),
            Value::Set(set) => Rc::as_ptr(set).addr(),
            Value::Object(object) => Rc::as_ptr(object).addr(),
            Value::Unread(unread) => Rc::as_ptr(unread).addr(),
            Value::Tuple(items) => {
                let items = items.iter().map(|item| self.deep_copied(item, depth + 1, known, span));
                let items = items.collect::<Res<Vec<_>>>()?;
                return self.tuple(items, span);
            }
            Value::Iter(_) | Value::View(..) | Value::Bound(_) | Value::Method(_) | Value::Super(_) => {
                return Err(self.uncopied(value, span));
            }
            other => return Ok(other.clone()),
        };
        if let Some(copy) = known.get(&place) {
            return Ok(copy.clone());
        }
        if let Value::Unread(unread) = value {
            let copy = unread.another();
            known.insert(place, copy.clone());
            return Ok(copy);
        }
        self.known(value, span)?;
        if self.is_one(value) {
            return Ok(value.clone());
        }
        match value {
            Value::List(list) => {
                let copy = self.heap.list(Vec::new());
                known.insert(place, copy.clone());
                let items = Rc::clone(&list.get());
                for item in items.iter() {
                    let item = self.deep_copied(item, depth + 1, known, span)?;
                    self.extend(&copy, vec![item], span)?;
                }
                Ok(copy)
            }
            Value::Dict(dict) => {
                let Value::Dict(copy) = self.heap.dict(Dict::empty(dict.get().flavour.clone())) else {
                    return Err(self.uncopied(value, span));
                };
                known.insert(place, Value::Dict(Rc::clone(&copy)));
                let entries = dict.get().entries();
                for (key, name, item) in entries {
                    if !self.is_atom(&name) {
                        return Err(self.uncopied(value, span));
                    }
                    let item = self.deep_copied(&item, depth + 1, known, span)?;
                    copy.change().put(key, name, item);
                }
                Ok(Value::Dict(copy))
            }
            Value::Set(set) => self.copied_set(set, value, span),
            Value::Object(object) => {
                self.check_copied(value, span)?;
                let copy = self.heap.instance(object.get().with(Vec::new()));
                known.insert(place, copy.clone());
                let attributes = object.get().attributes.clone();
                for (name, part) in attributes {
                    let part = self.deep_copied(&part, depth + 1, known, span)?;
                    if let Value::Object(copy) = &copy {
                        copy.change().set(name, part);
                    }
                }
                Ok(copy)
            }
            other => Ok(other.clone()),
        }
    }

    /// A set of what is one each, copied.
    fn copied_set(&mut self, set: &Ref<Set<'c>>, value: &Value<'c>, span: Span) -> Res<Value<'c>> {
        if !set.get().items.items().iter().all(|(item, _)| self.is_atom(item)) {
            return Err(self.uncopied(value, span));
        }
        let (items, is_frozen) = (set.get().items.clone(), set.get().is_frozen);
        Ok(self.heap.set(items, is_frozen))
    }

    /// Whether nothing in a key is copied.
    fn is_atom(&self, key: &Value<'c>) -> bool {
        let mut rest = vec![key];
        while let Some(value) = rest.pop() {
            match value {
                Value::Tuple(items) => rest.extend(items.iter()),
                Value::Object(_) if !self.is_one(value) => return false,
                _ => {}
            }
        }
        true
    }

    /// Whether a copy of a value is the value: a member of an enum.
    pub(super) fn is_one(&self, value: &Value<'c>) -> bool {
        let Value::Object(object) = value else { return false };
        object.get().class().is_some_and(|class| matches!(self.records[class].kind, Kind::Enum { .. }))
    }

    fn check_copied(&self, value: &Value<'c>, span: Span) -> Res<()> {
        let Value::Object(object) = value else { return Ok(()) };
        let class = object.get().class();
        match class.is_some_and(|class| OWN.iter().any(|name| self.definer(class, name).is_some())) {
            true => Err(self.uncopied(value, span)),
            false => Ok(()),
        }
    }

    fn uncopied(&self, value: &Value<'c>, span: Span) -> Refusal {
        Refusal::unread(span, format!("a copy of {} is not read", value.describe()))
    }

    /// Adds to the counts of a `Counter`: the items of a sequence, or the counts of a dict.
    pub(super) fn count_up(&mut self, owner: &Value<'c>, args: Args<'c>, sign: i64, span: Span) -> Res<()> {
        let Value::Dict(counter) = owner else { return Ok(()) };
        let mut added: Vec<(Key<'c>, Value<'c>, i64)> = Vec::new();
        let unread =
            |value: &Value<'c>| Refusal::unread(span, format!("a count is an integer, found {}", value.describe()));
        match &args.positional[..] {
            [] => {}
            [(Value::Dict(counts), _)] => {
                for (key, name, count) in counts.get().entries() {
                    let Value::Int(count) = count else { return Err(unread(&count)) };
                    added.push((key, name, count));
                }
            }
            [(items, _)] => {
                let items = items.clone();
                for item in self.items_of(&items, span)? {
                    added.push((self.key(&item, "key of a dict", span)?, item, 1));
                }
            }
            _ => return Err(Refusal::wrong(span, "`Counter` takes one sequence").raises("TypeError")),
        }
        for (name, count, _) in args.keywords {
            let Value::Int(count) = count else { return Err(unread(&count)) };
            added.push((Key::Str(name), Value::Str(name), count));
        }
        self.step(added.len(), span)?;
        for (key, name, count) in added {
            let before = match counter.get().get(&key) {
                None => 0,
                Some(Value::Int(before)) => *before,
                Some(other) => return Err(unread(other)),
            };
            let total = sign.checked_mul(count).and_then(|count| before.checked_add(count));
            let total = total.ok_or_else(|| Refusal::unread(span, "a count does not fit into 64 bits"))?;
            counter.change().put(key, name, Value::Int(total));
        }
        Ok(())
    }

    /// The counts of a `Counter`.
    pub(super) fn counts(&mut self, counter: &Ref<Dict<'c>>, span: Span) -> Res<FxHashMap<Key<'c>, i64>> {
        let entries = counter.get().entries();
        let count = |(key, _, count): (Key<'c>, Value<'c>, Value<'c>)| match count {
            Value::Int(count) => Ok((key, count)),
            other => Err(Refusal::unread(span, format!("a count is an integer, found {}", other.describe()))),
        };
        entries.into_iter().map(count).collect()
    }

    /// `total`, `elements` and `most_common` of a `Counter`.
    pub(super) fn counted(
        &mut self,
        owner: &Value<'c>,
        name: &str,
        values: &[Value<'c>],
        span: Span,
    ) -> Res<Value<'c>> {
        let Value::Dict(counter) = owner else { return Err(self.not_read(name, values, span)) };
        let mut items = Vec::new();
        for (_, item, count) in counter.get().entries() {
            let Value::Int(count) = count else { return Err(self.not_read(name, &[count], span)) };
            items.push((item, count));
        }
        self.step(items.len(), span)?;
        match (name, values) {
            ("total", []) => {
                let total = items.iter().try_fold(0_i64, |total, (_, count)| total.checked_add(*count));
                total.map(Value::Int).ok_or_else(|| Refusal::unread(span, "a count does not fit into 64 bits"))
            }
            ("elements", []) => {
                let all = items
                    .iter()
                    .fold(0_usize, |all, (_, count)| all.saturating_add(usize::try_from(*count).unwrap_or(0)));
                self.count_elements(all, span)?;
                let items = items
                    .into_iter()
                    .flat_map(|(item, count)| std::iter::repeat_n(item, usize::try_from(count).unwrap_or(0)));
                self.lazy(super::Iter::of(items.collect()), span)
            }
            ("most_common", [] | [Value::None | Value::Int(0..)]) => {
                items.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
                if let [Value::Int(most)] = values {
                    items.truncate(usize::try_from(*most).unwrap_or(usize::MAX));
                }
                let pairs = items.into_iter().map(|(item, count)| self.tuple(vec![item, Value::Int(count)], span));
                let pairs = pairs.collect::<Res<Vec<_>>>()?;
                Ok(self.heap.list(pairs))
            }
            _ => Err(self.not_read(name, values, span)),
        }
    }
}

impl<'c> Instance<'c> {
    /// One of the same class with other attributes.
    fn with(&self, attributes: Vec<(tf_types::Symbol<'c>, Value<'c>)>) -> Self {
        let mut other = self.alike();
        other.attributes = attributes;
        other
    }
}
