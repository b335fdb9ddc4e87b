//! `@module` classes and the implicit modules of functions (spec: parser §2.7, python-surface §2).

use ruff_python_ast as ast;
use rustc_hash::FxHashMap;
use tf_core::node::ModuleData;
use tf_core::{AnyFunction, ExprKind, Function, Module, Span, Target};
use tf_types::{Symbol, Topology, Type};

use crate::body::is_docstring;
use crate::names::Builtin;
use crate::parser::{Binding, Domain, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// What a decorator declares.
#[derive(Default)]
pub(crate) struct Declared<'c> {
    entry: Option<(Symbol<'c>, Span)>,
    target: Option<Target<'c>>,
    pub(crate) topologies: Option<Vec<Topology<'c>>>,
}

impl<'c> Declared<'c> {
    pub(crate) fn is_context(&self) -> bool {
        self.target.is_some() || self.topologies.is_some()
    }
}

/// What a decorator is.
pub(crate) enum Decorator<'x> {
    Known(Builtin, Option<&'x ast::ExprCall>),
    Other,
}

impl<'c> Parser<'_, 'c> {
    /// The imported decorator that an expression names.
    pub(crate) fn decorator<'x>(&mut self, decorator: &'x ast::Decorator) -> Res<Decorator<'x>> {
        let (name, call) = match &decorator.expression {
            ast::Expr::Call(call) => (&*call.func, Some(call)),
            other => (other, None),
        };
        if let ast::Expr::Attribute(attribute) = name
            && matches!(attribute.attr.as_str(), "specialize" | "converter")
        {
            let what = format!("`@{}`", self.text(name));
            return Err(Refusal::unbuilt(self.span(decorator), what));
        }
        match self.eval(name, None)? {
            Value::Builtin(builtin) => Ok(Decorator::Known(builtin, call)),
            _ => Ok(Decorator::Other),
        }
    }

    /// `entry=`, `target=` and `topologies=` of a decorator, as far as `allowed`.
    pub(crate) fn declared(&mut self, call: Option<&ast::ExprCall>, what: &str, allowed: &[&str]) -> Res<Declared<'c>> {
        let mut declared = Declared::default();
        let Some(call) = call else { return Ok(declared) };
        let given = self.arguments(call, what, allowed)?;
        if let Some(arg) = call.arguments.args.first() {
            return Err(Refusal::wrong(self.span(arg), format!("arguments of `@{what}` are given by keyword")));
        }
        for (name, expr) in allowed.iter().zip(given) {
            let Some(expr) = expr else { continue };
            let span = self.span(expr);
            if *name == "topologies" {
                declared.topologies = Some(self.topologies(expr)?);
                continue;
            }
            match (*name, self.eval(expr, None)?) {
                (_, Value::None) => {}
                ("entry", Value::Str(entry)) => declared.entry = Some((entry, span)),
                ("entry", other) => {
                    return Err(Refusal::wrong(span, format!("`entry` names a function, found {}", other.describe())));
                }
                (_, Value::Target(target)) => declared.target = Some(target),
                (_, other) => {
                    return Err(Refusal::wrong(
                        span,
                        format!("`target` is a target instance, found {}", other.describe()),
                    )
                    .help("write `CudaTarget(\"nvidia.h200_sxm\")`"));
                }
            }
        }
        Ok(declared)
    }

    /// A tuple of levels, none twice.
    fn topologies(&mut self, expr: &ast::Expr) -> Res<Vec<Topology<'c>>> {
        let span = self.span(expr);
        let value = self.eval(expr, None)?;
        let Value::Tuple(items) = &value else {
            return Err(Refusal::wrong(
                span,
                format!("`topologies` is a tuple of `Topology`, found {}", value.describe()),
            ));
        };
        let spans: Vec<Span> = match expr {
            ast::Expr::Tuple(tuple) => tuple.elts.iter().map(|e| self.span(e)).collect(),
            _ => vec![span; items.items.len()],
        };
        let mut levels: Vec<Topology<'c>> = Vec::new();
        for (item, at) in items.items.iter().zip(spans) {
            let Value::Topology(level) = item else {
                let message = format!("`topologies` is a tuple of `Topology`, and holds {}", item.describe());
                return Err(Refusal::wrong(at, message));
            };
            if levels.iter().any(|known| known.name == level.name) {
                return Err(Refusal::wrong(at, format!("the level `{}` is declared twice", level.name)));
            }
            levels.push(*level);
        }
        Ok(levels)
    }

    /// A class under `@module`; its errors are reported.
    pub(crate) fn class(&mut self, class: &ast::StmtClassDef, call: Option<&ast::ExprCall>) -> Res<Module<'c>> {
        let before = self.refused;
        let declared = match self.declared(call, "module", &["entry", "target", "topologies"]) {
            Ok(declared) => declared,
            Err(refusal) => {
                self.report(refusal);
                Declared::default()
            }
        };
        if let Some(arguments) = &class.arguments {
            self.report(Refusal::unread(self.span(&**arguments), "a module class has no bases"));
        }
        let below = class.body.iter().filter_map(|member| match member {
            ast::Stmt::FunctionDef(def) => Some(self.cx.symbol(def.name.as_str())),
            _ => None,
        });
        let domain = Domain { topologies: declared.topologies.clone(), below: below.collect(), ..Domain::default() };
        let outer = std::mem::replace(&mut self.domain, domain);
        let functions = self.members(class);
        let domain = std::mem::replace(&mut self.domain, outer);
        let name = self.span(&class.name);
        if functions.is_empty() && self.refused == before {
            let message = format!("the module `{}` has no functions", class.name);
            self.report(Refusal::wrong(name, message).help("declare one with `@func`"));
        }
        if let Some((entry, at)) = declared.entry
            && self.refused == before
            && !functions.iter().any(|f| f.name == entry)
        {
            let known: Vec<_> = functions.iter().map(|f| f.name.as_str()).collect();
            let message = format!("`entry` names no function of the module: `{entry}`");
            self.report(Refusal::wrong(at, message).help(format!("the module has {}", known.join(", "))));
        }
        self.check_weights(&functions);
        if self.refused > before {
            return Err(Refusal::Reported);
        }
        let functions: Vec<_> = functions.into_iter().map(AnyFunction::Hir).collect();
        Ok(self.cx.module(ModuleData {
            functions: self.cx.alloc_slice(&functions),
            entry: declared.entry.map(|(entry, _)| entry),
            target: declared.target,
            topologies: domain.topologies.map(|levels| self.cx.topologies(&levels)),
            span: Some(name),
            ..ModuleData::new(self.cx.symbol(class.name.as_str()))
        }))
    }

    fn members(&mut self, class: &ast::StmtClassDef) -> Vec<Function<'c>> {
        let mut functions: Vec<Function<'c>> = Vec::new();
        let mut names: FxHashMap<Symbol<'c>, Span> = FxHashMap::default();
        for (at, member) in class.body.iter().enumerate() {
            if matches!(member, ast::Stmt::Pass(_)) || (at == 0 && is_docstring(member)) {
                continue;
            }
            if let ast::Stmt::FunctionDef(def) = member {
                let symbol = self.cx.symbol(def.name.as_str());
                let span = self.span(&def.name);
                let special = self.member_function(def);
                self.domain.below.remove(&symbol);
                if !matches!(special, Err(Refusal::Unread(_)))
                    && let Some(first) = names.insert(symbol, span)
                {
                    let message = format!("the module has two functions named `{symbol}`");
                    self.report(Refusal::wrong(span, message).also(first, "the first one"));
                    continue;
                }
                let binding = match special {
                    Ok(function) => {
                        functions.push(function);
                        Binding::Value(Value::Function(function))
                    }
                    Err(refusal) => {
                        self.report(refusal);
                        Binding::Poison
                    }
                };
                self.domain.members.insert(symbol, binding);
            } else if let Err(refusal) = self.member(member) {
                self.report(refusal);
            }
        }
        functions
    }

    fn member_function(&mut self, def: &ast::StmtFunctionDef) -> Res<Function<'c>> {
        let name = self.span(&def.name);
        let [decorator] = &def.decorator_list[..] else {
            if let Some(second) = def.decorator_list.get(1) {
                return Err(Refusal::wrong(self.span(second), "a function has one decorator"));
            }
            if def.name.as_str() == "__call__" {
                return Err(Refusal::wrong(name, "`__call__` is no method of a module: a call of it runs `forward`")
                    .help("name it `forward`"));
            }
            return Err(Refusal::unbuilt(name, format!("the method `{}`, a member without `@func`,", def.name)));
        };
        match self.decorator(decorator)? {
            Decorator::Known(Builtin::Func, call) => {
                if let Some(call) = call {
                    let declared = self.declared(Some(call), "func", &["target", "topologies"])?;
                    if declared.is_context() {
                        let what = "a function with a target or levels of its own, which makes it a child module,";
                        return Err(Refusal::unbuilt(self.span(decorator), what));
                    }
                }
                self.function(def)
            }
            Decorator::Known(Builtin::PrimFunc | Builtin::Intrinsic, _) => {
                Err(Refusal::unbuilt(self.span(decorator), format!("`@{}`", self.text(&decorator.expression))))
            }
            _ => {
                let message = format!("`@{}` decorates no member of a module", self.text(&decorator.expression));
                Err(Refusal::wrong(self.span(decorator), message))
            }
        }
    }

    fn member(&mut self, member: &ast::Stmt) -> Res<()> {
        let span = self.span(member);
        match member {
            ast::Stmt::Assign(assign) => match &assign.targets[..] {
                [ast::Expr::Name(name)] if name.id.as_str() == "topologies" => self.class_topologies(assign, span),
                _ => {
                    let what = self.text(assign.targets.first().unwrap_or(&assign.value));
                    match self.eval(&assign.value, None) {
                        Ok(Value::Module(child)) => Err(Refusal::unbuilt(span, format!("the child module `{child}`"))),
                        Ok(_) => Err(stray(&what, span)),
                        Err(refusal) => Err(refusal),
                    }
                }
            },
            ast::Stmt::ClassDef(class) if class.decorator_list.is_empty() => {
                Err(stray(class.name.as_str(), span).help("decorate it with `@module`"))
            }
            ast::Stmt::ClassDef(class) => Err(Refusal::unbuilt(span, format!("the nested module `{}`", class.name))),
            other => Err(stray(&self.text(other), span)),
        }
    }

    fn class_topologies(&mut self, assign: &ast::StmtAssign, span: Span) -> Res<()> {
        let levels = self.topologies(&assign.value)?;
        if self.domain.topologies.is_some() {
            return Err(Refusal::wrong(span, "`topologies` is declared twice"));
        }
        self.domain.topologies = Some(levels);
        Ok(())
    }

    /// A weight is one tensor of the module, whichever functions take it.
    fn check_weights(&mut self, functions: &[Function<'c>]) {
        let mut weights: FxHashMap<Symbol<'c>, (Type<'c>, Option<Span>)> = FxHashMap::default();
        for param in functions.iter().flat_map(|f| f.data().params) {
            let ExprKind::Var { name, is_const: true } = param.kind else { continue };
            let (ty, first) = *weights.entry(name).or_insert((param.ty(), param.span()));
            if ty != param.ty()
                && let (Some(at), Some(first)) = (param.span(), first)
            {
                let message = format!("the weight `{name}` is {} here and {ty} in another function", param.ty());
                self.report(Refusal::wrong(at, message).also(first, "the other one"));
            }
        }
    }

    /// The module of a function outside a class: the function and those it calls.
    pub(crate) fn implicit_module(
        &self,
        entry: Function<'c>,
        functions: &[Function<'c>],
        declared: &Declared<'c>,
    ) -> Module<'c> {
        let mut called = vec![entry];
        let mut next = 0;
        while let Some(function) = called.get(next).copied() {
            next += 1;
            let bodies: Vec<_> = function.bodies().collect();
            for expr in tf_core::walk::post_order(&bodies) {
                if let ExprKind::Call { callee: tf_core::Callee::Function(callee), .. } = expr.kind
                    && !called.contains(&callee)
                {
                    called.push(callee);
                }
            }
        }
        let members: Vec<_> = functions.iter().filter(|f| called.contains(f)).map(|f| AnyFunction::Hir(*f)).collect();
        self.cx.module(ModuleData {
            functions: self.cx.alloc_slice(&members),
            entry: Some(entry.name),
            target: declared.target,
            topologies: declared.topologies.as_deref().map(|levels| self.cx.topologies(levels)),
            span: entry.span,
            ..ModuleData::new(entry.name)
        })
    }
}

fn stray(what: &str, span: Span) -> Refusal {
    Refusal::wrong(span, format!("`{what}` is no member of a module"))
        .help("members are functions under `@func` and `topologies`")
}
