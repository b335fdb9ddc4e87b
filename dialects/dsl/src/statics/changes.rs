//! Methods that change lists and dicts.

use std::rc::Rc;

use ruff_python_ast as ast;
use tf_core::Span;

use super::places::{Change, Obstacle, fits, index, missing};
use super::{Args, Dict};
use crate::parser::Parser;
use crate::refusal::Res;
use crate::value::{Sequence, Value};

const METHODS: &[&str] =
    &["append", "extend", "insert", "pop", "remove", "reverse", "clear", "update", "setdefault", "sort"];

/// Whether a method of that name changes its owner.
pub(super) fn is_change(name: &str) -> bool {
    METHODS.contains(&name)
}

impl<'c> Parser<'_, 'c> {
    /// `items.append(x)` and others; none where the call is no such method, or not of a changeable value.
    pub(crate) fn change_call(&mut self, call: &ast::ExprCall, span: Span) -> Res<Option<Value<'c>>> {
        let ast::Expr::Attribute(attribute) = &*call.func else { return Ok(None) };
        let method = attribute.attr.as_str();
        if method == "__setattr__" && matches!(&*attribute.value, ast::Expr::Name(name) if name.id.as_str() == "object")
        {
            return self.set_frozen(call, span).map(|()| Some(Value::None));
        }
        if self.body.is_some() || !METHODS.contains(&method) {
            return Ok(None);
        }
        let count = match self.eval(&attribute.value, None)? {
            Value::List(items) => items.items.len(),
            Value::Dict(items) => items.items().len(),
            _ => return Ok(None),
        };
        let mut args = self.call_args(call)?;
        let is_quick = matches!(method, "append" | "extend" | "update" | "setdefault");
        let is_quick = is_quick || method == "pop" && args.positional.is_empty();
        self.step(if is_quick { 1 } else { count + 1 }, span)?;
        if let ("remove", [(item, _)]) = (method, &args.positional[..]) {
            self.weigh(item, count.max(2), span)?;
        }
        let mut order = None;
        if method == "sort" {
            let (key, reverse) = (args.take("key"), args.take("reverse").and_then(|value| value.truth()));
            let items = self.eval(&attribute.value, None).and_then(|list| self.items_of(&list, span))?;
            order = Some(self.sorted(items, key.as_ref(), reverse.unwrap_or(false), span)?);
        }
        let mut added = Vec::new();
        if let ("extend", [(other, at)]) = (method, &args.positional[..]) {
            added = self.items_of(other, *at)?;
            self.count_elements(added.len(), span)?;
        }
        let result = self.change(&attribute.value, span, |owner, room| match owner {
            Value::List(list) => {
                let list = Rc::get_mut(list).ok_or(Obstacle::Shared)?;
                change_list(list, method, args, added, order, room)
            }
            Value::Dict(dict) => change_dict(Rc::get_mut(dict).ok_or(Obstacle::Shared)?, method, args, room),
            other => Err(Obstacle::Not(format!("{} does not change", other.describe()))),
        });
        result.map(Some)
    }
}

impl<'c> Parser<'_, 'c> {
    /// `items += added` of a list.
    pub(crate) fn extend_list(&mut self, target: &ast::Expr, added: Vec<Value<'c>>, span: Span) -> Res<()> {
        self.change(target, span, |owner, room| match owner {
            Value::List(list) => {
                let list = Rc::get_mut(list).ok_or(Obstacle::Shared)?;
                for value in added {
                    list.depth = list.depth.max(fits(&value, room)?);
                    list.items.push(value);
                }
                Ok(())
            }
            other => Err(Obstacle::Not(format!("{} does not change", other.describe()))),
        })
    }
}

fn change_list<'c>(
    list: &mut Sequence<'c>,
    method: &str,
    args: Args<'c>,
    added: Vec<Value<'c>>,
    order: Option<Vec<Value<'c>>>,
    room: u32,
) -> Change<Value<'c>> {
    let mut values = args.positional.into_iter().map(|(value, _)| value);
    let (first, second) = (values.next(), values.next());
    let items = &mut list.items;
    let added = match (method, first, second) {
        ("append", Some(value), None) => vec![value],
        ("extend", Some(_), None) => added,
        ("insert", Some(at), Some(value)) => {
            let depth = fits(&value, room)?;
            let Value::Int(at) = at else { return Err(missing()) };
            let count = items.len() as i64;
            let at = if at < 0 { at.saturating_add(count) } else { at }.clamp(0, count);
            items.insert(at as usize, value);
            list.depth = list.depth.max(depth);
            return Ok(Value::None);
        }
        ("pop", None, None) => return items.pop().ok_or_else(missing),
        ("pop", Some(at), None) => {
            let at = index(&at, items.len())?;
            return Ok(items.remove(at));
        }
        ("remove", Some(value), None) => {
            let at = items.iter().position(|item| item.static_eq(&value) == Some(true)).ok_or_else(missing)?;
            items.remove(at);
            return Ok(Value::None);
        }
        ("reverse", None, None) => {
            items.reverse();
            return Ok(Value::None);
        }
        ("clear", None, None) => {
            items.clear();
            return Ok(Value::None);
        }
        ("sort", None, None) => {
            *items = order.unwrap_or_default();
            return Ok(Value::None);
        }
        _ => return Err(Obstacle::Not(format!("`{method}` with these arguments is not read"))),
    };
    for value in added {
        list.depth = list.depth.max(fits(&value, room)?);
        list.items.push(value);
    }
    Ok(Value::None)
}

fn change_dict<'c>(dict: &mut Dict<'c>, method: &str, args: Args<'c>, room: u32) -> Change<Value<'c>> {
    let mut values = args.positional.into_iter().map(|(value, _)| value);
    let (first, second) = (values.next(), values.next());
    let set = |dict: &mut Dict<'c>, key: Value<'c>, value: Value<'c>| {
        fits(&value, room)?;
        dict.put(key, value).map_err(Obstacle::Not)
    };
    match (method, first, second) {
        ("update", other, None) => {
            match other {
                None => {}
                Some(Value::Dict(other)) => {
                    other.items().iter().try_for_each(|(key, value)| set(dict, key.clone(), value.clone()))?;
                }
                Some(other) => return Err(Obstacle::Not(format!("an update with {} is not read", other.describe()))),
            }
            let mut named = args.keywords.into_iter();
            named.try_for_each(|(name, value, _)| set(dict, Value::Str(name), value))?;
            Ok(Value::None)
        }
        ("setdefault", Some(key), value) => {
            if let Some(known) = dict.get(&key) {
                return Ok(known.clone());
            }
            let value = value.unwrap_or(Value::None);
            set(dict, key, value.clone())?;
            Ok(value)
        }
        ("pop", Some(key), default) => dict.remove(&key).or(default).ok_or_else(missing),
        ("clear", None, None) => {
            *dict = Dict::default();
            Ok(Value::None)
        }
        _ => Err(Obstacle::Not(format!("`{method}` with these arguments is not read"))),
    }
}
