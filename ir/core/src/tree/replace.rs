//! A tree with other functions.

use rustc_hash::{FxHashMap, FxHashSet};
use tf_types::{Symbol, Type};

use crate::node::{AnyFunction, Child, Function, Module, ModuleData, Origin};
use crate::visit::redirect_calls;
use crate::{Context, Diagnostic, Result};

/// Functions by what takes their place.
pub type Replacements<'c> = FxHashMap<AnyFunction<'c>, AnyFunction<'c>>;

/// The tree with functions in the place of others: calls follow, and origins. A called function that no module has, but which was
/// made from one of the tree, becomes an instance of that one's module under the name `@f$k`; one that the module already has for
/// the same parameter types is called instead. The same module comes back if nothing changes.
///
/// `callees` says what a function calls: [`Function::callees`], or what is known of it.
///
/// # Errors
/// A function that now calls itself; what type inference refuses.
pub fn replaced<'c>(
    cx: &Context<'c>,
    root: Module<'c>,
    replacements: &Replacements<'c>,
    callees: &dyn Fn(Function<'c>) -> Vec<Function<'c>>,
) -> Result<Module<'c>> {
    Linker::new(cx, replacements).tree(root, callees)
}

/// As [`replaced`] where nothing [refers](AnyFunction::refers) to a function, neither before nor after: no function is looked into.
///
/// # Errors
/// None that [`replaced`] would not have.
pub fn exchanged<'c>(cx: &Context<'c>, root: Module<'c>, replacements: &Replacements<'c>) -> Result<Module<'c>> {
    Linker::new(cx, replacements).modules(&root.tree())
}

/// The tree with all that it calls: as [`replaced`], and a called function that no module has and that was made from none becomes an
/// instance of the module that calls it, under its own name if that is free, else as `f_1`.
///
/// # Errors
/// As [`replaced`].
pub fn completed<'c>(cx: &Context<'c>, root: Module<'c>) -> Result<Module<'c>> {
    let replacements = Replacements::default();
    Linker { completes: true, ..Linker::new(cx, &replacements) }.tree(root, &Function::callees)
}

/// The place of a function whose callees are not done yet.
const OPEN: usize = usize::MAX;

/// What an instance is for: its origin and the types of its parameters.
type InstanceKey<'c> = (Function<'c>, Type<'c>);

struct Linker<'a, 'c> {
    cx: &'a Context<'c>,
    replacements: &'a Replacements<'c>,
    /// Whether every called function gets a module.
    completes: bool,
    /// By function as it is before its calls follow; so are all below.
    owners: FxHashMap<Function<'c>, Module<'c>>,
    /// The instances of the tree.
    twins: FxHashMap<InstanceKey<'c>, Function<'c>>,
    names: FxHashSet<(Module<'c>, Symbol<'c>)>,
    /// The last number that was tried for the instances of a name.
    numbers: FxHashMap<(Module<'c>, Symbol<'c>), usize>,
    done: FxHashMap<Function<'c>, Function<'c>>,
    /// Places of the functions that have been reached, callees first.
    order: FxHashMap<Function<'c>, usize>,
    adopted: FxHashMap<Module<'c>, Vec<Function<'c>>>,
}

impl<'a, 'c> Linker<'a, 'c> {
    fn new(cx: &'a Context<'c>, replacements: &'a Replacements<'c>) -> Self {
        Self {
            cx,
            replacements,
            completes: false,
            owners: FxHashMap::default(),
            twins: FxHashMap::default(),
            names: FxHashSet::default(),
            numbers: FxHashMap::default(),
            done: FxHashMap::default(),
            order: FxHashMap::default(),
            adopted: FxHashMap::default(),
        }
    }

    fn tree(mut self, root: Module<'c>, callees: &dyn Fn(Function<'c>) -> Vec<Function<'c>>) -> Result<Module<'c>> {
        let tree = root.tree();
        let mut roots = Vec::new();
        for &module in &tree {
            let members = module.all_functions().filter_map(|function| match self.now(function) {
                AnyFunction::Hir(function) => Some((function, module)),
                AnyFunction::Tir(_) => None,
            });
            roots.extend(members);
        }
        for &module in &tree {
            self.names.extend(module.all_functions().map(|function| (module, function.name())));
            for &instance in module.instances {
                let instance = self.now_hir(instance);
                if let Some(key) = self.key(instance) {
                    self.twins.entry(key).or_insert(instance);
                }
            }
        }
        self.owners.extend(roots.iter().copied());
        for (function, module) in roots {
            self.link(function, module, callees)?;
        }
        self.modules(&tree)
    }

