//! The rules of one module's own level.

use rustc_hash::FxHashMap;
use tf_types::Symbol;

use crate::node::{Child, Module};
use crate::{Diagnostic, Span};

/// The rules that a module breaks at its own level: disjoint names, an entry that exists, levels that are named once, children
/// without a target.
#[must_use]
pub fn check_module(module: Module<'_>) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    names(module, &mut errors);
    if let Some(entry) = module.entry.filter(|_| module.entry_function().is_none()) {
        let known: Vec<_> = module.functions.iter().map(|f| format!("`{}`", f.name())).collect();
        let help =
            if known.is_empty() { "it has no functions".to_owned() } else { format!("it has {}", known.join(", ")) };
        let message = format!("module `{}` has no function `{entry}` for its entry", module.name);
        errors.push(Diagnostic::error(message).at(module.entry_span()).with_help(help));
    }
    let levels = module.topologies.unwrap_or_default();
    for (at, level) in levels.iter().enumerate() {
        if let Some(first) = levels[..at].iter().position(|earlier| earlier.name == level.name) {
            let message = format!("module `{}` declares the level `{}` twice", module.name, level.name);
            let mut error = Diagnostic::error(message).at(module.level_span(at));
            error.labels.extend(module.level_span(first).map(|first| (first, "the first".to_owned())));
            errors.push(error);
        }
    }
    for child in module.child_modules() {
        if let Some(target) = child.target {
            let message = format!("child module `{}` of `{}` declares the target {target}", child.name, module.name);
            let help = "only the outermost module declares a target; the others have that of their owner";
            errors.push(Diagnostic::error(message).at(child.target_span()).at(module.span).with_help(help));
        }
    }
    errors
}

/// One name is one function, child or method.
fn names<'c>(module: Module<'c>, errors: &mut Vec<Diagnostic>) {
    let mut taken: FxHashMap<Symbol<'c>, (&str, Option<Span>)> = FxHashMap::default();
    let mut claim = |name: Symbol<'c>, what: &'static str, span: Option<Span>| {
        let Some(&(other, first)) = taken.get(&name) else {
            taken.insert(name, (what, span));
            return;
        };
        let message = match other == what {
            true => format!("module `{}` has two {what}s `{name}`", module.name),
            false => format!("module `{}` has a {other} and a {what} `{name}`", module.name),
        };
        let mut error = Diagnostic::error(message).at(span).at(module.span);
        if let Some(first) = first.filter(|_| span.is_some()) {
            error.labels.push((first, "the first".to_owned()));
        }
        errors.push(error);
    };
    for function in module.functions {
        claim(function.name(), "function", function.span());
    }
    for child in module.children {
        if let Child::Group(name, _) = *child {
            claim(name, "group of child modules", module.span);
        }
        for below in child.modules() {
            claim(below.name, "child module", below.span);
        }
    }
    for method in module.methods {
        claim(method.name, "method", method.span);
    }
}
