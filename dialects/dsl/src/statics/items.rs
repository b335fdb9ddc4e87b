//! Items and slices of constants: what a key selects, set and deleted.

use std::rc::Rc;

use ruff_python_ast as ast;
use tf_core::Span;

use super::{Args, Dict, Flavour, IntRange, Key, Ref};
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::{Sequence, Value};

/// What stands in brackets, evaluated.
pub(super) enum Index<'c> {
    Key(Value<'c>),
    Slice([Option<i64>; 3]),
}

/// The position that an index names among `count` items.
pub(super) fn place(index: &Value<'_>, count: usize, span: Span) -> Res<usize> {
    let at = match index {
        Value::Int(at) => *at,
        Value::Bool(at) => i64::from(*at),
        other => {
            return Err(Refusal::unread(span, format!("an index is an integer, found {}", other.describe())));
        }
    };
    let from_start = if at < 0 { at.saturating_add(count as i64) } else { at };
    let place = usize::try_from(from_start).ok().filter(|place| *place < count);
    place.ok_or_else(|| {
        Refusal::unread(span, format!("index {at} is out of range: there are {count} items")).raises("IndexError")
    })
}

/// The start, the step and the number of items that a slice takes, as Python has it.
pub(crate) fn sliced([lower, upper, step]: [Option<i64>; 3], count: i64) -> Option<(i64, i64, i64)> {
    let step = step.unwrap_or(1);
    // Where Python starts and ends for this direction, before the first item at the least.
    let (least, most) = if step > 0 { (0, count) } else { (-1, count - 1) };
    let clamped = |at: i64| (if at < 0 { at.saturating_add(count) } else { at }).clamp(least, most);
    let start = lower.map_or(if step > 0 { least } else { most }, clamped);
    let end = upper.map_or(if step > 0 { most } else { least }, clamped);
    IntRange::new(start, end, step).map(|range| (start, step, range.count))
}

fn no_step(span: Span) -> Refusal {
    Refusal::wrong(span, "the step of a slice is not 0")
}

