//! `verify`: the rules of functions and modules.

mod calls;
mod hir;
mod module;
mod placement;
mod scope;
mod target;
mod tir;
mod values;

use rustc_hash::FxHashMap;
use tf_core::tree::in_context;
use tf_core::{AnyFunction, Context, Diagnostic, Module, Result};
use tf_framework::{Pass, PassCx, map_in_parallel};
use tf_types::Symbol;

pub use module::module;

/// Checks the rules of modules, HIR functions, TIR functions and targets.
///
/// Module: unique names, an entry that exists, no recursion, levels that the target has and within its limits, weights of one type, calls
/// with the caller's target and levels. HIR: parameters with distinct names and a storage, one range for each dim, every variable bound
/// where it is used, layouts that list each element of their value once, meshes that share out their levels. TIR: one binding for each
/// variable, of its value's type; allocations that are bound; meshes that are open; integer bounds, truth values as conditions; calls,
/// launches and intrinsics that fit. All violations are reported.
#[derive(Clone, Pass)]
#[pass(name = "verify")]
pub struct Verify {}

impl Pass for Verify {
    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        let context = cx.context();
        let (mut members, mut names) = (Vec::new(), Vec::new());
        for owner in in_context(module, context) {
            let at = names.len();
            names.push(Names::indexed(owner));
            members.extend(owner.all_functions().map(|function| (function, at)));
        }
        let found = map_in_parallel(context, &members, |cx, &(member, owner)| {
            let mut errors = function_among(member, &names[owner], cx);
            for error in &mut errors {
                error.notes.push((None, format!("in function `{}`", member.name())));
            }
            errors
        });
        let modules = self::module(module, context);
        modules.into_iter().chain(found.into_iter().flatten()).for_each(|error| cx.emit(error));
        Ok(module)
    }
}

/// The violations in one function.
#[must_use]
pub fn function<'c>(function: AnyFunction<'c>, module: Module<'c>, cx: &Context<'c>) -> Vec<Diagnostic> {
    function_among(function, &Names { module, index: None }, cx)
}

fn function_among<'c>(function: AnyFunction<'c>, names: &Names<'c>, cx: &Context<'c>) -> Vec<Diagnostic> {
    match function {
        AnyFunction::Hir(hir) => hir::function(hir, names.module, cx),
        AnyFunction::Tir(tir) => tir::function(tir, names, cx),
    }
}

/// What the names stand for that functions of a module call and launch.
struct Names<'c> {
    module: Module<'c>,
    /// Functions and children by name, for the functions of a whole module; one alone looks each of its names up.
    index: Option<(FxHashMap<Symbol<'c>, AnyFunction<'c>>, FxHashMap<Symbol<'c>, Module<'c>>)>,
}

impl<'c> Names<'c> {
    fn indexed(module: Module<'c>) -> Self {
        let (mut functions, mut children) = (FxHashMap::default(), FxHashMap::default());
        for &function in module.functions {
            functions.entry(function.name()).or_insert(function);
        }
        for child in module.child_modules() {
            children.entry(child.name).or_insert(child);
        }
        Self { module, index: Some((functions, children)) }
    }

    /// As [`Module::lookup`].
    fn lookup(&self, name: Symbol<'c>) -> Option<AnyFunction<'c>> {
        match &self.index {
            Some((functions, _)) => functions.get(&name).copied(),
            None => self.module.lookup(name.as_str()),
        }
    }

    /// As [`Module::launched`].
    fn launched(&self, name: Symbol<'c>) -> Option<AnyFunction<'c>> {
        match &self.index {
            Some((_, children)) => self.lookup(name).or_else(|| children.get(&name)?.entry_function()),
            None => self.module.launched(name.as_str()),
        }
    }
}

/// A list of errors about one function.
#[derive(Default)]
struct Errors(Vec<Diagnostic>);

impl Errors {
    fn add(&mut self, at: impl Into<Option<tf_core::Span>>, message: String) -> &mut Diagnostic {
        self.0.push(Diagnostic::error(message).at(at));
        self.0.last_mut().expect("one was pushed")
    }
}
