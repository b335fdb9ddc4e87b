//! Walking values: iterators, which give each item once and see what changes meanwhile.

use std::rc::Rc;

use tf_core::Span;
use tf_types::Symbol;

use super::comprehension::Generator;
use super::itertools::Tool;
use super::routine::Routine;
use super::{Args, Dict, Ref};
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::{Sequence, Value, View};

/// Elements of a range that stands for a list of integers.
const ELEMENTS: i64 = 65_536;

/// `range(start, start + count * step, step)`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct IntRange {
    pub(crate) start: i64,
    pub(crate) step: i64,
    pub(crate) count: i64,
}

impl IntRange {
    /// None for a step of 0 and for more than 2^63 elements.
    pub(super) fn new(start: i64, stop: i64, step: i64) -> Option<Self> {
        let (distance, wide) = (i128::from(stop) - i128::from(start), i128::from(step));
        let count = (distance + wide - wide.signum()).checked_div(wide)?.max(0);
        Some(Self { start, step, count: i64::try_from(count).ok()? })
    }

    pub(crate) fn at(self, index: i64) -> i64 {
        self.start.wrapping_add(index.wrapping_mul(self.step))
    }

    pub(super) fn holds(self, value: i64) -> bool {
        let (offset, step) = (i128::from(value) - i128::from(self.start), i128::from(self.step));
        offset % step == 0 && (0..i128::from(self.count)).contains(&(offset / step))
    }

    /// Its integers; none where they are too many.
    pub(crate) fn items<'c>(self) -> Option<Vec<Value<'c>>> {
        (self.count <= ELEMENTS).then(|| (0..self.count).map(|index| Value::Int(self.at(index))).collect())
    }
}

