//! Independent copies of modules (spec: core-ir §1).

use rustc_hash::FxHashMap;
use tf_types::Symbol;

use crate::node::{
    AnyFunction, Child, DispatchCase, Expr, Function, Module, ModuleData, Origin, PrimFunction, PrimFunctionData, Stmt,
    StmtKind,
};
use crate::special::{Copier, with_callees};
use crate::walk::stmt_children;
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
    for function in with_callees(&own) {
        if members.contains(&function) {
            let mut copy = copier.function(function)?;
            let origin = copy.origin.and_then(|origin| Some((origin, *copier.functions.get(&origin.function?)?)));
            if let Some((origin, from)) = origin {
                let origin = Some(Origin { function: Some(from), ..origin });
                copy = cx.function(crate::node::FunctionData { origin, ..*copy });
            }
            copier.functions.insert(function, copy);
        }
    }
    let mut modules: FxHashMap<Module<'c>, Module<'c>> = FxHashMap::default();
    for &module in tree.iter().rev() {
        let mut functions = module.functions.to_vec();
        for function in &mut functions {
            *function = match *function {
                AnyFunction::Hir(old) => AnyFunction::Hir(copier.functions[&old]),
                AnyFunction::Tir(old) => AnyFunction::Tir(prim_function(&mut copier, old)?),
            };
        }
        let instances: Vec<_> = module.instances.iter().map(|old| copier.functions[old]).collect();
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

enum Step<'c> {
    Enter(Stmt<'c>),
    Finish(Stmt<'c>),
}

fn prim_function<'c>(copier: &mut Copier<'_, 'c>, old: PrimFunction<'c>) -> Result<PrimFunction<'c>> {
    copier.start();
    let params = old.params.iter().map(|&param| copier.variable(param)).collect::<Result<Vec<_>>>()?;
    let mut stack = vec![Step::Enter(old.body)];
    let mut done: Vec<Stmt<'c>> = Vec::new();
    while let Some(step) = stack.pop() {
        match step {
            Step::Enter(stmt) => {
                if let StmtKind::Let { var: binder, .. } | StmtKind::For { induction: binder, .. } = stmt.kind {
                    copier.variable(binder)?;
                }
                stack.push(Step::Finish(stmt));
                let first = stack.len();
                stmt_children(stmt, |child| stack.push(Step::Enter(child)));
                stack[first..].reverse();
            }
            Step::Finish(stmt) => {
                let mut count = 0;
                stmt_children(stmt, |_| count += 1);
                let children = done.split_off(done.len() - count);
                done.push(statement(copier, stmt, &children)?);
            }
        }
    }
    let body = done.pop().unwrap_or(old.body);
    Ok(copier.cx.prim_function(PrimFunctionData { params: copier.cx.alloc_slice(&params), body, ..*old }))
}

fn statement<'c>(copier: &mut Copier<'_, 'c>, old: Stmt<'c>, children: &[Stmt<'c>]) -> Result<Stmt<'c>> {
    let cx = copier.cx;
    let mut copy = |expr: Expr<'c>| copier.expr(expr);
    let kind = match old.kind {
        StmtKind::Sequential(_) => StmtKind::Sequential(cx.alloc_slice(children)),
        StmtKind::Let { var, value, .. } => StmtKind::Let { var: copy(var)?, value: copy(value)?, body: children[0] },
        StmtKind::For { induction, start, stop, step, .. } => StmtKind::For {
            induction: copy(induction)?,
            start: copy(start)?,
            stop: copy(stop)?,
            step: copy(step)?,
            body: children[0],
        },
        StmtKind::While { cond, .. } => StmtKind::While { cond: copy(cond)?, body: children[0] },
        StmtKind::If { cond, .. } => StmtKind::If { cond: copy(cond)?, then_body: children[0], else_body: children[1] },
        StmtKind::MeshScope { mesh, binding, .. } => StmtKind::MeshScope { mesh, binding, body: children[0] },
        StmtKind::Evaluate { callee, args } => {
            let args = args.iter().map(|&arg| copy(arg)).collect::<Result<Vec<_>>>()?;
            StmtKind::Evaluate { callee, args: cx.alloc_slice(&args) }
        }
        StmtKind::Dispatch { callee, subject, cases, .. } => {
            let subject = copy(subject)?;
            let new = cases.iter().zip(children).map(|(case, &call)| DispatchCase { call, ..*case });
            let new: Vec<_> = new.collect();
            StmtKind::Dispatch { callee, subject, cases: cx.alloc_slice(&new), fallback: children[cases.len()] }
        }
        StmtKind::Abort { .. } | StmtKind::Return => old.kind,
    };
    Ok(cx.stmt(kind, old.span))
}
