//! Python's functions that are known outside bodies: `sorted`, `any`, `map`, `isinstance`, `replace` and others.

use std::rc::Rc;

use ruff_python_ast as ast;
use tf_core::Span;
use tf_types::Symbol;

use super::builtin::undecided;
use super::{Args, Dict, Object, Python, format};
use crate::names::Builtin;
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::{Bound, Value};

/// Classes of one `isinstance`.
const MOST_CLASSES: usize = 256;

impl<'c> Parser<'_, 'c> {
    /// What a loop over a constant walks: items, the keys of a dict, the characters of a string, the members of an enum.
    pub(crate) fn items_of(&mut self, value: &Value<'c>, span: Span) -> Res<Vec<Value<'c>>> {
        match value {
            Value::Dict(dict) => Ok(dict.items().iter().map(|(key, _)| key.clone()).collect()),
            Value::Str(text) => {
                let chars: Vec<char> = text.as_str().chars().collect();
                self.step(chars.len(), span)?;
                Ok(chars.into_iter().map(|c| Value::Str(self.cx.symbol(c.encode_utf8(&mut [0; 4])))).collect())
            }
            Value::Record(record) if let Some(members) = self.members_of(*record) => Ok(members),
            other => match other.as_sequence() {
                Some(items) => Ok(items.to_vec()),
                None => Err(Refusal::unread(span, format!("{} is no sequence", other.describe()))),
            },
        }
    }

    /// The items in ascending order of what `key` gives.
    pub(super) fn sorted(
        &mut self,
        items: Vec<Value<'c>>,
        key: Option<&Value<'c>>,
        reverse: bool,
        span: Span,
    ) -> Res<Vec<Value<'c>>> {
        self.count_elements(items.len(), span)?;
        let mut ranked = Vec::with_capacity(items.len());
        for item in items {
            let rank = match key {
                Some(key) if !matches!(key, Value::None) => {
                    self.call_value(key, Args::of([item.clone()], span), span)?
                }
                _ => item.clone(),
            };
            ranked.push((rank, item));
        }
        for (rank, _) in &ranked {
            self.weigh(rank, 16, span)?;
        }
        merge_sorted(ranked, reverse, span)
    }

    pub(super) fn python_call(&mut self, python: Python, mut args: Args<'c>, span: Span) -> Res<Value<'c>> {
        let what = python.name();
        let list =
            |items: Vec<Value<'c>>| Value::list(items).ok_or_else(|| Refusal::wrong(span, "lists are nested too deep"));
        match python {
            Python::Print => return Ok(Value::None),
            Python::Sorted => {
                let (key, reverse) = (args.take("key"), args.take("reverse").and_then(|value| value.truth()));
                if let [items] = &args.values(what)?[..] {
                    let items = self.items_of(items, span)?;
                    return list(self.sorted(items, key.as_ref(), reverse.unwrap_or(false), span)?);
                }
                return Err(Refusal::wrong(span, "`sorted` takes one sequence"));
            }
            Python::Dict => return self.dict_of(args, span),
            Python::Partial => {
                let mut given = args.positional.into_iter().map(|(value, _)| value);
                let Some(callee) = given.next() else { return Err(Refusal::wrong(span, "`partial` takes a function")) };
                let keywords = args.keywords.into_iter().map(|(name, value, _)| (name, value)).collect();
                let bound = Bound::value(callee, given.collect(), keywords);
                return bound.ok_or_else(|| Refusal::wrong(span, "values are nested too deep"));
            }
            Python::Replace => return self.replaced_object(args, span),
            Python::NamedTupleOf => return self.named_tuple(args, span),
            Python::Namespace => {
                let (names, values) = args.keywords.into_iter().map(|(name, value, _)| (name, value)).unzip();
                let object = Object::new(None, names, values);
                let object = object.ok_or_else(|| Refusal::wrong(span, "values are nested too deep"))?;
                return Ok(Value::Object(Rc::new(object)));
            }
            Python::Field => {
                for ignored in ["repr", "compare", "init", "metadata", "hash", "kw_only"] {
                    args.take(ignored);
                }
                if let Some(factory) = args.take("default_factory") {
                    let bound = Bound::value(Value::Builtin(Builtin::Python(Python::Field)), vec![factory], Vec::new());
                    return bound.ok_or_else(|| Refusal::wrong(span, "values are nested too deep"));
                }
                return match args.take("default") {
                    Some(value) => Ok(value),
                    None => Err(Refusal::unread(span, "a `field` without `default` and `default_factory` is not read")),
                };
            }
            Python::Auto => return Ok(Value::Builtin(Builtin::Python(Python::Auto))),
            Python::Product => {
                let repeat = args.take("repeat");
                return self.product(args, repeat, span);
            }
            _ => {}
        }
        let values = args.values(what)?;
        let unread = |values: &[Value<'c>]| {
            let found: Vec<_> = values.iter().map(Value::describe).collect();
            Refusal::unread(span, format!("`{what}` of {} is not read", found.join(" and ")))
        };
        match (python, &values[..]) {
            (Python::Any | Python::All, [items]) => {
                let truths = self.items_of(items, span)?.iter().map(Value::truth).collect::<Option<Vec<_>>>();
                let truths = truths.ok_or_else(|| unread(&values))?;
                Ok(Value::Bool(match python {
                    Python::Any => truths.contains(&true),
                    _ => !truths.contains(&false),
                }))
            }
            (Python::Reversed, [items]) => {
                let mut items = self.items_of(items, span)?;
                items.reverse();
                self.count_elements(items.len(), span)?;
                list(items)
            }
            (Python::Set, []) => list(Vec::new()),
            (Python::Set, [items]) => {
                let items = self.items_of(items, span)?;
                self.set_of(items, span)
            }
            (Python::DivMod, [a, b]) => {
                let quotient = self.static_binary(ast::Operator::FloorDiv, a, b, span)?;
                let rest = self.static_binary(ast::Operator::Mod, a, b, span)?;
                Value::tuple(vec![quotient, rest]).ok_or_else(|| unread(&values))
            }
            (Python::Pow, [a, b]) => self.static_binary(ast::Operator::Pow, a, b, span),
            (Python::Pow, [Value::Int(a), Value::Int(b @ 0..), Value::Int(m @ 1..)]) => {
                let (m, mut base, mut power, mut result) = (i128::from(*m), i128::from(*a), *b, 1_i128);
                while power > 0 {
                    base = base.rem_euclid(m);
                    if power & 1 == 1 {
                        result = result * base % m;
                    }
                    (base, power) = (base * base, power >> 1);
                }
                i64::try_from(result % m).map(Value::Int).map_err(|_| unread(&values))
            }
            (Python::Map, [function, columns @ ..]) if !columns.is_empty() => {
                let columns = columns.iter().map(|value| self.items_of(value, span)).collect::<Res<Vec<_>>>()?;
                let rows = columns.iter().map(Vec::len).min().unwrap_or(0);
                self.count_elements(rows, span)?;
                let mut made = Vec::with_capacity(rows);
                for at in 0..rows {
                    let row = columns.iter().map(|column| column[at].clone());
                    made.push(self.call_value(function, Args::of(row, span), span)?);
                }
                list(made)
            }
            (Python::Filter, [function, items]) => {
                let mut kept = Vec::new();
                for item in self.items_of(items, span)? {
                    self.step(1, span)?;
                    let verdict = match function {
                        Value::None => item.clone(),
                        function => self.call_value(function, Args::of([item.clone()], span), span)?,
                    };
                    if verdict.truth().ok_or_else(|| unread(&values))? {
                        kept.push(item);
                    }
                }
                list(kept)
            }
            (Python::Reduce, [function, items, start @ ..]) if start.len() < 2 => {
                let mut items = self.items_of(items, span)?.into_iter();
                let first = start.first().cloned().or_else(|| items.next());
                let mut total = first.ok_or_else(|| Refusal::wrong(span, "`reduce` of nothing"))?;
                for item in items {
                    self.step(1, span)?;
                    total = self.call_value(function, Args::of([total, item], span), span)?;
                }
                Ok(total)
            }
            (Python::Next, [items, default @ ..]) if default.len() < 2 && items.as_sequence().is_some() => {
                let first = self.items_of(items, span)?.into_iter().next();
                first.or(default.first().cloned()).ok_or_else(|| Refusal::wrong(span, "`next` of nothing"))
            }
            (Python::Chain, parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(self.items_of(part, span)?);
                }
                self.count_elements(all.len(), span)?;
                list(all)
            }
            (Python::Repeat, [value, Value::Int(count)]) => {
                let count = usize::try_from(*count).unwrap_or(0);
                self.count_elements(count, span)?;
                list(vec![value.clone(); count])
            }
            (Python::Repr, [value]) => match format::repr(value) {
                Some(text) => self.made_text(&text, span),
                None => Err(unread(&values)),
            },
            (Python::IsInstance, [value, class]) => match self.is_instance(value, class) {
                Some(is) => Ok(Value::Bool(is)),
                None => Err(unread(&values)),
            },
            (Python::HasAttr | Python::GetAttr, [Value::Object(object), Value::Str(name), default @ ..]) => {
                let known = self.object_attribute(object, name.as_str(), span);
                match (python, known, default) {
                    (Python::HasAttr, known, []) => Ok(Value::Bool(known.is_ok())),
                    (Python::GetAttr, Err(_), [default]) => Ok(default.clone()),
                    (Python::GetAttr, known, _) => known,
                    _ => Err(unread(&values)),
                }
            }
            (Python::AsDict, [Value::Object(object)]) => {
                let mut dict = Dict::default();
                let mut fields = object.names.iter().zip(&object.values);
                let put = |(name, value): (&Symbol<'c>, &Value<'c>)| dict.put(Value::Str(*name), value.clone());
                fields.try_for_each(put).map_err(|why| Refusal::unread(span, why))?;
                Ok(Value::Dict(dict.into()))
            }
            _ => Err(unread(&values)),
        }
    }

    /// The items without those that are there already; order is that of their first mention.
    pub(super) fn set_of(&mut self, items: Vec<Value<'c>>, span: Span) -> Res<Value<'c>> {
        self.count_elements(items.len(), span)?;
        let mut keys = Dict::default();
        for item in items {
            let what = item.describe();
            keys.put(item, Value::None).map_err(|_| Refusal::unread(span, format!("{what} is no element of a set")))?;
        }
        let items = keys.items().iter().map(|(key, _)| key.clone()).collect();
        Value::tuple(items).ok_or_else(|| Refusal::wrong(span, "tuples are nested too deep"))
    }

    /// `dict(pairs, name=value)`.
    fn dict_of(&mut self, args: Args<'c>, span: Span) -> Res<Value<'c>> {
        let mut dict = Dict::default();
        let why = |why: String| Refusal::unread(span, why);
        match &args.positional[..] {
            [] => {}
            [(Value::Dict(other), _)] => {
                self.count_elements(other.items().len(), span)?;
                other.items().iter().try_for_each(|(key, value)| dict.put(key.clone(), value.clone())).map_err(why)?;
            }
            [(pairs, _)] => {
                let pairs = self.items_of(pairs, span)?;
                self.count_elements(pairs.len(), span)?;
                for pair in pairs {
                    match pair.as_sequence() {
                        Some([key, value]) => dict.put(key.clone(), value.clone()).map_err(why)?,
                        _ => {
                            return Err(Refusal::unread(
                                span,
                                format!("`dict` takes pairs, found {}", pair.describe()),
                            ));
                        }
                    }
                }
            }
            _ => return Err(Refusal::wrong(span, "`dict` takes one sequence of pairs")),
        }
        args.keywords.into_iter().try_for_each(|(name, value, _)| dict.put(Value::Str(name), value)).map_err(why)?;
        Ok(Value::Dict(dict.into()))
    }

    /// Every combination of the items of several sequences, the last changing first.
    fn product(&mut self, args: Args<'c>, repeat: Option<Value<'c>>, span: Span) -> Res<Value<'c>> {
        let values = args.values("product")?;
        let times = match repeat {
            None => 1,
            Some(Value::Int(times @ 0..=16)) => times as usize,
            Some(other) => {
                return Err(Refusal::unread(span, format!("`repeat` is a small number, found {}", other.describe())));
            }
        };
        let columns = values.iter().map(|value| self.items_of(value, span)).collect::<Res<Vec<_>>>()?;
        let columns: Vec<_> = (0..times).flat_map(|_| columns.iter()).collect();
        let mut rows: Vec<Vec<Value<'c>>> = vec![Vec::new()];
        for column in columns {
            let count = rows.len().saturating_mul(column.len());
            self.count_elements(count.saturating_mul(rows.first().map_or(1, |row| row.len() + 1)), span)?;
            rows = rows
                .iter()
                .flat_map(|row| column.iter().map(move |item| row.iter().chain([item]).cloned().collect()))
                .collect();
        }
        let rows = rows.into_iter().map(Value::tuple).collect::<Option<Vec<_>>>().and_then(Value::list);
        rows.ok_or_else(|| Refusal::wrong(span, "lists are nested too deep"))
    }

    /// `isinstance(value, class)`; none where that is not known.
    fn is_instance(&self, value: &Value<'c>, class: &Value<'c>) -> Option<bool> {
        if let Value::Tuple(classes) = class {
            if class.weight(MOST_CLASSES) == MOST_CLASSES {
                return None;
            }
            return classes.items.iter().try_fold(false, |is, class| Some(is || self.is_instance(value, class)?));
        }
        Some(match class {
            Value::Record(class) => match value {
                Value::Object(object) => object.record.is_some_and(|record| self.extends(record, *class)),
                _ => false,
            },
            Value::Builtin(builtin) => match builtin {
                Builtin::IntType => matches!(value, Value::Int(_) | Value::Bool(_)),
                Builtin::FloatType => matches!(value, Value::Float(_)),
                Builtin::BoolType => matches!(value, Value::Bool(_)),
                Builtin::StrType => matches!(value, Value::Str(_)),
                Builtin::List => matches!(value, Value::List(_)),
                Builtin::TupleType => {
                    matches!(value, Value::Tuple(_)) || matches!(value, Value::Object(object) if object.is_tuple)
                }
                Builtin::Python(Python::Dict) => matches!(value, Value::Dict(_)),
                Builtin::DimVar => matches!(value, Value::Dim(_)),
                Builtin::Topology => matches!(value, Value::Topology(_)),
                Builtin::Mesh => matches!(value, Value::Mesh(_)),
                Builtin::Layout => matches!(value, Value::Layout(_)),
                Builtin::ShardLayout => matches!(value, Value::Shard(_)),
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// Sorts by merging, stable in both directions; a standard sort takes no order that may be missing.
fn merge_sorted<'c>(mut items: Vec<(Value<'c>, Value<'c>)>, reverse: bool, span: Span) -> Res<Vec<Value<'c>>> {
    let mut width = 1;
    while width < items.len() {
        let mut merged = Vec::with_capacity(items.len());
        let mut rest = items.into_iter().peekable();
        while rest.peek().is_some() {
            let left: Vec<_> = rest.by_ref().take(width).collect();
            let right: Vec<_> = rest.by_ref().take(width).collect();
            let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
            while let (Some((a, _)), Some((b, _))) = (left.peek(), right.peek()) {
                let order = a.order(b).ok_or_else(|| undecided(a, b, span))?;
                let order = if reverse { order.reverse() } else { order };
                merged.extend(if order.is_le() { left.next() } else { right.next() });
            }
            merged.extend(left.chain(right));
        }
        items = merged;
        width *= 2;
    }
    Ok(items.into_iter().map(|(_, item)| item).collect())
}
