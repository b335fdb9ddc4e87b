//! Plain functions of a file: they make modules and constants when they are called at file level.

use std::cell::RefCell;
use std::rc::Rc;

use ruff_python_ast as ast;
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashMap;
use tf_core::Span;
use tf_types::Symbol;

use crate::names::Builtin;
use crate::parser::{Binding, Frame, Kind, Names, Parser, Scope};
use crate::refusal::{Refusal, Res};
use crate::statics::{Args, Key, Outcome, Python, Wrapper, is_followed, names_of, outer_names, yields};
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
    /// The class in whose statements it stands.
    class: Option<usize>,
    cache: Option<Rc<Cache<'c>>>,
    /// What `__name__` of it is, where that is not its own name.
    pub(crate) shown: Option<Value<'c>>,
    /// Of the getter of a property, the function that sets it.
    pub(crate) setter: Option<usize>,
}

/// The results of a function by its arguments.
struct Cache<'c> {
    known: RefCell<FxHashMap<Vec<Key<'c>>, Entry<'c>>>,
    most: usize,
}

impl Cache<'_> {
    /// Refuses a cache that Python drops results from.
    fn holds_all(&self, name: &str, span: Span) -> Res<()> {
        if self.known.borrow().len() <= self.most {
            return Ok(());
        }
        Err(Refusal::unread(span, format!("`{name}` has more than {} results in its cache", self.most)))
    }
}

/// The names that a function binds: its own, those of the file and those of functions around.
#[derive(Default)]
pub(crate) struct Locals<'c> {
    own: Vec<Symbol<'c>>,
    globals: Vec<Symbol<'c>>,
    nonlocals: Vec<Symbol<'c>>,
    /// Whether it is a generator, and one that is followed.
    yields: bool,
    is_followed: bool,
}

/// The arguments themselves, since `1` and `1.0` are one key, and what they gave.
type Entry<'c> = (Vec<Value<'c>>, Value<'c>);

/// What a call runs.
#[derive(Clone)]
pub(crate) enum Code<'a> {
    Def(&'a ast::StmtFunctionDef),
    Lambda(Rc<ast::ExprLambda>),
}

impl Code<'_> {
    pub(crate) fn name(&self) -> &str {
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

    pub(crate) fn range(&self) -> TextRange {
        match self {
            Self::Def(def) => def.range(),
            Self::Lambda(lambda) => lambda.range(),
        }
    }
}

impl<'a> Factory<'a, '_> {
    /// One whose call passes every parameter, and which sees the names of the file only.
    pub(crate) fn at_file_level(code: Code<'a>) -> Self {
        Self { code, home: Rc::default(), defaults: Rc::default(), class: None, cache: None, shown: None, setter: None }
    }

    /// The class in whose statements it stands.
    pub(crate) fn class(&self) -> Option<usize> {
        self.class
    }

    /// Whether `functools.cache` or `lru_cache` keeps its results.
    pub(crate) fn is_cached(&self) -> bool {
        self.cache.is_some()
    }
}

/// What a decorator makes of a plain function.
enum Decoration<'c> {
    Cache(usize),
    Wrapper(Wrapper),
    Call(Value<'c>),
}

