//! Assignments to names, items and attributes.
//!
//! A value that one place holds is changed in place. Two places that hold one list would both see the change in Python;
//! here the value is stale from then on: every use of it is refused.

use std::rc::Rc;

use ruff_python_ast as ast;
use tf_core::Span;
use tf_types::Symbol;

use crate::parser::{Binding, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::{SEQUENCE_DEPTH, Value};

/// One step from a value to a part of it.
enum Part<'c> {
    Item(Value<'c>),
    Attribute(Symbol<'c>),
}

/// Where a changeable value is.
struct Place<'c> {
    root: Symbol<'c>,
    parts: Vec<Part<'c>>,
}

/// Why a change is not made.
pub(crate) enum Obstacle {
    /// Another place holds the value too.
    Shared,
    TooDeep,
    Not(String),
}

pub(crate) type Change<T> = Result<T, Obstacle>;

impl<'a, 'c> Parser<'a, 'c> {
    /// Binds a name, the names of a pattern, or sets an item or attribute.
    pub(crate) fn assign_constant(&mut self, target: &ast::Expr, value: Value<'c>) -> Res<()> {
        let span = self.span(target);
        match target {
            ast::Expr::Name(name) => {
                self.bind(self.cx.symbol(name.id.as_str()), Binding::Value(value));
                Ok(())
            }
            ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. }) => {
                let items = self.items_of(&value, span)?;
                let star = elts.iter().position(|target| matches!(target, ast::Expr::Starred(_)));
                let unpacks = match star {
                    None => items.len() == elts.len(),
                    Some(_) => items.len() + 1 >= elts.len(),
                };
                if !unpacks {
                    let message = format!("{} does not unpack to {} names", value.describe(), elts.len());
                    return Err(Refusal::unread(span, message));
                }
                let surplus = items.len() + 1 - elts.len().min(items.len() + 1);
                let mut items = items.into_iter();
                for target in elts {
                    match target {
                        ast::Expr::Starred(starred) => {
                            let taken = items.by_ref().take(surplus).collect();
                            let list = Value::list(taken).ok_or_else(|| too_deep(span))?;
                            self.assign_constant(&starred.value, list)?;
                        }
                        target => {
                            let item = items.next().unwrap_or(Value::None);
                            self.assign_constant(target, item)?;
                        }
                    }
                }
                Ok(())
            }
            ast::Expr::Subscript(subscript) => {
                let key = self.eval(&subscript.slice, None)?;
                self.change(&subscript.value, span, |owner, room| set_item(owner, key, value, room))
            }
            ast::Expr::Attribute(attribute) => {
                let name = self.cx.symbol(attribute.attr.as_str());
                self.change(&attribute.value, span, |owner, room| set_attribute(owner, name, value, room, false))
            }
            _ => Err(Refusal::unread(span, format!("`{}` is not assigned to", self.text(target)))),
        }
    }

    /// `del name`, `del items[key]`.
    pub(crate) fn delete(&mut self, target: &ast::Expr) -> Res<()> {
        let span = self.span(target);
        match target {
            ast::Expr::Name(name) => {
                let gone = Binding::Gone(format!("`{}` is deleted above", name.id));
                self.bind(self.cx.symbol(name.id.as_str()), gone);
                Ok(())
            }
            ast::Expr::Subscript(subscript) => {
                let key = self.eval(&subscript.slice, None)?;
                let count = self.eval(&subscript.value, None)?.count().unwrap_or(0);
                self.step(count, span)?;
                self.change(&subscript.value, span, |owner, _| match owner {
                    Value::Dict(items) => {
                        Rc::get_mut(items).ok_or(Obstacle::Shared)?.remove(&key).map(drop).ok_or_else(missing)
                    }
                    Value::List(items) => {
                        let items = Rc::get_mut(items).ok_or(Obstacle::Shared)?;
                        let at = index(&key, items.items.len())?;
                        items.items.remove(at);
                        Ok(())
                    }
                    other => Err(Obstacle::Not(format!("{} has no items to delete", other.describe()))),
                })
            }
            _ => Err(Refusal::unread(span, format!("`del {}` is not executed", self.text(target)))),
        }
    }

    /// `object.__setattr__(self, "name", value)`, which a frozen dataclass does in `__post_init__`.
    pub(super) fn set_frozen(&mut self, call: &ast::ExprCall, span: Span) -> Res<()> {
        let [owner, name, value] = &*call.arguments.args else {
            return Err(Refusal::wrong(span, "`object.__setattr__` takes an object, a name and a value"));
        };
        let (name, value) = (self.eval(name, None)?, self.eval(value, None)?);
        let Value::Str(name) = name else {
            return Err(Refusal::wrong(span, format!("an attribute has a name, found {}", name.describe())));
        };
        // Frozen instances are never stale, so a change that is not followed is an error at once.
        let result = self.change(owner, span, |owner, room| set_attribute(owner, name, value, room, true));
        result.map_err(Refusal::always)
    }

    /// Changes the value at a place; `f` gets how deep it may nest.
    pub(crate) fn change<T>(
        &mut self,
        expr: &ast::Expr,
        span: Span,
        f: impl FnOnce(&mut Value<'c>, u32) -> Change<T>,
    ) -> Res<T> {
        let result = self.followed_change(expr, span, f);
        if let Err(Refusal::Unread(diagnostic)) = &result {
            self.lose(expr, &Binding::Unread { why: diagnostic.message.clone(), at: span });
        }
        result
    }

    fn followed_change<T>(
        &mut self,
        expr: &ast::Expr,
        span: Span,
        f: impl FnOnce(&mut Value<'c>, u32) -> Change<T>,
    ) -> Res<T> {
        let place = self.changed_place(expr)?;
        let run = |binding: &mut Binding<'c>| match binding {
            Binding::Value(value) => Some(descend(value, &place.parts, SEQUENCE_DEPTH, f)),
            _ => None,
        };
        let scope = self.scopes.iter().rev().find(|scope| scope.borrow().contains_key(&place.root));
        let result = match scope {
            Some(scope) => scope.borrow_mut().get_mut(&place.root).and_then(run),
            None => self.file.get_mut(&place.root).and_then(run),
        };
        let text = || self.text(expr);
        match result {
            Some(Ok(value)) => Ok(value),
            Some(Err(Obstacle::Shared)) => {
                let message = format!("`{}` has another name too, and only a value with one name is changed", text());
                Err(Refusal::unread(span, message).help("change a copy: `list(...)`, `dict(...)`, or build it anew"))
            }
            Some(Err(Obstacle::TooDeep)) => Err(too_deep(span)),
            Some(Err(Obstacle::Not(why))) => Err(Refusal::unread(span, format!("`{}`: {why}", text()))),
            None => match self.lookup(place.root.as_str(), span) {
                Ok(value) => {
                    Err(Refusal::unread(span, format!("`{}` is {}, which is not changed", text(), value.describe())))
                }
                Err(refusal) => Err(refusal),
            },
        }
    }

    fn changed_place(&mut self, expr: &ast::Expr) -> Res<Place<'c>> {
        let mut parts = Vec::new();
        let mut at = expr;
        loop {
            match at {
                ast::Expr::Attribute(attribute) => {
                    parts.push(Part::Attribute(self.cx.symbol(attribute.attr.as_str())));
                    at = &attribute.value;
                }
                ast::Expr::Subscript(subscript) => {
                    parts.push(Part::Item(self.eval(&subscript.slice, None)?));
                    at = &subscript.value;
                }
                ast::Expr::Name(name) => {
                    parts.reverse();
                    return Ok(Place { root: self.cx.symbol(name.id.as_str()), parts });
                }
                other => {
                    let message = format!("`{}` has no name, and only what has one is changed", self.text(other));
                    return Err(Refusal::unread(self.span(other), message));
                }
            }
        }
    }
}

