//! Reductions of modules as wholes.

mod declared;
mod functions;
mod nested;
mod variants;

use tf_core::node::{Child, ModuleData};
use tf_core::{Context, Module};

use crate::{OnModule, Reduction};

/// All of them, those that cut most first.
pub(crate) fn reductions() -> Vec<Box<dyn Reduction>> {
    vec![
        Box::new(OnModule(nested::Lifted)),
        Box::new(OnModule(nested::Children)),
        Box::new(OnModule(declared::Methods)),
        Box::new(OnModule(declared::Entry)),
        Box::new(OnModule(functions::Functions)),
        Box::new(OnModule(variants::Chosen)),
        Box::new(OnModule(variants::Variants)),
        Box::new(OnModule(variants::Converters)),
        Box::new(OnModule(declared::Header)),
    ]
}

/// The tree with other data in its modules, children first; `edit` gets the number of a module, owners first, and its data over edited
/// children. What it leaves as it was stays the same module.
fn edited<'c>(
    cx: &Context<'c>,
    root: Module<'c>,
    edit: &mut dyn FnMut(usize, ModuleData<'c>) -> Option<ModuleData<'c>>,
) -> Module<'c> {
    let tree = root.tree();
    let mut new: rustc_hash::FxHashMap<Module<'c>, Module<'c>> = rustc_hash::FxHashMap::default();
    for (number, &module) in tree.iter().enumerate().rev() {
        let children = module.children.iter().map(|child| match *child {
            Child::One(child) => Child::One(new[&child]),
            Child::Group(name, modules) => {
                let modules: Vec<_> = modules.iter().map(|child| new[child]).collect();
                Child::Group(name, cx.alloc_slice(&modules))
            }
        });
        let children: Vec<_> = children.collect();
        let is_same = module.child_modules().all(|child| new[&child] == child);
        let data = if is_same { *module } else { ModuleData { children: cx.alloc_slice(&children), ..*module } };
        let made = match edit(number, data) {
            Some(data) => cx.module(data),
            None if is_same => module,
            None => cx.module(data),
        };
        new.insert(module, made);
    }
    new[&root]
}