impl<'a, 'c> Parser<'a, 'c> {
    /// A plain function that is defined here, in the statements of `class`, under its decorators.
    pub(crate) fn defined(&mut self, def: &'a ast::StmtFunctionDef, class: Option<usize>) -> Binding<'c> {
        let decorations: Vec<_> =
            def.decorator_list.iter().map(|decorator| self.decoration(&decorator.expression)).collect();
        let place = self.define_in(Code::Def(def), class);
        let mut value = Value::Factory(place);
        for (decoration, decorator) in decorations.into_iter().zip(&def.decorator_list).rev() {
            let result = decoration.and_then(|decoration| self.decorated(decoration, value.clone(), def));
            value = match result {
                Ok(value) => value,
                Err(Refusal::Unread(_)) => {
                    self.doubts += 1;
                    // What another decorator does with the function is not followed.
                    let why = format!("a decorator of `{}` may change it, which is not followed", def.name);
                    let at = self.span(&def.name);
                    let unread = Binding::unread(&why, at);
                    if !self.is_library(&decorator.expression) {
                        self.make_unknown(vec![value], &why, at);
                    }
                    // Those above it are not run.
                    let end = decorator.range.end();
                    let lost = def.decorator_list.iter().filter(|own| own.range.end() <= end);
                    lost.for_each(|own| self.lose_decorator(&own.expression, &unread));
                    return unread;
                }
                Err(refusal) => {
                    self.report(refusal);
                    return Binding::Poison;
                }
            };
        }
        Binding::Value(value)
    }

    fn decoration(&mut self, expr: &ast::Expr) -> Res<Decoration<'c>> {
        let span = self.span(expr);
        if let ast::Expr::Call(call) = expr
            && let Value::Builtin(Builtin::Python(Python::LruCache)) = self.eval(&call.func, None)?
        {
            let mut args = self.call_args(call)?;
            let most = args.take("maxsize").map_or_else(|| args.values("lru_cache"), |most| Ok(vec![most]))?;
            return match &most[..] {
                [] => Ok(Decoration::Cache(128)),
                [Value::None] => Ok(Decoration::Cache(usize::MAX)),
                [Value::Int(most @ 0..)] => Ok(Decoration::Cache(*most as usize)),
                _ => Err(Refusal::unread(span, "`lru_cache` takes a size")),
            };
        }
        match self.eval(expr, None)? {
            Value::Builtin(Builtin::Python(python)) => match python {
                Python::Cache => Ok(Decoration::Cache(usize::MAX)),
                Python::LruCache => Ok(Decoration::Cache(128)),
                Python::Wrapper(wrapper) => Ok(Decoration::Wrapper(wrapper)),
                Python::Same => Ok(Decoration::Call(Value::Builtin(Builtin::Python(python)))),
                _ => Err(Refusal::unread(span, format!("`{}` decorates no function here", python.name()))),
            },
            value @ (Value::Factory(_) | Value::Bound(_) | Value::Method(_) | Value::Object(_) | Value::Record(_)) => {
                Ok(Decoration::Call(value))
            }
            other => Err(Refusal::unread(span, format!("{} decorates no function", other.describe()))),
        }
    }

