//! Statements that go.

use std::ops::Range;

use tf_core::node::PrimFunctionData;
use tf_core::visit::{StmtMutator, rewrite_stmt};
use tf_core::walk::{for_each_new, stmt_exprs};
use tf_core::{Context, Expr, NodeSet, PrimFunction, Result, Stmt, StmtKind};

use super::{PrimReduction, statements};

/// Statements are taken out with what is in them. Of a binding, such as that of a buffer, what uses it goes too.
pub struct Remove;

impl PrimReduction for Remove {
    fn name(&self) -> &'static str {
        "statements"
    }

    fn places(&self, function: PrimFunction<'_>, _: bool) -> usize {
        statements(function.body).len()
    }

    fn apply<'c>(
        &self,
        cx: &Context<'c>,
        function: PrimFunction<'c>,
        _: bool,
        places: Range<usize>,
    ) -> Result<PrimFunction<'c>> {
        let all = statements(function.body);
        let mut gone: NodeSet<Stmt<'c>> = all[places].iter().copied().collect();
        let mut unbound: NodeSet<Expr<'c>> = NodeSet::default();
        for &stmt in &all {
            let mut roots = Vec::new();
            stmt_exprs(stmt, |expr| roots.push(expr));
            let mut needs = false;
            for_each_new(&mut NodeSet::default(), &roots, |expr| needs |= unbound.contains(&expr));
            if needs {
                gone.insert(stmt);
            }
            if let StmtKind::Let { var, .. } = stmt.kind
                && gone.contains(&stmt)
            {
                unbound.insert(var);
            }
        }
        let body = rewrite_stmt(&mut Without { gone, open: Vec::new() }, function.body, cx)?;
        Ok(cx.prim_function(PrimFunctionData { body, ..*function }))
    }
}

struct Without<'c> {
    gone: NodeSet<Stmt<'c>>,
    /// Whether each statement that is being rewritten goes; outer ones first.
    open: Vec<bool>,
}

impl<'c> StmtMutator<'c> for Without<'c> {
    fn descends(&mut self, stmt: Stmt<'c>) -> bool {
        let gone = self.gone.contains(&stmt);
        self.open.push(gone);
        // The body of a binding is the rest of its block, which stays.
        !gone || matches!(stmt.kind, StmtKind::Let { .. })
    }

    fn dispatch_mutate(&mut self, stmt: Stmt<'c>, cx: &Context<'c>) -> Result<Stmt<'c>> {
        Ok(match (self.open.pop(), stmt.kind) {
            (Some(true), StmtKind::Let { body, .. }) => body,
            (Some(true), _) => cx.stmt(StmtKind::Sequential(&[]), stmt.span),
            _ => stmt,
        })
    }
}
