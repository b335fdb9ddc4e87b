//! Names: what they are bound to, and what is said of those that are not.

use std::borrow::Cow;

use ruff_python_ast as ast;
use rustc_hash::FxHashMap;
use tf_core::Span;
use tf_types::Symbol;

use crate::names;
use crate::parser::{Binding, Kind, Parser, Scope};
use crate::refusal::{Refusal, Res};
use crate::statics::{Python, Unread, exception};
use crate::value::Value;

impl<'a, 'c> Parser<'a, 'c> {
    /// What a name is bound to: in the function innermost first, in the classes and factories around it, in the file,
    /// by the host.
    pub(crate) fn binding(&self, name: Symbol<'c>) -> Option<Cow<'_, Binding<'c>>> {
        let frames = self.body.iter().flat_map(|body| body.frames.iter().rev());
        if let Some(bound) = frames.map(|frame| &frame.names).find_map(|names| names.get(&name)) {
            return Some(Cow::Borrowed(bound));
        }
        match self.scope_of(name).and_then(|scope| scope.borrow().get(&name).cloned()) {
            Some(Binding::Outer(Some(scope))) => return scope.borrow().get(&name).cloned().map(Cow::Owned),
            Some(Binding::Outer(None)) | None => {}
            Some(bound) => return Some(Cow::Owned(bound)),
        }
        if let Some(bound) = self.file.get(&name) {
            return Some(Cow::Borrowed(bound));
        }
        if let Some(bound) = self.hosted.borrow().get(&name) {
            return Some(Cow::Owned(bound.clone()));
        }
        let live = self.environment.lookup(name.as_str())?;
        let has_identity = live.has_identity();
        let binding = match live.value(&self.heap, 0) {
            Some(value) => Binding::Value(value),
            None => Binding::Gone(format!("the sequences of `{name}` are nested too deep"), None),
        };
        if has_identity {
            self.hosted.borrow_mut().insert(name, binding.clone());
        }
        Some(Cow::Owned(binding))
    }

    /// The innermost scope that has a name; those of plain classes are seen from their own statements only.
    pub(crate) fn scope_of(&self, name: Symbol<'c>) -> Option<&Scope<'c>> {
        let count = self.scopes.len();
        let sees = |at: usize, scope: &Scope<'c>| at + 1 == count || scope.kind != Kind::Class;
        let mut scopes = self.scopes.iter().enumerate().rev();
        scopes.find(|(at, scope)| sees(*at, scope) && scope.borrow().contains_key(&name)).map(|(_, scope)| scope)
    }

    /// The value of a name, which may be one that is not read.
    pub(crate) fn lookup(&mut self, name: &str, span: Span) -> Res<Value<'c>> {
        match self.binding(self.cx.symbol(name)).as_deref() {
            Some(Binding::Value(value)) => Ok(value.clone()),
            Some(Binding::Gone(why, help)) => {
                let refusal = Refusal::wrong(span, why.clone());
                Err(help.iter().fold(refusal, |refusal, help| refusal.help(help.as_str())))
            }
            Some(Binding::Poison | Binding::Outer(_)) => Err(Refusal::Reported),
            None => {
                let is_outside = self.body.is_none();
                if is_outside && name == "__name__" {
                    // As in a file that is imported.
                    return Ok(Value::Str(self.cx.symbol("tilefoundry_program")));
                }
                let word = names::word(name).or_else(|| names::file_word(name).filter(|_| is_outside));
                if let Some(name) = exception(name).filter(|_| is_outside && word.is_none()) {
                    return Ok(Value::Record(self.exception_class(name)));
                }
                let word = word.or_else(|| Python::is_unread_word(name).then(|| Unread::word(name, span)));
                word.ok_or_else(|| self.undefined(name, span))
            }
        }
    }

    fn undefined(&self, name: &str, span: Span) -> Refusal {
        if name == "_" {
            return Refusal::wrong(span, "`_` is no value: an extent is an integer or a dim");
        }
        if names::exported(name).is_some() {
            return Refusal::wrong(span, format!("`{name}` is not imported"))
                .help(format!("add it to `from {} import {name}`", names::home(name)));
        }
        if self.calls_itself(name) {
            return self.recursive(name, span);
        }
        if let Some(refusal) = self.label(name, span) {
            return refusal;
        }
        if self.body.is_some() && self.domain.class.is_some_and(|class| class.as_str() == name) {
            let refusal = Refusal::wrong(span, format!("the module `{name}` is not complete here"));
            return refusal.help("its functions are called by their names alone");
        }
        if let Some(at) = self.bound_below(name, span) {
            let refusal = Refusal::unread(span, format!("the name `{name}` is not defined yet")).raises("NameError");
            return refusal.also(at, "defined here").help("move its definition up: a file is read from its top");
        }
        let refusal = Refusal::unread(span, format!("the name `{name}` is not defined")).raises("NameError");
        if name == "self" && self.body.is_some() {
            return refusal.help("functions and children of the module are called by their names alone");
        }
        self.near_bound(refusal, name, Vec::new())
    }

