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

/// A rewriter of statements.
pub trait StmtRewriter<'c> {
    /// Called for every statement after its children; `stmt` has the rewritten children already.
    /// An empty sequence as result removes the statement from its block.
    ///
    /// # Errors
    /// Whatever the rewriter refuses.
    fn rewrite(&mut self, stmt: Stmt<'c>, cx: &Context<'c>) -> Result<Stmt<'c>>;
}

enum Step<'c> {
    Enter(Stmt<'c>),
    Finish(Stmt<'c>),
}

/// Rewrites a statement and everything in it; what does not change stays the same pointer.
///
/// # Errors
/// What the rewriter refuses.
pub fn rewrite_stmt<'c, R: StmtRewriter<'c>>(cx: &Context<'c>, root: Stmt<'c>, rewriter: &mut R) -> Result<Stmt<'c>> {
    let mut stack = vec![Step::Enter(root)];
    let mut done: Vec<Stmt<'c>> = Vec::new();
    while let Some(step) = stack.pop() {
        match step {
            Step::Enter(stmt) => {
                stack.push(Step::Finish(stmt));
                let first = stack.len();
                stmt_children(stmt, |child| stack.push(Step::Enter(child)));
                stack[first..].reverse();
            }
            Step::Finish(stmt) => {
                let mut count = 0;
                stmt_children(stmt, |_| count += 1);
                let children = done.split_off(done.len() - count);
                let rebuilt = with_children(cx, stmt, &children);
                done.push(rewriter.rewrite(rebuilt, cx)?);
            }
        }
    }
    Ok(done.pop().unwrap_or(root))
}

fn with_children<'c>(cx: &Context<'c>, stmt: Stmt<'c>, children: &[Stmt<'c>]) -> Stmt<'c> {
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
