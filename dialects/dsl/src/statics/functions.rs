//! Python's functions that are known outside bodies: `sorted`, `any`, `map`, `isinstance`, `replace` and others.

use std::rc::Rc;

use ruff_python_ast as ast;
use tf_core::Span;

use super::dataclass::{Field, Preset};
use super::{Args, Dict, Flavour, Instance, Iter, Python};
use crate::names::Builtin;
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::{Bound, Sequence, Value};

/// Classes of one `isinstance`.
const MOST_CLASSES: usize = 256;

impl<'c> Parser<'_, 'c> {
    pub(super) fn python_call(&mut self, python: Python, mut args: Args<'c>, span: Span) -> Res<Value<'c>> {
        let what = python.name();
        match python {
            Python::Print => Ok(Value::None),
            Python::Sorted => {
                let (key, reverse) = (args.take("key"), args.take("reverse"));
                let [items] = &args.values(what)?[..] else {
                    return Err(Refusal::wrong(span, "`sorted` takes one sequence"));
                };
                if let (Value::Set(_), Some(_)) = (items, &key) {
                    return Err(Refusal::unread(span, "`sorted` of a set by a key may depend on its order"));
                }
                let is_reverse = reverse.map(|reverse| self.truth_of(&reverse, span)).transpose()?.unwrap_or(false);
                let items = self.any_order(items, span)?;
                let items = self.sorted(items, key.as_ref(), is_reverse, span)?;
                Ok(self.heap.list(items))
            }
            Python::Dict | Python::OrderedDict => {
                let named = args.keywords.drain(..).map(|(name, value, _)| (name, value)).collect();
                let flavour = if python == Python::OrderedDict { Flavour::Ordered } else { Flavour::Plain };
                let dict = self.heap.dict(Dict::empty(flavour));
                match &args.values(what)?[..] {
                    [] => self.update_dict(&dict, None, named, span)?,
                    [other] => self.update_dict(&dict, Some(other), named, span)?,
                    _ => return Err(Refusal::wrong(span, "`dict` takes one sequence of pairs")),
                }
                Ok(dict)
            }
            Python::DefaultDict => {
                let named = args.keywords.drain(..).map(|(name, value, _)| (name, value)).collect();
                let values = args.values(what)?;
                let flavour = Flavour::Default(values.first().cloned().unwrap_or(Value::None));
                let dict = self.heap.dict(Dict::empty(flavour));
                self.update_dict(&dict, values.get(1), named, span)?;
                Ok(dict)
            }
            Python::Counter => {
                let dict = self.heap.dict(Dict::empty(Flavour::Counter));
                self.count_up(&dict, args, 1, span)?;
                Ok(dict)
            }
            Python::Enum | Python::IntEnum => self.enum_of(python, args, span),
            Python::Longest => {
                let fill = args.take("fillvalue").unwrap_or(Value::None);
                let values = args.values(what)?;
                let sources = values.iter().map(|value| self.iter_of(value, span)).collect::<Res<Vec<_>>>()?;
                if sources.is_empty() {
                    return self.lazy(Iter::Done, span);
                }
                self.lazy(Iter::Longest(sources, fill), span)
            }
            _ if let Some(iter) = self.tool(python, &mut args, span)? => Ok(iter),
            Python::Partial => {
                let mut given = args.positional.into_iter().map(|(value, _)| value);
                let Some(callee) = given.next() else { return Err(Refusal::wrong(span, "`partial` takes a function")) };
                let keywords = args.keywords.into_iter().map(|(name, value, _)| (name, value)).collect();
                let bound = Bound::value(callee, given.collect(), keywords);
                bound.ok_or_else(|| super::too_deep(span))
            }
            Python::Replace => self.replaced_object(args, span),
            Python::TupleReplace => self.replaced_tuple(args, span),
            Python::NamedTupleOf => self.named_tuple(args, span),
            Python::Namespace => {
                let attributes = args.keywords.drain(..).map(|(name, value, _)| (name, value)).collect();
                args.values(what)?
                    .first()
                    .map_or(Ok(()), |value| Err(self.not_read(what, std::slice::from_ref(value), span)))?;
                Ok(self.heap.instance(Instance::namespace(attributes)))
            }
            Python::Field => self.field(args, span),
            Python::Product => {
                let repeat = args.take("repeat");
                self.product(args, repeat, span)
            }
            _ => {
                let values = args.values(what)?;
                match self.iterating(python, &values, span)? {
                    Some(value) => Ok(value),
                    None => match self.library_call(python, &values, span)? {
                        Some(value) => Ok(value),
                        None => self.asking(python, &values, span),
                    },
                }
            }
        }
    }

    /// Functions that walk what they are given.
    fn iterating(&mut self, python: Python, values: &[Value<'c>], span: Span) -> Res<Option<Value<'c>>> {
        Ok(Some(match (python, values) {
            (Python::Any | Python::All, [items]) => {
                let is_any = python == Python::Any;
                if let Value::Set(_) = items {
                    for item in self.any_order(items, span)? {
                        if self.truth_of(&item, span)? == is_any {
                            return Ok(Some(Value::Bool(is_any)));
                        }
                    }
                    return Ok(Some(Value::Bool(!is_any)));
                }
                let iter = self.iter_of(items, span)?;
                while let Some(item) = self.next_of(&iter, span)? {
                    if self.truth_of(&item, span)? == is_any {
                        return Ok(Some(Value::Bool(is_any)));
                    }
                }
                Value::Bool(!is_any)
            }
            (Python::Iter, [items]) => Value::Iter(self.iter_of(items, span)?),
            (Python::Reversed, [Value::List(list)]) => {
                let count = list.get().len();
                return self.lazy(Iter::Reversed(Rc::clone(list), count), span).map(Some);
            }
            (Python::Reversed, [items @ (Value::Tuple(_) | Value::Str(_) | Value::IntRange(_) | Value::Dict(_))]) => {
                let mut items = self.items_of(items, span)?;
                items.reverse();
                return self.lazy(Iter::Items(Rc::new(Sequence { items, depth: 0 }), 0), span).map(Some);
            }
            (Python::Set | Python::FrozenSet, []) => self.heap.set(Dict::default(), python == Python::FrozenSet),
            (Python::Set | Python::FrozenSet, [items]) => {
                let items = self.any_order(items, span)?;
                self.set_of(items, python == Python::FrozenSet, span)?
            }
            (Python::Map, [function, columns @ ..]) if !columns.is_empty() => {
                let columns = columns.iter().map(|value| self.iter_of(value, span)).collect::<Res<Vec<_>>>()?;
                self.lazy(Iter::Map(function.clone(), columns), span)?
            }
            (Python::Filter, [function, items]) => {
                let items = self.iter_of(items, span)?;
                self.lazy(Iter::Filter(function.clone(), items), span)?
            }
            (Python::Reduce, [function, items, start @ ..]) if start.len() < 2 => {
                let iter = self.iter_of(items, span)?;
                let first = match start.first() {
                    Some(start) => Some(start.clone()),
                    None => self.next_of(&iter, span)?,
                };
                let mut total = first.ok_or_else(|| Refusal::wrong(span, "`reduce` of nothing"))?;
                while let Some(item) = self.next_of(&iter, span)? {
                    total = self.call_value(function, Args::of([total, item], span), span)?;
                }
                total
            }
            (Python::Next, [Value::Iter(iter), default @ ..]) if default.len() < 2 => {
                let item = self.next_of(iter, span)?;
                item.or_else(|| default.first().cloned())
                    .ok_or_else(|| Refusal::wrong(span, "`next` of nothing").raises("StopIteration"))?
            }
            (Python::Combinations | Python::Combined | Python::Permutations, values) => {
                self.chosen(python, values, span)?
            }
            (Python::Count, values) => self.counting(values, span)?,
            (Python::Repeat, [value]) if self.body.is_none() => {
                self.lazy(Iter::Repeat(value.clone(), i64::MAX), span)?
            }
            (Python::Chain, parts) => self.lazy(Iter::Chain(None, parts.iter().rev().cloned().collect()), span)?,
            (Python::Repeat, [value, Value::Int(count)]) => self.lazy(Iter::Repeat(value.clone(), *count), span)?,
            _ => return Ok(None),
        }))
    }

    /// Functions that ask for one thing.
    fn asking(&mut self, python: Python, values: &[Value<'c>], span: Span) -> Res<Value<'c>> {
        match (python, values) {
            (Python::Auto, []) => Ok(Value::Builtin(Builtin::Python(Python::Auto))),
            (Python::Type, [value]) => self.type_of(value).ok_or_else(|| self.not_read(python.name(), values, span)),
            (Python::Super, []) => self.super_of(span),
            (Python::Wrapper(wrapper), [function]) => self.wrapped(wrapper, function, span),
            (Python::DivMod, [a, b]) => {
                let quotient = self.static_binary(ast::Operator::FloorDiv, a, b, span)?;
                let rest = self.static_binary(ast::Operator::Mod, a, b, span)?;
                self.tuple(vec![quotient, rest], span)
            }
            (Python::Pow, [a, b]) => self.static_binary(ast::Operator::Pow, a, b, span),
            (Python::Pow, [Value::Int(a), Value::Int(b @ 0..), Value::Int(m @ 1..)]) => {
                let (m, mut base, mut power, mut result) = (i128::from(*m), i128::from(*a), *b, 1_i128);
                while power > 0 {
                    base = base.rem_euclid(m);
                    if power & 1 == 1 {
                        result = result * base % m;
                    }
                    (base, power) = (base * base % m, power >> 1);
                }
                i64::try_from(result % m).map(Value::Int).map_err(|_| self.not_read(python.name(), values, span))
            }
            (Python::Repr, [value]) => match self.repr(value, 0, span)? {
                Some(text) => self.made_text(&text, span),
                None => Err(self.not_read(python.name(), values, span)),
            },
            (Python::IsInstance, [value, class]) => {
                self.read(value, span)?;
                let is = self.is_instance(value, class);
                is.map(Value::Bool).ok_or_else(|| self.not_read(python.name(), values, span))
            }
            (Python::HasAttr, [value, Value::Str(name)]) if !name.as_str().starts_with("__") => {
                match self.attribute_known(value, name.as_str(), span)? {
                    Some(known) => Ok(Value::Bool(known.is_some())),
                    None => Err(self.not_read(python.name(), values, span)),
                }
            }
            (Python::GetAttr, [Value::Unread(unread), Value::Str(_), ..]) => Ok(unread.another()),
            (Python::GetAttr, [value, Value::Str(name), default @ ..]) if default.len() < 2 => {
                match self.attribute_known(value, name.as_str(), span)? {
                    Some(Some(known)) => Ok(known),
                    Some(None) => match default {
                        [default] if !name.as_str().starts_with("__") => Ok(default.clone()),
                        _ => Err(self.no_attribute(value, name.as_str(), span)),
                    },
                    None => Err(self.not_read(python.name(), values, span)),
                }
            }
            (Python::SetAttr, [owner, Value::Str(name), value]) => {
                self.set_attribute(owner, *name, value.clone(), false, span)?;
                Ok(Value::None)
            }
            (Python::SetFrozen, [owner, Value::Str(name), value]) => {
                // Frozen instances are never marked, so a change that is not followed is an error at once.
                self.set_attribute(owner, *name, value.clone(), true, span).map_err(Refusal::always)?;
                Ok(Value::None)
            }
            (Python::SetFrozen, _) => {
                Err(Refusal::wrong(span, "`object.__setattr__` takes an object, a name and a value"))
            }
            (Python::AsDict, [value @ Value::Object(_)]) => self.as_dict(value, 0, span),
            _ => Err(self.not_read(python.name(), values, span)),
        }
    }

    /// Whether a value has an attribute, and which; none where that is not known.
    pub(super) fn attribute_known(
        &mut self,
        owner: &Value<'c>,
        name: &str,
        span: Span,
    ) -> Res<Option<Option<Value<'c>>>> {
        match owner {
            Value::Object(_) => self.object_attribute(owner, name, span).map(Some),
            Value::Record(class) => self.record_attribute(*class, name, span).map(Some),
            Value::Super(parts) => self.super_attribute(parts, name, span).map(Some),
            Value::Factory(at) if name == "__name__" => Ok(Some(Some(self.function_name(*at)))),
            owner if self.has_method(owner, name) => {
                Ok(Some(Some(Value::Method(Rc::new((owner.clone(), self.cx.symbol(name)))))))
            }
            _ => Ok(None),
        }
    }

    /// `field(...)` of a dataclass.
    fn field(&mut self, mut args: Args<'c>, span: Span) -> Res<Value<'c>> {
        for ignored in ["repr", "metadata"] {
            args.take(ignored);
        }
        let mut flag = |p: &mut Self, name: &str| args.take(name).map(|value| p.truth_of(&value, span)).transpose();
        let (init, compare, kw_only) = (flag(self, "init")?, flag(self, "compare")?, flag(self, "kw_only")?);
        let default = match (args.take("default"), args.take("default_factory")) {
            (None, None) => Preset::None,
            (Some(Value::Field(_)), _) | (_, Some(Value::Field(_))) | (Some(_), Some(_)) => {
                return Err(Refusal::wrong(span, "a `field` has one default"));
            }
            (Some(value), None) => Preset::Value(value),
            (None, Some(factory)) => Preset::Factory(factory),
        };
        if let Some(value) = args.values("field")?.first() {
            return Err(Refusal::wrong(span, format!("`field` takes keywords, found {}", value.describe())));
        }
        let field = Field {
            name: self.cx.symbol(""),
            default,
            init: init.unwrap_or(true),
            compare: compare.unwrap_or(true),
            kw_only,
        };
        Ok(Value::Field(Rc::new(field)))
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
        let items = rows.into_iter().map(|row| self.tuple(row, span)).collect::<Res<Vec<_>>>()?;
        self.lazy(Iter::Items(Rc::new(Sequence { items, depth: 0 }), 0), span)
    }

    /// `type(value)`; none where that is no class that is known.
    fn type_of(&self, value: &Value<'c>) -> Option<Value<'c>> {
        Some(Value::Builtin(match value {
            Value::Object(object) => return object.get().class().map(Value::Record),
            Value::Bool(_) => Builtin::BoolType,
            Value::Int(_) => Builtin::IntType,
            Value::Float(_) => Builtin::FloatType,
            Value::Str(_) => Builtin::StrType,
            Value::Tuple(_) => Builtin::TupleType,
            Value::List(_) => Builtin::List,
            Value::IntRange(_) => Builtin::Range,
            Value::Dict(dict) if dict.get().is_plain() => Builtin::Python(Python::Dict),
            Value::Set(set) if set.get().is_frozen => Builtin::Python(Python::FrozenSet),
            Value::Set(_) => Builtin::Python(Python::Set),
            _ => return None,
        }))
    }

    /// `isinstance(value, class)`; none where that is not known.
    fn is_instance(&self, value: &Value<'c>, class: &Value<'c>) -> Option<bool> {
        if let Value::Tuple(classes) = class {
            if class.weight(MOST_CLASSES) == MOST_CLASSES {
                return None;
            }
            return classes.items.iter().try_fold(false, |is, class| Some(is || self.is_instance(value, class)?));
        }
        let plain = self.payload(value);
        let plain = plain.as_ref().unwrap_or(value);
        Some(match class {
            Value::Record(class) => match value {
                Value::Object(object) => match object.get().class() {
                    Some(own) => self.extends(own, *class),
                    None if object.get().is_namespace() => false,
                    None => return None,
                },
                _ => false,
            },
            Value::Builtin(builtin) => match builtin {
                Builtin::IntType => matches!(plain, Value::Int(_) | Value::Bool(_)),
                Builtin::FloatType => matches!(value, Value::Float(_)),
                Builtin::BoolType => matches!(value, Value::Bool(_)),
                Builtin::StrType => matches!(plain, Value::Str(_)),
                Builtin::List => matches!(value, Value::List(_)),
                Builtin::Range => matches!(value, Value::IntRange(_)),
                Builtin::TupleType => matches!(value, Value::Tuple(_)) || self.is_tuple(value),
                Builtin::Python(Python::Dict) => matches!(value, Value::Dict(_)),
                Builtin::Python(Python::OrderedDict) => matches!(value, Value::Dict(dict) if dict.get().is_ordered()),
                Builtin::Python(Python::Counter) => matches!(value, Value::Dict(dict) if dict.get().is_counter()),
                Builtin::Python(Python::Set) => matches!(value, Value::Set(set) if !set.get().is_frozen),
                Builtin::Python(Python::FrozenSet) => matches!(value, Value::Set(set) if set.get().is_frozen),
                Builtin::Python(Python::Object) => true,
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
