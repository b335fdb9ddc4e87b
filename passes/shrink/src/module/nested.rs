//! Child modules.

use std::ops::Range;

use tf_core::node::{Child, ModuleData};
use tf_core::tree::{completed, in_context};
use tf_core::{Context, Module, Result};

use super::edited;
use crate::ModuleReduction;

/// A child takes the place of the whole tree, with the target and the levels that it has through its owners.
pub struct Lifted;

impl ModuleReduction for Lifted {
    fn name(&self) -> &'static str {
        "child modules in the place of the tree"
    }

    fn places<'c>(&self, _: &Context<'c>, module: Module<'c>) -> usize {
        module.child_modules().count()
    }

    fn apply<'c>(&self, cx: &Context<'c>, module: Module<'c>, places: Range<usize>) -> Result<Module<'c>> {
        if places.len() != 1 {
            return Ok(module);
        }
        let Some(child) = module.child_modules().nth(places.start) else { return Ok(module) };
        // What the child calls elsewhere in the tree becomes its own.
        let at = module.tree().iter().position(|other| *other == child);
        let whole = at.and_then(|at| in_context(module, cx).get(at).copied());
        completed(cx, whole.unwrap_or(child))
    }
}

/// Child modules go.
pub struct Children;

impl ModuleReduction for Children {
    fn name(&self) -> &'static str {
        "child modules"
    }

    fn places<'c>(&self, _: &Context<'c>, module: Module<'c>) -> usize {
        module.tree().iter().map(|module| module.children.len()).sum()
    }

    fn apply<'c>(&self, cx: &Context<'c>, module: Module<'c>, places: Range<usize>) -> Result<Module<'c>> {
        let starts: Vec<usize> = module
            .tree()
            .iter()
            .scan(0, |next, module| {
                let start = *next;
                *next += module.children.len();
                Some(start)
            })
            .collect();
        let new = edited(cx, module, &mut |number, data| {
            let kept = data.children.iter().enumerate().filter(|(at, _)| !places.contains(&(starts[number] + at)));
            let kept: Vec<Child<'c>> = kept.map(|(_, child)| *child).collect();
            (kept.len() != data.children.len()).then(|| ModuleData { children: cx.alloc_slice(&kept), ..data })
        });
        // Calls of what went get instances.
        completed(cx, new)
    }
}
