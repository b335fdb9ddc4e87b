//! Modules as classes: children, functions, methods.

use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::equal::structurally_equal;
use tf_core::node::{Child, Method, ModuleData};
use tf_core::{AnyFunction, Callee, Context, Diagnostic, Expr, ExprKind, Function, Module, Result, Target};
use tf_types::Symbol;

use super::Printer;
use super::doc::Doc;
use super::python::{is_name, string};

/// How deep modules nest.
const DEPTH: usize = crate::limits::MODULES;

/// How a function is called in the functions of a module.
#[derive(Clone, Debug)]
pub(super) struct CalledAs {
    pub(super) name: String,
    /// Whether it is the entry of a child, whose constants come with the child.
    pub(super) omits_constants: bool,
}

impl CalledAs {
    /// The name that stands first: of the function, the child, or the group.
    pub(super) fn root(&self) -> &str {
        self.name.split('[').next().unwrap_or_default()
    }
}

fn refuse<'c>(module: Module<'c>, message: String) -> Diagnostic {
    Diagnostic::error(message).at(module.span)
}

/// Members of a class have names of their own, and a group has members.
fn check_members(module: Module<'_>) -> Result<()> {
    let groups = module.children.iter().filter_map(|child| match child {
        Child::Group(name, modules) => Some((*name, modules)),
        Child::One(_) => None,
    });
    let mut names = FxHashSet::default();
    for (name, modules) in groups {
        if modules.is_empty() {
            return Err(refuse(module, format!("the DSL has no empty group of modules, found `{name}`")));
        }
        names.insert(name);
    }
    let functions = module.functions.iter().map(|function| function.name());
    let children = module.child_modules().map(|child| child.name);
    for name in functions.chain(children).chain(module.methods.iter().map(|method| method.name)) {
        if !names.insert(name) {
            return Err(refuse(module, format!("the module `{}` has two members named `{name}`", module.name)));
        }
    }
    let params = module.functions.iter().filter_map(|function| match function {
        AnyFunction::Hir(function) => Some(function.data().params),
        AnyFunction::Tir(_) => None,
    });
    let mut weights = FxHashMap::default();
    for weight in params.flatten().filter(|param| param.is_const_param()) {
        if *weights.entry(weight.var_name()).or_insert(weight.ty()) != weight.ty() {
            return Err(refuse(module, format!("the weight {} has two types", weight.describe())));
        }
    }
    Ok(())
}

/// Instances come from calls: one that nothing in the tree calls, or that was made for values of dims, has no text.
fn check_instances(root: Module<'_>) -> Result<()> {
    let tree = root.tree();
    if tree.iter().all(|module| module.instances.is_empty()) {
        return Ok(());
    }
    let mut called = FxHashSet::default();
    for function in tree.iter().flat_map(|module| module.all_functions()) {
        let AnyFunction::Hir(function) = function else { continue };
        called.extend(function.origin.and_then(|origin| origin.function));
        called.extend(function.bodies().filter(|body| body.calls_functions).flat_map(called_in));
    }
    for (module, instance) in tree.iter().flat_map(|module| module.instances.iter().map(move |f| (module, f))) {
        let is_made = instance.origin.is_none_or(|origin| origin.dims.is_none());
        if !is_made || !called.contains(instance) {
            let message = format!("the DSL has no call that makes the instance `{}`", instance.name);
            return Err(Diagnostic::error(message).at(instance.span.or(module.span)));
        }
    }
    Ok(())
}

/// The functions that a value calls.
fn called_in<'c>(value: Expr<'c>) -> impl Iterator<Item = Function<'c>> {
    tf_core::walk::post_order(&[value]).into_iter().filter_map(|expr| match expr.kind {
        ExprKind::Call { callee: Callee::Function(callee), .. } => Some(callee),
        _ => None,
    })
}

/// Whether two modules are the same but for their names.
fn is_copy<'c>(cx: &Context<'c>, a: Module<'c>, b: Module<'c>) -> bool {
    structurally_equal(cx.module(ModuleData { name: b.name, ..*a }), b)
}

/// The function whose call was elaborated to this one, or the function itself.
pub(super) fn authored<'c>(function: Function<'c>) -> Function<'c> {
    match function.origin {
        Some(origin) if origin.dims.is_none() => origin.function.unwrap_or(function),
        _ => function,
    }
}

