//! What is inside a statement in its place.

use std::ops::Range;

use tf_core::node::PrimFunctionData;
use tf_core::visit::{Cloning, Same, StmtMutator, rewrite_stmt};
use tf_core::walk::rebuild_stmt_exprs;
use tf_core::{Context, NodeSet, PrimFunction, Result, Stmt, StmtKind};

use super::{PrimReduction, statements};

/// What takes the place of a statement with others inside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// The body of a loop, of its first round; of a mesh scope; the first branch of an `if`; the first case of a dispatch.
    First,
    /// The second branch of an `if`.
    Second,
}

/// Loops, branches and scopes are replaced by what is inside.
#[derive(Clone, Copy)]
pub struct Unwrap(Inside);

impl Unwrap {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        [Inside::First, Inside::Second].into_iter().map(Self)
    }

    fn inside<'c>(self, stmt: Stmt<'c>) -> Option<Stmt<'c>> {
        match (self.0, stmt.kind) {
            (
                Inside::First,
                StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::MeshScope { body, .. },
            ) => Some(body),
            (Inside::First, StmtKind::If { then_body, .. }) => Some(then_body),
            (Inside::Second, StmtKind::If { else_body, .. }) => Some(else_body),
            (Inside::First, StmtKind::Dispatch { cases: [first, ..], .. }) => Some(first.call),
            _ => None,
        }
    }

    fn all_places<'c>(self, function: PrimFunction<'c>) -> Vec<Stmt<'c>> {
        let mut all = statements(function.body);
        all.retain(|stmt| self.inside(*stmt).is_some());
        all
    }
}

/// Puts values and variables in the place of others, in statements.
struct Replaced<'a, 'c>(Cloning<'a, 'c>);

impl<'c> StmtMutator<'c> for Replaced<'_, 'c> {
    fn generic_mutate(&mut self, stmt: Stmt<'c>, cx: &Context<'c>) -> Result<Stmt<'c>> {
        let stmt = rebuild_stmt_exprs(cx, stmt, |expr| self.0.visit(&mut Same, expr))?;
        match stmt.kind {
            StmtKind::Let { var, value, body } if self.0.get(var) != var => {
                Ok(cx.stmt(StmtKind::Let { var: self.0.get(var), value, body }, stmt.span))
            }
            _ => Ok(stmt),
        }
    }
}

struct Insides<'c> {
    unwrap: Unwrap,
    chosen: NodeSet<Stmt<'c>>,
    /// Whether each statement that is being rewritten is chosen; outer ones first.
    open: Vec<bool>,
}

impl<'c> StmtMutator<'c> for Insides<'c> {
    fn descends(&mut self, stmt: Stmt<'c>) -> bool {
        self.open.push(self.chosen.contains(&stmt));
        true
    }

    fn dispatch_mutate(&mut self, stmt: Stmt<'c>, _: &Context<'c>) -> Result<Stmt<'c>> {
        let chosen = self.open.pop().unwrap_or_default();
        Ok(self.unwrap.inside(stmt).filter(|_| chosen).unwrap_or(stmt))
    }
}

impl PrimReduction for Unwrap {
    fn name(&self) -> &'static str {
        "blocks"
    }

    fn places(&self, function: PrimFunction<'_>, _: bool) -> usize {
        self.all_places(function).len()
    }

    fn apply<'c>(
        &self,
        cx: &Context<'c>,
        function: PrimFunction<'c>,
        _: bool,
        places: Range<usize>,
    ) -> Result<PrimFunction<'c>> {
        let chosen: NodeSet<Stmt<'c>> = self.all_places(function)[places].iter().copied().collect();
        let mut clone = Cloning::new(cx);
        for stmt in statements(function.body) {
            match stmt.kind {
                StmtKind::For { induction, start, .. } if chosen.contains(&stmt) => {
                    let start = clone.visit(&mut Same, start)?;
                    clone.replace(induction, start);
                }
                // A value of known numbers may have another type.
                StmtKind::Let { var, value, .. } => {
                    let ty = clone.visit(&mut Same, value)?.ty();
                    if ty != var.ty() {
                        clone.replace(var, cx.expr(var.kind, ty, var.meta));
                    }
                }
                _ => {}
            }
        }
        let body = rewrite_stmt(&mut Insides { unwrap: *self, chosen, open: Vec::new() }, function.body, cx)?;
        let body = rewrite_stmt(&mut Replaced(clone), body, cx)?;
        Ok(cx.prim_function(PrimFunctionData { body, ..*function }))
    }
}
