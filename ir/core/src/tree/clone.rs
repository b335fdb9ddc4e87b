//! Independent copies of modules.

use rustc_hash::FxHashMap;
use tf_types::Symbol;

use crate::node::{
    AnyFunction, Child, Function, Module, ModuleData, Origin, PrimFunction, PrimFunctionData, Stmt, StmtKind,
};
use crate::special::{Copier, with_origins};
use crate::visit::{StmtMutator, rewrite_stmt};
use crate::walk::rebuild_stmt_exprs;
use crate::{Context, Diagnostic, Result};

/// A copy of a tree: functions, bodies and children are new nodes, and calls of its functions are calls of the copies. Types,
/// targets and levels are shared, and what it calls outside.
///
/// # Errors
/// A malformed body.
pub fn cloned<'c>(cx: &Context<'c>, root: Module<'c>) -> Result<Module<'c>> {
    let tree = root.tree();
    let own: Vec<Function<'c>> = tree
        .iter()
        .flat_map(|module| module.all_functions())
        .filter_map(|function| match function {
            AnyFunction::Hir(function) => Some(function),
            AnyFunction::Tir(_) => None,
        })
        .collect();
    let mut copier = Copier::new(cx, Vec::new());
    let members: rustc_hash::FxHashSet<_> = own.iter().copied().collect();
    for function in with_origins(&own) {
        if members.contains(&function) {
            let mut copy = copier.function(function)?;
            let origin = copy.origin.and_then(|origin| Some((origin, copier.redirected(origin.function?)?)));
            if let Some((origin, from)) = origin {
                let origin = Some(Origin { function: Some(from), ..origin });
                copy = cx.function(crate::node::FunctionData { origin, ..*copy });
            }
            copier.redirect(function, copy);
        }
    }
    let mut modules: FxHashMap<Module<'c>, Module<'c>> = FxHashMap::default();
    for &module in tree.iter().rev() {
        let mut functions = module.functions.to_vec();
        for function in &mut functions {
            *function = match *function {
                AnyFunction::Hir(old) => AnyFunction::Hir(copier.redirected(old).unwrap_or(old)),
                AnyFunction::Tir(old) => AnyFunction::Tir(prim_function(cx, &mut copier, old)?),
            };
        }
        let instances: Vec<_> = module.instances.iter().map(|&old| copier.redirected(old).unwrap_or(old)).collect();
        let mut children = module.children.to_vec();
        for child in &mut children {
            *child = match *child {
                Child::One(old) => Child::One(modules[&old]),
                Child::Group(name, old) => {
                    let new: Vec<_> = old.iter().map(|old| modules[old]).collect();
                    Child::Group(name, cx.alloc_slice(&new))
                }
            };
        }
        let (functions, instances) = (cx.alloc_slice(&functions), cx.alloc_slice(&instances));
        let copy = ModuleData { functions, instances, children: cx.alloc_slice(&children), ..*module };
        modules.insert(module, cx.module(copy));
    }
    Ok(modules[&root])
}

/// A copy under another name.
///
/// # Errors
/// As [`cloned`].
pub fn renamed<'c>(cx: &Context<'c>, module: Module<'c>, name: Symbol<'c>) -> Result<Module<'c>> {
    let copy = cloned(cx, module)?;
    Ok(cx.module(ModuleData { name, ..*copy }))
}

/// A copy to be a child under the attribute `name`.
///
/// # Errors
/// The module declares a target: a child has that of its owner.
pub fn attached<'c>(cx: &Context<'c>, module: Module<'c>, name: Symbol<'c>) -> Result<Module<'c>> {
    if let Some(target) = module.target {
        let message = format!("`{}` declares the target {target} and cannot be the child `{name}`", module.name);
        let help = "only the outermost module declares a target; the others have that of their owner";
        return Err(Diagnostic::error(message).at(module.span).with_help(help));
    }
    renamed(cx, module, name)
}

/// Copies statements; expressions and the variables that statements bind are those of the copier.
struct CopiedStmts<'a, 'b, 'c>(&'a mut Copier<'b, 'c>);

impl<'c> StmtMutator<'c> for CopiedStmts<'_, '_, 'c> {
    fn generic_mutate(&mut self, stmt: Stmt<'c>, cx: &Context<'c>) -> Result<Stmt<'c>> {
        let copy = rebuild_stmt_exprs(cx, stmt, |expr| self.0.expr(expr))?;
        let kind = match copy.kind {
            StmtKind::Let { var, value, body } => StmtKind::Let { var: self.0.expr(var)?, value, body },
            StmtKind::For { induction, start, stop, step, body } => {
                StmtKind::For { induction: self.0.expr(induction)?, start, stop, step, body }
            }
            other => other,
        };
        Ok(cx.stmt(kind, copy.span))
    }
}

fn prim_function<'c>(cx: &Context<'c>, copier: &mut Copier<'_, 'c>, old: PrimFunction<'c>) -> Result<PrimFunction<'c>> {
    copier.start();
    let params = old.params.iter().map(|&param| copier.expr(param)).collect::<Result<Vec<_>>>()?;
    let body = rewrite_stmt(&mut CopiedStmts(copier), old.body, cx)?;
    Ok(cx.prim_function(PrimFunctionData { params: cx.alloc_slice(&params), body, ..*old }))
}