impl<'c> Printer<'_, 'c> {
    /// The class of the outermost module; classes that it is made of come before it.
    pub(super) fn root_class(&mut self, module: Module<'c>) -> Result<()> {
        check_instances(module)?;
        let name = self.file.take(module.name);
        self.file_class(&name, module, DEPTH)
    }

    /// A class of the file, after the functions of the file that it calls.
    fn file_class(&mut self, name: &str, module: Module<'c>, depth: usize) -> Result<()> {
        let outer = (std::mem::take(&mut self.out), std::mem::take(&mut self.indent));
        let mut inside = vec![module];
        while let Some(module) = inside.pop() {
            for &callee in module.instances.iter().filter(|instance| instance.origin.is_none()) {
                self.file_function(callee)?;
            }
            inside.extend(module.children.iter().filter_map(|child| match *child {
                Child::One(inner) => Some(inner),
                Child::Group(..) => None,
            }));
        }
        let levels = self.levels.take();
        self.class(name, module, None, depth)?;
        self.levels = levels;
        let class = std::mem::replace(&mut self.out, outer.0);
        self.indent = outer.1;
        self.classes.push(class);
        Ok(())
    }

    /// A function that is no member of the module that calls it. One that is printed already, or a copy of it, is not printed again.
    fn file_function(&mut self, function: Function<'c>) -> Result<()> {
        self.callees = FxHashMap::default();
        self.function(function)?;
        self.parts(function)?;
        let text = std::mem::take(&mut self.out);
        let called = CalledAs { name: function.name.to_string(), omits_constants: false };
        self.private.insert(function, called);
        if self.file_functions.get(&function.name) != Some(&text) {
            self.file_functions.insert(function.name, text.clone());
            self.classes.push(text);
        }
        Ok(())
    }

    /// `@module(…)` and the class; `target` is that of the modules around it.
    fn class(&mut self, name: &str, module: Module<'c>, target: Option<Target<'c>>, depth: usize) -> Result<()> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(refuse(module, format!("modules are nested more than {DEPTH} deep")));
        };
        if !is_name(name) {
            return Err(refuse(module, format!("`{name}` is no name of a class in Python")));
        }
        if let Some((key, _)) = module.metadata.first() {
            return Err(refuse(module, format!("the DSL has no metadata of modules, found `{key}`")));
        }
        if module.functions.is_empty() && module.children.is_empty() && module.methods.is_empty() {
            return Err(refuse(module, format!("the module `{name}` has no members, and a class has")));
        }
        check_members(module)?;
        self.decorator(module).map_err(|error| error.at(module.span))?;
        self.text_line(&format!("class {name}"));
        self.open_block();
        let mut is_first = true;
        let outer = self.levels;
        self.levels = module.topologies.or(outer);
        let target = module.target.or(target);
        let (mut called, mut launched) = (FxHashMap::default(), FxHashMap::default());
        for child in module.children {
            self.blank(&mut is_first);
            self.child(child, target, depth, &mut called, &mut launched)?;
        }
        self.callees = called;
        self.launched = launched;
        self.functions(module, target, &mut is_first)?;
        for &method in module.methods {
            self.blank(&mut is_first);
            self.method(method).map_err(|error| error.at(method.span.or(module.span)))?;
        }
        self.levels = outer;
        self.close_block();
        Ok(())
    }

    /// An empty line between members.
    fn blank(&mut self, is_first: &mut bool) {
        if !std::mem::replace(is_first, false) {
            self.out.push('\n');
        }
    }

    fn decorator(&mut self, module: Module<'c>) -> Result<()> {
        let mut declared = Vec::new();
        if let Some(entry) = module.entry {
            declared.push(Doc::keyword("entry", string(entry.as_str()).into()));
        }
        if let Some(target) = module.target {
            declared.push(Doc::keyword("target", self.target(target)));
        }
        if let Some(levels) = module.topologies {
            declared.push(Doc::keyword("topologies", self.topologies(levels)?));
        }
        self.line();
        let name = format!("@{}", self.file.import("module"));
        Doc::call(name, declared).write(&mut self.out, self.indent, self.indent, 0);
        Ok(())
    }

    fn child(
        &mut self,
        child: &Child<'c>,
        target: Option<Target<'c>>,
        depth: usize,
        called: &mut FxHashMap<Function<'c>, CalledAs>,
        launched: &mut FxHashMap<Symbol<'c>, String>,
    ) -> Result<()> {
        let mut call = |module: Module<'c>, name: String| {
            launched.insert(module.name, name.clone());
            if let Some(AnyFunction::Hir(entry)) = module.entry_function() {
                called.insert(entry, CalledAs { name, omits_constants: true });
            }
        };
        for &module in child.modules() {
            if module.target.is_some() {
                let message =
                    format!("the child `{}` declares a target, which the outermost module alone does", module.name);
                return Err(refuse(module, message));
            }
        }
        match *child {
            Child::One(module) => {
                self.class(module.name.as_str(), module, target, depth)?;
                call(module, module.name.to_string());
            }
            Child::Group(name, modules) => {
                if !is_name(name.as_str()) {
                    return Err(Diagnostic::error(format!("`{name}` is no name of an attribute in Python")));
                }
                let mut items = Vec::new();
                let mut last: Option<(Module<'c>, String)> = None;
                for (at, &module) in modules.iter().enumerate() {
                    let class = match last.take() {
                        // Copies are made as such.
                        Some((first, class)) if is_copy(self.cx, first, module) => class,
                        _ => {
                            // A class inside this one would be a child of its own.
                            let class = self.file.class_name(self.cx, module.name);
                            self.file_class(&class, module, depth)?;
                            class
                        }
                    };
                    items.push(match class == module.name.as_str() {
                        true => Doc::Text(class.clone()),
                        false => Doc::call(format!("{class}.renamed"), vec![string(module.name.as_str()).into()]),
                    });
                    last = Some((module, class));
                    call(module, format!("{name}[{at}]"));
                }
                self.line();
                let group = Doc::Seq(vec![format!("{name} = ").into(), Doc::tuple(items)]);
                group.write(&mut self.out, self.indent, self.indent, 0);
            }
        }
        Ok(())
    }

    /// The functions in order. The parts of a function stand after it and after all that they call.
    fn functions(&mut self, module: Module<'c>, target: Option<Target<'c>>, is_first: &mut bool) -> Result<()> {
        let place: FxHashMap<Function<'c>, usize> = (0..)
            .zip(module.functions)
            .filter_map(|(at, function)| match function {
                AnyFunction::Hir(function) => Some((*function, at)),
                AnyFunction::Tir(_) => None,
            })
            .collect();
        self.prims = (module.functions.iter())
            .filter_map(|function| match function {
                AnyFunction::Tir(function) => Some((function.name, *function)),
                AnyFunction::Hir(_) => None,
            })
            .collect();
        let mut parts: Vec<Vec<Function<'c>>> = vec![Vec::new(); module.functions.len()];
        for (at, function) in module.functions.iter().enumerate() {
            let AnyFunction::Hir(function) = *function else { continue };
            let called = function.with_parts().skip(1).filter_map(|part| part.body).flat_map(called_in).map(authored);
            let last = called.filter_map(|callee| place.get(&callee).copied()).fold(at, usize::max);
            parts[last].push(function);
        }
        for (function, parts) in module.functions.iter().zip(parts) {
            self.blank(is_first);
            match *function {
                AnyFunction::Hir(function) => {
                    self.function(function)?;
                    let name = function.name.to_string();
                    self.callees.insert(function, CalledAs { name, omits_constants: false });
                }
                AnyFunction::Tir(function) => self.prim_function(function, target)?,
            }
            parts.into_iter().try_for_each(|function| self.parts(function))?;
        }
        Ok(())
    }

    /// What the author wrote, at the indentation of the class.
    fn method(&mut self, method: Method<'c>) -> Result<()> {
        if !crate::method::says(self.cx, method) {
            return Err(Diagnostic::error(format!("the method `{}` does not do what its source says", method.name)));
        }
        for line in method.source.lines() {
            if line.is_empty() {
                self.out.push('\n');
            } else {
                self.text_line(line);
            }
        }
        Ok(())
    }

    /// How a function is called here.
    pub(super) fn called_as(&self, function: Function<'c>) -> Result<CalledAs> {
        let function = authored(function);
        self.callees.get(&function).or_else(|| self.private.get(&function)).cloned().ok_or_else(|| {
            let message = format!("`{}` is called before its definition, or from another module", function.name);
            let help = "the DSL calls functions above, and the entries of the module's own children";
            Diagnostic::error(message).with_help(help)
        })
    }
}
