//! File level: imports, constants, functions and module classes, in order.

use ruff_python_ast as ast;
use tf_core::{AnyFunction, Diagnostic, Module, PrimFunction};

use crate::DslOptions;
use crate::body::is_docstring;
use crate::function::Role;
use crate::module::{Declared, Decorator};
use crate::names::Builtin;
use crate::parser::{Binding, Domain, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// A module that the file defines, or would if it were right.
pub(crate) struct Candidate<'c> {
    name: String,
    kind: Kind,
    made: Made<'c>,
    errors: std::ops::Range<usize>,
}

/// What a candidate is so far. Functions that declare no context get a module where they are selected: each module holds all that its
/// function calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Made<'c> {
    Nothing,
    Module(Module<'c>),
    /// The place of a function among those of the file, which are complete at its end only.
    Function(usize),
    /// A function of TIR, or one that a plain function made.
    Complete(AnyFunction<'c>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Class,
    /// A module that a plain function or a copy gives.
    Bound,
    /// Defined in the file, or made by a plain function.
    Function,
}

/// What a `@func` outside a class is.
pub(crate) enum Defined<'c> {
    /// A function that other functions of the file may call.
    Function(usize),
    /// With a context of its own: a module.
    Module(Module<'c>),
    /// Of TIR.
    Prim(PrimFunction<'c>),
    /// A statement of TIR.
    Intrinsic(usize),
    /// A variant or a converter of a function above.
    Part,
    /// A plain Python function.
    Plain,
}

impl<'a, 'c> Parser<'a, 'c> {
    /// The module that the options select, and whether it is the one of a function alone.
    pub(crate) fn file(
        mut self,
        stmts: &'a [ast::Stmt],
        options: &DslOptions,
    ) -> Result<(Module<'c>, bool), Vec<Diagnostic>> {
        let mut candidates = Vec::new();
        self.note_names(stmts);
        for (at, stmt) in stmts.iter().enumerate() {
            if at == 0 && is_docstring(stmt) {
                continue;
            }
            self.file_statement(stmt, &mut candidates);
        }
        let domain = std::mem::take(&mut self.domain);
        let (functions, _) = self.seal(domain);
        if options.module.is_none() && !self.diagnostics.is_empty() {
            return Err(self.diagnostics);
        }
        let candidate = match select(&candidates, options.module.as_deref()) {
            Ok(candidate) => candidate,
            Err(error) => {
                // What keeps a call from making the module has been found already.
                let name = options.module.as_deref().map(|name| self.cx.symbol(name));
                let is_refused = name.is_some_and(|name| matches!(self.file.get(&name), Some(Binding::Poison)));
                return Err(if is_refused { self.diagnostics } else { vec![*error] });
            }
        };
        let module = match &candidate.made {
            Made::Nothing => {
                // What is wrong with a callee is wrong with its caller.
                let own = self.diagnostics.get(candidate.errors.clone()).unwrap_or_default().to_vec();
                return Err(if own.is_empty() { self.diagnostics } else { own });
            }
            Made::Module(module) => Ok(*module),
            Made::Function(at) => self.implicit_module(AnyFunction::Hir(functions[*at]), &Declared::default()),
            Made::Complete(function) => {
                let declared = match function {
                    AnyFunction::Tir(function) => self.contexts.remove(function),
                    AnyFunction::Hir(_) => None,
                };
                self.implicit_module(*function, &declared.unwrap_or_default())
            }
        };
        let module = module.and_then(|module| Ok(tf_core::tree::completed(self.cx, module)?));
        let is_alone = matches!(candidate.made, Made::Function(_) | Made::Complete(_));
        module.map(|module| (module, is_alone)).map_err(|refusal| refusal.diagnostic().into_iter().collect())
    }

    /// Statements of the file, and of the branches of an `if` on constants.
    fn file_statement(&mut self, stmt: &'a ast::Stmt, candidates: &mut Vec<Candidate<'c>>) {
        let before = self.steps;
        self.file_statement_at(stmt, candidates);
        self.forgive(before);
    }

    fn file_statement_at(&mut self, stmt: &'a ast::Stmt, candidates: &mut Vec<Candidate<'c>>) {
        let before = self.diagnostics.len();
        match stmt {
            ast::Stmt::Import(_) | ast::Stmt::ImportFrom(_) => self.import(stmt),
            ast::Stmt::FunctionDef(def) => {
                let symbol = self.cx.symbol(def.name.as_str());
                let mut candidate = Candidate {
                    name: def.name.to_string(),
                    kind: Kind::Function,
                    made: Made::Nothing,
                    errors: before..before,
                };
                let binding = match self.file_function(def) {
                    Ok(Defined::Part) => return,
                    Ok(Defined::Intrinsic(at)) => return self.bind(symbol, Binding::Value(Value::Intrinsic(at))),
                    Ok(Defined::Plain) => {
                        let binding = self.defined(def, None);
                        return self.bind(symbol, binding);
                    }
                    Ok(Defined::Function(at)) => {
                        candidate.made = Made::Function(at);
                        Binding::Value(Value::Function(self.domain.functions[at].function))
                    }
                    Ok(Defined::Prim(function)) => {
                        candidate.made = Made::Complete(AnyFunction::Tir(function));
                        Binding::Value(Value::Prim(function))
                    }
                    Ok(Defined::Module(module)) => {
                        candidate.made = Made::Module(module);
                        Binding::Value(Value::Module(module))
                    }
                    Err(refusal) => {
                        self.report(refusal);
                        Binding::Poison
                    }
                };
                candidate.errors.end = self.diagnostics.len();
                candidates.push(candidate);
                self.bind(symbol, binding);
            }
            ast::Stmt::ClassDef(class) => {
                let symbol = self.cx.symbol(class.name.as_str());
                let (made, binding) = match self.file_class(class) {
                    Ok(Some(module)) => (Made::Module(module), Binding::Value(Value::Module(module))),
                    Ok(None) => return self.plain_class(class),
                    Err(refusal) => {
                        self.report(refusal);
                        (Made::Nothing, Binding::Poison)
                    }
                };
                let errors = before..self.diagnostics.len();
                let name = class.name.to_string();
                candidates.push(Candidate { name, kind: Kind::Class, made, errors });
                self.bind(symbol, binding);
            }
            ast::Stmt::If(branch) => match self.branch(branch) {
                Ok(taken) => taken.iter().for_each(|stmt| self.file_statement(stmt, candidates)),
                Err(_) => self.skip(stmt),
            },
            ast::Stmt::Match(own) => match self.matched(own) {
                Ok(taken) => taken.iter().for_each(|stmt| self.file_statement(stmt, candidates)),
                Err(_) => self.skip(stmt),
            },
            ast::Stmt::For(_) | ast::Stmt::While(_) => self.file_loop(stmt),
            ast::Stmt::Try(own) => self.file_try(stmt, own),
            ast::Stmt::With(with) => match self.meshes(with) {
                Ok(()) => with.body.iter().for_each(|stmt| self.file_statement(stmt, candidates)),
                Err(_) => self.skip(stmt),
            },
            ast::Stmt::Expr(expr) => {
                if let Err(refusal) = self.expression_statement(&expr.value) {
                    self.report(refusal);
                }
            }
            ast::Stmt::Assert(assert) => match self.asserted(assert, self.span(stmt)) {
                Err(refusal @ Refusal::Wrong(_)) => self.report(refusal),
                Err(refusal) => {
                    let lost = self.lost(refusal, self.span(stmt));
                    self.lose_changes(stmt, &lost);
                }
                Ok(()) => {}
            },
            ast::Stmt::Raise(raise) => {
                let refusal = self.raised(raise, self.span(stmt));
                self.report(refusal);
            }
            ast::Stmt::Delete(delete) => {
                // One that is not followed leaves a name that nothing uses.
                for target in &delete.targets {
                    if let Err(refusal) = self.delete(target) {
                        let lost = self.lost(refusal, self.span(target));
                        self.lose(target, &lost);
                    }
                }
            }
            other => {
                self.constant_statement(other);
                let mut names = Vec::new();
                crate::body::bound_names(other, &mut names);
                for name in names {
                    let Some(made) = self.made(name) else { continue };
                    let is_module = matches!(made, Made::Module(_));
                    // Another name of a function above makes no second one.
                    if is_module || !candidates.iter().any(|known| known.made == made) {
                        let kind = if is_module { Kind::Bound } else { Kind::Function };
                        let errors = before..self.diagnostics.len();
                        candidates.push(Candidate { name: name.to_owned(), kind, made, errors });
                    }
                }
            }
        }
    }

    /// The module or function that a name is bound to.
    fn made(&self, name: &str) -> Option<Made<'c>> {
        match self.binding(self.cx.symbol(name)).as_deref()? {
            Binding::Value(Value::Module(module)) => Some(Made::Module(*module)),
            Binding::Value(Value::Function(function)) => Some(match self.domain.states.get(function) {
                Some(&at) => Made::Function(at),
                None => Made::Complete(AnyFunction::Hir(*function)),
            }),
            Binding::Value(Value::Prim(function)) => Some(Made::Complete(AnyFunction::Tir(*function))),
            _ => None,
        }
    }

    /// A function outside a class.
    pub(crate) fn file_function(&mut self, def: &'a ast::StmtFunctionDef) -> Res<Defined<'c>> {
        if self.part(def)? {
            return Ok(Defined::Part);
        }
        let [decorator] = &def.decorator_list[..] else {
            let words = [Builtin::Func, Builtin::PrimFunc, Builtin::Intrinsic];
            return self.check_alone("function", &words, &def.decorator_list).map(|()| Defined::Plain);
        };
        let call = match self.decorator(decorator) {
            Ok(Decorator::Known(Builtin::Func, call)) => call,
            Ok(Decorator::Known(Builtin::PrimFunc, call)) => {
                let declared = self.declared(call, "prim_func", &["target", "outputs"])?;
                let function = self.prim_function(def, declared.target, declared.outputs)?;
                self.contexts.insert(function, declared);
                return Ok(Defined::Prim(function));
            }
            Ok(Decorator::Known(Builtin::Intrinsic, None)) => return self.intrinsic(def).map(Defined::Intrinsic),
            Ok(_) | Err(Refusal::Reported) => return Ok(Defined::Plain),
            // Of another package: what it makes is not used here as long as nobody names it.
            Err(Refusal::Unread(_)) if self.is_outside(&decorator.expression) => return Ok(Defined::Plain),
            Err(refusal) => return Err(refusal),
        };
        let declared = self.declared(call, "func", &["target", "topologies"])?;
        let domain = Domain { topologies: declared.topologies.clone(), ..Domain::default() };
        let outer = std::mem::replace(&mut self.domain, domain);
        let function = self.function(def, Role::Member);
        self.domain = outer;
        let function = function?;
        if declared.is_context() {
            return self.implicit_module(AnyFunction::Hir(function), &declared).map(Defined::Module);
        }
        Ok(Defined::Function(self.domain.add(function)))
    }

    /// Whether the name that a decorator starts with is bound to something that is not read.
    fn is_outside(&self, decorator: &ast::Expr) -> bool {
        let mut at = decorator;
        loop {
            match at {
                ast::Expr::Call(call) => at = &call.func,
                ast::Expr::Attribute(attribute) => at = &attribute.value,
                ast::Expr::Name(name) => {
                    let bound = self.binding(self.cx.symbol(name.id.as_str()));
                    return bound.is_some_and(|bound| bound.as_unread().is_some());
                }
                _ => return false,
            }
        }
    }

    /// Refuses what stands beside a decorator of the language, one of `words`.
    fn check_alone(&mut self, what: &str, words: &[Builtin], decorators: &[ast::Decorator]) -> Res<()> {
        let word = |p: &mut Self, decorator| match p.decorator(decorator) {
            Ok(Decorator::Known(builtin, _)) => words.contains(&builtin).then(|| builtin.name()),
            _ => None,
        };
        let Some((at, word)) = decorators.iter().enumerate().find_map(|(at, d)| Some((at, word(self, d)?))) else {
            return Ok(());
        };
        let other = decorators.iter().enumerate().find(|(other, _)| *other != at);
        other.map_or(Ok(()), |(_, other)| {
            let written = self.text(&other.expression);
            let message = format!("a {what} under `@{word}` has no other decorator, found `@{written}`");
            Err(Refusal::wrong(self.span(other), message).help("remove it"))
        })
    }

    /// A class under `@module`; none for plain classes.
    pub(crate) fn file_class(&mut self, class: &ast::StmtClassDef) -> Res<Option<Module<'c>>> {
        let [decorator] = &class.decorator_list[..] else {
            return self.check_alone("class", &[Builtin::Module], &class.decorator_list).map(|()| None);
        };
        let name = match &decorator.expression {
            ast::Expr::Call(call) => &call.func,
            other => other,
        };
        match self.decorator(decorator) {
            Ok(Decorator::Known(Builtin::Module, call)) => self.class(class, call).map(Some),
            Ok(_) => Ok(None),
            // Of a library: what it makes of the class is not used here as long as nobody names it.
            Err(Refusal::Unread(_)) if self.is_library(name) => Ok(None),
            Err(refusal) => Err(refusal),
        }
    }
}

/// The candidate of that name; without one the last class, else the last module bound to a name, else the last function.
fn select<'a, 'c>(candidates: &'a [Candidate<'c>], name: Option<&str>) -> Result<&'a Candidate<'c>, Box<Diagnostic>> {
    let known = || candidates.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
    if let Some(name) = name {
        return candidates.iter().rev().find(|c| c.name == name).ok_or_else(|| {
            let error = Diagnostic::error(format!("the file has no module or function `{name}`"));
            Box::new(if candidates.is_empty() { error } else { error.with_help(format!("it has {}", known())) })
        });
    }
    let last = |kind| candidates.iter().rfind(|c| c.kind == kind);
    last(Kind::Class).or(last(Kind::Bound)).or(last(Kind::Function)).ok_or_else(|| {
        Box::new(Diagnostic::error("the file has no class under `@module` and no function under `@func`"))
    })
}