fn too_deep(span: Span) -> Refusal {
    Refusal::wrong(span, format!("lists, dicts and objects are nested more than {SEQUENCE_DEPTH} deep"))
}

pub(super) fn missing() -> Obstacle {
    Obstacle::Not("it has no such item".to_owned())
}

/// The position that a key names.
pub(super) fn index(key: &Value<'_>, count: usize) -> Change<usize> {
    let Value::Int(at) = key else {
        return Err(Obstacle::Not(format!("an index is an integer, found {}", key.describe())));
    };
    let at = if *at < 0 { at.saturating_add(count as i64) } else { *at };
    usize::try_from(at).ok().filter(|at| *at < count).ok_or_else(missing)
}

/// Goes to a part, changes it, and keeps the depths of what is around it.
fn descend<'c, T>(
    value: &mut Value<'c>,
    parts: &[Part<'c>],
    room: u32,
    f: impl FnOnce(&mut Value<'c>, u32) -> Change<T>,
) -> Change<T> {
    // The values on the way are at most as deep as they may nest.
    let Some((part, rest)) = parts.split_first() else { return f(value, room) };
    let room = room.checked_sub(1).ok_or(Obstacle::TooDeep)?;
    let no_part = |value: &Value<'c>| Obstacle::Not(format!("{} has no such part", value.describe()));
    match (&mut *value, part) {
        (Value::List(items) | Value::Tuple(items), Part::Item(key)) => {
            let items = Rc::get_mut(items).ok_or(Obstacle::Shared)?;
            let at = index(key, items.items.len())?;
            let result = descend(&mut items.items[at], rest, room, f)?;
            items.depth = items.depth.max(items.items[at].depth() + 1);
            Ok(result)
        }
        (Value::Dict(items), Part::Item(key)) => {
            let items = Rc::get_mut(items).ok_or(Obstacle::Shared)?;
            let item = items.get_mut(key).ok_or_else(missing)?;
            let result = descend(item, rest, room, f)?;
            let depth = item.depth() + 1;
            items.deepen(depth);
            Ok(result)
        }
        (Value::Object(object), Part::Attribute(name)) => {
            let object = Rc::get_mut(object).ok_or(Obstacle::Shared)?;
            let Some(at) = object.names.iter().position(|known| known == name) else {
                return Err(Obstacle::Not(format!("it has no attribute `{name}`")));
            };
            let result = descend(&mut object.values[at], rest, room, f)?;
            object.depth = object.depth.max(object.values[at].depth() + 1);
            Ok(result)
        }
        (other, _) => Err(no_part(other)),
    }
}

pub(super) fn fits(value: &Value<'_>, room: u32) -> Change<u32> {
    let depth = value.depth() + 1;
    if depth > room { Err(Obstacle::TooDeep) } else { Ok(depth) }
}

fn set_item<'c>(owner: &mut Value<'c>, key: Value<'c>, value: Value<'c>, room: u32) -> Change<()> {
    let depth = fits(&value, room)?;
    match owner {
        Value::List(items) => {
            let items = Rc::get_mut(items).ok_or(Obstacle::Shared)?;
            let at = index(&key, items.items.len())?;
            items.items[at] = value;
            items.depth = items.depth.max(depth);
            Ok(())
        }
        Value::Dict(items) => Rc::get_mut(items).ok_or(Obstacle::Shared)?.put(key, value).map_err(Obstacle::Not),
        other => Err(Obstacle::Not(format!("items of {} are not set", other.describe()))),
    }
}

fn set_attribute<'c>(owner: &mut Value<'c>, name: Symbol<'c>, value: Value<'c>, room: u32, force: bool) -> Change<()> {
    let depth = fits(&value, room)?;
    let Value::Object(object) = owner else {
        return Err(Obstacle::Not(format!("attributes of {} are not set", owner.describe())));
    };
    let object = Rc::get_mut(object).ok_or(Obstacle::Shared)?;
    if object.is_frozen && !force {
        return Err(Obstacle::Not(format!("its class is frozen, so `{name}` is not set")));
    }
    match object.names.iter().position(|known| *known == name) {
        Some(at) => object.values[at] = value,
        None => {
            object.names.push(name);
            object.values.push(value);
        }
    }
    object.depth = object.depth.max(depth);
    Ok(())
}
