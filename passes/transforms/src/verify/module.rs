//! Rules of a module.

use tf_core::tree::in_context;
use tf_core::{Context, Diagnostic, Module, ModuleIndex};

use super::{Errors, calls, target};

/// The violations of a tree of modules that concern no single function.
#[must_use]
pub fn module<'c>(root: Module<'c>, cx: &Context<'c>) -> Vec<Diagnostic> {
    let mut errors = Errors::default();
    match ModuleIndex::new(root) {
        Ok(index) => calls::tree(&mut errors, &index),
        Err(found) => errors.0 = found,
    }
    errors.0.extend(root.tree().into_iter().filter_map(|module| module.weights().err()));
    match target::device(root) {
        Err(message) => {
            errors.add(root.target_span(), message);
        }
        Ok(Some(device)) => {
            for module in root.tree() {
                target::levels(&mut errors, device, module.topologies.unwrap_or_default(), |at| module.level_span(at));
            }
        }
        Ok(None) => {}
    }
    for module in in_context(root, cx) {
        recursion(&mut errors, module);
    }
    errors.0
}

/// Functions must not call themselves, directly or through others.
fn recursion(errors: &mut Errors, module: Module<'_>) {
    let calls = tf_dataflow::call_graph(module);
    for cycle in tf_dataflow::call_cycles(&calls) {
        let names: Vec<_> = cycle.iter().map(|&at| format!("`{}`", module.functions[at].name())).collect();
        let message = match names.as_slice() {
            [one] => format!("{one} calls itself"),
            many => format!("{} call each other", many.join(", ")),
        };
        errors.add(module.functions[cycle[0]].span(), message);
    }
}
