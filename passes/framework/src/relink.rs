//! Calls follow the functions that a pass replaced.

use rustc_hash::FxHashMap;
use tf_core::node::{FunctionData, ModuleData};
use tf_core::visit::{Cloning, ExprCloner, clone_expr};
use tf_core::walk::post_order;
use tf_core::{AnyFunction, Callee, Context, Expr, ExprKind, Function, Module, Result};

use crate::map_in_parallel;

type Replaced<'c> = FxHashMap<Function<'c>, Function<'c>>;

struct Relink<'a, 'c>(&'a Replaced<'c>);

impl<'c> ExprCloner<'c> for Relink<'_, 'c> {
    fn clone_call(&mut self, call: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let rebuilt = clone.rebuild(call)?;
        let ExprKind::Call { callee: Callee::Function(old), args } = rebuilt.kind else { return Ok(rebuilt) };
        let Some(&new) = self.0.get(&old) else { return Ok(rebuilt) };
        Ok(clone.cx.expr(ExprKind::Call { callee: Callee::Function(new), args }, rebuilt.ty(), rebuilt.meta))
    }
}

/// The HIR functions that a function calls.
fn callees<'c>(function: AnyFunction<'c>) -> Vec<Function<'c>> {
    let AnyFunction::Hir(function) = function else { return Vec::new() };
    let body: Vec<_> = function.body.into_iter().collect();
    let calls = post_order(&body).into_iter().filter_map(|expr| match expr.kind {
        ExprKind::Call { callee: Callee::Function(callee), .. } => Some(callee),
        _ => None,
    });
    calls.collect()
}

/// The module with `functions` in place of its own, member by member; calls of a replaced HIR function call the new one. Members call
/// only earlier ones, so one round in order is enough. The same module comes back if nothing changed.
///
/// # Errors
/// What type inference refuses.
pub(crate) fn with_functions<'c>(
    cx: &Context<'c>,
    module: Module<'c>,
    functions: &[AnyFunction<'c>],
) -> Result<Module<'c>> {
    if module.functions == functions {
        return Ok(module);
    }
    // Walking is most of the work, so it is done in parallel.
    let callees = map_in_parallel(cx, functions, |_, &function| callees(function));
    let mut replaced = Replaced::default();
    let mut linked = Vec::with_capacity(functions.len());
    for ((&old, &new), callees) in module.functions.iter().zip(functions).zip(callees) {
        let (AnyFunction::Hir(old), AnyFunction::Hir(mut new)) = (old, new) else {
            linked.push(new);
            continue;
        };
        if callees.iter().any(|callee| replaced.contains_key(callee)) {
            let relinked = |body| clone_expr(cx, body, &mut Relink(&replaced));
            new = cx.function(FunctionData { body: new.body.map(relinked).transpose()?, ..*new });
        }
        if new != old {
            replaced.insert(old, new);
        }
        linked.push(AnyFunction::Hir(new));
    }
    Ok(cx.module(ModuleData { functions: cx.alloc_slice(&linked), ..*module }))
}
