//! Nodes of a tree by path, and the module that a lone function is.

use rustc_hash::{FxHashMap, FxHashSet};
use tf_types::Symbol;

use super::{ModuleIndex, Replacements, completed, replaced};
use crate::node::{AnyFunction, Function, FunctionData, Module, ModuleData};
use crate::special::with_origins;
use crate::{Context, Diagnostic, Result};

/// The module at a dotted path, with the target and levels that it has through its owners; where the path ends in one of its
/// functions, with that function as its entry. The empty path is `root` itself.
///
/// # Errors
/// An empty segment; a segment that names nothing; a tree that is wrong.
pub fn select<'c>(cx: &Context<'c>, root: Module<'c>, path: &str) -> Result<Module<'c>> {
    if path.is_empty() {
        return Ok(root);
    }
    let index = ModuleIndex::new(root).map_err(|mut errors| errors.swap_remove(0))?;
    let mut module = root;
    let mut entry = None;
    let mut segments = path.split('.').peekable();
    while let Some(segment) = segments.next() {
        let refuse = |message: String| Err(Diagnostic::error(message).at(module.span));
        if segment.is_empty() {
            return refuse(format!("the path `{path}` has an empty segment"));
        }
        let is_last = segments.peek().is_none();
        match (module.child(segment), module.lookup(segment)) {
            (Some(child), _) => module = child,
            (None, Some(function)) if is_last => entry = Some(function.name()),
            (None, Some(_)) => {
                return refuse(format!(
                    "`{segment}` in the path `{path}` is a function, and only the last segment may be one"
                ));
            }
            (None, None) => {
                let what = if is_last { "child module or function" } else { "child module" };
                return refuse(format!("module `{}` has no {what} `{segment}`, in the path `{path}`", module.name));
            }
        }
    }
    let mut data = index.chain(module).skip(1).fold(*module, |data, owner| data.inheriting(&owner));
    if entry.is_some() {
        data.entry = entry;
        data.header.entry = None;
    }
    Ok(cx.module(data))
}

/// Every HIR function of the tree with the path that [`select`] takes for it, in source order, parents before children.
#[must_use]
pub fn function_selectors(root: Module<'_>) -> Vec<(String, Function<'_>)> {
    let mut found = Vec::new();
    let mut stack = vec![(root, String::new())];
    while let Some((module, prefix)) = stack.pop() {
        for function in module.functions {
            if let AnyFunction::Hir(function) = *function {
                found.push((format!("{prefix}{}", function.name), function));
            }
        }
        let first = stack.len();
        stack.extend(module.child_modules().map(|child| (child, format!("{prefix}{}.", child.name))));
        stack[first..].reverse();
    }
    found
}

/// The module of a function that stands alone: the function as its entry, what it calls, and the instances among that. `declared`
/// has the target and the levels that it declares. Functions of one name get others: `f_1`, where the entry keeps its own.
///
/// # Errors
/// A malformed body.
pub fn implicit_module<'c>(cx: &Context<'c>, entry: AnyFunction<'c>, declared: &ModuleData<'c>) -> Result<Module<'c>> {
    let functions: Vec<_> = match entry {
        AnyFunction::Hir(function) => {
            let all = with_origins(&[function]).into_iter();
            all.filter(|reached| *reached == function || reached.origin_of().is_none()).map(AnyFunction::Hir).collect()
        }
        tir @ AnyFunction::Tir(_) => vec![tir],
    };
    let name: Symbol<'c> = entry.name();
    let renamed = renamed(cx, entry, &functions);
    let (functions, span) = (cx.alloc_slice(&functions), entry.span());
    let members = ModuleData { functions, entry: Some(name), span, ..ModuleData::new(name).inheriting(declared) };
    let module = cx.module(members);
    completed(cx, if renamed.is_empty() { module } else { replaced(cx, module, &renamed, &Function::callees)? })
}

/// Those of the functions whose name another has, under names of their own.
fn renamed<'c>(cx: &Context<'c>, entry: AnyFunction<'c>, functions: &[AnyFunction<'c>]) -> Replacements<'c> {
    let mut names: FxHashSet<Symbol<'c>> = functions.iter().map(|function| function.name()).collect();
    if names.len() == functions.len() {
        return Replacements::default();
    }
    let mut kept = FxHashSet::from_iter([entry.name()]);
    let mut numbers: FxHashMap<Symbol<'c>, usize> = FxHashMap::default();
    let mut renamed = Replacements::default();
    for &function in functions.iter().filter(|function| **function != entry) {
        let AnyFunction::Hir(old) = function else { continue };
        if kept.insert(old.name) {
            continue;
        }
        let number = numbers.entry(old.name).or_insert(0);
        let name = loop {
            *number += 1;
            let name = cx.symbol(&format!("{}_{number}", old.name));
            if names.insert(name) {
                break name;
            }
        };
        renamed.insert(function, AnyFunction::Hir(cx.function(FunctionData { name, ..*old.data() })));
    }
    renamed
}
