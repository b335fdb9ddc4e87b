//! Calls of HIR functions across a tree of modules.

use tf_core::walk::post_order;
use tf_core::{AnyFunction, Callee, Expr, ExprKind, Function, Module, ModuleIndex};
use tf_types::Topology;

use super::Errors;

/// The calls of a tree: of functions that it has, with the target and levels of the caller, and with constants unless the callee is a
/// direct child's.
pub fn tree<'c>(errors: &mut Errors, index: &ModuleIndex<'c>) {
    for module in index.root().tree() {
        for function in module.all_functions() {
            let AnyFunction::Hir(function) = function else { continue };
            let bodies: Vec<_> = function.bodies().filter(|body| body.calls_functions).collect();
            for expr in post_order(&bodies) {
                if let ExprKind::Call { callee: Callee::Function(callee), args } = expr.kind {
                    call(errors, index, (module, function), expr, callee, args.len());
                }
            }
        }
    }
}

fn call<'c>(
    errors: &mut Errors,
    index: &ModuleIndex<'c>,
    (module, caller): (Module<'c>, Function<'c>),
    expr: Expr<'c>,
    callee: Function<'c>,
    count: usize,
) {
    let (span, name) = (expr.span().or(caller.span), callee.name);
    let Some(owner) = index.owner(AnyFunction::Hir(callee)) else {
        let message = format!("`{}` calls `{name}`, which no module of `{}` has", caller.name, index.root().name);
        errors.add(span, message);
        return;
    };
    let constants = callee.params.iter().filter(|param| param.is_const_param()).count();
    if constants > 0 {
        let wanted = match index.parent(owner) == Some(module) {
            true => callee.params.len() - constants,
            false => callee.params.len(),
        };
        if count != wanted {
            let message = format!("`{name}` of `{}` takes {wanted} arguments, found {count}", owner.name);
            errors.add(span, message).help =
                Some("calls leave the constants of a direct child out, and only those".to_owned());
        }
    }
    if owner == module {
        return;
    }
    let target = |module| index.resolve_target(module).ok();
    let (own, other) = (index.effective_topologies(module), index.effective_topologies(owner));
    if target(module) != target(owner) || own != other {
        let message = format!(
            "`{}` of `{}`, whose levels are {}, calls `{name}` of `{}`, whose levels are {}",
            caller.name,
            module.name,
            levels(own),
            owner.name,
            levels(other)
        );
        errors.add(span, message).help = Some("a call stays in one kernel: both sides need the same levels".to_owned());
    }
}

fn levels(levels: &[Topology<'_>]) -> String {
    match levels {
        [] => "none".to_owned(),
        _ => levels.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x "),
    }
}
