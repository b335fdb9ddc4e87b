//! What modules declare besides functions.

use std::ops::Range;

use tf_core::node::{HeaderSpans, ModuleData};
use tf_core::{Context, Module, Result};

use super::edited;
use crate::ModuleReduction;
use crate::reduction::Share;

/// What a module declares, one bit after the other: metadata, target, levels.
pub struct Header;

fn declared(data: &ModuleData<'_>) -> [bool; 3] {
    [!data.metadata.is_empty(), data.target.is_some(), data.topologies.is_some()]
}

fn count(data: &ModuleData<'_>) -> usize {
    declared(data).into_iter().filter(|has| *has).count()
}

/// The places that fall to each module of a tree, owners first.
fn shared(module: Module<'_>, places: Range<usize>, count: impl Fn(&ModuleData<'_>) -> usize) -> Vec<Range<usize>> {
    let mut share = Share::new(places);
    module.tree().into_iter().map(|module| share.next(count(&module))).collect()
}

impl ModuleReduction for Header {
    fn name(&self) -> &'static str {
        "declarations of modules"
    }

    fn places<'c>(&self, _: &Context<'c>, module: Module<'c>) -> usize {
        module.tree().iter().map(|module| count(module)).sum()
    }

    fn apply<'c>(&self, cx: &Context<'c>, module: Module<'c>, places: Range<usize>) -> Result<Module<'c>> {
        let shares = shared(module, places, count);
        Ok(edited(cx, module, &mut |number, mut data| {
            let own = &shares[number];
            if own.is_empty() {
                return None;
            }
            let mut at = 0;
            for (what, has) in declared(&data).into_iter().enumerate() {
                if has && own.contains(&at) {
                    match what {
                        0 => data.metadata = &[],
                        1 => data.target = None,
                        _ => data.topologies = None,
                    }
                }
                at += usize::from(has);
            }
            data.header = HeaderSpans::default();
            Some(data)
        }))
    }
}

/// Modules have no entry: each function stands for itself.
pub struct Entry;

impl ModuleReduction for Entry {
    fn name(&self) -> &'static str {
        "entries"
    }

    fn places<'c>(&self, _: &Context<'c>, module: Module<'c>) -> usize {
        module.tree().iter().filter(|module| module.entry.is_some()).count()
    }

    fn apply<'c>(&self, cx: &Context<'c>, module: Module<'c>, places: Range<usize>) -> Result<Module<'c>> {
        let shares = shared(module, places, |data| usize::from(data.entry.is_some()));
        Ok(edited(cx, module, &mut |number, data| {
            let gone = !shares[number].is_empty();
            gone.then_some(ModuleData { entry: None, header: HeaderSpans::default(), ..data })
        }))
    }
}

/// Orchestration methods go.
pub struct Methods;

impl ModuleReduction for Methods {
    fn name(&self) -> &'static str {
        "methods"
    }

    fn places<'c>(&self, _: &Context<'c>, module: Module<'c>) -> usize {
        module.tree().iter().map(|module| module.methods.len()).sum()
    }

    fn apply<'c>(&self, cx: &Context<'c>, module: Module<'c>, places: Range<usize>) -> Result<Module<'c>> {
        let shares = shared(module, places, |data| data.methods.len());
        Ok(edited(cx, module, &mut |number, data| {
            let mut kept = data.methods.to_vec();
            let own = shares[number].clone();
            let changes = !own.is_empty();
            kept.drain(own);
            changes.then(|| ModuleData { methods: cx.alloc_slice(&kept), ..data })
        }))
    }
}
