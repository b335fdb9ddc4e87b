//! File level: imports, constants, functions and module classes, in order.

use ruff_python_ast as ast;
use tf_core::{Diagnostic, Function, Module};

use crate::DslOptions;
use crate::body::{is_docstring, keyword};
use crate::module::Decorator;
use crate::names::Builtin;
use crate::parser::{Binding, Domain, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// A module that the file defines, or would if it were right.
struct Candidate<'c> {
    name: String,
    is_class: bool,
    module: Option<Module<'c>>,
    errors: std::ops::Range<usize>,
}

impl<'c> Parser<'_, 'c> {
    /// The module that the options select.
    pub(crate) fn file(mut self, stmts: &[ast::Stmt], options: &DslOptions) -> Result<Module<'c>, Vec<Diagnostic>> {
        let mut candidates = Vec::new();
        let mut functions = Vec::new();
        for (at, stmt) in stmts.iter().enumerate() {
            if at == 0 && is_docstring(stmt) {
                continue;
            }
            self.file_statement(stmt, &mut candidates, &mut functions);
        }
        match &options.module {
            None if !self.diagnostics.is_empty() => Err(self.diagnostics),
            wanted => match select(&candidates, wanted.as_deref()) {
                Ok(Candidate { module: Some(module), .. }) => Ok(*module),
                Ok(candidate) => {
                    // What is wrong with a callee is wrong with its caller.
                    let own = self.diagnostics.get(candidate.errors.clone()).unwrap_or_default().to_vec();
                    Err(if own.is_empty() { self.diagnostics } else { own })
                }
                Err(error) => Err(vec![*error]),
            },
        }
    }

    fn file_statement(
        &mut self,
        stmt: &ast::Stmt,
        candidates: &mut Vec<Candidate<'c>>,
        functions: &mut Vec<Function<'c>>,
    ) {
        let before = self.diagnostics.len();
        match stmt {
            ast::Stmt::Import(import) => self.import(import),
            ast::Stmt::ImportFrom(import) => self.import_from(import),
            ast::Stmt::Assign(assign) => self.file_assign(&assign.targets, &assign.value),
            ast::Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.file_assign(std::slice::from_ref(&*assign.target), value);
                }
            }
            ast::Stmt::FunctionDef(def) => {
                let name = self.cx.symbol(def.name.as_str());
                let binding = match self.file_function(def, functions) {
                    Ok(Some((function, module))) => {
                        candidates.push(self.candidate(&def.name, false, Some(module), before));
                        Binding::Value(Value::Function(function))
                    }
                    Ok(None) => {
                        let why = "it is a plain Python function, and authoring files are not executed".to_owned();
                        Binding::Unread { why, at: self.span(&def.name) }
                    }
                    Err(refusal) => {
                        self.report(refusal);
                        candidates.push(self.candidate(&def.name, false, None, before));
                        Binding::Poison
                    }
                };
                self.bind(name, binding);
            }
            ast::Stmt::ClassDef(class) => {
                let name = self.cx.symbol(class.name.as_str());
                let binding = match self.file_class(class) {
                    Ok(Some(module)) => {
                        candidates.push(self.candidate(&class.name, true, Some(module), before));
                        Binding::Value(Value::Module(name))
                    }
                    Ok(None) => {
                        let why = "it is a plain Python class, and authoring files are not executed".to_owned();
                        Binding::Unread { why, at: self.span(&class.name) }
                    }
                    Err(refusal) => {
                        self.report(refusal);
                        candidates.push(self.candidate(&class.name, true, None, before));
                        Binding::Poison
                    }
                };
                self.bind(name, binding);
            }
            other => self.skip(other),
        }
    }

    fn candidate(
        &self,
        name: &ast::Identifier,
        is_class: bool,
        module: Option<Module<'c>>,
        before: usize,
    ) -> Candidate<'c> {
        let errors = before..self.diagnostics.len();
        Candidate { name: name.as_str().to_owned(), is_class, module, errors }
    }

    /// Binds compile-time values; what is not read is refused where it is used.
    fn file_assign(&mut self, targets: &[ast::Expr], value: &ast::Expr) {
        let result = match targets {
            [target] => self.eval(value, None).map(|value| (target, value)),
            _ => Err(Refusal::unread(self.span(value), "an assignment to several targets is not read")),
        };
        match result {
            Ok((ast::Expr::Name(name), value)) => self.bind(self.cx.symbol(name.id.as_str()), Binding::Value(value)),
            Ok((ast::Expr::Tuple(names), value)) => {
                let items = value.as_sequence().filter(|items| items.len() == names.elts.len());
                for (at, target) in names.elts.iter().enumerate() {
                    if let ast::Expr::Name(name) = target {
                        let binding = match items {
                            Some(items) => Binding::Value(items[at].clone()),
                            None => self.unread("its value does not unpack to these names", target),
                        };
                        self.bind(self.cx.symbol(name.id.as_str()), binding);
                    }
                }
            }
            Ok(_) => {}
            Err(Refusal::Unread(diagnostic)) => {
                let binding =
                    Binding::Unread { why: diagnostic.message, at: diagnostic.span.unwrap_or(self.span(value)) };
                self.bind_all(targets, &binding);
            }
            Err(refusal) => {
                self.report(refusal);
                self.bind_all(targets, &Binding::Poison);
            }
        }
    }

    fn unread(&self, why: &str, at: &ast::Expr) -> Binding<'c> {
        Binding::Unread { why: why.to_owned(), at: self.span(at) }
    }

    fn bind_all(&mut self, targets: &[ast::Expr], binding: &Binding<'c>) {
        for target in targets {
            let names = match target {
                ast::Expr::Tuple(tuple) => &tuple.elts[..],
                single => std::slice::from_ref(single),
            };
            for name in names {
                if let ast::Expr::Name(name) = name {
                    self.bind(self.cx.symbol(name.id.as_str()), binding.clone());
                }
            }
        }
    }

    /// Statements that are not read: names they bind are refused where they are used.
    fn skip(&mut self, stmt: &ast::Stmt) {
        let mut names = Vec::new();
        crate::body::bound_names(stmt, &mut names);
        let binding = Binding::Unread {
            why: format!("it is bound inside {} at file level, which is not executed", keyword(stmt)),
            at: self.span(stmt),
        };
        for name in names {
            self.bind(self.cx.symbol(name), binding.clone());
        }
    }

    /// A `@func` outside a class with its module; `None` for plain functions, and for `@prim_func`.
    fn file_function(
        &mut self,
        def: &ast::StmtFunctionDef,
        functions: &mut Vec<Function<'c>>,
    ) -> Res<Option<(Function<'c>, Module<'c>)>> {
        let [decorator] = &def.decorator_list[..] else { return Ok(None) };
        let call = match self.decorator(decorator) {
            Ok(Decorator::Known(Builtin::Func, call)) => call,
            Ok(Decorator::Known(Builtin::PrimFunc | Builtin::Intrinsic, _)) => {
                let what = format!("`@{}`", self.text(&decorator.expression));
                return Err(Refusal::unbuilt(self.span(decorator), what));
            }
            Ok(_) | Err(Refusal::Reported) => return Ok(None),
            Err(refusal) => return Err(refusal),
        };
        let declared = self.declared(call, "func", &["target", "topologies"])?;
        let domain = Domain { topologies: declared.topologies.clone(), ..Domain::default() };
        let outer = std::mem::replace(&mut self.domain, domain);
        let function = self.function(def);
        self.domain = outer;
        let function = function?;
        functions.push(function);
        let module = self.implicit_module(function, functions, &declared);
        Ok(Some((function, module)))
    }

    fn file_class(&mut self, class: &ast::StmtClassDef) -> Res<Option<Module<'c>>> {
        let [decorator] = &class.decorator_list[..] else { return Ok(None) };
        match self.decorator(decorator)? {
            Decorator::Known(Builtin::Module, call) => self.class(class, call).map(Some),
            _ => Ok(None),
        }
    }
}

/// The candidate of that name; without one the last class, else the last function.
fn select<'a, 'c>(candidates: &'a [Candidate<'c>], name: Option<&str>) -> Result<&'a Candidate<'c>, Box<Diagnostic>> {
    let known = || candidates.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
    if let Some(name) = name {
        return candidates.iter().rev().find(|c| c.name == name).ok_or_else(|| {
            let error = Diagnostic::error(format!("the file has no module or function `{name}`"));
            Box::new(if candidates.is_empty() { error } else { error.with_help(format!("it has {}", known())) })
        });
    }
    let last_class = candidates.iter().rfind(|c| c.is_class);
    last_class.or(candidates.last()).ok_or_else(|| {
        Box::new(Diagnostic::error("the file has no class under `@module` and no function under `@func`"))
    })
}