    /// Why a name that only labels a part of a function stands for nothing.
    pub(crate) fn label(&self, name: &str, span: Span) -> Option<Refusal> {
        let &(what, base) = self.labels.get(&self.cx.symbol(name))?;
        let message = format!("`{name}` is the label of a {what} of `{base}`, and no function that is called");
        let refusal = Refusal::wrong(span, message);
        if !self.domain.has_function(base) && self.binding(base).is_none() {
            // Of another module: there is nothing to call here.
            return Some(refusal);
        }
        Some(match what {
            "variant" => refusal.help(format!("`{base}(...)` runs the variant for the size at hand")),
            _ => refusal.help(format!("`{base}` gets its weights converted")),
        })
    }

    /// Notes where the statements of the file bind names.
    pub(crate) fn note_names(&mut self, stmts: &'a [ast::Stmt]) {
        let mut names = Vec::new();
        for stmt in stmts {
            crate::body::bound_names(stmt, &mut names);
            let at = match stmt {
                ast::Stmt::FunctionDef(def) => self.span(&def.name),
                ast::Stmt::ClassDef(class) => self.span(&class.name),
                other => self.span(other),
            };
            for name in names.drain(..) {
                self.file_names.entry(name).or_default().push(at);
            }
        }
    }

    /// Where the file binds a name for the first time below that place.
    pub(crate) fn bound_below(&self, name: &str, span: Span) -> Option<Span> {
        let places = self.file_names.get(name)?;
        places.get(places.partition_point(|at| at.line <= span.line)).copied()
    }

    /// A refusal with the bound name, or the one of `others`, that a wrong one was likely meant to be.
    pub(crate) fn near_bound(&self, refusal: Refusal, name: &str, others: Vec<&str>) -> Refusal {
        let frames = || self.body.iter().flat_map(|body| body.frames.iter().map(|f| &f.names)).chain([&self.file]);
        let count = others.len()
            + frames().map(FxHashMap::len).sum::<usize>()
            + self.scopes.iter().map(|scope| scope.borrow().len()).sum::<usize>();
        if count > self.comparisons.get() {
            return refusal;
        }
        let mut bound = others;
        bound.extend(frames().flat_map(|names| names.keys().map(|n| n.as_str())));
        self.scopes.iter().for_each(|scope| bound.extend(scope.borrow().keys().map(|name| name.as_str())));
        bound.sort_unstable();
        self.near(refusal, name, &bound)
    }

    /// Whether a name is that of the function whose body is read.
    pub(crate) fn calls_itself(&self, name: &str) -> bool {
        self.body.as_ref().and_then(|body| body.name).is_some_and(|own| own.as_str() == name)
    }

    pub(crate) fn recursive(&self, name: &str, span: Span) -> Refusal {
        Refusal::wrong(span, format!("`{name}` calls itself, and functions of the language do not recurse"))
            .help("write a loop, or call another function above")
    }

    /// Binds a name in a scope, or in the file; where the scope says so, further out.
    pub(crate) fn bind_in(&mut self, scope: Option<Scope<'c>>, name: Symbol<'c>, binding: Binding<'c>) {
        let outer = scope.as_ref().and_then(|scope| match scope.borrow().get(&name) {
            Some(Binding::Outer(outer)) => Some(outer.clone()),
            _ => None,
        });
        match outer.unwrap_or(scope) {
            Some(scope) => drop(scope.borrow_mut().insert(name, binding)),
            None => drop(self.file.insert(name, binding)),
        }
    }

    /// Binds a name: of a body in the innermost frame that is no mesh suite, else in the innermost scope.
    pub(crate) fn bind(&mut self, name: Symbol<'c>, binding: Binding<'c>) {
        let Some(body) = &mut self.body else {
            let scope = self.scopes.last().cloned();
            return self.bind_in(scope, name, binding);
        };
        for frame in body.frames.iter_mut().rev() {
            if !frame.is_mesh {
                frame.names.insert(name, binding);
                return;
            }
            frame.names.remove(&name);
        }
    }
}
