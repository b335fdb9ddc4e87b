//! Python's functions on constants: `sum`, `min`, `math.sqrt` and others, and methods of modules and dicts.

use ruff_python_ast as ast;
use tf_core::Span;
use tf_types::Symbol;

use super::Args;
use super::math::whole;
use crate::names::Builtin;
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
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
        let key = if let Builtin::Min | Builtin::Max = builtin { args.take("key") } else { None };
        let default = if let Builtin::Min | Builtin::Max = builtin { args.take("default") } else { None };
        let start = if let Builtin::Sum | Builtin::Enumerate = builtin { args.take("start") } else { None };
        if builtin == Builtin::Zip && args.take("strict").is_some_and(|strict| strict.truth() == Some(true)) {
            let counts: Vec<_> = args.positional.iter().filter_map(|(value, _)| value.count()).collect();
            if counts.windows(2).any(|pair| pair[0] != pair[1]) {
                return Err(Refusal::wrong(span, "the arguments of a strict `zip` have different lengths"));
            }
        }
        let mut values = args.values(what)?;
        values.extend(start);
        let unread = || {
            let found: Vec<_> = values.iter().map(Value::describe).collect();
            Refusal::unread(span, format!("`{what}` of {} is not read", found.join(" and ")))
        };
        match (builtin, &values[..]) {
            (Builtin::Min | Builtin::Max, [_, ..]) if key.is_some() || default.is_some() => {
                let items = if let [one] = &values[..] { self.items_of(one, span)? } else { values };
                let mut best: Option<(Value<'c>, Value<'c>)> = None;
                for item in items {
                    let rank = match &key {
                        Some(key) => self.call_value(key, Args::of([item.clone()], span), span)?,
                        None => item.clone(),
                    };
                    let op = if builtin == Builtin::Min { ast::CmpOp::Lt } else { ast::CmpOp::Gt };
                    self.weigh(&rank, 2, span)?;
                    let is_better = match &best {
                        None => true,
                        Some((_, known)) => rank.compare(op, known).ok_or_else(|| undecided(&rank, known, span))?,
                    };
                    if is_better {
                        best = Some((item, rank));
                    }
                }
                let best = best.map(|(item, _)| item).or(default);
                best.ok_or_else(|| Refusal::wrong(span, format!("`{what}` of nothing")))
            }
            (Builtin::Min | Builtin::Max, [_, ..]) => self.extremum(builtin, &values, span, bind),
            (Builtin::Len, [one]) => one.count().map(|count| Value::Int(count as i64)).ok_or_else(unread),
            (Builtin::Sum, [items]) => self.static_sum(items, Value::Int(0), span),
            (Builtin::Sum, [items, start]) => self.static_sum(items, start.clone(), span),
            (Builtin::Zip, [_, ..]) => {
                let columns = values.iter().map(|value| self.items_of(value, span)).collect::<Res<Vec<_>>>()?;
                let rows = columns.iter().map(Vec::len).min().unwrap_or(0);
                self.count_elements(rows.saturating_mul(columns.len()), span)?;
                let row = |at: usize| Value::tuple(columns.iter().map(|column| column[at].clone()).collect());
                (0..rows).map(row).collect::<Option<_>>().and_then(Value::list).ok_or_else(unread)
            }
            (Builtin::Enumerate, [items]) => self.enumerated(items, 0, span),
            (Builtin::Enumerate, [items, Value::Int(first)]) => self.enumerated(items, *first, span),
            (Builtin::TupleType, []) => Value::tuple(Vec::new()).ok_or_else(unread),
            (Builtin::List, []) => Value::list(Vec::new()).ok_or_else(unread),
            (Builtin::TupleType | Builtin::List, [items]) => {
                let items = self.items_of(items, span)?;
                self.count_elements(items.len(), span)?;
                let made = if builtin == Builtin::List { Value::list(items) } else { Value::tuple(items) };
                made.ok_or_else(unread)
            }
            (Builtin::Abs, [Value::Int(a)]) => a.checked_abs().map(Value::Int).ok_or_else(unread),
            (Builtin::Abs, [Value::Float(a)]) => Ok(Value::Float(a.abs())),
            (Builtin::IntType, [Value::Int(a)]) => Ok(Value::Int(*a)),
            (Builtin::IntType, [Value::Bool(a)]) => Ok(Value::Int(i64::from(*a))),
            (Builtin::IntType, [Value::Float(a)]) => whole(a.trunc()).ok_or_else(unread),
            (Builtin::IntType, [Value::Str(text)]) => {
                text.as_str().trim().replace('_', "").parse().map(Value::Int).map_err(|_| unread())
            }
            (Builtin::FloatType, [Value::Int(a)]) => Ok(Value::Float(*a as f64)),
            (Builtin::FloatType, [Value::Float(a)]) => Ok(Value::Float(*a)),
            (Builtin::FloatType, [Value::Str(text)]) => match text.as_str().trim() {
                "inf" => Ok(Value::Float(f64::INFINITY)),
                "-inf" => Ok(Value::Float(f64::NEG_INFINITY)),
                "nan" => Ok(Value::Float(f64::NAN)),
                digits => digits.parse().map(Value::Float).map_err(|_| unread()),
            },
            (Builtin::BoolType, [value]) => value.truth().map(Value::Bool).ok_or_else(unread),
            (Builtin::StrType, [value]) => {
                let text = plain_text(value).ok_or_else(unread)?;
                self.made_text(&text, span)
            }
            (Builtin::Round, [Value::Int(a)]) => Ok(Value::Int(*a)),
            (Builtin::Round, [Value::Float(a)]) => whole(a.round_ties_even()).ok_or_else(unread),
            (Builtin::Round, [Value::Float(a), Value::Int(digits @ 0..=15)]) => {
                // As Python rounds: the decimal text of the number.
                format!("{a:.*}", *digits as usize).parse().map(Value::Float).map_err(|_| unread())
            }
            _ => Err(unread()),
        }
    }

    fn enumerated(&mut self, items: &Value<'c>, first: i64, span: Span) -> Res<Value<'c>> {
        let items = self.items_of(items, span)?;
        self.count_elements(items.len(), span)?;
        let numbered = (0_i64..).zip(items);
        let pairs = numbered.map(|(at, item)| Value::tuple(vec![Value::Int(first.wrapping_add(at)), item]));
        let list = pairs.collect::<Option<_>>().and_then(Value::list);
        list.ok_or_else(|| Refusal::wrong(span, "values are nested too deep"))
    }

    fn static_sum(&mut self, items: &Value<'c>, start: Value<'c>, span: Span) -> Res<Value<'c>> {
        let items = self.items_of(items, span)?;
        let add = |total: Value<'c>, item: Value<'c>| self.static_binary(ast::Operator::Add, &total, &item, span);
        items.into_iter().try_fold(start, add)
    }

    /// `min` and `max` of numbers and dims, in a `@prim_func` also of scalars at run time.
    fn extremum(
        &mut self,
        builtin: Builtin,
        values: &[Value<'c>],
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Value<'c>> {
        let what = builtin.name();
        let values = match values {
            [one] => match self.items_of(one, span) {
                Ok(items) if !items.is_empty() => items,
                _ => return Err(Refusal::unread(span, format!("`{what}` of {}", one.describe()))),
            },
            several => several.to_vec(),
        };
        let least = builtin == Builtin::Min;
        let mut best = values[0].clone();
        for (at, value) in values.iter().enumerate().skip(1) {
            let operands = [(best.clone(), span), (value.clone(), span)];
            let bind = bind.filter(|_| at + 1 == values.len());
            if let Some(scalar) = self.scalar_extremum(what, operands, span, bind)? {
                best = scalar;
                continue;
            }
            best = match (&best, value) {
                (Value::Int(a), Value::Int(b)) => Value::Int(if least { *a.min(b) } else { *a.max(b) }),
                (Value::Dim(_), Value::Dim(_) | Value::Int(_)) | (Value::Int(_), Value::Dim(_)) => {
                    let (a, b) = (self.to_dim(&best, "an operand", span)?, self.to_dim(value, "an operand", span)?);
                    let dim = if least { self.cx.dim_min(a, b) } else { self.cx.dim_max(a, b) };
                    self.computed_dim(dim, span)?
                }
                (a, b) => match (a.as_float(), b.as_float()) {
                    (Some(x), Some(y)) if (y < x) == least && x != y => b.clone(),
                    (Some(_), Some(_)) => a.clone(),
                    _ => {
                        let message = format!("`{what}` of {} and {}", a.describe(), b.describe());
                        let refusal = Refusal::unread(span, message);
                        return Err(refusal.help("elementwise: `tf.minimum`, `tf.maximum`"));
                    }
                },
            };
        }
        Ok(best)
    }

    /// Methods that constants have: of modules `renamed` and `cloned`, of dicts `keys`, `values`, `items`, `get`, of lists and
    /// strings; none for other values and names.
    pub(crate) fn method_call(&mut self, call: &ast::ExprCall, span: Span) -> Res<Option<Value<'c>>> {
        let ast::Expr::Attribute(attribute) = &*call.func else { return Ok(None) };
        let name = attribute.attr.as_str();
        if let Some(value) = self.change_call(call, span)? {
            return Ok(Some(value));
        }
        let is_known = matches!(name, "renamed" | "cloned" | "keys" | "values" | "items" | "get");
        if !is_known && (self.body.is_some() || !super::text::is_method(name)) {
            return Ok(None);
        }
        let base = self.eval(&attribute.value, None)?;
        if !is_known
            && !matches!(base, Value::Str(_) | Value::List(_) | Value::Tuple(_) | Value::Dict(_) | Value::Int(_))
        {
            return Ok(None);
        }
        if self.body.is_some() && matches!(base, Value::Module(_)) {
            return Err(Refusal::unread(span, format!("a module is not {name} inside a function")));
        }
        if let Value::Object(_) | Value::Record(_) | Value::Builtin(_) = base {
            return Ok(None);
        }
        let args = self.call_args(call)?;
        let values = args.values(name)?;
        let unread = |p: &Self| {
            let message = format!("`{}` of {} is not read", p.text(&*call.func), base.describe());
            Err(Refusal::unread(span, message))
        };
        let list = |items: Vec<Value<'c>>| Value::list(items).ok_or(Refusal::Reported).map(Some);
        match (&base, name, &values[..]) {
            (Value::Module(module), "renamed", [Value::Str(new)]) => {
                self.copied(*module, *new, span).map(|module| Some(Value::Module(module)))
            }
            (Value::Module(module), "cloned", []) => {
                self.copied(*module, module.name, span).map(|module| Some(Value::Module(module)))
            }
            (Value::Dict(items), "keys", []) => list(items.items().iter().map(|(key, _)| key.clone()).collect()),
            (Value::Dict(items), "values", []) => list(items.items().iter().map(|(_, value)| value.clone()).collect()),
            (Value::Dict(items), "items", []) => {
                let pair = |(key, value): &(Value<'c>, Value<'c>)| Value::tuple(vec![key.clone(), value.clone()]);
                list(items.items().iter().map(pair).collect::<Option<_>>().ok_or(Refusal::Reported)?)
            }
            (Value::Dict(items), "get", [key, rest @ ..]) if rest.len() < 2 => {
                Ok(Some(items.get(key).or(rest.first()).cloned().unwrap_or(Value::None)))
            }
            (Value::Dict(items), "copy", []) => {
                self.count_elements(items.items().len(), span)?;
                let mut copy = super::Dict::default();
                let put = |(key, value): &(Value<'c>, Value<'c>)| copy.put(key.clone(), value.clone());
                items.items().iter().try_for_each(put).map_err(|why| Refusal::unread(span, why))?;
                Ok(Some(Value::Dict(copy.into())))
            }
            (Value::List(items), "copy", []) => {
                self.count_elements(items.items.len(), span)?;
                list(items.items.clone())
            }
            (Value::List(items) | Value::Tuple(items), "index" | "count", [item]) => {
                self.weigh(item, items.items.len().max(2), span)?;
                let mut places = (0..).zip(&items.items).filter(|(_, known)| known.static_eq(item) == Some(true));
                match (name, places.next()) {
                    ("index", Some((at, _))) => Ok(Some(Value::Int(at))),
                    ("index", None) => {
                        Err(Refusal::wrong(span, format!("{} is not in {}", item.describe(), base.describe())))
                    }
                    (_, first) => Ok(Some(Value::Int(i64::from(first.is_some()) + places.count() as i64))),
                }
            }
            (Value::Int(number), "bit_length", []) => {
                Ok(Some(Value::Int(64 - i64::from(number.unsigned_abs().leading_zeros()))))
            }
            (Value::Str(text), ..) => match self.text_method(*text, name, &values, span)? {
                Some(value) => Ok(Some(value)),
                None => unread(self),
            },
            _ => unread(self),
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
        let made =
            |value: Option<Value<'c>>| value.ok_or_else(|| Refusal::wrong(span, "sequences are nested too deep"));
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
            (ast::Operator::BitOr, Value::Dict(x), Value::Dict(y)) => {
                let mut all = super::Dict::default();
                let items = x.items().iter().chain(y.items());
                let put = |(key, value): &(Value<'c>, Value<'c>)| all.put(key.clone(), value.clone());
                let result = self.count_elements(x.items().len() + y.items().len(), span);
                let result = result.and_then(|()| {
                    let mut items = items;
                    items.try_for_each(put).map_err(|why| Refusal::unread(span, why))
                });
                Some(result.map(|()| Value::Dict(all.into())))
            }
            (ast::Operator::Add, Value::Tuple(x), Value::Tuple(y))
            | (ast::Operator::Add, Value::List(x), Value::List(y)) => {
                if x.items.len() + y.items.len() > ITEMS {
                    return Some(Err(too_long()));
                }
                if let Err(refusal) = self.count_elements(x.items.len() + y.items.len(), span) {
                    return Some(Err(refusal));
                }
                let items = x.items.iter().chain(&y.items).cloned().collect();
                Some(made(if matches!(a, Value::Tuple(_)) { Value::tuple(items) } else { Value::list(items) }))
            }
            (ast::Operator::Mult, Value::Tuple(x) | Value::List(x), Value::Int(count)) => {
                let count = usize::try_from(*count).unwrap_or(0);
                if x.items.len().saturating_mul(count) > ITEMS {
                    return Some(Err(too_long()));
                }
                if let Err(refusal) = self.count_elements(x.items.len() * count, span) {
                    return Some(Err(refusal));
                }
                let items = (0..count).flat_map(|_| x.items.iter().cloned()).collect();
                Some(made(if matches!(a, Value::Tuple(_)) { Value::tuple(items) } else { Value::list(items) }))
            }
            _ => None,
        }
    }
}

pub(super) fn undecided(a: &Value<'_>, b: &Value<'_>, span: Span) -> Refusal {
    Refusal::unread(span, format!("{} and {} have no order", a.describe(), b.describe()))
}

/// How Python shows a constant in a string.
pub(super) fn plain_text(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Str(text) => Some(text.as_str().to_owned()),
        Value::Int(value) => Some(value.to_string()),
        Value::Float(value) if value.is_finite() && (1e-4..1e16).contains(&value.abs()) => Some(format!("{value:?}")),
        Value::Bool(value) => Some(if *value { "True" } else { "False" }.to_owned()),
        Value::None => Some("None".to_owned()),
        _ => None,
    }
}
