//! Reductions of HIR functions.

mod attributes;
pub(crate) mod cut;
mod inline;
mod loops;
mod params;
mod replace;
mod results;

use std::ops::Range;

use rustc_hash::FxHashSet;
use tf_core::node::FunctionData;
use tf_core::tree::{Replacements, replaced};
use tf_core::visit::collect_exprs;
use tf_core::{AnyFunction, Context, Expr, ExprKind, Function, Module, Result};

use crate::reduction::{Share, functions};
use crate::{ModuleReduction, OnModule, Reduction};

/// A function, a variant or a converter.
#[derive(Clone, Copy)]
pub(crate) struct Site<'c> {
    /// It.
    pub function: Function<'c>,
    /// Whether parameters and results may change: nothing calls it.
    pub is_free: bool,
}

/// A reduction of one function at a time.
pub(crate) trait FunctionReduction: Send + Sync {
    /// What progress lines call it.
    fn name(&self) -> &'static str;

    /// How many places there are; none in a function without a body.
    fn places(&self, site: Site<'_>) -> usize;

    /// The function with these places reduced; `None`: they cannot be.
    ///
    /// # Errors
    /// What type inference refuses.
    fn apply<'c>(&self, cx: &Context<'c>, site: Site<'c>, places: Range<usize>) -> Result<Option<FunctionData<'c>>>;
}

/// A [`FunctionReduction`] over all functions of a tree.
struct OnFunctions<R>(R);

fn sites<'c>(function: Function<'c>, is_free: bool) -> impl Iterator<Item = Site<'c>> {
    function.with_parts().enumerate().map(move |(at, part)| Site { function: part, is_free: is_free && at == 0 })
}

/// The functions whose parameters and results may change: members that nothing calls or names.
pub(crate) fn free_functions<'c>(module: Module<'c>) -> FxHashSet<Function<'c>> {
    let tree = module.tree();
    if tree.iter().any(|module| !module.methods.is_empty()) {
        return FxHashSet::default();
    }
    let mut called: FxHashSet<Function<'c>> = FxHashSet::default();
    for function in functions(module) {
        if let AnyFunction::Hir(function) = function {
            called.extend(function.callees());
            called.extend(function.origin_of());
        }
    }
    let members = tree.iter().flat_map(|module| module.functions.iter());
    let free = members.filter_map(|function| match *function {
        AnyFunction::Hir(function) => Some(function),
        AnyFunction::Tir(_) => None,
    });
    free.filter(|function| !called.contains(function) && function.variants.is_empty() && function.converters.is_empty())
        .collect()
}

impl<R: FunctionReduction> ModuleReduction for OnFunctions<R> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn places<'c>(&self, _: &Context<'c>, module: Module<'c>) -> usize {
        let free = free_functions(module);
        let count = |function: AnyFunction<'c>| match function {
            AnyFunction::Hir(function) => {
                sites(function, free.contains(&function)).map(|site| self.0.places(site)).sum::<usize>()
            }
            AnyFunction::Tir(_) => 0,
        };
        functions(module).into_iter().map(count).sum()
    }

    fn apply<'c>(&self, cx: &Context<'c>, module: Module<'c>, places: Range<usize>) -> Result<Module<'c>> {
        let free = free_functions(module);
        let mut share = Share::new(places);
        let mut replacements = Replacements::default();
        for function in functions(module) {
            let AnyFunction::Hir(function) = function else { continue };
            let mut parts = Vec::new();
            for site in sites(function, free.contains(&function)) {
                let own = share.next(self.0.places(site));
                let new = if own.is_empty() { None } else { self.0.apply(cx, site, own)? };
                parts.push(new.map_or(site.function, |data| cx.function(data)));
            }
            if function.with_parts().eq(parts.iter().copied()) {
                continue;
            }
            let (variants, converters) = (function.variants.len(), function.converters);
            let mut data = *parts[0].data();
            data.variants = cx.alloc_slice(&parts[1..=variants]);
            let mut new = converters.to_vec();
            for (converter, &function) in new.iter_mut().zip(&parts[1 + variants..]) {
                converter.function = function;
            }
            data.converters = cx.alloc_slice(&new);
            replacements.insert(AnyFunction::Hir(function), AnyFunction::Hir(cx.function(data)));
        }
        if replacements.is_empty() {
            return Ok(module);
        }
        replaced(cx, module, &replacements, &Function::callees)
    }
}

/// What a body computes: calls and loops, operands first.
pub(crate) fn computed(body: Expr<'_>) -> Vec<Expr<'_>> {
    let mut values = collect_exprs(body);
    values.retain(|value| matches!(value.kind, ExprKind::Call { .. } | ExprKind::Grid(_)));
    values
}

fn on<R: FunctionReduction + 'static>(reduction: R) -> Box<dyn Reduction> {
    Box::new(OnModule(OnFunctions(reduction)))
}

/// All of them, those that cut most first.
pub(crate) fn reductions() -> Vec<Box<dyn Reduction>> {
    let mut all = vec![on(inline::Inline)];
    all.extend(crate::retype::variables());
    all.extend([on(cut::Cut), on(results::Flat), on(results::Results), on(params::Unused), on(params::Merged)]);
    all.extend(replace::Replace::all().map(on));
    all.extend(loops::Loops::all().map(on));
    all.extend(attributes::reductions());
    all.extend(crate::retype::reductions());
    all
}
