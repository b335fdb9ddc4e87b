//! Python's functions on constants: `sum`, `min`, `len`, `int` and others, and operators that join values.

use ruff_python_ast as ast;
use tf_core::Span;
use tf_types::Symbol;

use super::numbers::exact;
use super::{Args, Iter};
use crate::names::Builtin;
use crate::parser::Parser;
use crate::refusal::{Refusal, Res, unread_call};
use crate::value::Value;

/// Characters of a string that is put together.
pub(super) const TEXT: usize = 4096;

impl Builtin {
    /// Whether its call takes values, and not parts of the language.
    pub(crate) fn is_of_values(self) -> bool {
        use Builtin::{
            Abs, BoolType, Enumerate, FloatType, IntType, Len, List, Max, Min, Round, StrType, Sum, TupleType, Zip,
        };
        matches!(
            self,
            Min | Max
                | Len
                | Sum
                | Zip
                | Enumerate
                | Abs
                | Round
                | IntType
                | FloatType
                | BoolType
                | StrType
                | List
                | TupleType
        )
    }
}

impl<'c> Parser<'_, 'c> {
    /// A call of a function of Python on constants.
    pub(crate) fn static_call(
        &mut self,
        builtin: Builtin,
        mut args: Args<'c>,
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Value<'c>> {
        let what = builtin.name();
        let is_extremum = matches!(builtin, Builtin::Min | Builtin::Max);
        let key = if is_extremum { args.take("key") } else { None };
        let default = if is_extremum { args.take("default") } else { None };
        let start = if let Builtin::Sum | Builtin::Enumerate = builtin { args.take("start") } else { None };
        let strict = if builtin == Builtin::Zip { args.take("strict") } else { None };
        let mut values = args.values(what)?;
        values.extend(start);
        let unread = || unread_call(what, &values, span);
        match (builtin, &values[..]) {
            (Builtin::Min | Builtin::Max, [_, ..]) => {
                self.extremum(builtin, &values, key.as_ref(), default, span, bind)
            }
            (Builtin::Len, [one]) => self.length(one, span)?.map(Value::Int).ok_or_else(unread),
            (Builtin::Sum, [items, ..])
                if self.body.is_some()
                    && let Some(items) = items.as_sequence()
                    && items.iter().any(|item| item.as_expr().is_some()) =>
            {
                let refusal = Refusal::wrong(span, "`sum` of run-time values is not part of the language");
                Err(refusal.help("add them: `x + y`"))
            }
            (Builtin::Sum, [items]) => self.static_sum(items, Value::Int(0), span),
            (Builtin::Sum, [items, start]) if start.text().is_none() => self.static_sum(items, start.clone(), span),
            (Builtin::Zip, columns) => {
                let is_strict = strict.map(|strict| self.truth_of(&strict, span)).transpose()?.unwrap_or(false);
                let columns = columns.iter().map(|value| self.iter_of(value, span)).collect::<Res<Vec<_>>>()?;
                self.lazy(Iter::Zip(columns, is_strict), span)
            }
            (Builtin::Enumerate, [items, first @ ..]) if first.len() < 2 => {
                let first = match first {
                    [] => 0,
                    [Value::Int(first)] => *first,
                    _ => return Err(unread()),
                };
                let items = self.iter_of(items, span)?;
                self.lazy(Iter::Enumerate(items, first), span)
            }
            (Builtin::TupleType, []) => self.tuple(Vec::new(), span),
            (Builtin::List, []) => Ok(self.heap.list(Vec::new())),
            (Builtin::TupleType, [items @ Value::Tuple(_)]) => Ok(items.clone()),
            (Builtin::TupleType | Builtin::List, [items]) => {
                let items = self.items_of(items, span)?;
                if builtin == Builtin::List { Ok(self.heap.list(items)) } else { self.tuple(items, span) }
            }
            (Builtin::BoolType, []) => Ok(Value::Bool(false)),
            (Builtin::BoolType, [value]) => self.truth_known(value, span)?.map(Value::Bool).ok_or_else(unread),
            (Builtin::StrType, [value]) => {
                let text = self.shown(value, span)?.ok_or_else(unread)?;
                self.made_text(&text, span)
            }
            _ => {
                let plain: Vec<_> = values.iter().map(|value| self.plain(value.clone())).collect();
                converted(builtin, &plain).ok_or_else(|| match (&plain[..], self.not_read(what, &values, span)) {
                    ([Value::Str(text)], refusal) if is_no_number(builtin, text.as_str()) => {
                        refusal.raises("ValueError")
                    }
                    (_, refusal) => refusal,
                })
            }
        }
    }

    /// An iterator; in a body, where nothing is run, the list of its items.
    pub(super) fn lazy(&mut self, iter: Iter<'c>, span: Span) -> Res<Value<'c>> {
        let iter = self.heap.iter(iter);
        if self.body.is_none() {
            return Ok(Value::Iter(iter));
        }
        let items = self.drain(&iter, span)?;
        Ok(self.heap.list(items))
    }

    fn static_sum(&mut self, items: &Value<'c>, start: Value<'c>, span: Span) -> Res<Value<'c>> {
        let is_set = matches!(items, Value::Set(_));
        let items = self.any_order(items, span)?;
        if is_set && items.iter().any(|item| !matches!(item, Value::Int(_) | Value::Bool(_))) {
            return Err(Refusal::unread(span, "the sum of a set of other values than integers depends on its order"));
        }
        let floats: Vec<f64> = [&start].into_iter().chain(&items).filter_map(Value::as_float).collect();
        let is_float = items.iter().any(|item| matches!(item, Value::Float(_)));
        let mut total = start;
        for item in &items {
            total = self.static_binary(ast::Operator::Add, &total, item, span)?;
        }
        match total {
            Value::Float(total) if is_float && total.is_finite() && compensated(&floats) != total => {
                let message = "the last digits of this sum depend on the version of Python";
                Err(Refusal::unread(span, message).help("add the numbers with `+`"))
            }
            total => Ok(total),
        }
    }

    /// `min` and `max`; in a `@prim_func` also of scalars at run time.
    pub(crate) fn extremum(
        &mut self,
        builtin: Builtin,
        values: &[Value<'c>],
        key: Option<&Value<'c>>,
        default: Option<Value<'c>>,
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Value<'c>> {
        let what = builtin.name();
        let items = match values {
            [Value::Set(_)] if key.is_some() => {
                return Err(Refusal::unread(span, format!("`{what}` of a set by a key depends on its order")));
            }
            [one] => match self.any_order(one, span) {
                Err(Refusal::Unread(_)) if self.body.is_some() => {
                    return Err(Refusal::unread(span, format!("`{what}` of {}", one.describe())));
                }
                items => items?,
            },
            several => several.to_vec(),
        };
        let count = items.len();
        let mut best: Option<(Value<'c>, Value<'c>)> = None;
        for (at, item) in items.into_iter().enumerate() {
            let rank = match key {
                Some(key) if !matches!(key, Value::None) => {
                    self.call_value(key, Args::of([item.clone()], span), span)?
                }
                _ => item.clone(),
            };
            let Some((known, least)) = best else {
                best = Some((item, rank));
                continue;
            };
            let bind = bind.filter(|_| at + 1 == count);
            best = Some(match self.better(builtin, &least, &rank, span, bind)? {
                Better::Known => (known, least),
                Better::Item => (item, rank),
                Better::Made(value) => (value.clone(), value),
            });
        }
        let best = best.map(|(item, _)| item).or(default);
        best.ok_or_else(|| Refusal::wrong(span, format!("`{what}` of nothing")))
    }

    fn better(
        &mut self,
        builtin: Builtin,
        known: &Value<'c>,
        item: &Value<'c>,
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Better<'c>> {
        let (what, least) = (builtin.name(), builtin == Builtin::Min);
        let operands = [(known.clone(), span), (item.clone(), span)];
        if let Some(scalar) = self.scalar_extremum(what, operands, span, bind)? {
            return Ok(Better::Made(scalar));
        }
        match (known, item) {
            (Value::Dim(_), Value::Dim(_) | Value::Int(_)) | (Value::Int(_), Value::Dim(_)) => {
                let (a, b) = (self.to_dim(known, "an operand", span)?, self.to_dim(item, "an operand", span)?);
                self.step_dims(&[a, b], span)?;
                let dim = if least { self.cx.dim_min(a, b) } else { self.cx.dim_max(a, b) };
                self.computed_dim(dim, span).map(Better::Made)
            }
            (a, b) if self.body.is_some() && (a.as_float().is_none() || b.as_float().is_none()) => {
                let refusal = Refusal::unread(span, format!("`{what}` of {} and {}", a.describe(), b.describe()));
                Err(refusal.help("elementwise: `tf.minimum`, `tf.maximum`"))
            }
            (known, item) => {
                let op = if least { ast::CmpOp::Lt } else { ast::CmpOp::Gt };
                Ok(if self.ranked(op, item, known, 0, span)? { Better::Item } else { Better::Known })
            }
        }
    }

    /// `a + b` of strings and sequences, `a * n` of sequences.
    pub(crate) fn joined(
        &mut self,
        op: ast::Operator,
        a: &Value<'c>,
        b: &Value<'c>,
        span: Span,
    ) -> Option<Res<Value<'c>>> {
        const ITEMS: usize = 65_536;
        let too_long = || Refusal::unread(span, format!("more than {ITEMS} elements"));
        match (op, a, b) {
            (ast::Operator::Add, Value::Str(a), Value::Str(b)) => {
                let text = format!("{a}{b}");
                Some(self.made_text(&text, span))
            }
            (ast::Operator::Mult, Value::Str(text), Value::Int(count))
            | (ast::Operator::Mult, Value::Int(count), Value::Str(text)) => {
                let count = usize::try_from(*count).unwrap_or(0);
                if text.as_str().len().saturating_mul(count) > TEXT {
                    return Some(Err(too_long()));
                }
                let text = text.as_str().repeat(count);
                Some(self.made_text(&text, span))
            }
            (ast::Operator::Mod, Value::Str(text), values) => Some(self.percent(*text, values, span)),
            (ast::Operator::BitOr, Value::Dict(x), Value::Dict(y))
                if !x.get().is_counter() && !y.get().is_counter() =>
            {
                let mut all = x.get().clone();
                let added = y.get().entries();
                if let Err(refusal) = self.count_elements(all.len() + added.len(), span) {
                    return Some(Err(refusal));
                }
                added.into_iter().for_each(|(key, name, value)| all.put(key, name, value));
                Some(Ok(self.heap.dict(all)))
            }
            (op, Value::Set(_), Value::Set(_)) => {
                let name = match op {
                    ast::Operator::BitOr => "union",
                    ast::Operator::BitAnd => "intersection",
                    ast::Operator::Sub => "difference",
                    ast::Operator::BitXor => "symmetric_difference",
                    _ => return None,
                };
                Some(self.set_method(a, name, std::slice::from_ref(b), span))
            }
            (ast::Operator::Add, Value::Tuple(_), Value::Tuple(_))
            | (ast::Operator::Add, Value::List(_), Value::List(_)) => {
                let (x, y) = (a.as_sequence()?, b.as_sequence()?);
                if x.len() + y.len() > ITEMS {
                    return Some(Err(too_long()));
                }
                if let Err(refusal) = self.count_elements(x.len() + y.len(), span) {
                    return Some(Err(refusal));
                }
                let items = x.iter().chain(y.iter()).cloned().collect();
                Some(if let Value::List(_) = a { Ok(self.heap.list(items)) } else { self.tuple(items, span) })
            }
            (ast::Operator::Mult, Value::Int(_), Value::Tuple(_) | Value::List(_)) => self.joined(op, b, a, span),
            (ast::Operator::Mult, Value::Tuple(_) | Value::List(_), Value::Int(count)) => {
                let x = a.as_sequence()?;
                let count = usize::try_from(*count).unwrap_or(0);
                if x.len().saturating_mul(count) > ITEMS {
                    return Some(Err(too_long()));
                }
                if let Err(refusal) = self.count_elements(x.len() * count, span) {
                    return Some(Err(refusal));
                }
                let items = (0..count).flat_map(|_| x.iter().cloned()).collect();
                Some(if let Value::List(_) = a { Ok(self.heap.list(items)) } else { self.tuple(items, span) })
            }
            _ => None,
        }
    }
}

