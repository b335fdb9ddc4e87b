//! Members of a module class: functions, child modules, methods, levels.

use ruff_python_ast as ast;
use rustc_hash::FxHashMap;
use tf_core::node::{Child, Method};
use tf_core::tree;
use tf_core::{AnyFunction, Function, Module, PrimFunction, Span};
use tf_types::Symbol;

use crate::body::is_docstring;
use crate::function::Role;
use crate::module::{Declared, Decorator};
use crate::names::Builtin;
use crate::parser::{Binding, Domain, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// Modules that are copied for one file, to bound trees that double.
const COPIES: usize = 20_000;
/// The method that Python runs for a call of the module itself.
const CALL: &str = "__call__";

/// What a class holds besides its functions.
#[derive(Default)]
pub(crate) struct Members<'c> {
    pub(crate) children: Vec<Child<'c>>,
    pub(crate) methods: Vec<Method<'c>>,
    names: FxHashMap<Symbol<'c>, Span>,
}

/// What a function of a class becomes.
enum Member<'c> {
    Function(Function<'c>),
    Prim(PrimFunction<'c>),
    Child(Module<'c>),
    Method(Method<'c>),
}

fn is_decorated(def: &ast::StmtFunctionDef) -> bool {
    let [decorator] = &def.decorator_list[..] else { return false };
    let name = match &decorator.expression {
        ast::Expr::Call(call) => &*call.func,
        other => other,
    };
    !matches!(name, ast::Expr::Attribute(a) if matches!(a.attr.as_str(), "specialize" | "converter"))
}

impl<'c> Parser<'_, 'c> {
    /// The functions that a class defines.
    pub(crate) fn functions_below(&self, class: &ast::StmtClassDef) -> FxHashMap<Symbol<'c>, Span> {
        let defs = class.body.iter().filter_map(|member| match member {
            ast::Stmt::FunctionDef(def) if is_decorated(def) => {
                Some((self.cx.symbol(def.name.as_str()), self.span(&def.name)))
            }
            _ => None,
        });
        defs.collect()
    }

    /// Reads the members in order; those that are refused are reported.
    pub(crate) fn members(&mut self, class: &ast::StmtClassDef) -> Members<'c> {
        let mut members = Members::default();
        let body = match &class.body[..] {
            [first, rest @ ..] if is_docstring(first) => rest,
            all => all,
        };
        self.member_suite(body, &mut members);
        members
    }

    /// Members of a class, or of the branch that an `if` on constants takes.
    fn member_suite(&mut self, suite: &[ast::Stmt], members: &mut Members<'c>) {
        for member in suite {
            let span = self.span(member);
            let result = match member {
                ast::Stmt::Pass(_) => Ok(()),
                ast::Stmt::FunctionDef(def) => self.function_member(def, members),
                ast::Stmt::ClassDef(nested) => self.class_member(nested, members),
                ast::Stmt::Assign(assign) => self.assigned_member(&assign.targets, &assign.value, span, members),
                ast::Stmt::AnnAssign(ast::StmtAnnAssign { target, value: Some(value), .. }) => {
                    self.assigned_member(std::slice::from_ref(target), value, span, members)
                }
                ast::Stmt::If(branch) => match self.branch(branch) {
                    Ok(taken) => self.nested(span, |p| {
                        p.member_suite(taken, members);
                        Ok(())
                    }),
                    Err(refusal) => Err(refusal),
                },
                other => Err(stray(&self.text(other), span)),
            };
            if let Err(refusal) = result {
                self.report(refusal);
            }
        }
    }

    /// A name stands for one function, child, group or method.
    fn claim(&self, name: Symbol<'c>, span: Span, what: &str, members: &mut Members<'c>) -> Res<()> {
        match members.names.insert(name, span) {
            None => Ok(()),
            Some(first) => {
                members.names.insert(name, first);
                let message = format!("the module has a second member named `{name}`, {what}");
                Err(Refusal::wrong(span, message).also(first, "the first one"))
            }
        }
    }

    fn function_member(&mut self, def: &ast::StmtFunctionDef, members: &mut Members<'c>) -> Res<()> {
        if self.part(def)? {
            return Ok(());
        }
        let (name, span) = (self.cx.symbol(def.name.as_str()), self.span(&def.name));
        let member = self.member_function(def);
        self.domain.below.remove(&name);
        let binding = match member {
            Ok(Member::Function(function)) => {
                self.claim(name, span, "a function", members)?;
                self.domain.add(function);
                Binding::Value(Value::Function(function))
            }
            Ok(Member::Prim(function)) => {
                self.claim(name, span, "a function", members)?;
                let above = self.domain.functions.len();
                self.domain.prims.push((above, function));
                self.domain.names.insert(function.name);
                Binding::Value(Value::Prim(function))
            }
            Ok(Member::Child(child)) => {
                self.claim(name, span, "a child module", members)?;
                members.children.push(Child::One(child));
                self.domain.attached.insert(child);
                Binding::Value(Value::Module(child))
            }
            Ok(Member::Method(method)) => self.add_method(method, span, members)?,
            Err(refusal) => {
                self.bind(name, Binding::Poison);
                return Err(refusal);
            }
        };
        self.bind(name, binding);
        Ok(())
    }

    fn add_method(&mut self, method: Method<'c>, span: Span, members: &mut Members<'c>) -> Res<Binding<'c>> {
        self.claim(method.name, span, "a method", members)?;
        members.methods.push(method);
        Ok(Binding::unread("it is a method, which only methods call", span))
    }

    fn member_function(&mut self, def: &ast::StmtFunctionDef) -> Res<Member<'c>> {
        if def.name.as_str() == CALL {
            return Err(no_call(self.span(&def.name)));
        }
        let [decorator] = &def.decorator_list[..] else {
            if let Some(second) = def.decorator_list.get(1) {
                return Err(Refusal::wrong(self.span(second), "a function has one decorator"));
            }
            return self.method(def, self.cx.symbol(def.name.as_str())).map(Member::Method);
        };
        match self.decorator(decorator)? {
            Decorator::Known(Builtin::Func, call) => {
                let declared = self.declared(call, "func", &["target", "topologies"])?;
                if declared.is_context() {
                    return self.function_module(def, &declared).map(Member::Child);
                }
                self.function(def, Role::Member).map(Member::Function)
            }
            Decorator::Known(Builtin::PrimFunc, call) => {
                let declared = self.declared(call, "prim_func", &["target", "outputs"])?;
                let target = declared.target.or(self.domain.target);
                self.prim_function(def, target, declared.outputs).map(Member::Prim)
            }
            Decorator::Known(Builtin::Intrinsic, _) => {
                let message = "an intrinsic is no member of a module";
                Err(Refusal::wrong(self.span(decorator), message).help("declare it above the class"))
            }
            _ => {
                let message = format!("`@{}` decorates no member of a module", self.text(&decorator.expression));
                Err(Refusal::wrong(self.span(decorator), message))
            }
        }
    }

    /// A function with levels of its own is a child module.
    fn function_module(&mut self, def: &ast::StmtFunctionDef, declared: &Declared<'c>) -> Res<Module<'c>> {
        if declared.target.is_some() {
            return Err(child_target(def.name.as_str(), self.span(&def.name)));
        }
        let inherited = self.domain.levels().map(<[_]>::to_vec);
        let domain = Domain { topologies: declared.topologies.clone(), inherited, ..Domain::default() };
        let outer = std::mem::replace(&mut self.domain, domain);
        let function = self.function(def, Role::Member);
        self.domain = outer;
        self.implicit_module(AnyFunction::Hir(function?), declared)
    }

    fn class_member(&mut self, class: &ast::StmtClassDef, members: &mut Members<'c>) -> Res<()> {
        let (name, span) = (self.cx.symbol(class.name.as_str()), self.span(&class.name));
        let [decorator] = &class.decorator_list[..] else {
            self.bind(name, Binding::Poison);
            return Err(stray(class.name.as_str(), self.span(class)).help("decorate it with `@module`"));
        };
        let child = match self.decorator(decorator) {
            Ok(Decorator::Known(Builtin::Module, call)) => self.class(class, call),
            Ok(_) => Err(stray(class.name.as_str(), span).help("decorate it with `@module`")),
            Err(refusal) => Err(refusal),
        };
        let child = match child {
            Ok(child) if child.target.is_some() => Err(child_target(class.name.as_str(), span)),
            other => other,
        };
        match child {
            Ok(child) => {
                self.bind(name, Binding::Value(Value::Module(child)));
                self.claim(name, span, "a child module", members)?;
                members.children.push(Child::One(child));
                self.domain.attached.insert(child);
                Ok(())
            }
            Err(refusal) => {
                self.bind(name, Binding::Poison);
                Err(refusal)
            }
        }
    }

    fn assigned_member(
        &mut self,
        targets: &[ast::Expr],
        value: &ast::Expr,
        span: Span,
        members: &mut Members<'c>,
    ) -> Res<()> {
        let [ast::Expr::Name(target)] = targets else {
            let what = targets.first().map(|target| self.text(target)).unwrap_or_default();
            return Err(stray(&what, span));
        };
        let name = target.id.as_str();
        if name == "topologies" {
            return self.class_topologies(value, span);
        }
        if name == CALL {
            return Err(no_call(self.span(target)));
        }
        if name.starts_with("__") && name.ends_with("__") {
            return Ok(());
        }
        let symbol = self.cx.symbol(name);
        let binding = self.eval(value, None).and_then(|value| match value {
            Value::Module(child) => {
                let child = self.attach(child, symbol, span)?;
                self.claim(symbol, span, "a child module", members)?;
                members.children.push(Child::One(child));
                Ok(Binding::Value(Value::Module(child)))
            }
            Value::Factory(function) => {
                let method = self.method_of(function, symbol, span)?;
                self.add_method(method, span, members)
            }
            other => self.group(symbol, &other, span, members).map(Binding::Value),
        });
        match binding {
            Ok(binding) => {
                self.bind(symbol, binding);
                Ok(())
            }
            Err(refusal) => {
                self.bind(symbol, Binding::Poison);
                Err(refusal)
            }
        }
    }

    /// A tuple or list of modules under one attribute, each under its own name.
    fn group(&mut self, name: Symbol<'c>, value: &Value<'c>, span: Span, members: &mut Members<'c>) -> Res<Value<'c>> {
        let items = value.as_sequence();
        items.iter().flat_map(|items| items.iter()).try_for_each(|item| self.read(item, span))?;
        let module = |item: &Value<'c>| match item {
            Value::Module(module) => Some(*module),
            _ => None,
        };
        let modules: Option<Vec<_>> = items.and_then(|items| items.iter().map(module).collect());
        let Some(modules) = modules.filter(|modules| !modules.is_empty()) else {
            return Err(stray(name.as_str(), span));
        };
        self.claim(name, span, "a group of child modules", members)?;
        let mut attached = Vec::with_capacity(modules.len());
        for module in modules {
            let child = self.attach(module, module.name, span)?;
            self.claim(child.name, span, "a child module", members)?;
            attached.push(child);
        }
        members.children.push(Child::Group(name, self.cx.alloc_slice(&attached)));
        let items = attached.into_iter().map(Value::Module).collect();
        Value::tuple(items).ok_or(Refusal::Reported)
    }

    /// A copy of a module as a child of the class.
    fn attach(&mut self, module: Module<'c>, name: Symbol<'c>, span: Span) -> Res<Module<'c>> {
        if module.target.is_some() {
            return Err(child_target(name.as_str(), span));
        }
        let child = self.copied(module, name, span)?;
        self.domain.attached.insert(child);
        Ok(child)
    }

    /// A copy of a module under that name.
    pub(crate) fn copied(&mut self, module: Module<'c>, name: Symbol<'c>, span: Span) -> Res<Module<'c>> {
        self.copies += module.tree().len();
        if self.copies > COPIES {
            return Err(Refusal::wrong(span, format!("more than {COPIES} modules are copied")));
        }
        Ok(tree::renamed(self.cx, module, name)?)
    }

    fn class_topologies(&mut self, value: &ast::Expr, span: Span) -> Res<()> {
        let levels = self.topologies(value)?;
        if self.domain.topologies.is_some() {
            return Err(Refusal::wrong(span, "`topologies` is declared twice"));
        }
        self.domain.topologies = Some(levels);
        Ok(())
    }
}

fn no_call(span: Span) -> Refusal {
    Refusal::wrong(span, format!("`{CALL}` is no method of a module: a call of it runs `forward`"))
        .help("name it `forward`")
}

fn stray(what: &str, span: Span) -> Refusal {
    Refusal::wrong(span, format!("`{what}` is no member of a module"))
        .help("members are functions under `@func`, child modules, methods and `topologies`")
}

fn child_target(name: &str, span: Span) -> Refusal {
    Refusal::wrong(span, format!("the child module `{name}` declares a target; a child has that of its owner"))
        .help("declare the target at the outermost module only")
}
