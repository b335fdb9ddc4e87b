//! Methods of Python's own values: lists, dicts, sets, tuples, strings, numbers.

use std::rc::Rc;

use tf_core::Span;
use tf_types::Symbol;

use super::{Args, Key, items, sets, text};
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::{Value, View};

const LIST: &[&str] =
    &["append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse", "sort"];
const DICT: &[&str] = &["clear", "copy", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values"];
const COUNTER: &[&str] = &["elements", "most_common", "subtract", "total"];

impl<'c> Parser<'_, 'c> {
    /// Whether a value has a method of that name; in bodies dicts are looked at and nothing is changed.
    pub(super) fn has_method(&self, owner: &Value<'c>, name: &str) -> bool {
        if self.body.is_some() {
            return match owner {
                Value::Module(_) => matches!(name, "renamed" | "cloned"),
                Value::Dict(_) => matches!(name, "keys" | "values" | "items" | "get"),
                _ => false,
            };
        }
        match owner {
            Value::Str(_) => text::is_method(name),
            Value::List(_) => LIST.contains(&name),
            Value::Dict(dict) => DICT.contains(&name) || COUNTER.contains(&name) && dict.get().is_counter(),
            Value::Set(set) => sets::is_method(name, set.get().is_frozen),
            Value::Tuple(_) => matches!(name, "index" | "count"),
            Value::Int(_) => name == "bit_length",
            Value::Float(_) => name == "is_integer",
            Value::Module(_) => matches!(name, "renamed" | "cloned"),
            _ => false,
        }
    }

    /// Whether a method is one that bodies may call.
    pub(crate) fn reads(&self, method: &Value<'c>) -> bool {
        matches!(method, Value::Method(parts) if self.has_method(&parts.0, parts.1.as_str()))
    }

    /// `owner.name(args)` of a value of Python, or a copy of a module.
    pub(super) fn method_call(
        &mut self,
        owner: &Value<'c>,
        name: &str,
        mut args: Args<'c>,
        span: Span,
    ) -> Res<Value<'c>> {
        self.known(owner, span)?;
        if let Value::Module(module) = owner {
            if self.body.is_some() {
                return Err(Refusal::unread(span, format!("a module is not {name} inside a function")));
            }
            let values = args.values(name)?;
            let copy = match (name, &values[..]) {
                ("renamed", [Value::Str(new)]) => self.copied(*module, *new, span)?,
                ("cloned", []) => self.copied(*module, module.name, span)?,
                _ => return Err(unread(owner, name, span)),
            };
            return Ok(Value::Module(copy));
        }
        match owner {
            Value::List(_) if name == "sort" => {
                let (key, reverse) = (args.take("key"), args.take("reverse"));
                args.values(name)?;
                self.sort_list(owner, key.as_ref(), reverse, span)
            }
            Value::List(_) => {
                let values = args.values(name)?;
                self.list_method(owner, name, values, span)
            }
            Value::Dict(dict) if dict.get().is_counter() && matches!(name, "update" | "subtract") => {
                self.count_up(owner, args, if name == "update" { 1 } else { -1 }, span)?;
                Ok(Value::None)
            }
            Value::Dict(_) if name == "update" => {
                let named = args.keywords.drain(..).map(|(name, value, _)| (name, value)).collect();
                match &args.values(name)?[..] {
                    [] => self.update_dict(owner, None, named, span)?,
                    [other] => self.update_dict(owner, Some(other), named, span)?,
                    _ => return Err(unread(owner, name, span)),
                }
                Ok(Value::None)
            }
            Value::Dict(_) => {
                let values = args.values(name)?;
                self.dict_method(owner, name, values, span)
            }
            Value::Set(_) => {
                let values = args.values(name)?;
                self.set_method(owner, name, &values, span)
            }
            Value::Tuple(_) => {
                let values = args.values(name)?;
                self.found(owner, name, &values, span)
            }
            Value::Str(text) if name == "format" => {
                let values: Vec<_> = args.positional.drain(..).map(|(value, _)| value).collect();
                let named: Vec<_> = args.keywords.drain(..).map(|(name, value, _)| (name, value)).collect();
                match self.filled(text.as_str(), &values, &named, span)? {
                    Some(made) => self.made_text(&made, span),
                    None => Err(unread(owner, name, span)),
                }
            }
            Value::Str(text) => {
                let values: Vec<_> = args.values(name)?.into_iter().map(|value| self.plain(value)).collect();
                values.iter().try_for_each(|value| self.read(value, span))?;
                self.text_method(*text, name, &values, span)?.ok_or_else(|| unread(owner, name, span))
            }
            Value::Int(number) if args.values(name)?.is_empty() => {
                Ok(Value::Int(64 - i64::from(number.unsigned_abs().leading_zeros())))
            }
            Value::Float(number) => Ok(Value::Bool(number.is_finite() && number.fract() == 0.0)),
            _ => Err(unread(owner, name, span)),
        }
    }

    /// `index` and `count` of a sequence.
    fn found(&mut self, owner: &Value<'c>, name: &str, values: &[Value<'c>], span: Span) -> Res<Value<'c>> {
        let ([item], Some(items)) = (values, owner.as_sequence()) else { return Err(unread(owner, name, span)) };
        let mut count = 0;
        for (at, known) in items.iter().enumerate() {
            self.step(1, span)?;
            if self.equal_parts(known, item, 1, span)? {
                if name == "index" {
                    return Ok(Value::Int(at as i64));
                }
                count += 1;
            }
        }
        match name {
            "index" => Err(Refusal::wrong(span, format!("{} is not in {}", item.describe(), owner.describe()))
                .raises("ValueError")),
            _ => Ok(Value::Int(count)),
        }
    }

    fn sort_list(
        &mut self,
        owner: &Value<'c>,
        key: Option<&Value<'c>>,
        reverse: Option<Value<'c>>,
        span: Span,
    ) -> Res<Value<'c>> {
        let Value::List(list) = owner else { return Err(unread(owner, "sort", span)) };
        let is_reverse = reverse.map(|reverse| self.truth_of(&reverse, span)).transpose()?.unwrap_or(false);
        let before = Rc::clone(&list.get());
        let sorted = self.sorted(before.to_vec(), key, is_reverse, span)?;
        if !Rc::ptr_eq(&before, &list.get()) {
            return Err(Refusal::wrong(span, "the list changes while it is sorted"));
        }
        drop(before);
        Rc::make_mut(&mut list.change()).items = sorted;
        Ok(Value::None)
    }

    fn list_method(&mut self, owner: &Value<'c>, name: &str, values: Vec<Value<'c>>, span: Span) -> Res<Value<'c>> {
        let Value::List(list) = owner else { return Err(unread(owner, name, span)) };
        let count = list.get().len();
        let is_quick = matches!(name, "append" | "extend") || name == "pop" && values.is_empty();
        self.step(if is_quick { 1 } else { count + 1 }, span)?;
        self.own_items(owner, span)?;
        match (name, &values[..]) {
            ("append", [value]) => Rc::make_mut(&mut list.change()).items.push(value.clone()),
            ("extend", [Value::Iter(iter)]) => {
                // What the iterator does is seen between two items.
                while let Some(item) = self.next_of(iter, span)? {
                    self.extend(owner, vec![item], span)?;
                }
            }
            ("extend", [other]) => {
                let added = self.items_of(other, span)?;
                self.extend(owner, added, span)?;
            }
            ("insert", [Value::Int(at), value]) => {
                let at = if *at < 0 { at.saturating_add(count as i64) } else { *at }.clamp(0, count as i64);
                Rc::make_mut(&mut list.change()).items.insert(at as usize, value.clone());
            }
            ("pop", []) => {
                let last = Rc::make_mut(&mut list.change()).items.pop();
                return last.ok_or_else(|| Refusal::unread(span, "`pop` from an empty list").raises("IndexError"));
            }
            ("pop", [at]) => {
                let at = items::place(&self.plain(at.clone()), count, span)?;
                return Ok(Rc::make_mut(&mut list.change()).items.remove(at));
            }
            ("remove", [_]) => {
                let at = self.found(owner, "index", &values, span)?;
                let at = items::place(&at, list.get().len(), span)?;
                Rc::make_mut(&mut list.change()).items.remove(at);
            }
            ("reverse", []) => Rc::make_mut(&mut list.change()).items.reverse(),
            ("clear", []) => Rc::make_mut(&mut list.change()).items.clear(),
            ("copy", []) => return Ok(self.heap.list(list.get().to_vec())),
            ("index" | "count", _) => return self.found(owner, name, &values, span),
            _ => return Err(unread(owner, name, span)),
        }
        Ok(Value::None)
    }

    fn dict_method(&mut self, owner: &Value<'c>, name: &str, values: Vec<Value<'c>>, span: Span) -> Res<Value<'c>> {
        let Value::Dict(dict) = owner else { return Err(unread(owner, name, span)) };
        let count = dict.get().len();
        let key = match (name, &values[..]) {
            ("get" | "setdefault" | "pop", [key, rest @ ..]) if rest.len() < 2 => {
                Some(self.key(key, "key of a dict", span)?)
            }
            _ => None,
        };
        match (name, key, &values[..]) {
            ("keys" | "values" | "items", _, []) => {
                let view = match name {
                    "keys" => View::Keys,
                    "values" => View::Values,
                    _ => View::Items,
                };
                let view = Value::View(view, Rc::clone(dict));
                if self.body.is_none() {
                    return Ok(view);
                }
                let items = self.items_of(&view, span)?;
                Ok(self.heap.list(items))
            }
            ("get", Some(key), [_, rest @ ..]) => {
                let known = dict.get().get(&key).cloned();
                Ok(known.or_else(|| rest.first().cloned()).unwrap_or(Value::None))
            }
            ("setdefault", Some(key), [name, rest @ ..]) => {
                if let Some(known) = dict.get().get(&key) {
                    return Ok(known.clone());
                }
                let value = rest.first().cloned().unwrap_or(Value::None);
                dict.change().put(key, name.clone(), value.clone());
                Ok(value)
            }
            ("pop", Some(key), [name, rest @ ..]) => {
                self.step(count, span)?;
                let known = dict.change().remove(&key).map(|(_, value)| value);
                let known = known.or_else(|| rest.first().cloned());
                known.ok_or_else(|| {
                    Refusal::unread(span, format!("the dict has no key {}", name.describe())).raises("KeyError")
                })
            }
            ("popitem", _, []) => {
                let last = dict.get().entries().pop();
                self.step(count, span)?;
                let Some((key, name, value)) = last else {
                    return Err(Refusal::unread(span, "`popitem` from an empty dict").raises("KeyError"));
                };
                dict.change().remove(&key);
                self.tuple(vec![name, value], span)
            }
            ("total" | "elements" | "most_common", _, _) if dict.get().is_counter() => {
                self.counted(owner, name, &values, span)
            }
            ("clear", _, []) => {
                dict.change().clear();
                Ok(Value::None)
            }
            ("copy", _, []) => {
                self.step(count, span)?;
                let copy = dict.get().clone();
                Ok(self.heap.dict(copy))
            }
            _ => Err(unread(owner, name, span)),
        }
    }

    /// Takes over the items of a dict, or pairs, and then named ones.
    pub(super) fn update_dict(
        &mut self,
        owner: &Value<'c>,
        other: Option<&Value<'c>>,
        named: Vec<(Symbol<'c>, Value<'c>)>,
        span: Span,
    ) -> Res<()> {
        let Value::Dict(dict) = owner else { return Err(unread(owner, "update", span)) };
        let mut added = Vec::new();
        match other {
            None => {}
            Some(Value::Dict(other)) => added = other.get().entries(),
            Some(pairs) => {
                for pair in self.items_of(pairs, span)? {
                    match self.items_of(&pair, span)?.as_slice() {
                        [key, value] => added.push((self.key(key, "key of a dict", span)?, key.clone(), value.clone())),
                        _ => {
                            let message = format!("`dict` takes pairs, found {}", pair.describe());
                            return Err(Refusal::unread(span, message));
                        }
                    }
                }
            }
        }
        self.step(added.len() + named.len(), span)?;
        let mut dict = dict.change();
        added.into_iter().for_each(|(key, name, value)| dict.put(key, name, value));
        named.into_iter().for_each(|(name, value)| dict.put(Key::Str(name), Value::Str(name), value));
        Ok(())
    }
}

pub(super) fn unread(owner: &Value<'_>, name: &str, span: Span) -> Refusal {
    Refusal::unread(span, format!("`{name}` of {} with these arguments is not read", owner.describe()))
}
