//! Exceptions: their classes, what `raise` raises and what `try` catches.

use std::rc::Rc;

use ruff_python_ast as ast;
use tf_core::Span;

use super::class::Kind;
use super::{Args, Outcome};
use crate::parser::{Binding, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// The exceptions of Python, each with the one that it extends.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("ArithmeticError", "Exception"),
    ("AssertionError", "Exception"),
    ("AttributeError", "Exception"),
    ("BaseException", ""),
    ("DeprecationWarning", "Warning"),
    ("EOFError", "Exception"),
    ("Exception", "BaseException"),
    ("FileNotFoundError", "OSError"),
    ("ImportError", "Exception"),
    ("IndexError", "LookupError"),
    ("KeyError", "LookupError"),
    ("KeyboardInterrupt", "BaseException"),
    ("LookupError", "Exception"),
    ("ModuleNotFoundError", "ImportError"),
    ("NameError", "Exception"),
    ("NotImplementedError", "RuntimeError"),
    ("OSError", "Exception"),
    ("OverflowError", "ArithmeticError"),
    ("RecursionError", "RuntimeError"),
    ("RuntimeError", "Exception"),
    ("RuntimeWarning", "Warning"),
    ("StopIteration", "Exception"),
    ("SystemExit", "BaseException"),
    ("TypeError", "Exception"),
    ("UserWarning", "Warning"),
    ("ValueError", "Exception"),
    ("Warning", "Exception"),
    ("ZeroDivisionError", "ArithmeticError"),
];

/// The class that all of them extend.
const ROOT: &str = "BaseException";
/// Steps of what is raised and handled.
const HANDLED: usize = 8;
/// Of a refusal: that a statement raises the value that is kept.
const RAISED: &str = "raise";

/// Whether Python has an exception of that name.
pub(crate) fn exception(name: &str) -> Option<&'static str> {
    EXCEPTIONS.binary_search_by_key(&name, |(known, _)| known).ok().map(|at| EXCEPTIONS[at].0)
}

impl<'a, 'c> Parser<'a, 'c> {
    /// The class of an exception of Python.
    pub(crate) fn exception_class(&mut self, name: &'static str) -> usize {
        let mut missing = Vec::new();
        let mut at = name;
        while !at.is_empty() && !self.exceptions.contains_key(at) {
            missing.push(at);
            at = EXCEPTIONS.binary_search_by_key(&at, |(known, _)| known).map_or("", |at| EXCEPTIONS[at].1);
        }
        let mut base = self.exceptions.get(at).copied();
        for name in missing.into_iter().rev() {
            let line = base.map_or_else(Vec::new, |base| self.line(base).to_vec());
            let class = self.new_record(self.cx.symbol(name), Kind::Plain, line, Vec::new());
            self.exceptions.insert(name, class);
            base = Some(class);
        }
        base.unwrap_or_default()
    }

    /// Whether the instances of a class are raised.
    pub(super) fn is_exception(&self, class: usize) -> bool {
        self.exceptions.get(ROOT).is_some_and(|root| self.extends(class, *root))
    }

    /// `str(error)`: what it was made of.
    pub(super) fn exception_text(&mut self, value: &Value<'c>, span: Span) -> Res<Option<String>> {
        let Value::Object(object) = value else { return Ok(None) };
        let (class, args) = (object.get().class(), object.get().own(self.cx.symbol("args")));
        let is_key = class.zip(self.exceptions.get("KeyError")).is_some_and(|(class, key)| self.extends(class, *key));
        match &args.as_ref().and_then(Value::as_sequence).as_deref().map(|args| &args[..]) {
            Some([]) => Ok(Some(String::new())),
            Some([one]) if !is_key => self.shown(one, span),
            Some([one]) => self.repr(one, 0, span),
            Some(_) => args.map_or(Ok(None), |args| self.repr(&args, 0, span)),
            None => Ok(None),
        }
    }

    /// `raise VerifyError("text")`: the text, else the statement.
    pub(crate) fn raised(&mut self, raise: &ast::StmtRaise, span: Span) -> Refusal {
        let value = match &raise.exc {
            None => self.handled.last().cloned(),
            Some(expr) => match self.any(expr) {
                Ok(Value::Record(class)) if self.is_exception(class) => {
                    match self.instance(class, Args::default(), span) {
                        Ok(value) => Some(value),
                        Err(refusal) => return refusal,
                    }
                }
                Ok(value) => Some(value),
                Err(refusal) if refusal.raised().is_some() => return refusal,
                Err(_) => None,
            },
        };
        if let Some(Value::Object(object)) = &value
            && let Some(class) = object.get().class()
            && self.is_exception(class)
        {
            let text = object.get().own(self.cx.symbol("args")).as_ref().and_then(Value::as_sequence);
            let text = text.and_then(|args| args.first().and_then(Value::text));
            let message = text.map_or_else(|| format!("`{}`", self.text(raise)), str::to_owned);
            return self.raise(Value::Object(Rc::clone(object)), span, &message);
        }
        let text = match raise.exc.as_deref() {
            Some(ast::Expr::Call(call)) => call.arguments.args.first().and_then(|text| self.eval(text, None).ok()),
            _ => None,
        };
        match text {
            Some(Value::Str(text)) => Refusal::wrong(span, text.as_str()),
            _ => Refusal::wrong(span, format!("`{}`", self.text(raise))),
        }
    }

