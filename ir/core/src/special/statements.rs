//! TIR functions for given values of dim variables.

use rustc_hash::FxHashSet;
use tf_types::{Symbol, vars::DimVars};

use super::copy::Copier;
use crate::node::{DispatchCase, Expr, PrimFunction, PrimFunctionData, Stmt, StmtKind, TirCallee};
use crate::walk::{stmt_children, stmt_exprs, walk_stmts};
use crate::{Context, Result};

/// The function with these values of dim variables in its types and attributes. Functions that it calls stay as they are.
///
/// # Errors
/// What type inference refuses of the values.
pub fn specialize_prim_function<'c>(
    cx: &Context<'c>,
    function: PrimFunction<'c>,
    dims: &[(Symbol<'c>, i64)],
) -> Result<PrimFunction<'c>> {
    let named: FxHashSet<_> = function.dim_vars().as_slice().iter().map(|var| var.name).collect();
    if !dims.iter().any(|(name, _)| named.contains(name)) {
        return Ok(function);
    }
    let mut copier = Copier::new(cx, dims.iter().map(|&(name, value)| (name, cx.dim(value))).collect());
    let params = function.data().params.iter().map(|&param| copier.variable(param)).collect::<Result<Vec<_>>>()?;
    let body = statements(cx, &mut copier, function.body)?;
    Ok(cx.prim_function(PrimFunctionData { params: cx.alloc_slice(&params), body, ..*function.data() }))
}

impl<'c> PrimFunction<'c> {
    /// The dim variables of its parameters, its bindings and its meshes.
    #[must_use]
    pub fn dim_vars(self) -> DimVars<'c> {
        let mut found = DimVars::default();
        self.data().params.iter().for_each(|param| found.add_type(param.ty()));
        walk_stmts(self.body, |stmt| {
            match stmt.kind {
                StmtKind::Let { var, .. } => found.add_type(var.ty()),
                StmtKind::MeshScope { mesh, .. } => found.add_mesh(mesh),
                _ => {}
            }
            stmt_exprs(stmt, |expr| found.add_type(expr.ty()));
        });
        found
    }
}

enum Step<'c> {
    Enter(Stmt<'c>),
    /// With the number of child statements.
    Finish(Stmt<'c>, usize),
}

/// Bindings come before their uses, so that a copy is made of every variable before it is met.
fn statements<'c>(cx: &Context<'c>, copier: &mut Copier<'_, 'c>, root: Stmt<'c>) -> Result<Stmt<'c>> {
    let mut stack = vec![Step::Enter(root)];
    let mut done: Vec<Stmt<'c>> = Vec::new();
    while let Some(step) = stack.pop() {
        match step {
            Step::Enter(stmt) => {
                if let StmtKind::Let { var, value, .. } = stmt.kind {
                    copier.expr(value)?;
                    copier.variable(var)?;
                }
                let at = stack.len();
                stack.push(Step::Finish(stmt, 0));
                stmt_children(stmt, |child| stack.push(Step::Enter(child)));
                stack[at] = Step::Finish(stmt, stack.len() - at - 1);
                stack[at + 1..].reverse();
            }
            Step::Finish(stmt, count) => {
                let children = done.split_off(done.len() - count);
                done.push(statement(cx, copier, stmt, &children)?);
            }
        }
    }
    Ok(done.pop().unwrap_or(root))
}

fn statement<'c>(
    cx: &Context<'c>,
    copier: &mut Copier<'_, 'c>,
    stmt: Stmt<'c>,
    children: &[Stmt<'c>],
) -> Result<Stmt<'c>> {
    let mut new = |expr: Expr<'c>| copier.expr(expr);
    let kind = match stmt.kind {
        StmtKind::Sequential(_) => StmtKind::Sequential(cx.alloc_slice(children)),
        StmtKind::Let { var, value, .. } => {
            let (value, var) = (new(value)?, new(var)?);
            StmtKind::Let { var, value, body: children[0] }
        }
        StmtKind::For { induction, start, stop, step, .. } => {
            let [start, stop, step] = [new(start)?, new(stop)?, new(step)?];
            StmtKind::For { induction: new(induction)?, start, stop, step, body: children[0] }
        }
        StmtKind::While { cond, .. } => StmtKind::While { cond: new(cond)?, body: children[0] },
        StmtKind::If { cond, .. } => StmtKind::If { cond: new(cond)?, then_body: children[0], else_body: children[1] },
        StmtKind::MeshScope { mesh, binding, .. } => {
            StmtKind::MeshScope { mesh: copier.mesh(mesh, stmt.span)?, binding, body: children[0] }
        }
        StmtKind::Evaluate { callee, args } => {
            let args = args.iter().map(|&arg| new(arg)).collect::<Result<Vec<_>>>()?;
            let callee = match callee {
                TirCallee::Op(op) => TirCallee::Op(copier.op(op, stmt.span)?),
                other => other,
            };
            StmtKind::Evaluate { callee, args: cx.alloc_slice(&args) }
        }
        StmtKind::Dispatch { callee, subject, cases, .. } => {
            let calls = cases.iter().zip(children).map(|(case, &call)| DispatchCase { call, ..*case });
            let calls: Vec<_> = calls.collect();
            let (cases, fallback) = (cx.alloc_slice(&calls), children[calls.len()]);
            StmtKind::Dispatch { callee, subject: new(subject)?, cases, fallback }
        }
        StmtKind::Abort { .. } | StmtKind::Return => return Ok(stmt),
    };
    Ok(cx.stmt(kind, stmt.span))
}