impl<'c> Parser<'_, 'c> {
    /// What stands in brackets.
    pub(super) fn index_of(&mut self, slice: &ast::Expr) -> Res<Index<'c>> {
        match slice {
            ast::Expr::Slice(slice) => self.slice_bounds(slice).map(Index::Slice),
            key => self.eval(key, None).map(Index::Key),
        }
    }

    /// `a:b:c` of integers.
    pub(crate) fn slice_bounds(&mut self, slice: &ast::ExprSlice) -> Res<[Option<i64>; 3]> {
        let mut bounds = [None; 3];
        for (bound, expr) in bounds.iter_mut().zip([&slice.lower, &slice.upper, &slice.step]) {
            let Some(expr) = expr else { continue };
            let value = self.eval(expr, None)?;
            *bound = match self.plain(value) {
                Value::None => None,
                Value::Int(value) => Some(value),
                other => {
                    let message = format!("a slice of a sequence has integer bounds, found {}", other.describe());
                    return Err(Refusal::wrong(self.span(&**expr), message));
                }
            };
        }
        match bounds[2] {
            Some(0) => Err(no_step(self.span(slice))),
            _ => Ok(bounds),
        }
    }

    /// `owner[…]` of constants outside bodies.
    pub(crate) fn static_item(&mut self, owner: &Value<'c>, slice: &ast::Expr, span: Span) -> Res<Value<'c>> {
        let index = self.index_of(slice)?;
        self.item(owner, &index, span)
    }

    /// `owner[index]` of constants.
    pub(super) fn item(&mut self, owner: &Value<'c>, index: &Index<'c>, span: Span) -> Res<Value<'c>> {
        self.known(owner, span)?;
        let plain = self.payload(owner);
        match (plain.as_ref().unwrap_or(owner), index) {
            (Value::Dict(dict), Index::Key(key)) => {
                let found = self.key(key, "key of a dict", span)?;
                let known = dict.get().get(&found).cloned();
                let value = if known.is_some() { known } else { self.missing(dict, found, key, span)? };
                value.ok_or_else(|| {
                    Refusal::unread(span, format!("the dict has no key {}", key.describe())).raises("KeyError")
                })
            }
            (Value::Record(class), Index::Key(Value::Str(name))) if self.members_of(*class).is_some() => {
                match self.class_attribute(*class, name.as_str(), span)? {
                    Some(member @ Value::Object(_)) => Ok(member),
                    _ => Err(Refusal::unread(span, format!("the enum has no member `{name}`"))),
                }
            }
            (Value::Object(object), Index::Key(key)) if !object.get().is_tuple => {
                match self.run_special(owner, "__getitem__", vec![key.clone()], span)? {
                    Some(value) => Ok(value),
                    None => Err(Refusal::unread(span, format!("{} has no subscript", owner.describe()))),
                }
            }
            (Value::Str(text), Index::Key(key)) => {
                let text = text.as_str();
                self.step(text.len() / 64, span)?;
                let at = place(&self.plain(key.clone()), text.chars().count(), span)?;
                let c = text.chars().nth(at).unwrap_or_default();
                Ok(Value::Str(self.cx.symbol(c.encode_utf8(&mut [0; 4]))))
            }
            (Value::Str(text), Index::Slice(bounds)) => {
                let chars: Vec<char> = text.as_str().chars().collect();
                self.step(chars.len() / 64, span)?;
                let (start, step, count) = sliced(*bounds, chars.len() as i64).ok_or_else(|| no_step(span))?;
                let taken: String = (0..count).map(|at| chars[(start + at * step) as usize]).collect();
                self.made_text(&taken, span)
            }
            (Value::IntRange(range), Index::Key(key)) => {
                let count = usize::try_from(range.count).unwrap_or(usize::MAX);
                let at = place(&self.plain(key.clone()), count, span)?;
                Ok(Value::Int(range.at(at as i64)))
            }
            (Value::IntRange(range), Index::Slice(bounds)) => {
                let (start, step, count) = sliced(*bounds, range.count).ok_or_else(|| no_step(span))?;
                let step = range.step.checked_mul(step).ok_or_else(|| no_step(span))?;
                Ok(Value::IntRange(Rc::new(IntRange { start: range.at(start), step, count })))
            }
            (owner, index) => {
                let Some(items) = owner.as_sequence() else {
                    return Err(Refusal::unread(span, format!("{} has no subscript", owner.describe())));
                };
                match index {
                    Index::Key(key) => Ok(items[place(&self.plain(key.clone()), items.len(), span)?].clone()),
                    Index::Slice(bounds) => self.slice(owner, &items, *bounds, span),
                }
            }
        }
    }

    /// The item of a dict that has no such key: what a `defaultdict` or `Counter` has for it.
    pub(crate) fn missing(
        &mut self,
        dict: &Ref<Dict<'c>>,
        found: Key<'c>,
        key: &Value<'c>,
        span: Span,
    ) -> Res<Option<Value<'c>>> {
        let factory = match &dict.get().flavour {
            Flavour::Default(Value::None) => return Ok(None),
            Flavour::Default(factory) if self.body.is_none() => factory.clone(),
            Flavour::Counter => return Ok(Some(Value::Int(0))),
            _ => return Ok(None),
        };
        let value = self.call_value(&factory, Args::default(), span)?;
        dict.change().put(found, key.clone(), value.clone());
        Ok(Some(value))
    }

    /// `items[a:b:c]` of a compile-time tuple or list, as Python takes it.
    pub(crate) fn slice(
        &mut self,
        owner: &Value<'c>,
        items: &Sequence<'c>,
        bounds: [Option<i64>; 3],
        span: Span,
    ) -> Res<Value<'c>> {
        let (start, step, count) = sliced(bounds, items.len() as i64).ok_or_else(|| no_step(span))?;
        if self.body.is_none() {
            self.step(count as usize, span)?;
        }
        let taken = (0..count).map(|at| items[(start + at * step) as usize].clone()).collect();
        if let Value::List(_) = owner { Ok(self.heap.list(taken)) } else { self.tuple(taken, span) }
    }

    /// `owner[index] = value`.
    pub(super) fn set_item(&mut self, owner: &Value<'c>, index: Index<'c>, value: Value<'c>, span: Span) -> Res<()> {
        self.known(owner, span)?;
        match (owner, index) {
            (Value::Dict(dict), Index::Key(key)) => {
                let found = self.key(&key, "key of a dict", span)?;
                dict.change().put(found, key, value);
                Ok(())
            }
            (Value::List(list), Index::Key(key)) => {
                let at = place(&self.plain(key), list.get().len(), span)?;
                self.own_items(owner, span)?;
                Rc::make_mut(&mut list.change()).items[at] = value;
                Ok(())
            }
            (Value::List(list), Index::Slice(bounds)) => {
                let added = self.items_of(&value, span)?;
                let count = list.get().len();
                self.step(count, span)?;
                let (start, step, taken) = sliced(bounds, count as i64).ok_or_else(|| no_step(span))?;
                let mut items = list.change();
                let items = &mut Rc::make_mut(&mut items).items;
                if step == 1 {
                    let (start, end) = (start as usize, (start + taken) as usize);
                    drop(items.splice(start..end, added));
                    return Ok(());
                }
                if added.len() as i64 != taken {
                    let message = format!("{} values for a slice of {taken}", added.len());
                    return Err(Refusal::unread(span, message));
                }
                for (at, value) in (0_i64..).zip(added) {
                    items[(start + at * step) as usize] = value;
                }
                Ok(())
            }
            (Value::Object(object), Index::Key(key)) if !object.get().is_tuple => {
                match self.run_special(owner, "__setitem__", vec![key, value], span)? {
                    Some(_) => Ok(()),
                    None => Err(Refusal::unread(span, format!("items of {} are not set", owner.describe()))),
                }
            }
            // What does not change is not marked either.
            _ => Err(Refusal::wrong(span, format!("items of {} are not set", owner.describe()))),
        }
    }

    /// `del owner[index]`.
    pub(super) fn delete_item(&mut self, owner: &Value<'c>, index: Index<'c>, span: Span) -> Res<()> {
        self.known(owner, span)?;
        match (owner, index) {
            (Value::Dict(dict), Index::Key(key)) => {
                let found = self.key(&key, "key of a dict", span)?;
                self.step(dict.get().len(), span)?;
                let gone = dict.change().remove(&found);
                if dict.get().is_counter() {
                    return Ok(());
                }
                gone.map(drop).ok_or_else(|| {
                    Refusal::unread(span, format!("the dict has no key {}", key.describe())).raises("KeyError")
                })
            }
            (Value::List(list), Index::Key(key)) => {
                let count = list.get().len();
                self.step(count, span)?;
                let at = place(&self.plain(key), count, span)?;
                Rc::make_mut(&mut list.change()).items.remove(at);
                Ok(())
            }
            (Value::List(list), Index::Slice(bounds)) => {
                let count = list.get().len();
                self.step(count, span)?;
                let (start, step, taken) = sliced(bounds, count as i64).ok_or_else(|| no_step(span))?;
                let gone: rustc_hash::FxHashSet<i64> = (0..taken).map(|at| start + at * step).collect();
                let mut places = 0..;
                let keep = |_: &Value<'c>| places.next().is_none_or(|at| !gone.contains(&at));
                Rc::make_mut(&mut list.change()).items.retain(keep);
                Ok(())
            }
            (Value::Object(object), Index::Key(key)) if !object.get().is_tuple => {
                match self.run_special(owner, "__delitem__", vec![key], span)? {
                    Some(_) => Ok(()),
                    None => Err(Refusal::unread(span, format!("items of {} are not deleted", owner.describe()))),
                }
            }
            _ => Err(Refusal::wrong(span, format!("{} has no items to delete", owner.describe()))),
        }
    }

    /// Counts the copy of a list whose items are walked while it changes.
    pub(super) fn own_items(&mut self, list: &Value<'c>, span: Span) -> Res<()> {
        let Value::List(list) = list else { return Ok(()) };
        let copied = if Rc::strong_count(&list.get()) > 1 { list.get().len() } else { 0 };
        self.step(copied, span)
    }

    /// Adds items at the end of a list.
    pub(super) fn extend(&mut self, list: &Value<'c>, added: Vec<Value<'c>>, span: Span) -> Res<()> {
        self.known(list, span)?;
        self.own_items(list, span)?;
        if let Value::List(list) = list {
            Rc::make_mut(&mut list.change()).items.extend(added);
        }
        Ok(())
    }
}
