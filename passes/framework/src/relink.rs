//! Calls follow the functions that a pass replaced.

use rustc_hash::FxHashMap;
use tf_core::node::ModuleData;
use tf_core::visit::redirect_calls;
use tf_core::{AnyFunction, Context, Function, Module, Result};

use crate::map_in_parallel;

type Replaced<'c> = FxHashMap<Function<'c>, Function<'c>>;

/// The module with `functions` in place of its own, member by member; calls of a replaced HIR function call the new one. Members call
/// only earlier ones, so one round in order is enough. The same module comes back if nothing changed.
///
/// # Errors
/// What type inference refuses.
pub(crate) fn with_functions<'c>(
    cx: &Context<'c>,
    module: Module<'c>,
    functions: &[AnyFunction<'c>],
) -> Result<Module<'c>> {
    if module.functions == functions {
        return Ok(module);
    }
    // Walking is most of the work, so it is done in parallel.
    let callees = map_in_parallel(cx, functions, |_, function| match function {
        AnyFunction::Hir(function) => function.callees(),
        AnyFunction::Tir(_) => Vec::new(),
    });
    let mut replaced = Replaced::default();
    let mut linked = Vec::with_capacity(functions.len());
    for ((&old, &new), callees) in module.functions.iter().zip(functions).zip(callees) {
        let (AnyFunction::Hir(old), AnyFunction::Hir(mut new)) = (old, new) else {
            linked.push(new);
            continue;
        };
        if callees.iter().any(|callee| replaced.contains_key(callee)) {
            new = cx.function(redirect_calls(cx, new, &|callee| replaced.get(&callee).copied())?);
        }
        if new != old {
            replaced.insert(old, new);
        }
        linked.push(AnyFunction::Hir(new));
    }
    Ok(cx.module(ModuleData { functions: cx.alloc_slice(&linked), ..*module }))
}