/// What is still to come.
pub(crate) enum Iter<'c> {
    Done,
    /// It is asked for an item already, or stopped in the middle of one.
    Busy,
    Items(Rc<Sequence<'c>>, usize),
    List(Ref<Rc<Sequence<'c>>>, usize),
    /// From the item before the last one given down to the first.
    Reversed(Ref<Rc<Sequence<'c>>>, usize),
    /// With the count that the dict had at first.
    Dict(View, Ref<Dict<'c>>, usize, usize),
    Range(IntRange, i64),
    Text(Symbol<'c>, usize),
    Map(Value<'c>, Vec<Ref<Iter<'c>>>),
    Filter(Value<'c>, Ref<Iter<'c>>),
    Zip(Vec<Ref<Iter<'c>>>, bool),
    /// With what stands for items that are missing.
    Longest(Vec<Ref<Iter<'c>>>, Value<'c>),
    Enumerate(Ref<Iter<'c>>, i64),
    /// The one that is walked, then those that follow, the next one last.
    Chain(Option<Ref<Iter<'c>>>, Vec<Value<'c>>),
    Repeat(Value<'c>, i64),
    Generator(Box<Generator<'c>>),
    /// A call of a generator function.
    Routine(Box<Routine<'c>>),
    Tool(Box<Tool<'c>>, Ref<Iter<'c>>),
    /// An instance that is asked by `__next__`.
    Object(Value<'c>),
}

impl<'c> Iter<'c> {
    pub(super) fn of(items: Vec<Value<'c>>) -> Self {
        Self::Items(Rc::new(Sequence { items, depth: 0 }), 0)
    }

    /// The values that it holds.
    pub(super) fn parts(&self) -> Vec<Value<'c>> {
        let inner = |iters: &[Ref<Self>]| iters.iter().map(|iter| Value::Iter(Rc::clone(iter))).collect::<Vec<_>>();
        match self {
            Self::Items(items, _) => vec![Value::Tuple(Rc::clone(items))],
            Self::List(list, _) | Self::Reversed(list, _) => vec![Value::List(Rc::clone(list))],
            Self::Dict(_, dict, ..) => vec![Value::Dict(Rc::clone(dict))],
            Self::Map(function, sources) => [vec![function.clone()], inner(sources)].concat(),
            Self::Filter(function, source) => vec![function.clone(), Value::Iter(Rc::clone(source))],
            Self::Zip(sources, _) => inner(sources),
            Self::Longest(sources, fill) => [vec![fill.clone()], inner(sources)].concat(),
            Self::Enumerate(source, _) => vec![Value::Iter(Rc::clone(source))],
            Self::Chain(open, rest) => [inner(open.as_slice()), rest.clone()].concat(),
            Self::Repeat(value, _) => vec![value.clone()],
            Self::Generator(generator) => generator.parts(),
            Self::Object(object) => vec![object.clone()],
            Self::Routine(routine) => routine.parts(),
            Self::Tool(tool, source) => [tool.parts(), vec![Value::Iter(Rc::clone(source))]].concat(),
            Self::Done | Self::Busy | Self::Range(..) | Self::Text(..) => Vec::new(),
        }
    }
}

impl<'c> Parser<'_, 'c> {
    /// `iter(value)`.
    pub(crate) fn iter_of(&mut self, value: &Value<'c>, span: Span) -> Res<Ref<Iter<'c>>> {
        self.known(value, span)?;
        let iter = match value {
            // Bodies are read, not run: they take nothing out of what the file walks.
            Value::Iter(_) if self.body.is_some() => return Err(no_sequence(value, span)),
            Value::Iter(iter) => return Ok(Rc::clone(iter)),
            Value::List(list) => Iter::List(Rc::clone(list), 0),
            Value::Dict(dict) => Iter::Dict(View::Keys, Rc::clone(dict), 0, dict.get().len()),
            Value::View(view, dict) => Iter::Dict(*view, Rc::clone(dict), 0, dict.get().len()),
            Value::IntRange(range) => Iter::Range(**range, 0),
            Value::Str(text) => Iter::Text(*text, 0),
            Value::Set(set) if set.get().items.len() < 2 => {
                let items = set.get().items.items().iter().map(|(item, _)| item.clone()).collect();
                Iter::Items(Rc::new(Sequence { items, depth: 0 }), 0)
            }
            Value::Set(_) => {
                let message = format!("{} has no order in Python", value.describe());
                return Err(Refusal::unread(span, message).help("walk `sorted(...)` of it"));
            }
            Value::Record(at) if let Some(members) = self.members_of(*at) => {
                self.step(members.len() / 4, span)?;
                Iter::Items(Rc::new(Sequence { items: members.to_vec(), depth: 0 }), 0)
            }
            Value::Object(object) if !object.get().is_tuple => {
                return match self.run_special(value, "__iter__", Vec::new(), span)? {
                    Some(Value::Iter(iter)) => Ok(iter),
                    Some(object @ Value::Object(_)) => Ok(self.heap.iter(Iter::Object(object))),
                    Some(other) => Err(Refusal::unread(
                        span,
                        format!("`__iter__` gives {}, which is not walked", other.describe()),
                    )),
                    None => Err(no_sequence(value, span)),
                };
            }
            other => Iter::Items(other.as_sequence().ok_or_else(|| no_sequence(other, span))?, 0),
        };
        Ok(self.heap.iter(iter))
    }

    /// The next item of an iterator; none at its end.
    pub(crate) fn next_of(&mut self, iter: &Ref<Iter<'c>>, span: Span) -> Res<Option<Value<'c>>> {
        self.known(&Value::Iter(Rc::clone(iter)), span)?;
        self.step(1, span)?;
        let mut state = std::mem::replace(&mut *iter.change(), Iter::Busy);
        let item = match self.nested(span, |p| p.advance(&mut state, span)) {
            Err(refusal) if self.raises(&refusal, "StopIteration") => {
                if let Iter::Generator(_) | Iter::Routine(_) = state {
                    return Err(Refusal::unread(span, "a generator is left by `StopIteration`, which Python refuses"));
                }
                *iter.change() = state;
                return Ok(None);
            }
            item => item?,
        };
        *iter.change() = if item.is_some() { state } else { Iter::Done };
        Ok(item)
    }

    fn advance(&mut self, state: &mut Iter<'c>, span: Span) -> Res<Option<Value<'c>>> {
        Ok(match state {
            Iter::Done => None,
            Iter::Busy => {
                return Err(Refusal::unread(span, "the iterator runs already, or was not followed to its end"));
            }
            Iter::Items(items, at) => {
                *at += 1;
                items.get(*at - 1).cloned()
            }
            Iter::List(list, at) => {
                self.known(&Value::List(Rc::clone(list)), span)?;
                *at += 1;
                list.get().get(*at - 1).cloned()
            }
            Iter::Reversed(list, left) => {
                self.known(&Value::List(Rc::clone(list)), span)?;
                let Some(at) = left.checked_sub(1) else { return Ok(None) };
                *left = at;
                list.get().get(at).cloned()
            }
            Iter::Dict(view, dict, at, count) => {
                self.known(&Value::Dict(Rc::clone(dict)), span)?;
                if dict.get().len() != *count {
                    return Err(Refusal::wrong(span, "the dict changes its size while it is walked"));
                }
                let item = dict.get().items().get(*at).cloned();
                *at += 1;
                match (item, view) {
                    (None, _) => None,
                    (Some((key, _)), View::Keys) => Some(key),
                    (Some((_, value)), View::Values) => Some(value),
                    (Some((key, value)), View::Items) => Some(self.tuple(vec![key, value], span)?),
                }
            }
            Iter::Range(range, at) => {
                *at += 1;
                (*at <= range.count).then(|| Value::Int(range.at(*at - 1)))
            }
            Iter::Text(text, at) => {
                let Some(c) = text.as_str()[*at..].chars().next() else { return Ok(None) };
                *at += c.len_utf8();
                Some(Value::Str(self.cx.symbol(c.encode_utf8(&mut [0; 4]))))
            }
            Iter::Map(function, sources) => match self.row(sources, false, span)? {
                Some(row) => Some(self.call_value(function, Args::of(row, span), span)?),
                None => None,
            },
            Iter::Filter(function, source) => loop {
                let Some(item) = self.next_of(source, span)? else { return Ok(None) };
                let verdict = match &*function {
                    Value::None => item.clone(),
                    function => self.call_value(function, Args::of([item.clone()], span), span)?,
                };
                if self.truth_of(&verdict, span)? {
                    return Ok(Some(item));
                }
            },
            Iter::Zip(sources, is_strict) => match self.row(sources, *is_strict, span)? {
                Some(row) => Some(self.tuple(row, span)?),
                None => None,
            },
            Iter::Longest(sources, fill) => {
                let mut row = Vec::with_capacity(sources.len());
                for source in &*sources {
                    row.push(self.next_of(source, span)?);
                }
                match row.iter().all(Option::is_none) {
                    true => None,
                    false => {
                        let items = row.into_iter().map(|item| item.unwrap_or_else(|| fill.clone())).collect();
                        Some(self.tuple(items, span)?)
                    }
                }
            }
            Iter::Enumerate(source, at) => match self.next_of(source, span)? {
                Some(item) => {
                    *at += 1;
                    Some(self.tuple(vec![Value::Int(*at - 1), item], span)?)
                }
                None => None,
            },
            Iter::Chain(open, rest) => loop {
                if let Some(iter) = open
                    && let Some(item) = self.next_of(iter, span)?
                {
                    return Ok(Some(item));
                }
                let Some(next) = rest.pop() else { return Ok(None) };
                *open = Some(self.iter_of(&next, span)?);
            },
            Iter::Repeat(value, left) => {
                *left -= 1;
                (*left >= 0).then(|| value.clone())
            }
            Iter::Generator(generator) => self.generate(generator, span)?,
            Iter::Routine(routine) => self.resume(routine, span)?,
            Iter::Object(object) => self.next_of_object(object, span)?,
            Iter::Tool(tool, source) => self.next_of_tool(tool, source, span)?,
        })
    }

    /// What `__next__` gives; none where it stops.
    pub(super) fn next_of_object(&mut self, object: &Value<'c>, span: Span) -> Res<Option<Value<'c>>> {
        match self.run_special(object, "__next__", Vec::new(), span)? {
            Some(item) => Ok(Some(item)),
            None => Err(no_sequence(object, span)),
        }
    }

    /// One item of each; none where one of them ends.
    fn row(&mut self, sources: &[Ref<Iter<'c>>], is_strict: bool, span: Span) -> Res<Option<Vec<Value<'c>>>> {
        let mut row = Vec::with_capacity(sources.len());
        for (at, source) in sources.iter().enumerate() {
            match self.next_of(source, span)? {
                Some(item) => row.push(item),
                None if is_strict => {
                    let mut is_even = at == 0;
                    for other in sources.iter().skip(at + 1) {
                        is_even = is_even && self.next_of(other, span)?.is_none();
                    }
                    if is_even {
                        return Ok(None);
                    }
                    return Err(Refusal::wrong(span, "the arguments of a strict `zip` have different lengths"));
                }
                None => return Ok(None),
            }
        }
        Ok((!row.is_empty()).then_some(row))
    }

    /// The items of a value in order, each counted.
    pub(crate) fn items_of(&mut self, value: &Value<'c>, span: Span) -> Res<Vec<Value<'c>>> {
        self.known(value, span)?;
        if let Value::List(_) | Value::Tuple(_) = value
            && let Some(items) = value.as_sequence()
        {
            self.count_elements(items.len(), span)?;
            return Ok(items.to_vec());
        }
        let iter = self.iter_of(value, span)?;
        self.drain(&iter, span)
    }

    /// What an iterator still gives.
    pub(super) fn drain(&mut self, iter: &Ref<Iter<'c>>, span: Span) -> Res<Vec<Value<'c>>> {
        let mut items = Vec::new();
        while let Some(item) = self.next_of(iter, span)? {
            items.push(item);
        }
        Ok(items)
    }

    /// The items of a value where their order does not matter, of a set too.
    pub(super) fn any_order(&mut self, value: &Value<'c>, span: Span) -> Res<Vec<Value<'c>>> {
        self.known(value, span)?;
        match value {
            Value::Set(set) => {
                let items: Vec<_> = set.get().items.items().iter().map(|(item, _)| item.clone()).collect();
                self.step(items.len(), span)?;
                Ok(items)
            }
            other => self.items_of(other, span),
        }
    }

    /// `len(value)`; none where it has none.
    pub(super) fn length(&mut self, value: &Value<'c>, span: Span) -> Res<Option<i64>> {
        self.known(value, span)?;
        let plain = self.payload(value);
        Ok(Some(match plain.as_ref().unwrap_or(value) {
            Value::Str(text) => {
                if self.body.is_none() {
                    self.step(text.as_str().len() / 64, span)?;
                }
                text.as_str().chars().count() as i64
            }
            Value::Tuple(items) => items.len() as i64,
            Value::List(items) => items.get().len() as i64,
            Value::Dict(items) | Value::View(_, items) => items.get().len() as i64,
            Value::Set(set) => set.get().items.len() as i64,
            Value::IntRange(range) => range.count,
            Value::Record(at) => match self.members_of(*at) {
                Some(members) => members.len() as i64,
                None => return Ok(None),
            },
            Value::Object(object) if object.get().is_tuple => object.get().attributes.len() as i64,
            Value::Object(_) => match self.run_special(value, "__len__", Vec::new(), span)? {
                Some(Value::Int(count @ 0..)) => count,
                Some(other) => {
                    return Err(Refusal::wrong(
                        span,
                        format!("`__len__` gives {}, which is no length", other.describe()),
                    ));
                }
                None => return Ok(None),
            },
            _ => return Ok(None),
        }))
    }

    /// A tuple of these values.
    pub(crate) fn tuple(&self, items: Vec<Value<'c>>, span: Span) -> Res<Value<'c>> {
        Value::tuple(items).ok_or_else(|| super::too_deep(span))
    }
}

fn no_sequence(value: &Value<'_>, span: Span) -> Refusal {
    Refusal::unread(span, format!("{} is no sequence", value.describe()))
}
