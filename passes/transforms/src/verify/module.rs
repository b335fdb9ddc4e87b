//! Rules of a module.

use rustc_hash::FxHashMap;
use tf_core::{Diagnostic, Module};

use super::{Errors, target};

/// The violations that concern no single function.
#[must_use]
pub fn module(module: Module<'_>) -> Vec<Diagnostic> {
    let mut errors = Errors::default();
    let mut first = FxHashMap::default();
    for function in module.functions {
        if let Some(earlier) = first.insert(function.name(), function.span()) {
            let error = errors
                .add(function.span(), format!("module `{}` has two functions `{}`", module.name, function.name()));
            if let (Some(span), Some(_)) = (earlier, error.span) {
                error.labels.push((span, "the first".to_owned()));
            }
        }
    }
    if let Some(entry) = module.entry.filter(|_| module.entry_function().is_none()) {
        let known: Vec<_> = module.functions.iter().map(|f| format!("`{}`", f.name())).collect();
        let message = format!("module `{}` has no function `{entry}` for its entry", module.name);
        errors.add(module.span, message).help = Some(match known.is_empty() {
            true => "it has no functions".to_owned(),
            false => format!("it has {}", known.join(", ")),
        });
    }
    match target::device(module) {
        Err(message) => {
            errors.add(module.span, message);
        }
        Ok(Some(device)) => {
            target::levels(&mut errors, &device, module.topologies.unwrap_or_default(), module.span);
        }
        Ok(None) => {}
    }
    recursion(&mut errors, module);
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