    fn now(&self, function: AnyFunction<'c>) -> AnyFunction<'c> {
        self.replacements.get(&function).copied().unwrap_or(function)
    }

    fn now_hir(&self, function: Function<'c>) -> Function<'c> {
        match self.now(AnyFunction::Hir(function)) {
            AnyFunction::Hir(function) => function,
            AnyFunction::Tir(_) => function,
        }
    }

    /// What becomes of a function in the end.
    fn last(&self, function: Function<'c>) -> Function<'c> {
        let now = self.now_hir(function);
        self.done.get(&now).copied().unwrap_or(now)
    }

    fn key(&self, function: Function<'c>) -> Option<InstanceKey<'c>> {
        let origin = self.now_hir(function.origin.filter(|origin| origin.dims.is_none())?.function?);
        let types: Vec<_> = function.params.iter().map(|param| param.ty()).collect();
        Some((origin, self.cx.tuple(&types)))
    }

    /// The instance of the tree that is for the same types as one that no module has.
    fn twin(&self, function: Function<'c>) -> Option<Function<'c>> {
        if self.owners.contains_key(&function) {
            return None;
        }
        self.twins.get(&self.key(function)?).copied()
    }

    /// A function of `module` and all that it reaches by calls and origins, callees first.
    fn link(
        &mut self,
        root: Function<'c>,
        module: Module<'c>,
        callees: &dyn Fn(Function<'c>) -> Vec<Function<'c>>,
    ) -> Result<()> {
        let mut stack: Vec<(Function<'c>, Option<Vec<Function<'c>>>)> = vec![(root, None)];
        while let Some((function, called)) = stack.pop() {
            if let Some(called) = called {
                self.finish(function, module, &called)?;
                continue;
            }
            match self.order.get(&function) {
                Some(&OPEN) => {
                    let message = format!("`{}` calls itself, directly or through other functions", function.name);
                    return Err(Diagnostic::error(message).at(function.span));
                }
                Some(_) => continue,
                None => self.order.insert(function, OPEN),
            };
            let called = callees(function);
            let origin = function.origin.and_then(|origin| origin.function);
            let below: Vec<_> = called.iter().copied().chain(origin).map(|below| self.now_hir(below)).collect();
            stack.push((function, Some(called)));
            stack.extend(self.twin(function).into_iter().chain(below.into_iter().rev()).map(|below| (below, None)));
        }
        Ok(())
    }

    fn finish(&mut self, old: Function<'c>, module: Module<'c>, called: &[Function<'c>]) -> Result<()> {
        let place = self.done.len();
        self.order.insert(old, place);
        if let Some(twin) = self.twin(old) {
            self.done.insert(old, self.last(twin));
            return Ok(());
        }
        let mut data = *old.data();
        let mut is_same = true;
        if called.iter().any(|&callee| self.last(callee) != callee) {
            let target = |callee: Function<'c>| Some(self.last(callee)).filter(|new| *new != callee);
            data = redirect_calls(self.cx, old, &target)?;
            is_same = false;
        }
        if let Some(Origin { function: Some(from), name, dims }) = old.origin
            && self.last(from) != from
        {
            data.origin = Some(Origin { function: Some(self.last(from)), name, dims });
            is_same = false;
        }
        let owner = match self.owners.get(&old) {
            Some(_) => None,
            None => self.home(old).or(self.completes.then_some(module)),
        };
        if let Some(owner) = owner {
            let name = match data.origin {
                None if self.names.insert((owner, data.name)) => data.name,
                // One that an author wrote has a name that an author may write.
                None => self.free_name(owner, data.name, '_'),
                Some(origin) => self.free_name(owner, origin.name, '$'),
            };
            is_same &= name == data.name;
            data.name = name;
        }
        let new = if is_same { old } else { self.cx.function(data) };
        if let Some(owner) = owner {
            self.owners.insert(old, owner);
            self.adopted.entry(owner).or_default().push(new);
            if let Some(key) = self.key(old) {
                self.twins.entry(key).or_insert(old);
            }
        }
        self.order.insert(new, place);
        self.done.insert(old, new);
        Ok(())
    }

    /// The module of what a function was made from.
    fn home(&self, function: Function<'c>) -> Option<Module<'c>> {
        self.owners.get(&self.now_hir(function.origin?.function?)).copied()
    }

    fn free_name(&mut self, owner: Module<'c>, base: Symbol<'c>, mark: char) -> Symbol<'c> {
        let number = self.numbers.entry((owner, base)).or_insert(0);
        loop {
            *number += 1;
            let name = self.cx.symbol(&format!("{base}{mark}{number}"));
            if self.names.insert((owner, name)) {
                return name;
            }
        }
    }

    /// The modules anew, children first.
    fn modules(&mut self, tree: &[Module<'c>]) -> Result<Module<'c>> {
        let cx = self.cx;
        let mut modules: FxHashMap<Module<'c>, Module<'c>> = FxHashMap::default();
        for &module in tree.iter().rev() {
            let functions = module.functions.iter().map(|&function| match self.now(function) {
                AnyFunction::Hir(now) => AnyFunction::Hir(self.done.get(&now).copied().unwrap_or(now)),
                tir @ AnyFunction::Tir(_) => tir,
            });
            let functions: Vec<_> = functions.collect();
            let mut instances: Vec<_> = module.instances.iter().map(|&old| self.last(self.now_hir(old))).collect();
            if let Some(adopted) = self.adopted.remove(&module) {
                instances.extend(adopted);
                instances.sort_by_key(|instance| self.order.get(instance).copied());
            }
            let mut children = module.children.to_vec();
            for child in &mut children {
                *child = match *child {
                    Child::One(old) => Child::One(modules[&old]),
                    Child::Group(name, old) => {
                        let new: Vec<_> = old.iter().map(|old| modules[old]).collect();
                        Child::Group(name, if new == old { old } else { cx.alloc_slice(&new) })
                    }
                };
            }
            let is_same = functions == module.functions && instances == module.instances && children == module.children;
            let new = match is_same {
                true => module,
                false => cx.module(ModuleData {
                    functions: cx.alloc_slice(&functions),
                    instances: cx.alloc_slice(&instances),
                    children: cx.alloc_slice(&children),
                    ..*module
                }),
            };
            modules.insert(module, new);
        }
        Ok(modules[&tree[0]])
    }
}