    fn decorated(
        &mut self,
        decoration: Decoration<'c>,
        value: Value<'c>,
        def: &ast::StmtFunctionDef,
    ) -> Res<Value<'c>> {
        let span = self.span(&def.name);
        match (decoration, value) {
            (Decoration::Cache(most), Value::Factory(at)) => {
                self.factories[at].cache = Some(Rc::new(Cache { known: RefCell::default(), most }));
                Ok(Value::Factory(at))
            }
            (Decoration::Wrapper(wrapper), value) => self.wrapped(wrapper, &value, span),
            (Decoration::Call(callee), value) => self.call_value(&callee, Args::of([value], span), span),
            (Decoration::Cache(_), value) => {
                Err(Refusal::unread(span, format!("a cache of {} is not read", value.describe())))
            }
        }
    }

    /// `property(f)` and its like.
    pub(crate) fn wrapped(&self, wrapper: Wrapper, value: &Value<'c>, span: Span) -> Res<Value<'c>> {
        match value {
            Value::Factory(at) => Ok(Value::Wrapped(wrapper, *at)),
            // What is abstract stays so under any other one.
            Value::Wrapped(Wrapper::Abstract, at) => Ok(Value::Wrapped(Wrapper::Abstract, *at)),
            other => Err(Refusal::unread(span, format!("`{}` of {} is not read", wrapper.name(), other.describe()))),
        }
    }

    /// The place of a function whose definition is here.
    pub(crate) fn define_in(&mut self, code: Code<'a>, class: Option<usize>) -> usize {
        let params = code.parameters().into_iter().flat_map(|params| params.iter_non_variadic_params());
        let params: Vec<_> =
            params.filter_map(|param| Some((&param.parameter.name, param.default.as_ref()?))).collect();
        let mut defaults = Vec::with_capacity(params.len());
        for (name, default) in params {
            let value = self.constant_binding(default);
            defaults.push((self.cx.symbol(name.as_str()), value));
        }
        // Functions do not see the names of the class around them.
        let home: Vec<_> = self.scopes.iter().filter(|scope| scope.kind != Kind::Class).cloned().collect();
        let own = Factory::at_file_level(code);
        self.factories.push(Factory { home: home.into(), defaults: defaults.into(), class, ..own });
        self.factories.len() - 1
    }

    /// A `lambda` as a value.
    pub(crate) fn lambda(&mut self, lambda: &ast::ExprLambda) -> Value<'c> {
        let code = Rc::clone(self.lambdas.entry(lambda.range).or_insert_with(|| Rc::new(lambda.clone())));
        Value::Factory(self.define_in(Code::Lambda(code), None))
    }

    /// The value that a plain function returns for these arguments.
    pub(crate) fn factory_call(&mut self, at: usize, args: Args<'c>, span: Span) -> Res<Value<'c>> {
        let factory = self.factories[at].clone();
        let name = factory.code.name();
        if let Code::Def(def) = factory.code
            && def.is_async
        {
            let message = format!("`{name}` is an async Python function, which is not called");
            return Err(Refusal::unread(span, message));
        }
        let locals = self.locals(&factory.code);
        if locals.yields {
            if !locals.is_followed || factory.cache.is_some() {
                let message = format!("`{name}` is a generator, which is not run");
                return Err(Refusal::unread(span, message)
                    .help("it is where each `yield` is a statement, and nothing caches it"));
            }
            return self.routine(at, args, span);
        }
        let Some(cache) = factory.cache.clone() else { return self.called_with(&factory, args, span) };
        cache.holds_all(name, span)?;
        let mut key = Vec::new();
        for (value, at) in &args.positional {
            key.push(self.key(value, "argument of a cached function", *at)?);
        }
        for (name, value, at) in &args.keywords {
            key.extend([Key::Builtin("="), Key::Str(*name), self.key(value, "argument of a cached function", *at)?]);
        }
        let given = args.positional.iter().map(|(value, _)| value);
        let given: Vec<_> = given.chain(args.keywords.iter().map(|(_, value, _)| value)).cloned().collect();
        if let Some((first, known)) = cache.known.borrow().get(&key) {
            let is_same = |(a, b): (&Value<'c>, &Value<'c>)| std::mem::discriminant(a) == std::mem::discriminant(b);
            if first.iter().zip(&given).all(is_same) {
                return Ok(known.clone());
            }
            let message =
                format!("whether the cache of `{name}` tells equal arguments of different types apart is not known");
            return Err(Refusal::unread(span, message));
        }
        let value = self.called_with(&factory, args, span)?;
        cache.known.borrow_mut().insert(key, (given, value.clone()));
        cache.holds_all(name, span)?;
        Ok(value)
    }

    /// The names that a call starts with.
    pub(crate) fn call_scope(&mut self, factory: &Factory<'a, 'c>, args: Args<'c>, span: Span) -> Res<Scope<'c>> {
        let name = factory.code.name();
        let frame = match factory.code.parameters() {
            Some(parameters) => self.parameters(parameters, &factory.defaults, name, args, span),
            None => self.parameters(&ast::Parameters::default(), &[], name, args, span),
        }?;
        self.scope_in(factory, frame, span)
    }

    /// The scope of a call whose parameters have values.
    fn scope_in(&mut self, factory: &Factory<'a, 'c>, mut frame: Frame<'c>, span: Span) -> Res<Scope<'c>> {
        let locals = self.locals(&factory.code);
        self.step(locals.own.len(), span)?;
        for name in &locals.own {
            frame.entry(*name).or_insert_with(|| Binding::unset(name.as_str()));
        }
        self.outer(&locals, &factory.home, &mut frame, span)?;
        let first = factory.code.parameters().and_then(|params| params.iter_non_variadic_params().next());
        let first = first.map(|param| self.cx.symbol(param.parameter.name.as_str()));
        Ok(Names::scope(frame, Kind::Function(factory.class.zip(first))))
    }

    fn called_with(&mut self, factory: &Factory<'a, 'c>, args: Args<'c>, span: Span) -> Res<Value<'c>> {
        let scope = self.call_scope(factory, args, span)?;
        self.run_in(factory, scope, span)
    }

    /// Whether two functions stand in the statements of one class.
    pub(crate) fn stand_together(&self, one: usize, other: usize) -> bool {
        self.factories[one].class.is_some() && self.factories[one].class == self.factories[other].class
    }

    /// `f.__name__`.
    pub(crate) fn function_name(&self, at: usize) -> Value<'c> {
        let factory = &self.factories[at];
        let own = || match &factory.code {
            Code::Def(def) => Value::Str(self.cx.symbol(def.name.as_str())),
            Code::Lambda(_) => Value::Str(self.cx.symbol("<lambda>")),
        };
        factory.shown.clone().unwrap_or_else(own)
    }

    /// What is to be known of the body of a function before it is run.
    fn locals(&mut self, code: &Code<'a>) -> Rc<Locals<'c>> {
        let Code::Def(def) = code else { return Rc::default() };
        if let Some(known) = self.locals.get(&def.range()) {
            return Rc::clone(known);
        }
        let all = |names: Vec<&str>| names.into_iter().map(|name| self.cx.symbol(name)).collect();
        let (globals, nonlocals) = outer_names(&def.body);
        let own = all(names_of(&def.body));
        let locals = Locals {
            own,
            globals: all(globals),
            nonlocals: all(nonlocals),
            yields: yields(def),
            is_followed: is_followed(def),
        };
        Rc::clone(self.locals.entry(def.range()).or_insert(Rc::new(locals)))
    }

    /// Notes in the names of a call which of them are those of the file and of functions around.
    fn outer(&self, locals: &Locals<'c>, home: &[Scope<'c>], frame: &mut Frame<'c>, span: Span) -> Res<()> {
        for name in &locals.globals {
            frame.insert(*name, Binding::Outer(None));
        }
        for name in &locals.nonlocals {
            let is_around =
                |scope: &&Scope<'c>| matches!(scope.kind, Kind::Function(_)) && scope.borrow().contains_key(name);
            let Some(scope) = home.iter().rev().find(is_around) else {
                return Err(Refusal::wrong(span, format!("no function around binds the nonlocal name `{name}`")));
            };
            // Where that one has it from a function around it, too.
            let around = match scope.borrow().get(name) {
                Some(Binding::Outer(Some(further))) => Rc::clone(further),
                _ => Rc::clone(scope),
            };
            frame.insert(*name, Binding::Outer(Some(around)));
        }
        Ok(())
    }

    /// Runs a plain function over its own names, those around its definition, and those of the file.
    pub(crate) fn run(&mut self, factory: &Factory<'a, 'c>, frame: Frame<'c>, span: Span) -> Res<Value<'c>> {
        let scope = self.scope_in(factory, frame, span)?;
        self.run_in(factory, scope, span)
    }

    fn run_in(&mut self, factory: &Factory<'a, 'c>, scope: Scope<'c>, span: Span) -> Res<Value<'c>> {
        self.complete_parts()?;
        self.factory_calls.1 += 1;
        if self.factory_calls.0 >= OPEN_CALLS || self.factory_calls.1 > CALLS {
            let limit = if self.factory_calls.0 >= OPEN_CALLS { OPEN_CALLS } else { CALLS };
            return Err(Refusal::wrong(span, format!("more than {limit} calls of plain functions")));
        }
        self.factory_calls.0 += 1;
        let scopes = factory.home.iter().cloned().chain([Rc::clone(&scope)]).collect();
        let scopes = std::mem::replace(&mut self.scopes, scopes);
        let domain = std::mem::take(&mut self.domain);
        let body = self.body.take();
        // What a plain function makes is part of the file, wherever it is called.
        let quiet = std::mem::take(&mut self.quiet);
        let before = self.refused;
        let result = match &factory.code {
            Code::Def(def) => self.run_suite(&def.body).map(Outcome::value),
            Code::Lambda(lambda) => self.stored(&lambda.body),
        };
        self.body = body;
        self.scopes = scopes;
        let domain = std::mem::replace(&mut self.domain, domain);
        self.seal(domain);
        self.quiet = quiet;
        self.factory_calls.0 -= 1;
        if let Err(refusal @ Refusal::Unread(diagnostic)) = &result
            && refusal.raised().is_none()
        {
            let own = scope.borrow().values().filter_map(Binding::value).collect();
            self.lose_run(factory, own, &diagnostic.message, span);
        }
        let result = result.map_err(|refusal| refusal.within_call(span))?;
        if self.refused > before {
            return Err(Refusal::Reported);
        }
        Ok(result)
    }
}
