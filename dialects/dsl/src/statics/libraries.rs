//! Functions of the standard library on a few values: `operator`, `copy`, `dataclasses`, `functools`, `typing`.

use ruff_python_ast as ast;
use tf_core::Span;

use super::items::Index;
use super::{Dict, Python, Wrapper};
use crate::names::Builtin;
use crate::parser::Parser;
use crate::refusal::Res;
use crate::value::{Bound, Value};

impl<'c> Parser<'_, 'c> {
    /// What a function of the standard library gives; none for others, and for other values.
    pub(super) fn library_call(&mut self, python: Python, values: &[Value<'c>], span: Span) -> Res<Option<Value<'c>>> {
        match (python, values) {
            (Python::Binary(op), [a, b]) => self.static_binary(op, a, b, span),
            (Python::Compare(op), [a, b]) => self.decided(op, a, b, span).map(Value::Bool),
            (Python::Contains, [a, b]) => self.decided(ast::CmpOp::In, b, a, span).map(Value::Bool),
            (Python::Unary(op), [value]) => self.static_unary(op, value, span),
            (Python::Truth, [value]) => self.truth_of(value, span).map(Value::Bool),
            (Python::GetItem, [owner, key]) => self.item(owner, &Index::Key(key.clone()), span),
            (Python::ItemGetter | Python::AttrGetter, [_, ..]) => {
                let of = if python == Python::ItemGetter { Python::ItemOf } else { Python::AttrOf };
                let of = Value::Builtin(Builtin::Python(of));
                Bound::value(of, values.to_vec(), Vec::new()).ok_or_else(|| super::too_deep(span))
            }
            (Python::ItemOf | Python::AttrOf, [keys @ .., owner]) => self.got(python, owner, keys, span),
            (Python::Copy, [value]) => self.copy(value, span),
            (Python::DeepCopy, [value]) => self.deep_copy(value, span),
            (Python::Cast, [_, value]) | (Python::Same, [value]) => Ok(value.clone()),
            (Python::NewType, [_, _]) => Ok(Value::Builtin(Builtin::Python(Python::Same))),
            (Python::FromKeys, [keys, value @ ..]) if value.len() < 2 => {
                let mut dict = Dict::default();
                let value = value.first().cloned().unwrap_or(Value::None);
                for key in self.items_of(keys, span)? {
                    self.put(&mut dict, key, value.clone(), span)?;
                }
                Ok(self.heap.dict(dict))
            }
            (Python::Fields, [Value::Object(_) | Value::Record(_)]) => self.field_list(&values[0], span),
            (Python::TupleDict, [value @ Value::Object(_)]) => self.tuple_dict(value, span),
            (Python::AsTuple, [value @ Value::Object(_)]) => self.as_tuple(value, span),
            (Python::Callable, [value]) => match value {
                Value::Factory(_) | Value::Bound(_) | Value::Method(_) | Value::Record(_) | Value::Math(_) => {
                    Ok(Value::Bool(true))
                }
                Value::None
                | Value::Bool(_)
                | Value::Int(_)
                | Value::Float(_)
                | Value::Str(_)
                | Value::Tuple(_)
                | Value::List(_)
                | Value::Dict(_)
                | Value::Set(_) => Ok(Value::Bool(false)),
                Value::Builtin(builtin) if builtin.is_of_values() => Ok(Value::Bool(true)),
                _ => Err(self.not_read(python.name(), values, span)),
            },
            (Python::Setter, [Value::Wrapped(Wrapper::Property, getter), Value::Factory(setter)])
                if self.factories[*getter].setter.is_none() && self.stand_together(*getter, *setter) =>
            {
                self.factories[*getter].setter = Some(*setter);
                Ok(values[0].clone())
            }
            (Python::Wraps, [function]) => {
                let wrapped = Value::Builtin(Builtin::Python(Python::Wrapped));
                Bound::value(wrapped, vec![function.clone()], Vec::new()).ok_or_else(|| super::too_deep(span))
            }
            (Python::Wrapped, [function, Value::Factory(at)]) => {
                let name = self.attribute_known(function, "__name__", span)?.flatten();
                self.factories[*at].shown = name.or_else(|| self.factories[*at].shown.clone());
                Ok(Value::Factory(*at))
            }
            (Python::Unique, [Value::Record(at)]) => self.unique(*at, span),
            _ => return self.character_call(python, values, span),
        }
        .map(Some)
    }

    /// `chr`, `ord`, `hex` and their like.
    fn character_call(&mut self, python: Python, values: &[Value<'c>], span: Span) -> Res<Option<Value<'c>>> {
        match (python, values) {
            (Python::Chr, [Value::Int(code)]) => {
                let c = u32::try_from(*code).ok().and_then(char::from_u32);
                let c = c.ok_or_else(|| self.not_read(python.name(), values, span))?;
                self.made_text(c.encode_utf8(&mut [0; 4]), span)
            }
            (Python::Ord, [Value::Str(text)]) if text.as_str().chars().count() == 1 => {
                Ok(Value::Int(text.as_str().chars().next().map_or(0, |c| i64::from(u32::from(c)))))
            }
            (Python::Based(prefix), [number @ (Value::Int(_) | Value::Bool(_))]) => {
                let number = if let Value::Int(number) = number {
                    *number
                } else {
                    i64::from(matches!(number, Value::Bool(true)))
                };
                let digits = match prefix {
                    'x' => format!("{:x}", number.unsigned_abs()),
                    'o' => format!("{:o}", number.unsigned_abs()),
                    _ => format!("{:b}", number.unsigned_abs()),
                };
                let sign = if number < 0 { "-" } else { "" };
                self.made_text(&format!("{sign}0{prefix}{digits}"), span)
            }
            _ => return Ok(None),
        }
        .map(Some)
    }

    /// What `itemgetter(...)` and `attrgetter(...)` take of an object.
    fn got(&mut self, python: Python, owner: &Value<'c>, keys: &[Value<'c>], span: Span) -> Res<Value<'c>> {
        let mut taken = Vec::with_capacity(keys.len());
        for key in keys {
            let part = match (python, key) {
                (Python::ItemOf, key) => self.item(owner, &Index::Key(key.clone()), span)?,
                (_, Value::Str(path)) => {
                    let mut part = owner.clone();
                    for name in path.as_str().split('.') {
                        self.read(&part, span)?;
                        let found = self.attribute_known(&part, name, span)?.flatten();
                        part = found.ok_or_else(|| self.no_attribute(&part, name, span))?;
                    }
                    part
                }
                _ => return Err(self.not_read(python.name(), keys, span)),
            };
            taken.push(part);
        }
        if let [one] = &taken[..] { Ok(one.clone()) } else { self.tuple(taken, span) }
    }
}