/// Which of two is the least or greatest.
enum Better<'c> {
    Known,
    Item,
    Made(Value<'c>),
}

/// The sum as newer versions of Python round it.
fn compensated(numbers: &[f64]) -> f64 {
    let (mut total, mut rest) = (0.0_f64, 0.0);
    for &number in numbers {
        let sum = total + number;
        rest += if total.abs() >= number.abs() { (total - sum) + number } else { (number - sum) + total };
        total = sum;
    }
    total + rest
}

/// `int(value)`, `float(value)`, `abs(value)`, `round(value)` of numbers and strings.
fn converted<'c>(builtin: Builtin, values: &[Value<'c>]) -> Option<Value<'c>> {
    let number = |value: &Value<'c>| match value {
        Value::Bool(value) => Value::Int(i64::from(*value)),
        other => other.clone(),
    };
    Some(match (builtin, &values.iter().map(number).collect::<Vec<_>>()[..]) {
        (Builtin::Abs, [Value::Int(a)]) => Value::Int(a.checked_abs()?),
        (Builtin::Abs, [Value::Float(a)]) => Value::Float(a.abs()),
        (Builtin::IntType, []) => Value::Int(0),
        (Builtin::IntType, [Value::Int(a)]) => Value::Int(*a),
        (Builtin::IntType, [Value::Float(a)]) => Value::Int(exact(a.trunc())?),
        (Builtin::IntType, [Value::Str(text)]) => Value::Int(digits(text.as_str())?.parse().ok()?),
        (Builtin::IntType, [Value::Str(text), Value::Int(base @ 2..=36)]) => {
            Value::Int(i64::from_str_radix(&digits(text.as_str())?, *base as u32).ok()?)
        }
        (Builtin::FloatType, []) => Value::Float(0.0),
        (Builtin::FloatType, [Value::Int(a)]) => Value::Float(*a as f64),
        (Builtin::FloatType, [Value::Float(a)]) => Value::Float(*a),
        (Builtin::FloatType, [Value::Str(text)]) => Value::Float(digits(text.as_str())?.parse().ok()?),
        (Builtin::StrType, []) => return None,
        (Builtin::Round, [Value::Int(a)] | [Value::Int(a), Value::None | Value::Int(0..)]) => Value::Int(*a),
        (Builtin::Round, [Value::Float(a)] | [Value::Float(a), Value::None]) => Value::Int(exact(a.round_ties_even())?),
        // As Python rounds: the decimal text of the number.
        (Builtin::Round, [Value::Float(a), Value::Int(digits @ 0..=15)]) if a.is_finite() => {
            Value::Float(format!("{a:.*}", *digits as usize).parse().ok()?)
        }
        _ => return None,
    })
}

/// Whether Python takes a text for no number.
fn is_no_number(builtin: Builtin, text: &str) -> bool {
    let text = text.trim().trim_start_matches(['+', '-']).to_lowercase();
    let is_digit = |c: char| c.is_ascii_digit() || c == '_';
    text.is_ascii()
        && match builtin {
            Builtin::IntType => !text.chars().all(is_digit) || text.is_empty(),
            Builtin::FloatType => {
                let is_part = |c: char| is_digit(c) || matches!(c, 'e' | '.' | '+' | '-');
                !matches!(&text[..], "inf" | "infinity" | "nan") && !text.chars().all(is_part)
            }
            _ => false,
        }
}

/// The text of a number without the `_` between its digits.
fn digits(text: &str) -> Option<String> {
    let text = text.trim();
    let is_between = text.is_ascii()
        && !text.starts_with('_')
        && !text.ends_with('_')
        && text
            .as_bytes()
            .windows(2)
            .all(|pair| !pair.contains(&b'_') || pair[0].is_ascii_alphanumeric() || pair[1].is_ascii_alphanumeric())
        && !text.contains("__");
    is_between.then(|| text.replace('_', ""))
}
