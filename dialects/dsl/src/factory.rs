//! Plain functions of a file: they make modules and constants when they are called at file level.

use std::cell::RefCell;
use std::rc::Rc;

use ruff_python_ast as ast;
use tf_core::Span;
use tf_types::Symbol;

use crate::names::Builtin;
use crate::parser::{Binding, Frame, Parser, Scope};
use crate::refusal::{Refusal, Res};
use crate::statics::{Args, Outcome, Python, yields};
use crate::value::Value;

/// Calls inside calls.
const OPEN_CALLS: usize = 64;
/// Calls of one file.
const CALLS: usize = 10_000;

/// A plain function of the file, or a lambda.
#[derive(Clone)]
pub(crate) struct Factory<'a, 'c> {
    pub(crate) code: Code<'a>,
    /// The scopes around its definition.
    pub(crate) home: Rc<[Scope<'c>]>,
    pub(crate) defaults: Rc<[(Symbol<'c>, Binding<'c>)]>,
}

/// What a call runs.
#[derive(Clone)]
pub(crate) enum Code<'a> {
    Def(&'a ast::StmtFunctionDef),
    Lambda(Rc<ast::ExprLambda>),
}

impl Code<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Def(def) => def.name.as_str(),
            Self::Lambda(_) => "lambda",
        }
    }

    pub(crate) fn parameters(&self) -> Option<&ast::Parameters> {
        match self {
            Self::Def(def) => Some(&def.parameters),
            Self::Lambda(lambda) => lambda.parameters.as_deref(),
        }
    }
}

impl<'a> Factory<'a, '_> {
    /// One whose call passes every parameter, and which sees the names of the file only.
    pub(crate) fn at_file_level(def: &'a ast::StmtFunctionDef) -> Self {
        Self { code: Code::Def(def), home: Rc::default(), defaults: Rc::default() }
    }
}

impl<'a, 'c> Parser<'a, 'c> {
    /// The place of a function that is defined here.
    pub(crate) fn define(&mut self, def: &'a ast::StmtFunctionDef) -> usize {
        if !def.decorator_list.is_empty() && !self.only_cached(def) {
            // What another decorator does with the function is not followed.
            let why = format!("a decorator of `{}` may change it, which is not followed", def.name);
            let unread = Binding::Unread { why, at: self.span(&def.name) };
            def.decorator_list.iter().for_each(|decorator| self.lose(&decorator.expression, &unread));
        }
        self.define_in(Code::Def(def), &self.scopes.clone())
    }

    pub(crate) fn define_in(&mut self, code: Code<'a>, home: &[Scope<'c>]) -> usize {
        let params = code.parameters().into_iter().flat_map(|params| params.iter_non_variadic_params());
        let params: Vec<_> =
            params.filter_map(|param| Some((&param.parameter.name, param.default.as_ref()?))).collect();
        let mut defaults = Vec::with_capacity(params.len());
        for (name, default) in params {
            let value = self.constant_binding(default);
            defaults.push((self.cx.symbol(name.as_str()), value));
        }
        self.factories.push(Factory { code, home: home.into(), defaults: defaults.into() });
        self.factories.len() - 1
    }

    /// A `lambda` as a value.
    pub(crate) fn lambda(&mut self, lambda: &ast::ExprLambda) -> Value<'c> {
        let code = Rc::clone(self.lambdas.entry(lambda.range).or_insert_with(|| Rc::new(lambda.clone())));
        Value::Factory(self.define_in(Code::Lambda(code), &self.scopes.clone()))
    }

    /// The value that a plain function returns for these arguments.
    pub(crate) fn factory_call(&mut self, at: usize, args: Args<'c>, span: Span) -> Res<Value<'c>> {
        let factory = self.factories[at].clone();
        let name = factory.code.name();
        if let Code::Def(def) = factory.code
            && (def.is_async || !self.only_cached(def))
        {
            let message = format!("`{name}` is a decorated Python function, which is not called");
            return Err(Refusal::unread(span, message));
        }
        if let Code::Def(def) = factory.code
            && yields(def)
        {
            return Err(Refusal::unread(span, format!("`{name}` is a generator, which is not run")));
        }
        let frame = self.factory_frame(&factory, name, args, span)?;
        self.run(&factory, frame, span)
    }

    /// The names that a call starts with.
    pub(crate) fn factory_frame(
        &mut self,
        factory: &Factory<'a, 'c>,
        name: &str,
        args: Args<'c>,
        span: Span,
    ) -> Res<Frame<'c>> {
        match factory.code.parameters() {
            Some(parameters) => self.parameters(parameters, &factory.defaults, name, args, span),
            None => self.parameters(&ast::Parameters::default(), &[], name, args, span),
        }
    }

    /// Whether all decorators of a function leave its value as it is.
    fn only_cached(&mut self, def: &ast::StmtFunctionDef) -> bool {
        def.decorator_list.iter().all(|decorator| {
            let written = match &decorator.expression {
                ast::Expr::Call(call) => &*call.func,
                other => other,
            };
            matches!(self.eval(written, None), Ok(Value::Builtin(Builtin::Python(Python::Cache | Python::MethodKind))))
        })
    }

    /// Runs a plain function over its own names, those around its definition, and those of the file.
    pub(crate) fn run(&mut self, factory: &Factory<'a, 'c>, frame: Frame<'c>, span: Span) -> Res<Value<'c>> {
        self.run_in(factory, Rc::new(RefCell::new(frame)), span)
    }

    /// [`Self::run`] over names that the caller keeps.
    pub(crate) fn run_in(&mut self, factory: &Factory<'a, 'c>, scope: Scope<'c>, span: Span) -> Res<Value<'c>> {
        self.factory_calls.1 += 1;
        if self.factory_calls.0 >= OPEN_CALLS || self.factory_calls.1 > CALLS {
            let limit = if self.factory_calls.0 >= OPEN_CALLS { OPEN_CALLS } else { CALLS };
            return Err(Refusal::wrong(span, format!("more than {limit} calls of plain functions")));
        }
        self.factory_calls.0 += 1;
        let scopes = factory.home.iter().cloned().chain([Rc::clone(&scope)]).collect();
        let scopes = std::mem::replace(&mut self.scopes, scopes);
        self.complete_parts()?;
        let domain = std::mem::take(&mut self.domain);
        let body = self.body.take();
        let before = self.refused;
        let result = match &factory.code {
            Code::Def(def) => self.run_suite(&def.body).map(Outcome::value),
            Code::Lambda(lambda) => self.eval(&lambda.body, None),
        };
        self.body = body;
        self.scopes = scopes;
        let domain = std::mem::replace(&mut self.domain, domain);
        self.seal(domain);
        self.factory_calls.0 -= 1;
        if let Err(Refusal::Unread(diagnostic)) = &result {
            // It ended in the middle of what it does.
            let mut reached = self.seen_by(factory);
            reached.extend(scope.borrow().values().filter_map(|binding| match binding {
                Binding::Value(value) => Some(value.clone()),
                _ => None,
            }));
            self.make_stale(reached, &diagnostic.message, span);
        }
        let result = result.map_err(|refusal| refusal.within_call(span))?;
        if self.refused > before {
            return Err(Refusal::Reported);
        }
        Ok(result)
    }
}
