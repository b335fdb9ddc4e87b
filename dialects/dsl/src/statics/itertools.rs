//! Iterators of `itertools`.

use ruff_python_ast::Operator;
use tf_core::Span;

use super::{Args, IntRange, Iter, Python, Ref};
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// More terms of `count` than the steps of a file may take.
const TERMS: i64 = 1 << 24;

/// What is still to come of one.
pub(crate) enum Tool<'c> {
    /// The function, and the last item given.
    Accumulate(Option<Value<'c>>, Option<Value<'c>>, Start),
    /// Whether the items are taken while the function holds, from where it does not hold any more, or where it does not.
    While(Python, Value<'c>, bool),
    Star(Value<'c>),
    /// The last item.
    Pairs(Option<Value<'c>>),
    /// Items to skip, how many are skipped between two, how many are left to look at.
    Slice(i64, i64, Option<i64>),
    /// The items so far, and the next one once all are known.
    Cycle(Vec<Value<'c>>, Option<usize>),
    /// The sequence that is walked.
    Flat(Option<Ref<Iter<'c>>>),
}

/// What an accumulation gives first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// The first item.
    Item,
    /// The initial value.
    Initial,
    /// Nothing any more.
    Given,
}

impl<'c> Tool<'c> {
    /// The values that it holds.
    pub(super) fn parts(&self) -> Vec<Value<'c>> {
        match self {
            Self::Accumulate(function, last, _) => function.iter().chain(last).cloned().collect(),
            Self::While(_, function, _) | Self::Star(function) => vec![function.clone()],
            Self::Pairs(last) => last.iter().cloned().collect(),
            Self::Cycle(items, _) => items.clone(),
            Self::Flat(open) => open.iter().map(|iter| Value::Iter(Ref::clone(iter))).collect(),
            Self::Slice(..) => Vec::new(),
        }
    }
}

impl<'c> Parser<'_, 'c> {
    /// A call of a function of `itertools` that walks one sequence; none for others.
    pub(super) fn tool(&mut self, python: Python, args: &mut Args<'c>, span: Span) -> Res<Option<Value<'c>>> {
        let initial = if python == Python::Accumulate { args.take("initial") } else { None };
        let mut values: Vec<Value<'c>> = args.positional.iter().map(|(value, _)| value.clone()).collect();
        let function = if python == Python::Accumulate { args.take("func") } else { None };
        values.extend(function);
        if !args.keywords.is_empty() {
            return Ok(None);
        }
        let (tool, source) = match (python, &values[..]) {
            (Python::Accumulate, [items, function @ ..]) if function.len() < 2 => {
                let function = function.first().filter(|function| !matches!(function, Value::None)).cloned();
                let initial = initial.filter(|initial| !matches!(initial, Value::None));
                let start = if initial.is_some() { Start::Initial } else { Start::Item };
                (Tool::Accumulate(function, initial, start), items)
            }
            (Python::TakeWhile | Python::DropWhile | Python::FilterFalse, [function, items]) => {
                (Tool::While(python, function.clone(), false), items)
            }
            (Python::StarMap, [function, items]) => (Tool::Star(function.clone()), items),
            (Python::Pairwise, [items]) => (Tool::Pairs(None), items),
            (Python::Cycle, [items]) => (Tool::Cycle(Vec::new(), None), items),
            (Python::Flat, [items]) => (Tool::Flat(None), items),
            (Python::ISlice, [items, bounds @ ..]) => match self.slice_of(bounds) {
                Some(tool) => (tool, items),
                None => return Err(self.not_read(python.name(), &values, span)),
            },
            _ => return Ok(None),
        };
        let source = self.iter_of(source, span)?;
        self.lazy(Iter::Tool(Box::new(tool), source), span).map(Some)
    }

    fn slice_of(&self, bounds: &[Value<'c>]) -> Option<Tool<'c>> {
        let bound = |value: &Value<'c>| match value {
            Value::None => Some(None),
            Value::Int(value @ 0..) => Some(Some(*value)),
            _ => None,
        };
        let bounds = bounds.iter().map(bound).collect::<Option<Vec<_>>>()?;
        let (start, stop, step) = match bounds[..] {
            [stop] => (0, stop, 1),
            [start, stop] => (start.unwrap_or(0), stop, 1),
            [start, stop, step] => (start.unwrap_or(0), stop, step.unwrap_or(1)),
            _ => return None,
        };
        // Python takes items beyond the end that is stated.
        (step > 0 && stop.is_none_or(|stop| start <= stop)).then_some(Tool::Slice(start, step, stop))
    }

    /// The next item of one.
    pub(super) fn next_of_tool(
        &mut self,
        tool: &mut Tool<'c>,
        source: &Ref<Iter<'c>>,
        span: Span,
    ) -> Res<Option<Value<'c>>> {
        match tool {
            Tool::Accumulate(function, last, start) => {
                if *start == Start::Initial {
                    *start = Start::Given;
                    return Ok(last.clone());
                }
                let Some(item) = self.next_of(source, span)? else { return Ok(None) };
                let next = match (&*function, &*last) {
                    (_, None) => item,
                    (None, Some(last)) => self.static_binary(Operator::Add, last, &item, span)?,
                    (Some(function), Some(last)) => {
                        self.call_value(function, Args::of([last.clone(), item], span), span)?
                    }
                };
                *last = Some(next.clone());
                Ok(Some(next))
            }
            Tool::While(kind, function, is_past) => loop {
                if *kind == Python::TakeWhile && *is_past {
                    return Ok(None);
                }
                let Some(item) = self.next_of(source, span)? else { return Ok(None) };
                if *kind == Python::DropWhile && *is_past {
                    return Ok(Some(item));
                }
                let verdict = match &*function {
                    Value::None => item.clone(),
                    function => self.call_value(function, Args::of([item.clone()], span), span)?,
                };
                let holds = self.truth_of(&verdict, span)?;
                *is_past |= !holds;
                match *kind {
                    Python::TakeWhile if holds => return Ok(Some(item)),
                    Python::FilterFalse | Python::DropWhile if !holds => return Ok(Some(item)),
                    _ => {}
                }
            },
            Tool::Star(function) => {
                let Some(row) = self.next_of(source, span)? else { return Ok(None) };
                let row = self.items_of(&row, span)?;
                self.call_value(function, Args::of(row, span), span).map(Some)
            }
            Tool::Pairs(last) => {
                if last.is_none() {
                    *last = self.next_of(source, span)?;
                }
                let Some(next) = self.next_of(source, span)? else { return Ok(None) };
                let Some(first) = last.replace(next.clone()) else { return Ok(None) };
                self.tuple(vec![first, next], span).map(Some)
            }
            Tool::Slice(skip, step, stop) => {
                // Python takes the items that it skips, up to the end that is stated.
                let skipped = stop.map_or(*skip, |stop| stop.min(*skip));
                for _ in 0..skipped {
                    if self.next_of(source, span)?.is_none() {
                        return Ok(None);
                    }
                }
                let left = stop.map(|stop| stop - skipped);
                if left.is_some_and(|left| left <= 0) {
                    (*skip, *stop) = (0, Some(0));
                    return Ok(None);
                }
                (*skip, *stop) = (*step - 1, left.map(|left| left - 1));
                self.next_of(source, span)
            }
            Tool::Cycle(items, at) => {
                if at.is_none() {
                    match self.next_of(source, span)? {
                        Some(item) => {
                            items.push(item.clone());
                            return Ok(Some(item));
                        }
                        None => *at = Some(0),
                    }
                }
                let place = at.unwrap_or_default();
                *at = Some((place + 1) % items.len().max(1));
                Ok(items.get(place).cloned())
            }
            Tool::Flat(open) => loop {
                if let Some(iter) = open
                    && let Some(item) = self.next_of(iter, span)?
                {
                    return Ok(Some(item));
                }
                let Some(next) = self.next_of(source, span)? else { return Ok(None) };
                *open = Some(self.iter_of(&next, span)?);
            },
        }
    }

    /// `combinations(items, 2)` and its like: all of them, in Python's order.
    pub(super) fn chosen(&mut self, python: Python, values: &[Value<'c>], span: Span) -> Res<Value<'c>> {
        let (items, count) = match values {
            [items] if python == Python::Permutations => (items, None),
            [items, Value::None] if python == Python::Permutations => (items, None),
            [items, Value::Int(count @ 0..)] => (items, usize::try_from(*count).ok()),
            _ => return Err(self.not_read(python.name(), values, span)),
        };
        let items = self.items_of(items, span)?;
        let count = count.unwrap_or(items.len());
        let mut rows: Vec<Vec<usize>> = vec![Vec::new()];
        for _ in 0..count {
            if rows.is_empty() {
                break;
            }
            let mut longer = Vec::new();
            for row in &rows {
                let first = match (python, row.last()) {
                    (Python::Permutations, _) | (_, None) => 0,
                    (Python::Combinations, Some(last)) => last + 1,
                    (_, Some(last)) => *last,
                };
                for at in (first..items.len()).filter(|at| python != Python::Permutations || !row.contains(at)) {
                    self.count_elements(row.len() + 1, span)?;
                    longer.push(row.iter().copied().chain([at]).collect());
                }
            }
            rows = longer;
        }
        let mut tuples = Vec::with_capacity(rows.len());
        for row in rows {
            tuples.push(self.tuple(row.into_iter().map(|at| items[at].clone()).collect(), span)?);
        }
        self.lazy(Iter::of(tuples), span)
    }

    /// `count(start, step)`.
    pub(super) fn counting(&mut self, values: &[Value<'c>], span: Span) -> Res<Value<'c>> {
        let (start, step) = match values {
            [] => (0, 1),
            [Value::Int(start)] => (*start, 1),
            [Value::Int(start), Value::Int(step)] => (*start, *step),
            _ => return Err(self.not_read("count", values, span)),
        };
        if self.body.is_some() {
            return Err(Refusal::unread(span, "`count` has no end"));
        }
        if step.checked_mul(TERMS).and_then(|distance| start.checked_add(distance)).is_none() {
            return Err(Refusal::unread(span, "`count` passes 64 bits"));
        }
        self.lazy(Iter::Range(IntRange { start, step, count: i64::MAX }, 0), span)
    }
}
