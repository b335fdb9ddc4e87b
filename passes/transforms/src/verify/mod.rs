//! `verify`: the rules of functions and modules.

mod calls;
mod hir;
mod module;
mod placement;
mod scope;
mod target;
mod tir;
mod values;

use tf_core::tree::in_context;
use tf_core::{AnyFunction, Context, Diagnostic, Module, Result};
use tf_framework::{Pass, PassCx, map_in_parallel};

pub use module::module;

/// Checks the rules of modules, HIR functions, TIR functions and targets.
///
/// Module: unique names, an entry that exists, no recursion, levels that the target has and within its limits, weights of one type, calls
/// with the caller's target and levels. HIR: parameters with distinct names and a storage, one range for each dim, every variable bound
/// where it is used, meshes that share out their levels. TIR: one binding for each variable, of its value's type;
/// allocations that are bound; meshes that are open; integer bounds, truth values as conditions; calls, launches and intrinsics that fit.
/// All violations are reported.
#[derive(Clone, Pass)]
#[pass(name = "verify")]
pub struct Verify {}

impl Pass for Verify {
    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        let context = cx.context();
        let mut members = Vec::new();
        for owner in in_context(module, context) {
            members.extend(owner.all_functions().map(|function| (function, owner)));
        }
        let found = map_in_parallel(context, &members, |cx, &(member, owner)| {
            let mut errors = function(member, owner, cx);
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
    match function {
        AnyFunction::Hir(hir) => hir::function(hir, module),
        AnyFunction::Tir(tir) => tir::function(tir, module, cx),
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
