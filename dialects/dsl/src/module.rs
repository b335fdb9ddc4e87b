//! `@module` classes and the implicit modules of functions.

use ruff_python_ast as ast;
use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::node::{HeaderSpans, ModuleData};
use tf_core::tree::Replacements;
use tf_core::{AnyFunction, ExprKind, Function, Module, PrimFunction, Span, Target};
use tf_types::{Symbol, Type};

use crate::limits;
use crate::names::{self, Builtin};
use crate::parser::{Domain, Levels, Parser, Scope};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// What a decorator declares.
#[derive(Default)]
pub(crate) struct Declared<'c> {
    entry: Option<(Symbol<'c>, Span)>,
    pub(crate) target: Option<Target<'c>>,
    target_span: Option<Span>,
    pub(crate) topologies: Option<Levels<'c>>,
    /// How many parameters are outputs, of a `@prim_func`.
    pub(crate) outputs: Option<(i64, Span)>,
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

/// The target instance that was likely meant: by the name of its kind, else a GPU.
fn instance_for(found: &Value<'_>) -> String {
    let is_kind = |class: &&str, name: &str| class.strip_suffix("Target").is_some_and(|k| k.eq_ignore_ascii_case(name));
    let class = match found {
        Value::Str(name) => names::all().find(|class| is_kind(class, name.as_str())),
        _ => None,
    };
    match class {
        None | Some("CudaTarget") => "CudaTarget(\"nvidia.h200_sxm\")".to_owned(),
        Some(class) => format!("{class}()"),
    }
}

impl<'c> Parser<'_, 'c> {
    /// The imported decorator that an expression names.
    pub(crate) fn decorator<'x>(&mut self, decorator: &'x ast::Decorator) -> Res<Decorator<'x>> {
        let (name, call) = match &decorator.expression {
            ast::Expr::Call(call) => (&*call.func, Some(call)),
            other => (other, None),
        };
        let mut root = name;
        while let ast::Expr::Attribute(attribute) = root {
            root = &attribute.value;
        }
        if !root.is_name_expr() {
            // What a call gives is none of them, and is evaluated once, where it decorates.
            return Ok(Decorator::Other);
        }
        match self.eval(name, None)? {
            Value::Builtin(builtin) => Ok(Decorator::Known(builtin, call)),
            _ => Ok(Decorator::Other),
        }
    }

    /// `entry=`, `target=`, `topologies=` and `outputs=` of a decorator, as far as `allowed`.
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
            if let ("entry", ast::Expr::Name(function)) = (*name, expr)
                && !matches!(self.eval(expr, None), Ok(Value::Str(_) | Value::None))
            {
                let message = format!("`entry` is the quoted name of a function, found `{}`", function.id);
                return Err(Refusal::wrong(span, message).help(format!("write `entry=\"{}\"`", function.id)));
            }
            match (*name, self.eval(expr, None)?) {
                (_, Value::None) => {}
                ("entry", Value::Str(entry)) => declared.entry = Some((entry, span)),
                ("entry", other) => {
                    return Err(Refusal::wrong(span, format!("`entry` names a function, found {}", other.describe())));
                }
                ("outputs", Value::Int(count)) => declared.outputs = Some((count, span)),
                ("outputs", other) => {
                    let message = format!("`outputs` is a number of parameters, found {}", other.describe());
                    return Err(Refusal::wrong(span, message));
                }
                (_, Value::Target(target)) => (declared.target, declared.target_span) = (Some(target), Some(span)),
                (_, other) => {
                    let message = format!("`target` is a target instance, found {}", other.describe());
                    return Err(Refusal::wrong(span, message).help(format!("write `{}`", instance_for(&other))));
                }
            }
        }
        Ok(declared)
    }

    /// A tuple of levels, none twice.
    pub(crate) fn topologies(&mut self, expr: &ast::Expr) -> Res<Levels<'c>> {
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
        let mut declared = Levels::default();
        if items.items.len() > limits::LEVELS {
            let message = format!("a module has at most {} levels, found {}", limits::LEVELS, items.items.len());
            return Err(Refusal::wrong(span, message));
        }
        for (item, at) in items.items.iter().zip(spans) {
            let Value::Topology(level) = item else {
                self.read(item, at)?;
                let message = format!("`topologies` is a tuple of `Topology`, and holds {}", item.describe());
                return Err(Refusal::wrong(at, message));
            };
            if declared.levels.iter().any(|known| known.name == level.name) {
                return Err(Refusal::wrong(at, format!("the level `{}` is declared twice", level.name)));
            }
            declared.levels.push(*level);
            declared.spans.push(Some(at));
        }
        Ok(declared)
    }

    /// A class under `@module`; its errors are reported.
    pub(crate) fn class(&mut self, class: &ast::StmtClassDef, call: Option<&ast::ExprCall>) -> Res<Module<'c>> {
        let before = self.refused;
        self.complete_parts()?;
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
        let domain = Domain {
            topologies: declared.topologies.clone(),
            target: declared.target.or(self.domain.target),
            inherited: self.domain.levels().map(<[_]>::to_vec),
            below: self.functions_below(class),
            class: Some(self.cx.symbol(class.name.as_str())),
            ..Domain::default()
        };
        let outer = std::mem::replace(&mut self.domain, domain);
        self.scopes.push(Scope::default());
        let members = self.members(class);
        self.scopes.pop();
        let mut domain = std::mem::replace(&mut self.domain, outer);
        let declared = Declared { topologies: domain.topologies.take(), ..declared };
        let prims = std::mem::take(&mut domain.prims);
        let calls_children = domain.calls_children;
        let (functions, instances) = self.seal(domain);
        let all = in_order(&functions, &prims);
        let name = self.span(&class.name);
        let is_empty = all.is_empty() && members.children.is_empty() && members.methods.is_empty();
        if is_empty && self.refused == before {
            let message = format!("the module `{}` has no members", class.name);
            self.report(Refusal::wrong(name, message).help("declare a function with `@func`"));
        }
        if let Some((entry, at)) = declared.entry
            && self.refused == before
            && !all.iter().any(|f| f.name() == entry)
        {
            let message = format!("`entry` names no function of the module: `{entry}`");
            let known: Vec<_> = all.iter().map(|f| f.name().as_str()).collect();
            let help = if members.children.iter().any(|child| child.name() == entry) {
                "it is a child module, as a `@func` with a target or levels of its own is: declare those at the class"
                    .to_owned()
            } else if known.is_empty() {
                "the module has no functions".to_owned()
            } else {
                format!("the module has {}", known.join(", "))
            };
            self.report(Refusal::wrong(at, message).help(help));
        }
        self.check_weights(&functions);
        if self.refused > before {
            return Err(Refusal::Reported);
        }
        let module = self.cx.module(ModuleData {
            functions: self.cx.alloc_slice(&all),
            instances,
            children: self.cx.alloc_slice(&members.children),
            methods: self.cx.alloc_slice(&members.methods),
            span: Some(name),
            ..self.header(self.cx.symbol(class.name.as_str()), &declared)
        });
        if tree_depth(module) > limits::MODULES {
            let message = format!("modules are nested more than {} deep", limits::MODULES);
            return Err(Refusal::wrong(name, message).help("attach some of them further out"));
        }
        if !calls_children {
            return Ok(module);
        }
        // Instances of the children's functions are theirs.
        Ok(tf_core::tree::replaced(self.cx, module, &Replacements::default(), &Function::callees)?)
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

    /// The module of a function with a context of its own, or outside a class: the function and those it calls.
    pub(crate) fn implicit_module(&self, entry: AnyFunction<'c>, declared: &Declared<'c>) -> Res<Module<'c>> {
        let header = self.header(entry.name(), declared);
        let module = tf_core::tree::implicit_module(self.cx, entry, &header)?;
        let AnyFunction::Tir(prim) = entry else { return Ok(module) };
        // Calls of TIR go by name: what is reached by them, callees first.
        let (mut reached, mut known): (Vec<AnyFunction<'c>>, FxHashSet<AnyFunction<'c>>) = Default::default();
        let mut stack = vec![(prim, 0)];
        while let Some((function, next)) = stack.pop() {
            let called = self.called.get(&function).map_or(&[][..], |called| called);
            match called.get(next) {
                None => {
                    if known.insert(function.into()) {
                        reached.push(function.into());
                    }
                }
                Some(&callee) => {
                    stack.push((function, next + 1));
                    let callee = match callee {
                        AnyFunction::Hir(callee) => self.latest(callee).into(),
                        callee => callee,
                    };
                    match callee {
                        _ if known.contains(&callee) => {}
                        AnyFunction::Tir(callee) => stack.push((callee, 0)),
                        AnyFunction::Hir(_) => {
                            let own = tf_core::tree::implicit_module(self.cx, callee, &ModuleData::new(callee.name()))?;
                            reached.extend(own.functions.iter().filter(|function| known.insert(**function)));
                        }
                    }
                }
            }
        }
        let functions = self.cx.alloc_slice(&reached);
        Ok(tf_core::tree::completed(self.cx, self.cx.module(ModuleData { functions, ..*module }))?)
    }

    /// A module that has what a decorator declares, and no members.
    fn header(&self, name: Symbol<'c>, declared: &Declared<'c>) -> ModuleData<'c> {
        let levels = declared.topologies.as_ref();
        ModuleData {
            entry: declared.entry.map(|(entry, _)| entry),
            target: declared.target,
            topologies: levels.map(|declared| self.cx.topologies(&declared.levels)),
            header: HeaderSpans {
                target: declared.target_span,
                entry: declared.entry.map(|(_, at)| at),
                levels: levels.map_or(&[], |declared| self.cx.alloc_slice(&declared.spans)),
            },
            ..ModuleData::new(name)
        }
    }
}

/// How many modules of a tree are inside each other.
fn tree_depth(root: Module<'_>) -> usize {
    let mut deepest = 0;
    let mut stack = vec![(root, 1)];
    while let Some((module, depth)) = stack.pop() {
        deepest = deepest.max(depth);
        stack.extend(module.child_modules().map(|child| (child, depth + 1)));
    }
    deepest
}

/// The functions of both IRs as they are defined; each of TIR has the number of HIR functions above it.
fn in_order<'c>(functions: &[Function<'c>], prims: &[(usize, PrimFunction<'c>)]) -> Vec<AnyFunction<'c>> {
    let mut all = Vec::with_capacity(functions.len() + prims.len());
    let mut prims = prims.iter().peekable();
    for (at, &function) in functions.iter().enumerate() {
        while let Some((_, prim)) = prims.next_if(|(above, _)| *above <= at) {
            all.push(AnyFunction::Tir(*prim));
        }
        all.push(AnyFunction::Hir(function));
    }
    all.extend(prims.map(|(_, prim)| AnyFunction::Tir(*prim)));
    all
}
