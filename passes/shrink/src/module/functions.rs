//! Functions that go.

use std::ops::Range;

use rustc_hash::FxHashSet;
use tf_core::node::{FunctionData, HeaderSpans, ModuleData, TirCallee};
use tf_core::tree::{Replacements, replaced};
use tf_core::visit::{Cloning, Same, StmtMutator, rewrite_prim_function};
use tf_core::walk::stmt_exprs;
use tf_core::{AnyFunction, Callee, Context, ExprKind, Function, Module, Result, Stmt, StmtKind};
use tf_types::Symbol;

use super::edited;
use crate::ModuleReduction;
use crate::hir::{Site, computed, cut, free_functions};
use crate::reduction::functions;

/// Functions are taken out, with instances of them. Where one is called from a function that nothing calls, new parameters take the place
/// of its results; statements that call one go.
pub struct Functions;

impl ModuleReduction for Functions {
    fn name(&self) -> &'static str {
        "functions"
    }

    fn places<'c>(&self, _: &Context<'c>, module: Module<'c>) -> usize {
        functions(module).len()
    }

    fn apply<'c>(&self, cx: &Context<'c>, module: Module<'c>, places: Range<usize>) -> Result<Module<'c>> {
        let all = functions(module);
        if places.len() == all.len() {
            // A module without functions shows nothing.
            return Ok(module);
        }
        let mut gone: FxHashSet<AnyFunction<'c>> = all[places].iter().copied().collect();
        let is_of_gone = |function: &AnyFunction<'c>| match function {
            AnyFunction::Hir(function) => function.origin_of().is_some_and(|of| gone.contains(&AnyFunction::Hir(of))),
            AnyFunction::Tir(_) => false,
        };
        let instances: Vec<_> = all.iter().copied().filter(is_of_gone).collect();
        gone.extend(instances);
        let free = free_functions(module);
        let mut replacements = Replacements::default();
        for &function in all.iter().filter(|function| !gone.contains(*function)) {
            let new = match function {
                AnyFunction::Hir(function) => {
                    let gone = |callee: Function<'c>| gone.contains(&AnyFunction::Hir(callee));
                    without_calls(cx, Site { function, is_free: free.contains(&function) }, &gone)?
                        .map(AnyFunction::Hir)
                }
                AnyFunction::Tir(function) => {
                    let names = gone.iter().map(|function| function.name()).collect();
                    let new = rewrite_prim_function(&mut WithoutCalls(names), function, cx)?;
                    (new != function).then_some(AnyFunction::Tir(new))
                }
            };
            if let Some(new) = new {
                replacements.insert(function, new);
            }
        }
        replaced(cx, smaller_tree(cx, module, &gone), &replacements, &Function::callees)
    }
}

fn smaller_tree<'c>(cx: &Context<'c>, module: Module<'c>, gone: &FxHashSet<AnyFunction<'c>>) -> Module<'c> {
    edited(cx, module, &mut |_, data| {
        let members: Vec<_> = data.functions.iter().copied().filter(|function| !gone.contains(function)).collect();
        let is_kept = |instance: &Function<'c>| !gone.contains(&AnyFunction::Hir(*instance));
        let instances: Vec<_> = data.instances.iter().copied().filter(is_kept).collect();
        if members.len() == data.functions.len() && instances.len() == data.instances.len() {
            return None;
        }
        let entry = data.entry.filter(|entry| members.iter().any(|function| function.name() == *entry));
        let header = if entry == data.entry { data.header } else { HeaderSpans::default() };
        let (functions, instances) = (cx.alloc_slice(&members), cx.alloc_slice(&instances));
        Some(ModuleData { functions, instances, entry, header, ..data })
    })
}

/// The function with parameters in the place of calls of what goes; `None`: it has none.
fn without_calls<'c>(
    cx: &Context<'c>,
    site: Site<'c>,
    gone: &dyn Fn(Function<'c>) -> bool,
) -> Result<Option<Function<'c>>> {
    let Some(body) = site.function.body.filter(|_| site.is_free) else { return Ok(None) };
    let calls = computed(body).into_iter().filter(|value| match value.kind {
        ExprKind::Call { callee: Callee::Function(callee), .. } => gone(callee),
        _ => false,
    });
    let mut fresh = cut::Fresh::new(cx, site);
    let mut clone = Cloning::new(cx);
    let mut any = false;
    for call in calls {
        let Some(stand_in) = fresh.value(call.ty()) else { return Ok(None) };
        clone.replace(call, stand_in);
        any = true;
    }
    if !any {
        return Ok(None);
    }
    let results = cut::results(body).into_iter().map(|result| clone.visit(&mut Same, result));
    let results: Vec<_> = results.collect::<Result<_>>()?;
    let data: FunctionData<'c> = cut::with_results(cx, site, &results, &fresh.made);
    Ok(Some(cx.function(data)))
}

/// Statements that call functions of these names go.
struct WithoutCalls<'c>(FxHashSet<Symbol<'c>>);

impl<'c> StmtMutator<'c> for WithoutCalls<'c> {
    fn generic_mutate(&mut self, stmt: Stmt<'c>, cx: &Context<'c>) -> Result<Stmt<'c>> {
        let mut names = Vec::new();
        match stmt.kind {
            StmtKind::Evaluate { callee: TirCallee::Symbol(name), .. } => names.push(name),
            StmtKind::Dispatch { callee, .. } => names.push(callee),
            _ => {}
        }
        if matches!(stmt.kind, StmtKind::Evaluate { .. }) {
            stmt_exprs(stmt, |expr| {
                if let ExprKind::SymbolRef(name) = expr.kind {
                    names.push(name);
                }
            });
        }
        let calls = names.iter().any(|name| self.0.contains(name));
        Ok(if calls { cx.stmt(StmtKind::Sequential(&[]), stmt.span) } else { stmt })
    }
}
