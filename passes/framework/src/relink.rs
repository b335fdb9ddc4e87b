//! Calls follow the functions that a pass replaced.

use rustc_hash::FxHashMap;
use tf_core::node::FunctionData;
use tf_core::tree::{Replacements, exchanged, in_context, replaced};
use tf_core::{AnyFunction, Context, Function, Module, Result};

use crate::map_in_parallel;

/// The functions of a tree, instances too, each with its module, which has the target and levels that it has through its owners.
pub(crate) fn functions<'c>(cx: &Context<'c>, root: Module<'c>) -> Vec<(AnyFunction<'c>, Module<'c>)> {
    let modules = in_context(root, cx);
    let members = modules.iter().flat_map(|&module| module.all_functions().map(move |function| (function, module)));
    members.collect()
}

/// The tree with functions in the place of others; see [`replaced`]. `refers` says whether any of them, old or new, refers to another.
///
/// # Errors
/// What type inference refuses.
pub(crate) fn with_functions<'c>(
    cx: &Context<'c>,
    root: Module<'c>,
    replacements: &Replacements<'c>,
    refers: bool,
) -> Result<Module<'c>> {
    if replacements.is_empty() {
        return Ok(root);
    }
    if !refers {
        return exchanged(cx, root, replacements);
    }
    // Walking is most of the work where there are calls, so it is done in parallel.
    let members = root.tree().into_iter().flat_map(|module| module.all_functions());
    let callers: Vec<Function<'c>> = members
        .chain(replacements.values().copied())
        .filter_map(|function| match function {
            AnyFunction::Hir(function) => function.calls_functions().then_some(function),
            AnyFunction::Tir(_) => None,
        })
        .collect();
    let callees = map_in_parallel(cx, &callers, |_, function| function.callees());
    let known: FxHashMap<_, _> = callers.into_iter().zip(callees).collect();
    replaced(cx, root, replacements, &|function| known.get(&function).cloned().unwrap_or_else(|| function.callees()))
}

/// What `run` makes of a function, its variants and its converters.
///
/// # Errors
/// What `run` refuses.
pub(crate) fn each_part<'c>(
    cx: &Context<'c>,
    function: Function<'c>,
    run: impl Fn(Function<'c>) -> Result<Function<'c>>,
) -> Result<Function<'c>> {
    let new = run(function)?;
    let variants = new.variants.iter().map(|&variant| run(variant)).collect::<Result<Vec<_>>>()?;
    let mut converters = new.converters.to_vec();
    for converter in &mut converters {
        converter.function = run(converter.function)?;
    }
    if variants == new.variants && converters == new.converters {
        return Ok(new);
    }
    let (variants, converters) = (cx.alloc_slice(&variants), cx.alloc_slice(&converters));
    Ok(cx.function(FunctionData { variants, converters, ..*new }))
}
