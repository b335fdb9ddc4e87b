//! Bindings that nothing uses, and writes that nobody reads.

use tf_core::node::PrimFunctionData;
use tf_core::visit::{StmtMutator, rewrite_stmt};
use tf_core::walk::{post_order, stmt_exprs, walk_stmts};
use tf_core::{Context, Expr, NodeSet, PrimFunction, Result, Stmt, StmtKind};
use tf_dataflow::Liveness;
use tf_framework::{Counter, FunctionCx};

use crate::BufferLiveness;

struct Remove<'a, 'c> {
    liveness: &'a Liveness<'c>,
    /// Variables of bindings that are used.
    used: NodeSet<Expr<'c>>,
    removed: &'a Counter,
}

/// The variables that effects, loops and conditions depend on, through the bindings in between.
fn used<'c>(function: PrimFunction<'c>, liveness: &Liveness<'c>) -> NodeSet<Expr<'c>> {
    let (mut roots, mut bound) = (Vec::new(), tf_core::NodeMap::<Expr<'c>, Vec<Expr<'c>>>::default());
    walk_stmts(function.body, |stmt| match stmt.kind {
        StmtKind::Let { var, value, .. } => bound.or_insert_with(var, Vec::new).push(value),
        _ if liveness.is_dead(stmt) => {}
        _ => stmt_exprs(stmt, |expr| roots.push(expr)),
    });
    let mut used = NodeSet::default();
    while let Some(root) = roots.pop() {
        if used.contains(&root) {
            continue;
        }
        for expr in post_order(&[root]) {
            if used.insert(expr) {
                roots.extend(bound.get(&expr).into_iter().flatten());
            }
        }
    }
    used
}

impl<'c> StmtMutator<'c> for Remove<'_, 'c> {
    fn mutate_let(&mut self, stmt: Stmt<'c>, _: &Context<'c>) -> Result<Stmt<'c>> {
        let StmtKind::Let { var, body, .. } = stmt.kind else { return Ok(stmt) };
        if self.used.contains(&var) {
            return Ok(stmt);
        }
        self.removed.add(1);
        Ok(body)
    }

    fn mutate_evaluate(&mut self, stmt: Stmt<'c>, cx: &Context<'c>) -> Result<Stmt<'c>> {
        if !self.liveness.is_dead(stmt) {
            return Ok(stmt);
        }
        self.removed.add(1);
        Ok(cx.stmt(StmtKind::Sequential(&[]), None))
    }
}

/// The function without what its outputs do not depend on.
pub(super) fn live<'c>(
    cx: &FunctionCx<'_, 'c>,
    function: PrimFunction<'c>,
    removed: &Counter,
) -> Result<PrimFunction<'c>> {
    let liveness = cx.analysis(&BufferLiveness, function);
    let used = used(function, &liveness);
    let body = rewrite_stmt(&mut Remove { liveness: &liveness, used, removed }, function.body, cx.context())?;
    if body == function.body {
        return Ok(function);
    }
    Ok(cx.prim_function(PrimFunctionData { body, ..*function.data() }))
}
