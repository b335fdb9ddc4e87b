//! Modules: the execution domain of their functions.

use std::fmt;

use tf_types::{Symbol, Topology};

use crate::Span;
use crate::node::{AnyFunction, Function, Method};

tf_types::pointer_handle! {
    /// A compilation unit: parser output, pass input and output.
    Module => ModuleData
}

/// The data of a [`Module`].
#[derive(Clone, Copy)]
pub struct ModuleData<'c> {
    /// Its name; of a child the attribute it is attached under.
    pub name: Symbol<'c>,
    /// Members in definition order.
    pub functions: &'c [AnyFunction<'c>],
    /// Elaborated callees, `@f$k`, callees first; they are no members.
    pub instances: &'c [Function<'c>],
    /// Child modules in definition order.
    pub children: &'c [Child<'c>],
    /// Orchestration methods in definition order.
    pub methods: &'c [Method<'c>],
    /// Options of targets and compilers; never what a program means.
    pub metadata: &'c [(Symbol<'c>, MetaValue<'c>)],
    /// The default step: the name of one of `functions`.
    pub entry: Option<Symbol<'c>>,
    /// The hardware it runs on; only the outermost module of a tree declares it.
    pub target: Option<Target<'c>>,
    /// Its ordered levels; `None`: those of its owner.
    pub topologies: Option<&'c [Topology<'c>]>,
    /// Where its name stands.
    pub span: Option<Span>,
    /// Where its declarations stand.
    pub header: HeaderSpans<'c>,
}

/// Where the declarations of a module stand; no part of its meaning. The place of its name stands for those that are unknown.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeaderSpans<'c> {
    /// The target.
    pub target: Option<Span>,
    /// The name of the entry.
    pub entry: Option<Span>,
    /// The levels, in their order.
    pub levels: &'c [Option<Span>],
}

impl fmt::Debug for Module<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "module @{}", self.name)
    }
}

impl<'c> ModuleData<'c> {
    /// A module that holds and declares nothing.
    #[must_use]
    pub fn new(name: Symbol<'c>) -> Self {
        Self {
            name,
            functions: &[],
            instances: &[],
            children: &[],
            methods: &[],
            metadata: &[],
            entry: None,
            target: None,
            topologies: None,
            span: None,
            header: HeaderSpans::default(),
        }
    }

    /// The module with the target and the levels that it has through an owner, where it declares none.
    #[must_use]
    pub fn inheriting(mut self, owner: &Self) -> Self {
        if self.target.is_none() {
            self.target = owner.target;
            self.header.target = owner.header.target;
        }
        if self.topologies.is_none() {
            self.topologies = owner.topologies;
            self.header.levels = owner.header.levels;
        }
        self
    }

    /// Where a message about its target points.
    #[must_use]
    pub fn target_span(&self) -> Option<Span> {
        self.header.target.or(self.span)
    }

    /// Where a message about its entry points.
    #[must_use]
    pub fn entry_span(&self) -> Option<Span> {
        self.header.entry.or(self.span)
    }

    /// Where a message about one of its levels points.
    #[must_use]
    pub fn level_span(&self, at: usize) -> Option<Span> {
        self.header.levels.get(at).copied().flatten().or(self.span)
    }
}

/// What one attribute of a module attaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child<'c> {
    /// A module under its own name.
    One(Module<'c>),
    /// A tuple or list of modules, each under its own name, together under another.
    Group(Symbol<'c>, &'c [Module<'c>]),
}

impl<'c> Child<'c> {
    /// The attribute.
    #[must_use]
    pub fn name(self) -> Symbol<'c> {
        match self {
            Self::One(module) => module.name,
            Self::Group(name, _) => name,
        }
    }

    /// The modules.
    #[must_use]
    pub fn modules(&self) -> &[Module<'c>] {
        match self {
            Self::One(module) => std::slice::from_ref(module),
            Self::Group(_, modules) => modules,
        }
    }
}

/// A value of a module's metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetaValue<'c> {
    /// Absent.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float, as its bits.
    Float(u64),
    /// A string.
    Str(Symbol<'c>),
    /// A list.
    List(&'c [MetaValue<'c>]),
}

/// The hardware that runs a module or a TIR function; `tf-target` knows its facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target<'c> {
    /// Which code generator.
    pub kind: TargetKind,
    /// Device id, such as `nvidia.h200_sxm`; empty for the CPU.
    pub device: Symbol<'c>,
}

/// Families of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TargetKind {
    /// NVIDIA GPUs.
    Cuda,
    /// The host.
    Cpu,
    /// Apple's matrix units; nothing generates code for them.
    Amx,
}

impl fmt::Display for Target<'_> {
    /// The form of textual IR: the device id, or `cpu`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            TargetKind::Cuda | TargetKind::Amx => write!(f, "{}", self.device),
            TargetKind::Cpu => f.write_str("cpu"),
        }
    }
}

impl<'c> Module<'c> {
    /// The member function of that name.
    #[must_use]
    pub fn lookup(self, name: &str) -> Option<AnyFunction<'c>> {
        self.0.functions.iter().copied().find(|f| f.name().as_str() == name)
    }

    /// The function that `entry` names.
    #[must_use]
    pub fn entry_function(self) -> Option<AnyFunction<'c>> {
        self.lookup(self.0.entry?.as_str())
    }

    /// What a launch of that name starts: the member function, else the entry of the child module.
    #[must_use]
    pub fn launched(self, name: &str) -> Option<AnyFunction<'c>> {
        self.lookup(name).or_else(|| self.child(name)?.entry_function())
    }

    /// The child module of that name, in a group or not.
    #[must_use]
    pub fn child(self, name: &str) -> Option<Module<'c>> {
        self.child_modules().find(|child| child.name.as_str() == name)
    }

    /// All child modules, those of groups too.
    pub fn child_modules(self) -> impl Iterator<Item = Module<'c>> {
        self.data().children.iter().flat_map(|child| child.modules().iter().copied())
    }

    /// Members and instances.
    pub fn all_functions(self) -> impl Iterator<Item = AnyFunction<'c>> {
        let instances = self.data().instances.iter().map(|&instance| AnyFunction::Hir(instance));
        self.data().functions.iter().copied().chain(instances)
    }

    /// Itself and all modules below, owners first.
    #[must_use]
    pub fn tree(self) -> Vec<Module<'c>> {
        let mut modules = Vec::new();
        let mut stack = vec![self];
        while let Some(module) = stack.pop() {
            modules.push(module);
            let first = stack.len();
            stack.extend(module.child_modules());
            stack[first..].reverse();
        }
        modules
    }
}
