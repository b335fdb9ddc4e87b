//! Values that are not read: kept and passed on like any other, refused where it matters what they are.

use std::rc::Rc;

use ruff_python_ast as ast;
use tf_core::Span;

use super::Args;
use super::library::changes_given;
use crate::parser::{Binding, Parser};
use crate::refusal::{Refusal, Res, unread_call};
use crate::value::Value;

/// Said of an expression before the reason.
const UNUSABLE: &str = "cannot be used: ";

/// Why a value is not read, and where it comes from.
pub(crate) struct Unread<'c> {
    pub(super) why: Rc<str>,
    pub(super) at: Span,
    pub(super) reach: Reach,
    /// What a call of it may change besides what it is given: the instance that it is of, objects that it may be.
    pub(super) owners: Rc<[Value<'c>]>,
}

/// What a call of a value that is not read may change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// What it is given.
    Given,
    /// Nothing: a module or name of a library.
    Library,
    /// The names of the file, by their text.
    Names,
}

/// Functions of Python that bind names by their text.
pub(super) const BY_TEXT: &[&str] = &["eval", "exec", "globals", "locals", "vars"];

impl<'c> Unread<'c> {
    pub(crate) fn value(why: &str, at: Span) -> Value<'c> {
        // Of a chain of names the first reason counts.
        let why = why.rfind(UNUSABLE).map_or(why, |at| &why[at + UNUSABLE.len()..]);
        Value::Unread(Rc::new(Self { why: why.into(), at, reach: Reach::Given, owners: Rc::default() }))
    }

    /// A name that a library has.
    pub(super) fn of_library(module: &str, name: &str, at: Span) -> Value<'c> {
        Self::of_host(&format!("it comes from `{module}`, and authoring files are read, not executed"), name, at)
    }

    /// A name of code of the host.
    pub(super) fn of_host(why: &str, name: &str, at: Span) -> Value<'c> {
        let why = why.into();
        let reach = if changes_given(name) { Reach::Given } else { Reach::Library };
        Value::Unread(Rc::new(Self { why, at, reach, owners: Rc::default() }))
    }

    /// A function or class of Python that is not read.
    pub(crate) fn word(name: &str, at: Span) -> Value<'c> {
        match BY_TEXT.contains(&name) {
            true => {
                let why = format!("`{name}` binds names by their text, which is not followed").into();
                Value::Unread(Rc::new(Self { why, at, reach: Reach::Names, owners: Rc::default() }))
            }
            false => Self::value(&format!("Python's `{name}` is not read"), at),
        }
    }

    /// Another value that is not read for the same reason.
    pub(crate) fn another(&self) -> Value<'c> {
        self.made(self.at, Reach::Given)
    }

    /// `vars` with an object, which binds no names.
    pub(crate) fn showing(&self) -> Self {
        Self { why: "Python's `vars` is not read".into(), at: self.at, reach: Reach::Given, owners: Rc::default() }
    }

    pub(crate) fn is_library(&self) -> bool {
        self.reach == Reach::Library
    }

    /// What comes of it, by a call, an attribute or an item.
    fn made(&self, at: Span, reach: Reach) -> Value<'c> {
        let (why, owners) = (Rc::clone(&self.why), Rc::clone(&self.owners));
        let reach = if self.reach == Reach::Names { self.reach } else { reach };
        Value::Unread(Rc::new(Self { why, at, reach, owners }))
    }

    /// One that is taken from an instance, so that its call may change that.
    pub(super) fn of(&self, owner: Value<'c>) -> Value<'c> {
        let (why, owners) = (Rc::clone(&self.why), [owner].into());
        Value::Unread(Rc::new(Self { why, at: self.at, reach: Reach::Given, owners }))
    }

    /// One that may be any of these objects, or of what they hold.
    fn among(why: &str, at: Span, objects: Vec<Value<'c>>) -> Value<'c> {
        match Self::value(why, at) {
            Value::Unread(unread) if !objects.is_empty() => {
                let (why, owners) = (Rc::clone(&unread.why), objects.into());
                Value::Unread(Rc::new(Self { why, at, reach: Reach::Given, owners }))
            }
            value => value,
        }
    }
}

impl<'c> Parser<'_, 'c> {
    /// The value of an expression that is read, though what is in it may not be.
    pub(crate) fn looked(&mut self, expr: &ast::Expr) -> Res<Value<'c>> {
        let value = self.any(expr)?;
        self.read_of(expr, value)
    }

    /// The value of that expression, where it is read.
    pub(crate) fn read_of(&self, expr: &ast::Expr, value: Value<'c>) -> Res<Value<'c>> {
        match &value {
            Value::Unread(unread) => Err(self.unusable(expr, unread)),
            other if self.has_unknown => self.known(other, self.span(expr)).map(|()| value),
            _ => Ok(value),
        }
    }

    /// The value of an expression, which may be one that is not read.
    pub(crate) fn any(&mut self, expr: &ast::Expr) -> Res<Value<'c>> {
        let span = self.span(expr);
        let value = self.nested(span, |p| p.eval_at(expr, span, None, true))?;
        if self.body.is_none() {
            self.tick(span)?;
            return Ok(value);
        }
        Ok(self.plain(value))
    }

    /// The value of an expression that is kept and not looked at: where it is not read, one that says so.
    pub(crate) fn stored(&mut self, expr: &ast::Expr) -> Res<Value<'c>> {
        if self.body.is_some() {
            return self.eval(expr, None);
        }
        match self.any(expr) {
            Err(Refusal::Unread(diagnostic)) if diagnostic.raises.is_none() => {
                self.doubts += 1;
                let at = diagnostic.span.unwrap_or_else(|| self.span(expr));
                let value = Unread::among(&diagnostic.message, at, self.choices(expr));
                self.lose_calls(expr, &Binding::Value(value.clone()));
                Ok(value)
            }
            other => other,
        }
    }

    /// The refusal of an expression that is not read.
    pub(crate) fn unusable(&self, expr: &ast::Expr, unread: &Unread<'c>) -> Refusal {
        // The name that it starts with, where that is not read already.
        let root = root(expr);
        let name = root.as_name_expr().and_then(|name| self.binding(self.cx.symbol(name.id.as_str())));
        let bound = name.as_deref().and_then(Binding::as_unread);
        let (expr, at) = bound.map_or((expr, unread.at), |bound| (root, bound.at));
        let message = format!("`{}` {UNUSABLE}{}", self.text(expr), unread.why);
        Refusal::unread(self.span(expr), message).also(at, "defined here")
    }

    /// The refusal of what is asked of values, one of which may be one that is not read.
    pub(super) fn not_read(&self, what: &str, values: &[Value<'c>], span: Span) -> Refusal {
        if let Some(refusal) = values.iter().find_map(|value| self.read(value, span).err()) {
            return refusal;
        }
        unread_call(what, values, span)
    }

    /// Refuses a value that is not read.
    pub(crate) fn read(&self, value: &Value<'c>, span: Span) -> Res<()> {
        match value {
            Value::Unread(unread) => {
                let message = format!("a value in it {UNUSABLE}{}", unread.why);
                Err(Refusal::unread(span, message).also(unread.at, "defined here"))
            }
            _ => Ok(()),
        }
    }

    /// `base.name` of what is not read.
    pub(super) fn unread_attribute(&mut self, unread: &Unread<'c>, base: &ast::Expr, name: &str) -> Value<'c> {
        self.doubts += 1;
        let reach = match unread.reach {
            Reach::Library if name == "modules" => Reach::Names,
            Reach::Library if !changes_given(name) => Reach::Library,
            _ => Reach::Given,
        };
        unread.made(self.origin(unread, base), reach)
    }

    /// `base[key]` of what is not read.
    pub(crate) fn unread_item(&mut self, unread: &Unread<'c>, item: &ast::ExprSubscript) -> Res<Value<'c>> {
        self.doubts += 1;
        if !item.slice.is_slice_expr() {
            self.stored(&item.slice).map_err(Refusal::where_used)?;
        }
        Ok(unread.made(self.origin(unread, &item.value), Reach::Given))
    }

    /// A call of what is not read: what it may change is not known any more.
    pub(crate) fn unread_call(&mut self, callee: &Unread<'c>, args: Args<'c>, at: Span) -> Value<'c> {
        self.doubts += 1;
        let given = args.positional.into_iter().map(|(value, _)| value);
        let mut given: Vec<_> = given.chain(args.keywords.into_iter().map(|(_, value, _)| value)).collect();
        let binds = |value: &Value<'c>| matches!(value, Value::Unread(unread) if unread.reach == Reach::Names);
        if callee.reach == Reach::Names || given.iter().any(binds) {
            self.lose_names(&callee.why, at);
        }
        if callee.is_library() {
            given = exposed(given);
        }
        given.extend(callee.owners.iter().cloned());
        self.make_unknown(given, &callee.why, at);
        callee.made(at, Reach::Given)
    }

    /// Where what is made of a value comes from: the name that is written, else what that came from.
    pub(crate) fn origin(&self, unread: &Unread<'c>, written: &ast::Expr) -> Span {
        if written.is_name_expr() { self.span(written) } else { unread.at }
    }
}

/// What attributes, items and calls are of.
pub(super) fn root(expr: &ast::Expr) -> &ast::Expr {
    let mut at = expr;
    loop {
        at = match at {
            ast::Expr::Attribute(attribute) => &attribute.value,
            ast::Expr::Subscript(subscript) => &subscript.value,
            ast::Expr::Call(call) => &call.func,
            other => return other,
        };
    }
}

/// What a library may run or use up: functions and iterators, in sequences and dicts too.
fn exposed<'c>(given: Vec<Value<'c>>) -> Vec<Value<'c>> {
    /// Values that are looked at; beyond, all are taken to be used.
    const LOOKED_AT: usize = 1 << 12;
    let mut stack: Vec<_> = given.iter().map(|value| (value.clone(), 0)).collect();
    let (mut found, mut count) = (Vec::new(), 0);
    while let Some((value, depth)) = stack.pop() {
        count += 1;
        if count > LOOKED_AT || depth > crate::value::SEQUENCE_DEPTH {
            return given;
        }
        match &value {
            Value::Factory(_) | Value::Bound(_) | Value::Method(_) | Value::Wrapped(..) | Value::Iter(_) => {
                found.push(value);
            }
            Value::Tuple(items) => stack.extend(items.iter().map(|item| (item.clone(), depth + 1))),
            Value::List(list) => stack.extend(list.get().iter().map(|item| (item.clone(), depth + 1))),
            Value::Dict(dict) => {
                stack.extend(dict.get().items().iter().map(|(_, item)| (item.clone(), depth + 1)));
            }
            _ => {}
        }
    }
    found
}
