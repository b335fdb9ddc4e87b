//! Walks over statements.

use crate::node::{DispatchCase, Expr, Stmt, StmtKind};
use crate::{Context, Result};

/// Calls `f` with the child statements in order.
pub fn stmt_children<'c>(stmt: Stmt<'c>, mut f: impl FnMut(Stmt<'c>)) {
    match stmt.kind {
        StmtKind::Sequential(body) => body.iter().copied().for_each(f),
        StmtKind::Let { body, .. }
        | StmtKind::For { body, .. }
        | StmtKind::While { body, .. }
        | StmtKind::MeshScope { body, .. } => f(body),
        StmtKind::If { then_body, else_body, .. } => [then_body, else_body].into_iter().for_each(f),
        StmtKind::Dispatch { cases, fallback, .. } => {
            cases.iter().map(|case| case.call).chain([fallback]).for_each(f);
        }
        StmtKind::Evaluate { .. } | StmtKind::Abort { .. } | StmtKind::Return => {}
    }
}

/// Calls `f` with the expressions embedded in a statement itself; variables that it binds are none.
pub fn stmt_exprs<'c>(stmt: Stmt<'c>, mut f: impl FnMut(Expr<'c>)) {
    match stmt.kind {
        StmtKind::Sequential(_) | StmtKind::MeshScope { .. } | StmtKind::Abort { .. } | StmtKind::Return => {}
        StmtKind::Let { value, .. } => f(value),
        StmtKind::While { cond, .. } | StmtKind::If { cond, .. } => f(cond),
        StmtKind::Dispatch { subject, .. } => f(subject),
        StmtKind::For { start, stop, step, .. } => [start, stop, step].into_iter().for_each(f),
        StmtKind::Evaluate { args, .. } => args.iter().copied().for_each(f),
    }
}

/// Calls `f` with every statement, parents first, in program order.
pub fn walk_stmts<'c>(root: Stmt<'c>, mut f: impl FnMut(Stmt<'c>)) {
    let mut stack = vec![root];
    while let Some(stmt) = stack.pop() {
        f(stmt);
        let first = stack.len();
        stmt_children(stmt, |child| stack.push(child));
        stack[first..].reverse();
    }
}

/// The statement over other child statements: the same pointer if they are the same. Sequences drop empty sequences.
pub fn rebuild_stmt<'c>(cx: &Context<'c>, stmt: Stmt<'c>, children: &[Stmt<'c>]) -> Stmt<'c> {
    let mut at = 0;
    let mut same = true;
    stmt_children(stmt, |old| {
        same &= children[at] == old;
        at += 1;
    });
    if same {
        return stmt;
    }
    let kind = match stmt.kind {
        StmtKind::Sequential(_) => {
            let is_empty = |s: &Stmt<'c>| matches!(s.kind, StmtKind::Sequential([]));
            let kept: Vec<_> = children.iter().copied().filter(|s| !is_empty(s)).collect();
            StmtKind::Sequential(cx.alloc_slice(&kept))
        }
        StmtKind::Let { var, value, .. } => StmtKind::Let { var, value, body: children[0] },
        StmtKind::For { induction, start, stop, step, .. } => {
            StmtKind::For { induction, start, stop, step, body: children[0] }
        }
        StmtKind::While { cond, .. } => StmtKind::While { cond, body: children[0] },
        StmtKind::If { cond, .. } => StmtKind::If { cond, then_body: children[0], else_body: children[1] },
        StmtKind::MeshScope { mesh, binding, .. } => StmtKind::MeshScope { mesh, binding, body: children[0] },
        StmtKind::Dispatch { callee, subject, cases, .. } => {
            let calls = cases.iter().zip(children).map(|(case, &call)| DispatchCase { call, ..*case });
            let cases: Vec<_> = calls.collect();
            StmtKind::Dispatch { callee, subject, cases: cx.alloc_slice(&cases), fallback: children[cases.len()] }
        }
        StmtKind::Evaluate { .. } | StmtKind::Abort { .. } | StmtKind::Return => return stmt,
    };
    cx.stmt(kind, stmt.span)
}

/// The statement with the expressions embedded in it replaced by what `map` gives for them, the same pointer if all stay.
/// Variables that it binds are left alone.
///
/// # Errors
/// What `map` refuses.
pub fn rebuild_stmt_exprs<'c>(
    cx: &Context<'c>,
    stmt: Stmt<'c>,
    mut map: impl FnMut(Expr<'c>) -> Result<Expr<'c>>,
) -> Result<Stmt<'c>> {
    let mut new = Vec::new();
    let mut same = true;
    let mut error = None;
    stmt_exprs(stmt, |old| {
        if error.is_some() {
            return;
        }
        match map(old) {
            Ok(expr) => {
                same &= expr == old;
                new.push(expr);
            }
            Err(refused) => error = Some(refused),
        }
    });
    if let Some(error) = error {
        return Err(error);
    }
    if same {
        return Ok(stmt);
    }
    let kind = match stmt.kind {
        StmtKind::Sequential(_) | StmtKind::MeshScope { .. } | StmtKind::Abort { .. } | StmtKind::Return => {
            return Ok(stmt);
        }
        StmtKind::Let { var, body, .. } => StmtKind::Let { var, value: new[0], body },
        StmtKind::For { induction, body, .. } => {
            StmtKind::For { induction, start: new[0], stop: new[1], step: new[2], body }
        }
        StmtKind::While { body, .. } => StmtKind::While { cond: new[0], body },
        StmtKind::If { then_body, else_body, .. } => StmtKind::If { cond: new[0], then_body, else_body },
        StmtKind::Dispatch { callee, cases, fallback, .. } => {
            StmtKind::Dispatch { callee, subject: new[0], cases, fallback }
        }
        StmtKind::Evaluate { callee, .. } => StmtKind::Evaluate { callee, args: cx.alloc_slice(&new) },
    };
    Ok(cx.stmt(kind, stmt.span))
}
