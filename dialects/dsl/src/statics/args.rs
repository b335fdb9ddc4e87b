//! Arguments as values, and the parameters of plain functions that they go to.

use ruff_python_ast as ast;
use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::Span;
use tf_infer::arguments;
use tf_types::Symbol;

use super::{Dict, Key};
use crate::parser::{Binding, Frame, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// The arguments of a call; `*` and `**` are spread.
#[derive(Default)]
pub(crate) struct Args<'c> {
    pub(crate) positional: Vec<(Value<'c>, Span)>,
    pub(crate) keywords: Vec<(Symbol<'c>, Value<'c>, Span)>,
}

impl<'c> Args<'c> {
    pub(crate) fn of(values: impl IntoIterator<Item = Value<'c>>, span: Span) -> Self {
        Self { positional: values.into_iter().map(|value| (value, span)).collect(), keywords: Vec::new() }
    }

    /// Takes a keyword out.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value<'c>> {
        let at = self.keywords.iter().position(|(known, ..)| known.as_str() == name)?;
        Some(self.keywords.remove(at).1)
    }

    /// The positional values, where no keyword is left.
    pub(crate) fn values(self, what: &str) -> Res<Vec<Value<'c>>> {
        match self.keywords.first() {
            Some((name, _, at)) => Err(Refusal::unread(*at, format!("the keyword `{name}` of `{what}` is not read"))),
            None => Ok(self.positional.into_iter().map(|(value, _)| value).collect()),
        }
    }

    /// One value for each name, positional or by keyword.
    pub(crate) fn sorted(self, what: &str, names: &[Symbol<'c>]) -> Res<Vec<Option<(Value<'c>, Span)>>> {
        let mut given: Vec<Option<(Value<'c>, Span)>> = vec![None; names.len()];
        let count = self.positional.len();
        for (at, (value, span)) in self.positional.into_iter().enumerate() {
            match given.get_mut(at) {
                Some(slot) => *slot = Some((value, span)),
                None => {
                    return Err(Refusal::wrong(
                        span,
                        format!("`{what}` takes {}, found {count}", arguments(names.len())),
                    ));
                }
            }
        }
        let has_keywords = !self.keywords.is_empty();
        let places: FxHashMap<_, _> = names.iter().zip(0..).filter(|_| has_keywords).collect();
        for (name, value, span) in self.keywords {
            let Some(&at) = places.get(&name) else { return Err(unknown(what, name, names, span)) };
            let at: usize = at;
            if given[at].replace((value, span)).is_some() {
                return Err(Refusal::wrong(span, format!("`{what}` gets `{name}` twice")));
            }
        }
        Ok(given)
    }
}

fn unknown<'c>(what: &str, name: Symbol<'c>, names: &[Symbol<'c>], span: Span) -> Refusal {
    let known: Vec<_> = names.iter().map(|known| known.as_str()).collect();
    let message = format!("`{what}` has no parameter `{name}`; it has {}", known.join(", "));
    Refusal::wrong(span, message).near(name.as_str(), known).raises("TypeError")
}

impl<'c> Parser<'_, 'c> {
    /// The arguments of a call, evaluated; a generator stands for its elements in bodies.
    pub(crate) fn call_args(&mut self, call: &ast::ExprCall) -> Res<Args<'c>> {
        self.args_of(call, true)
    }

    /// [`Self::call_args`] of what keeps them, or looks at each.
    pub(super) fn args_of(&mut self, call: &ast::ExprCall, keeps: bool) -> Res<Args<'c>> {
        let given = |p: &mut Self, expr: &ast::Expr| if keeps { p.stored(expr) } else { p.looked(expr) };
        let mut args = Args::default();
        for arg in &call.arguments.args {
            let span = self.span(arg);
            match arg {
                ast::Expr::Starred(starred) => {
                    let value = self.looked(&starred.value)?;
                    let items = self.items_of(&value, span)?;
                    args.positional.extend(items.into_iter().map(|item| (item, span)));
                }
                ast::Expr::Generator(generator) if self.body.is_some() => {
                    let items = self.unrolled(&generator.elt, &generator.generators, span)?;
                    args.positional.push((self.heap.list(items), span));
                }
                other => args.positional.push((given(self, other)?, span)),
            }
        }
        let mut known: FxHashSet<Symbol<'c>> = FxHashSet::default();
        for keyword in &call.arguments.keywords {
            let span = self.span(keyword);
            let value = match keyword.arg {
                Some(_) => given(self, &keyword.value)?,
                None => self.looked(&keyword.value)?,
            };
            let given = match (&keyword.arg, value) {
                (Some(name), value) => vec![(self.cx.symbol(name.as_str()), value)],
                (None, Value::Dict(items)) => {
                    let mut given = Vec::new();
                    self.count_elements(items.get().len(), span)?;
                    for (key, value) in items.get().items() {
                        let Value::Str(name) = key else {
                            let message = format!("`**` takes a dict of strings, found {} as a key", key.describe());
                            return Err(Refusal::unread(span, message));
                        };
                        given.push((*name, value.clone()));
                    }
                    given
                }
                (None, other) => {
                    return Err(Refusal::unread(span, format!("`**` takes a dict, found {}", other.describe())));
                }
            };
            for (name, value) in given {
                if !known.insert(name) {
                    return Err(Refusal::wrong(span, format!("`{}` gets `{name}` twice", self.text(&*call.func))));
                }
                args.keywords.push((name, value, span));
            }
        }
        Ok(args)
    }

    /// The names that a call of a plain function starts with.
    pub(crate) fn parameters(
        &mut self,
        parameters: &ast::Parameters,
        defaults: &[(Symbol<'c>, Binding<'c>)],
        what: &str,
        args: Args<'c>,
        span: Span,
    ) -> Res<Frame<'c>> {
        let name = |param: &ast::ParameterWithDefault| self.cx.symbol(param.parameter.name.as_str());
        let first: Vec<_> = parameters.posonlyargs.iter().chain(&parameters.args).map(name).collect();
        let named: Vec<_> = parameters.args.iter().chain(&parameters.kwonlyargs).map(name).collect();
        self.step(first.len() + named.len(), span)?;
        let takes: FxHashSet<_> = named.iter().filter(|_| !args.keywords.is_empty()).collect();
        let mut frame = Frame::default();
        let Args { mut positional, keywords } = args;
        let (found, surplus) = (positional.len(), positional.split_off(first.len().min(positional.len())));
        for (name, (value, _)) in first.iter().zip(positional) {
            frame.insert(*name, Binding::Value(value));
        }
        match (&parameters.vararg, surplus.first()) {
            (Some(rest), _) => {
                let rest = self.cx.symbol(rest.name.as_str());
                let items = surplus.into_iter().map(|(value, _)| value).collect();
                let items = self.tuple(items, span)?;
                frame.insert(rest, Binding::Value(items));
            }
            (None, Some((_, at))) => {
                return Err(Refusal::wrong(*at, format!("`{what}` takes {}, found {found}", arguments(first.len())))
                    .raises("TypeError"));
            }
            (None, None) => {}
        }
        let mut others = Dict::default();
        for (name, value, at) in keywords {
            if takes.contains(&name) {
                if frame.insert(name, Binding::Value(value)).is_some() {
                    return Err(Refusal::wrong(at, format!("`{what}` gets `{name}` twice")));
                }
            } else if parameters.kwarg.is_some() {
                others.put(Key::Str(name), Value::Str(name), value);
            } else {
                return Err(unknown(what, name, &named, at));
            }
        }
        if let Some(rest) = &parameters.kwarg {
            frame.insert(self.cx.symbol(rest.name.as_str()), Binding::Value(self.heap.dict(others)));
        }
        for (name, default) in defaults {
            frame.entry(*name).or_insert_with(|| default.clone());
        }
        if let Some(name) = parameters.posonlyargs.iter().map(name).chain(named).find(|name| !frame.contains_key(name))
        {
            return Err(Refusal::wrong(span, format!("`{what}` needs `{name}`")).raises("TypeError"));
        }
        Ok(frame)
    }
}
