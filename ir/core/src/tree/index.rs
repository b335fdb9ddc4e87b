//! What modules resolve to through their owners.

use rustc_hash::FxHashMap;
use tf_types::{Symbol, Topology};

use super::check_module;
use crate::diag::did_you_mean;
use crate::node::{AnyFunction, Module, Target};
use crate::{Context, Diagnostic, Result};

/// Owners of the modules and functions of one tree. Nothing of it is in the nodes, so that a module in two trees resolves in
/// each by itself.
pub struct ModuleIndex<'c> {
    root: Module<'c>,
    parents: FxHashMap<Module<'c>, Module<'c>>,
    owners: FxHashMap<AnyFunction<'c>, Module<'c>>,
}

impl<'c> ModuleIndex<'c> {
    /// The index of a tree.
    ///
    /// # Errors
    /// The rules of [`check_module`] for every module; a module or function that stands in the tree twice.
    pub fn new(root: Module<'c>) -> Result<Self, Vec<Diagnostic>> {
        let mut index = Self { root, parents: FxHashMap::default(), owners: FxHashMap::default() };
        let mut errors = Vec::new();
        let mut stack = vec![root];
        while let Some(module) = stack.pop() {
            errors.extend(check_module(module));
            for function in module.all_functions() {
                // A name that stands twice in one module is reported as such.
                if let Some(other) = index.owners.insert(function, module).filter(|other| *other != module) {
                    let message =
                        format!("function `{}` belongs to `{}` and to `{}`", function.name(), other.name, module.name);
                    errors
                        .push(Diagnostic::error(message).at(function.span()).with_help("attach a copy of its module"));
                }
            }
            let first = stack.len();
            for child in module.child_modules() {
                if child == root || index.parents.insert(child, module).is_some() {
                    let message = format!("child module `{}` stands in the tree of `{}` twice", child.name, root.name);
                    errors.push(Diagnostic::error(message).at(child.span).with_help("attach a copy of it"));
                } else {
                    stack.push(child);
                }
            }
            stack[first..].reverse();
        }
        if errors.is_empty() { Ok(index) } else { Err(errors) }
    }

    /// The outermost module.
    #[must_use]
    pub fn root(&self) -> Module<'c> {
        self.root
    }

    /// The module that a module is a child of.
    #[must_use]
    pub fn parent(&self, module: Module<'c>) -> Option<Module<'c>> {
        self.parents.get(&module).copied()
    }

    /// The module that has a function, as a member or an instance.
    #[must_use]
    pub fn owner(&self, function: AnyFunction<'c>) -> Option<Module<'c>> {
        self.owners.get(&function).copied()
    }

    /// A module and its owners, up to the root.
    pub fn chain(&self, module: Module<'c>) -> impl Iterator<Item = Module<'c>> {
        std::iter::successors(Some(module), |module| self.parent(*module))
    }

    /// The names from the root to a module.
    #[must_use]
    pub fn path(&self, module: Module<'c>) -> Vec<Symbol<'c>> {
        let mut path: Vec<_> = self.chain(module).filter(|m| *m != self.root).map(|m| m.name).collect();
        path.reverse();
        path
    }

    /// The target that a module declares, else that of its nearest owner.
    ///
    /// # Errors
    /// None of them declares one.
    pub fn resolve_target(&self, module: Module<'c>) -> Result<Target<'c>> {
        self.chain(module).find_map(|module| module.target).ok_or_else(|| {
            let message = format!("no target is declared for module `{}`", module.name);
            let help = format!("declare one at the outermost module, `{}`", self.root.name);
            Diagnostic::error(message).at(module.span).with_help(help)
        })
    }

    /// The levels of a module: those it declares, else those of its nearest owner.
    #[must_use]
    pub fn effective_topologies(&self, module: Module<'c>) -> &'c [Topology<'c>] {
        self.declaring(module).data().topologies.unwrap_or_default()
    }

    /// The module whose levels a module has.
    fn declaring(&self, module: Module<'c>) -> Module<'c> {
        self.chain(module).find(|module| module.topologies.is_some()).unwrap_or(module)
    }

    /// One level of a module by its exact name.
    ///
    /// # Errors
    /// There is none; the message names those that there are.
    pub fn resolve_topology(&self, module: Module<'c>, name: &str) -> Result<Topology<'c>> {
        let levels = self.effective_topologies(module);
        levels.iter().find(|level| level.name.as_str() == name).copied().ok_or_else(|| {
            let known: Vec<_> = levels.iter().map(|level| format!("`{}`", level.name)).collect();
            let known =
                if known.is_empty() { "it has no levels".to_owned() } else { format!("it has {}", known.join(", ")) };
            let message = format!("module `{}` has no level `{name}`; {known}", module.name);
            let mut error = Diagnostic::error(message).at(self.declaring(module).level_span(0));
            let near = did_you_mean(name, levels.iter().map(|level| level.name.as_str()));
            error.help = near.map(|near| format!("did you mean `{near}`?"));
            error
        })
    }

    /// The size of a level as a number.
    ///
    /// # Errors
    /// There is no such level; its size is deferred to the target or a launch, or symbolic.
    pub fn level_size(&self, module: Module<'c>, name: &str) -> Result<i64> {
        let level = self.resolve_topology(module, name)?;
        let declaring = self.declaring(module);
        let at = self.effective_topologies(module).iter().position(|known| *known == level).unwrap_or_default();
        let refuse = |what: String| Err(Diagnostic::error(what).at(declaring.level_span(at)));
        match level.size {
            None => refuse(format!("the size of level `{name}` is deferred, and a number is needed here")),
            Some(size) => match size.as_const() {
                Some(size) => Ok(size),
                None => refuse(format!("the size of level `{name}` is `{size}`, and a number is needed here")),
            },
        }
    }
}

/// The modules of a tree, each with the target and levels that it has through its owners; the root is itself.
#[must_use]
pub fn in_context<'c>(root: Module<'c>, cx: &Context<'c>) -> Vec<Module<'c>> {
    let mut modules = Vec::new();
    let mut stack = vec![(root, root)];
    while let Some((module, effective)) = stack.pop() {
        modules.push(effective);
        let first = stack.len();
        stack.extend(module.child_modules().map(|child| (child, cx.module(child.inheriting(&effective)))));
        stack[first..].reverse();
    }
    modules
}
