//! Modules: header, functions, instances, children, methods, metadata.

use std::fmt::Write;

use rustc_hash::FxHashMap;
use tf_core::node::{Child, Function, MetaValue};
use tf_core::{AnyFunction, Module};
use tf_types::Symbol;

use super::Printer;
use super::attr::write_float;
use crate::syntax::write_quoted;

/// The modules from the root to one, by name, without the root.
pub type Path<'c> = Vec<Symbol<'c>>;

/// Where the functions of a tree are.
pub fn owners<'c>(root: Module<'c>) -> FxHashMap<Function<'c>, Path<'c>> {
    let mut owners = FxHashMap::default();
    let mut stack = vec![(root, Path::new())];
    while let Some((module, path)) = stack.pop() {
        for function in module.all_functions() {
            if let AnyFunction::Hir(function) = function {
                owners.entry(function).or_insert_with(|| path.clone());
            }
        }
        for child in module.child_modules() {
            let mut below = path.clone();
            below.push(child.name);
            stack.push((child, below));
        }
    }
    owners
}

enum Step<'c> {
    Enter(Module<'c>),
    Group(Symbol<'c>),
    /// The end of a module.
    Leave(Module<'c>),
    /// The end of a group.
    Close,
}

impl<'c> Printer<'_, 'c> {
    /// A module and those below; a module's children stand between its functions and its methods.
    pub fn module(&mut self, root: Module<'c>) {
        let mut stack = vec![Step::Enter(root)];
        while let Some(step) = stack.pop() {
            match step {
                Step::Enter(module) => {
                    if module != root {
                        self.path.push(module.name);
                        self.line();
                    }
                    self.module_header(module);
                    self.functions(module);
                    stack.push(Step::Leave(module));
                    for child in module.children.iter().rev() {
                        if let Child::Group(..) = child {
                            stack.push(Step::Close);
                        }
                        stack.extend(child.modules().iter().rev().map(|&below| Step::Enter(below)));
                        if let Child::Group(name, _) = *child {
                            stack.push(Step::Group(name));
                        }
                    }
                }
                Step::Group(name) => {
                    self.line();
                    self.out.push_str("group ");
                    self.symbol(name);
                    self.out.push_str(" {");
                    self.indent += 1;
                }
                Step::Leave(module) => {
                    for &method in module.methods {
                        self.method(method);
                    }
                    self.close();
                    self.path.pop();
                }
                Step::Close => self.close(),
            }
        }
        self.out.push('\n');
    }

    fn module_header(&mut self, module: Module<'c>) {
        self.out.push_str("module ");
        self.symbol(module.name);
        if let Some(target) = module.target {
            self.target(target);
            self.location(module.header.target);
        }
        if let Some(topologies) = module.data().topologies {
            self.out.push_str(" topology(");
            for (at, &level) in topologies.iter().enumerate() {
                self.out.push_str(if at > 0 { ", " } else { "" });
                self.types.write_level(&mut self.out, level);
                self.location(module.header.levels.get(at).copied().flatten());
            }
            self.out.push(')');
        }
        if let Some(entry) = module.entry {
            self.out.push_str(" entry(");
            self.symbol(entry);
            self.out.push(')');
            self.location(module.header.entry);
        }
        if !module.metadata.is_empty() {
            self.out.push_str(" metadata(");
            for (at, &(name, value)) in module.metadata.iter().enumerate() {
                self.out.push_str(if at > 0 { ", " } else { "" });
                self.word(name);
                self.out.push_str(" = ");
                self.meta_value(value);
            }
            self.out.push(')');
        }
        self.location(module.span);
        self.out.push_str(" {");
        self.indent += 1;
    }

    fn functions(&mut self, module: Module<'c>) {
        for &function in module.functions {
            match function {
                AnyFunction::Hir(function) => self.hir_function("hir.func", function),
                AnyFunction::Tir(function) => self.tir_function(function),
            }
        }
        for &instance in module.instances {
            self.hir_function("hir.instance", instance);
        }
    }

    /// Lists nest as deep as they were written.
    fn meta_value(&mut self, value: MetaValue<'c>) {
        match value {
            MetaValue::None => self.out.push_str("none"),
            MetaValue::Bool(v) => drop(write!(self.out, "{v}")),
            MetaValue::Int(v) => drop(write!(self.out, "{v}")),
            MetaValue::Float(bits) => write_float(&mut self.out, f64::from_bits(bits)),
            MetaValue::Str(text) => write_quoted(&mut self.out, text.as_str()),
            MetaValue::List(items) => {
                self.out.push('[');
                for (at, &item) in items.iter().enumerate() {
                    self.out.push_str(if at > 0 { ", " } else { "" });
                    self.meta_value(item);
                }
                self.out.push(']');
            }
        }
    }

    /// `@f` of this module, `@a::@f` of one below, else `::@a::@f` from the root.
    pub fn function_path(&mut self, function: Function<'c>) {
        if let Some(path) = self.owners.get(&function) {
            let rest = match path.strip_prefix(&self.path[..]) {
                Some(rest) => rest.to_vec(),
                None => {
                    self.out.push_str("::");
                    path.clone()
                }
            };
            for name in rest {
                self.symbol(name);
                self.out.push_str("::");
            }
        }
        self.symbol(function.name);
    }
}
