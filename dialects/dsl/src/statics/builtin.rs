//! Python's functions on constants: `sum`, `min`, `math.sqrt` and others, and methods of modules and dicts.

use ruff_python_ast as ast;
use tf_core::Span;
use tf_types::Symbol;

use crate::names::Builtin;
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// Characters of a string that is put together.
pub(super) const TEXT: usize = 4096;

impl<'c> Parser<'_, 'c> {
    /// The positional arguments of a call; a generator stands for its elements.
    fn values(&mut self, call: &ast::ExprCall, what: &str) -> Res<Vec<Value<'c>>> {
        if let Some(keyword) = call.arguments.keywords.first() {
            return Err(Refusal::unread(self.span(keyword), format!("`{what}` takes no keywords here")));
        }
        let mut values = Vec::new();
        for arg in &call.arguments.args {
            values.push(match arg {
                ast::Expr::Generator(generator) => {
                    let span = self.span(arg);
                    let items = self.elements(&generator.elt, &generator.generators, span)?;
                    Value::list(items).ok_or_else(|| Refusal::wrong(span, "lists are nested too deep"))?
                }
                other => self.eval(other, None)?,
            });
        }
        Ok(values)
    }

    /// A call of a function of Python on constants.
    pub(crate) fn static_call(
        &mut self,
        builtin: Builtin,
        call: &ast::ExprCall,
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Value<'c>> {
        let what = builtin.name();
        let values = self.values(call, what)?;
        let unread = || {
            let found: Vec<_> = values.iter().map(Value::describe).collect();
            Refusal::unread(span, format!("`{what}` of {} is not read", found.join(" and ")))
        };
        match (builtin, &values[..]) {
            (Builtin::Min | Builtin::Max, [_, ..]) => self.extremum(builtin, &values, span, bind),
            (Builtin::Len, [Value::Str(text)]) => Ok(Value::Int(text.as_str().chars().count() as i64)),
            (Builtin::Len, [Value::Dict(items)]) => Ok(Value::Int(items.items().len() as i64)),
            (Builtin::Len, [one]) => one.as_sequence().map(|items| Value::Int(items.len() as i64)).ok_or_else(unread),
            (Builtin::Sum, [items]) => self.static_sum(items, Value::Int(0), span),
            (Builtin::Sum, [items, start]) => self.static_sum(items, start.clone(), span),
            (Builtin::Zip, [_, ..]) => {
                let columns: Option<Vec<_>> = values.iter().map(elements).collect();
                let columns = columns.ok_or_else(unread)?;
                let rows = columns.iter().map(Vec::len).min().unwrap_or(0);
                self.count_elements(rows, span)?;
                let row = |at: usize| Value::tuple(columns.iter().map(|column| column[at].clone()).collect());
                (0..rows).map(row).collect::<Option<_>>().and_then(Value::list).ok_or_else(unread)
            }
            (Builtin::Enumerate, [items]) => {
                let items = elements(items).ok_or_else(unread)?;
                self.count_elements(items.len(), span)?;
                let pairs = items.into_iter().zip(0..).map(|(item, at)| Value::tuple(vec![Value::Int(at), item]));
                pairs.collect::<Option<_>>().and_then(Value::list).ok_or_else(unread)
            }
            (Builtin::TupleType, []) => Value::tuple(Vec::new()).ok_or_else(unread),
            (Builtin::List, []) => Value::list(Vec::new()).ok_or_else(unread),
            (Builtin::TupleType | Builtin::List, [items]) => {
                let items = items.as_sequence().ok_or_else(unread)?.to_vec();
                let made = if builtin == Builtin::List { Value::list(items) } else { Value::tuple(items) };
                made.ok_or_else(unread)
            }
            (Builtin::Abs, [Value::Int(a)]) => a.checked_abs().map(Value::Int).ok_or_else(unread),
            (Builtin::Abs, [Value::Float(a)]) => Ok(Value::Float(a.abs())),
            (Builtin::IntType, [Value::Int(a)]) => Ok(Value::Int(*a)),
            (Builtin::IntType, [Value::Bool(a)]) => Ok(Value::Int(i64::from(*a))),
            (Builtin::IntType, [Value::Float(a)]) => whole(a.trunc()).ok_or_else(unread),
            (Builtin::FloatType, [Value::Int(a)]) => Ok(Value::Float(*a as f64)),
            (Builtin::FloatType, [Value::Float(a)]) => Ok(Value::Float(*a)),
            (Builtin::FloatType, [Value::Str(text)]) => match text.as_str() {
                "inf" => Ok(Value::Float(f64::INFINITY)),
                "-inf" => Ok(Value::Float(f64::NEG_INFINITY)),
                "nan" => Ok(Value::Float(f64::NAN)),
                _ => Err(unread()),
            },
            (Builtin::BoolType, [value]) => value.truth().map(Value::Bool).ok_or_else(unread),
            (Builtin::StrType, [value]) => {
                let text = plain_text(value).ok_or_else(unread)?;
                Ok(Value::Str(self.cx.symbol(&text)))
            }
            (Builtin::Round, [Value::Int(a)]) => Ok(Value::Int(*a)),
            (Builtin::Round, [Value::Float(a)]) => whole(a.round_ties_even()).ok_or_else(unread),
            _ => Err(unread()),
        }
    }

    fn static_sum(&mut self, items: &Value<'c>, start: Value<'c>, span: Span) -> Res<Value<'c>> {
        let Some(items) = items.as_sequence() else {
            return Err(Refusal::unread(span, format!("`sum` of {}", items.describe())));
        };
        let add = |total: Value<'c>, item: &Value<'c>| self.static_binary(ast::Operator::Add, &total, item, span);
        items.iter().try_fold(start, add)
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
            [one] => match one.as_sequence() {
                Some(items @ [_, ..]) => items.to_vec(),
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
                    self.dim_value(if least { self.cx.dim_min(a, b) } else { self.cx.dim_max(a, b) })
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

    /// `math.pi` and others.
    pub(crate) fn math_constant(&self, name: &str) -> Value<'c> {
        let value = match name {
            "pi" => std::f64::consts::PI,
            "e" => std::f64::consts::E,
            "tau" => std::f64::consts::TAU,
            "inf" => f64::INFINITY,
            "nan" => f64::NAN,
            _ => return Value::Math(self.cx.symbol(name)),
        };
        Value::Float(value)
    }

    /// `math.sqrt(x)` and others.
    pub(crate) fn math_call(&mut self, name: &str, call: &ast::ExprCall, span: Span) -> Res<Value<'c>> {
        let what = format!("math.{name}");
        let values = self.values(call, &what)?;
        let unread = || {
            let found: Vec<_> = values.iter().map(Value::describe).collect();
            Refusal::unread(span, format!("`{what}` of {} is not read", found.join(" and ")))
        };
        match (name, &values[..]) {
            ("prod", [items]) => {
                let items = items.as_sequence().ok_or_else(unread)?;
                let multiply =
                    |total: Value<'c>, item: &Value<'c>| self.static_binary(ast::Operator::Mult, &total, item, span);
                return items.iter().try_fold(Value::Int(1), multiply);
            }
            ("gcd", [Value::Int(a), Value::Int(b)]) => {
                let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
                while b != 0 {
                    (a, b) = (b, a % b);
                }
                return i64::try_from(a).map(Value::Int).map_err(|_| unread());
            }
            ("isqrt", [Value::Int(a)]) if *a >= 0 => return Ok(Value::Int(a.isqrt())),
            ("ceil" | "floor" | "trunc", [Value::Int(a)]) => return Ok(Value::Int(*a)),
            _ => {}
        }
        let floats: Option<Vec<f64>> = values.iter().map(Value::as_float).collect();
        let result = match (name, floats.as_deref().ok_or_else(unread)?) {
            ("ceil", [a]) => return whole(a.ceil()).ok_or_else(unread),
            ("floor", [a]) => return whole(a.floor()).ok_or_else(unread),
            ("trunc", [a]) => return whole(a.trunc()).ok_or_else(unread),
            ("sqrt", [a]) if *a >= 0.0 => a.sqrt(),
            ("exp", [a]) => a.exp(),
            ("log", [a]) if *a > 0.0 => a.ln(),
            ("log", [a, base]) if *a > 0.0 && *base > 0.0 => a.ln() / base.ln(),
            ("log2", [a]) if *a > 0.0 => a.log2(),
            ("log10", [a]) if *a > 0.0 => a.log10(),
            ("sin", [a]) => a.sin(),
            ("cos", [a]) => a.cos(),
            ("tanh", [a]) => a.tanh(),
            ("fabs", [a]) => a.abs(),
            ("pow", [a, b]) => a.powf(*b),
            _ => return Err(unread()),
        };
        Ok(Value::Float(result))
    }

    /// Methods that constants have: of modules `renamed` and `cloned`, of dicts `keys`, `values`, `items`, `get`; none for
    /// other names.
    pub(crate) fn method_call(&mut self, call: &ast::ExprCall, span: Span) -> Res<Option<Value<'c>>> {
        let ast::Expr::Attribute(attribute) = &*call.func else { return Ok(None) };
        let name = attribute.attr.as_str();
        if !matches!(name, "renamed" | "cloned" | "keys" | "values" | "items" | "get") {
            return Ok(None);
        }
        let base = self.eval(&attribute.value, None)?;
        let values = self.values(call, name)?;
        let list = |items: Vec<Value<'c>>| Value::list(items).ok_or(Refusal::Reported).map(Some);
        match (&base, name, &values[..]) {
            (Value::Module(_), _, _) if self.body.is_some() => {
                Err(Refusal::unread(span, format!("a module is not {name} inside a function")))
            }
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
            _ => {
                let message = format!("`{}` of {} is not read", self.text(&*call.func), base.describe());
                Err(Refusal::unread(span, message))
            }
        }
    }

    /// `a + b` of strings and sequences, `a * n` of sequences.
    pub(crate) fn joined(&self, op: ast::Operator, a: &Value<'c>, b: &Value<'c>, span: Span) -> Option<Res<Value<'c>>> {
        const ITEMS: usize = 65_536;
        let too_long = || Refusal::wrong(span, format!("more than {ITEMS} elements"));
        let made =
            |value: Option<Value<'c>>| value.ok_or_else(|| Refusal::wrong(span, "sequences are nested too deep"));
        match (op, a, b) {
            (ast::Operator::Add, Value::Str(a), Value::Str(b)) => {
                let text = format!("{a}{b}");
                Some(if text.len() > TEXT { Err(too_long()) } else { Ok(Value::Str(self.cx.symbol(&text))) })
            }
            (ast::Operator::Add, Value::Tuple(x), Value::Tuple(y))
            | (ast::Operator::Add, Value::List(x), Value::List(y)) => {
                if x.items.len() + y.items.len() > ITEMS {
                    return Some(Err(too_long()));
                }
                let items = x.items.iter().chain(&y.items).cloned().collect();
                Some(made(if matches!(a, Value::Tuple(_)) { Value::tuple(items) } else { Value::list(items) }))
            }
            (ast::Operator::Mult, Value::Tuple(x) | Value::List(x), Value::Int(count)) => {
                let count = usize::try_from(*count).unwrap_or(0);
                if x.items.len().saturating_mul(count) > ITEMS {
                    return Some(Err(too_long()));
                }
                let items = (0..count).flat_map(|_| x.items.iter().cloned()).collect();
                Some(made(if matches!(a, Value::Tuple(_)) { Value::tuple(items) } else { Value::list(items) }))
            }
            _ => None,
        }
    }
}

/// What a loop over a constant walks: items, or the keys of a dict.
fn elements<'c>(value: &Value<'c>) -> Option<Vec<Value<'c>>> {
    match value {
        Value::Dict(dict) => Some(dict.items().iter().map(|(key, _)| key.clone()).collect()),
        other => other.as_sequence().map(<[_]>::to_vec),
    }
}

/// A float without a fraction as an integer.
fn whole<'c>(value: f64) -> Option<Value<'c>> {
    (value.abs() < 9.0e15).then_some(Value::Int(value as i64))
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
