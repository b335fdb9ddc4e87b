//! Dispatch prototypes and converters.

use std::ops::Range;

use tf_core::node::FunctionData;
use tf_core::tree::{Replacements, replaced};
use tf_core::{AnyFunction, Context, DimVarRangePat, Function, Module, Result};

use crate::ModuleReduction;
use crate::reduction::{Share, functions};

/// Replaces HIR functions by what `edit` makes of them and their places.
fn each<'c>(
    cx: &Context<'c>,
    module: Module<'c>,
    places: Range<usize>,
    count: fn(Function<'c>) -> usize,
    edit: &dyn Fn(Function<'c>, Range<usize>) -> Option<FunctionData<'c>>,
) -> Result<Module<'c>> {
    let mut share = Share::new(places);
    let mut replacements = Replacements::default();
    for function in hir(module) {
        let own = share.next(count(function));
        if let Some(new) = edit(function, own.clone()).filter(|_| !own.is_empty()) {
            replacements.insert(AnyFunction::Hir(function), AnyFunction::Hir(cx.function(new)));
        }
    }
    replaced(cx, module, &replacements, &Function::callees)
}

fn hir<'c>(module: Module<'c>) -> impl Iterator<Item = Function<'c>> {
    functions(module).into_iter().filter_map(|function| match function {
        AnyFunction::Hir(function) => Some(function),
        AnyFunction::Tir(_) => None,
    })
}

/// Variants go, and those that are left are for their values too.
pub struct Variants;

/// The variants with ranges that cover what `all` covered; `None` where they are for more than one dim.
fn covering<'c>(cx: &Context<'c>, all: &[Function<'c>], kept: &[Function<'c>]) -> Option<Vec<Function<'c>>> {
    let range = |variant: &Function<'c>| match *variant.specializations {
        [range] => Some(range),
        _ => None,
    };
    let ranges: Vec<_> = all.iter().map(range).collect::<Option<_>>()?;
    let (lo, hi) = (ranges.iter().map(|range| range.lo).min()?, ranges.iter().map(|range| range.hi).max()?);
    let mut kept: Vec<_> = kept.iter().map(|variant| Some((range(variant)?, *variant))).collect::<Option<_>>()?;
    kept.sort_by_key(|(range, _)| range.lo);
    let starts: Vec<i64> = kept.iter().map(|(range, _)| range.lo).collect();
    let wider = kept.into_iter().enumerate().map(|(at, (range, variant))| {
        let lo = if at == 0 { lo } else { range.lo };
        let hi = starts.get(at + 1).copied().unwrap_or(hi);
        let specializations = cx.alloc_slice(&[DimVarRangePat { lo, hi, ..range }]);
        cx.function(FunctionData { specializations, ..*variant })
    });
    Some(wider.collect())
}

impl ModuleReduction for Variants {
    fn name(&self) -> &'static str {
        "variants"
    }

    fn places<'c>(&self, _: &Context<'c>, module: Module<'c>) -> usize {
        hir(module).map(|function| function.variants.len()).sum()
    }

    fn apply<'c>(&self, cx: &Context<'c>, module: Module<'c>, places: Range<usize>) -> Result<Module<'c>> {
        each(cx, module, places, |function| function.variants.len(), &|function, own| {
            let mut kept = function.variants.to_vec();
            kept.drain(own);
            let kept = covering(cx, function.variants, &kept).filter(|kept| !kept.is_empty())?;
            Some(FunctionData { variants: cx.alloc_slice(&kept), ..*function })
        })
    }
}

/// A prototype becomes the function that one of its variants is.
pub struct Chosen;

impl ModuleReduction for Chosen {
    fn name(&self) -> &'static str {
        "prototypes by variants"
    }

    fn places<'c>(&self, _: &Context<'c>, module: Module<'c>) -> usize {
        hir(module).map(|function| function.variants.len()).sum()
    }

    fn apply<'c>(&self, cx: &Context<'c>, module: Module<'c>, places: Range<usize>) -> Result<Module<'c>> {
        each(cx, module, places, |function| function.variants.len(), &|function, own| {
            let variant = function.variants.get(own.start)?;
            let converters = function.converters;
            Some(FunctionData { name: function.name, specializations: &[], label: None, converters, ..**variant })
        })
    }
}

/// Converters of weights go.
pub struct Converters;

impl ModuleReduction for Converters {
    fn name(&self) -> &'static str {
        "converters"
    }

    fn places<'c>(&self, _: &Context<'c>, module: Module<'c>) -> usize {
        hir(module).map(|function| function.converters.len()).sum()
    }

    fn apply<'c>(&self, cx: &Context<'c>, module: Module<'c>, places: Range<usize>) -> Result<Module<'c>> {
        each(cx, module, places, |function| function.converters.len(), &|function, own| {
            let mut kept = function.converters.to_vec();
            kept.drain(own);
            Some(FunctionData { converters: cx.alloc_slice(&kept), ..*function })
        })
    }
}