    /// Whether a refusal is that exception of Python.
    pub(super) fn raises(&mut self, refusal: &Refusal, name: &'static str) -> bool {
        let class = self.exception_class(name);
        match (refusal.raised(), &self.raised) {
            (Some(RAISED), Some(Value::Object(object))) => {
                object.get().class().is_some_and(|own| self.extends(own, class))
            }
            (raised, _) => raised == Some(name),
        }
    }

    /// The refusal that raises an exception.
    pub(super) fn raise(&mut self, error: Value<'c>, span: Span, message: &str) -> Refusal {
        self.raised = Some(error);
        Refusal::wrong(span, message).raises(RAISED)
    }

    /// `try`, where all of its body is read.
    pub(crate) fn run_try(&mut self, stmt: &'a ast::StmtTry) -> Res<Outcome<'c>> {
        let (doubts, refused) = (self.doubts, self.refused);
        let result = match self.run_suite(&stmt.body) {
            _ if self.refused > refused => Err(Refusal::Reported),
            // What is not read may raise anything.
            _ if self.doubts > doubts || stmt.is_star => Err(self.unread_try(stmt)),
            Ok(Outcome::Next) => self.run_suite(&stmt.orelse),
            Ok(outcome) => Ok(outcome),
            Err(refusal) => self.handle(stmt, refusal),
        };
        if result.as_ref().is_err_and(|refusal| refusal.raised().is_none()) {
            return result;
        }
        let raised = self.raised.clone();
        match self.run_suite(&stmt.finalbody)? {
            Outcome::Next => {
                self.raised = raised;
                result
            }
            other => Ok(other),
        }
    }

    fn unread_try(&self, stmt: &ast::StmtTry) -> Refusal {
        Refusal::unread(self.span(stmt), "`try` is not executed")
    }

    /// Runs the handler of what the body of a `try` raises.
    fn handle(&mut self, stmt: &'a ast::StmtTry, refusal: Refusal) -> Res<Outcome<'c>> {
        let Some(exception) = refusal.raised() else { return Err(self.unread_try(stmt)) };
        self.step(HANDLED, self.span(stmt))?;
        let value = match self.raised.take() {
            Some(value) if exception == RAISED => value,
            _ => {
                // What Python says differs between its versions.
                let class = self.exception_class(exception);
                let span = self.span(stmt);
                let args = Args::of([super::Unread::value("the text of an error of Python is not read", span)], span);
                self.instance(class, args, span)?
            }
        };
        for ast::ExceptHandler::ExceptHandler(handler) in &stmt.handlers {
            let catches = match &handler.type_ {
                None => Some(true),
                Some(class) => {
                    let class = self.any(class)?;
                    self.is_caught(&value, &class)
                }
            };
            match catches {
                None => return Err(self.unread_try(stmt)),
                Some(false) => continue,
                Some(true) => {}
            }
            let name = handler.name.as_ref().map(|name| self.cx.symbol(name.as_str()));
            if let Some(name) = name {
                self.bind(name, Binding::Value(value.clone()));
            }
            self.handled.push(value);
            let result = self.run_suite(&handler.body);
            self.handled.pop();
            if let Some(name) = name {
                self.bind(name, Binding::Gone(format!("`{name}` has no value after its `except`"), None));
            }
            return result;
        }
        self.raised = Some(value);
        Err(refusal)
    }

    /// Whether a handler of these classes takes an exception; none where that is not known.
    fn is_caught(&self, value: &Value<'c>, class: &Value<'c>) -> Option<bool> {
        let Value::Object(object) = value else { return None };
        match class {
            Value::Record(class) => object.get().class().map(|own| self.extends(own, *class)),
            Value::Tuple(classes) => {
                for class in classes.iter() {
                    if self.is_caught(value, class)? {
                        return Some(true);
                    }
                }
                Some(false)
            }
            _ => None,
        }
    }

    /// A `try` of the file: what it binds where it is not run is not known, but for names of libraries.
    pub(crate) fn file_try(&mut self, stmt: &'a ast::Stmt, own: &'a ast::StmtTry) {
        match self.run_try(own) {
            Ok(_) => {}
            Err(refusal @ Refusal::Wrong(_)) if refusal.raised().is_some() => {
                let lost = self.lost(refusal, self.span(stmt));
                self.bind_names(stmt, &lost);
            }
            Err(_) => {
                self.skip(stmt);
                for part in &own.body {
                    for (name, binding) in self.import_bindings(part) {
                        if binding.as_unread().is_some() {
                            self.bind(name, binding);
                        }
                    }
                }
            }
        }
    }
}
