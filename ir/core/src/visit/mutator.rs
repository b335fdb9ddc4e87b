//! Rewriting of statements; what does not change stays the same pointer.

use super::{Cloning, ExprCloner, for_each_stmt_kind, grow};
use crate::node::{PrimFunction, PrimFunctionData, Stmt, StmtKind};
use crate::walk::{rebuild_stmt, rebuild_stmt_exprs, stmt_children};
use crate::{Context, Result};

macro_rules! define {
    ($($kind:ident $visit:ident $mutate:ident $what:literal,)*) => {
        /// Rewrites statements, children first: a method gets the statement over its rewritten children, which is the same pointer
        /// where none changed. An empty sequence as result removes the statement from its block. Expressions are left alone.
        ///
        /// ```
        /// use tf_core::visit::{StmtMutator, rewrite_prim_function};
        /// use tf_core::{Context, PrimFunction, Result, Stmt, StmtKind};
        ///
        /// /// Removes loops over nothing.
        /// struct EmptyLoops;
        /// impl<'c> StmtMutator<'c> for EmptyLoops {
        ///     fn mutate_for(&mut self, stmt: Stmt<'c>, cx: &Context<'c>) -> Result<Stmt<'c>> {
        ///         match stmt.kind {
        ///             StmtKind::For { body, .. } if matches!(body.kind, StmtKind::Sequential([])) => {
        ///                 Ok(cx.stmt(StmtKind::Sequential(&[]), stmt.span))
        ///             }
        ///             _ => Ok(stmt),
        ///         }
        ///     }
        /// }
        /// fn without<'c>(cx: &Context<'c>, function: PrimFunction<'c>) -> Result<PrimFunction<'c>> {
        ///     rewrite_prim_function(&mut EmptyLoops, function, cx)
        /// }
        /// ```
        pub trait StmtMutator<'c>: Sized {
            /// Called for a statement before its children, in program order. Where it answers false they are not rewritten, unless
            /// the statement's method does so by [`rewrite_stmt`].
            fn descends(&mut self, stmt: Stmt<'c>) -> bool {
                let _ = stmt;
                true
            }
            /// A statement whose kind has no method of its own.
            ///
            /// # Errors
            /// Whatever the rewriter refuses.
            fn generic_mutate(&mut self, stmt: Stmt<'c>, cx: &Context<'c>) -> Result<Stmt<'c>> {
                let _ = cx;
                Ok(stmt)
            }
            $(
                #[doc = concat!("Rewrites ", $what, ".")]
                ///
                /// # Errors
                /// Whatever the rewriter refuses.
                fn $mutate(&mut self, stmt: Stmt<'c>, cx: &Context<'c>) -> Result<Stmt<'c>> {
                    self.generic_mutate(stmt, cx)
                }
            )*
            /// Calls the method of the statement's kind.
            ///
            /// # Errors
            /// Whatever the rewriter refuses.
            fn dispatch_mutate(&mut self, stmt: Stmt<'c>, cx: &Context<'c>) -> Result<Stmt<'c>> {
                match stmt.kind {
                    $(StmtKind::$kind { .. } => self.$mutate(stmt, cx),)*
                }
            }
        }
    };
}
for_each_stmt_kind!(define);

enum Step<'c> {
    Enter(Stmt<'c>),
    Finish(Stmt<'c>, usize),
}

/// Rewrites a statement and everything in it.
///
/// # Errors
/// What the rewriter refuses.
pub fn rewrite_stmt<'c, M: StmtMutator<'c>>(mutator: &mut M, root: Stmt<'c>, cx: &Context<'c>) -> Result<Stmt<'c>> {
    grow(|| {
        let mut stack = vec![Step::Enter(root)];
        let mut done: Vec<Stmt<'c>> = Vec::new();
        while let Some(step) = stack.pop() {
            let rebuilt = match step {
                Step::Enter(stmt) if mutator.descends(stmt) => {
                    let first = stack.len() + 1;
                    stack.push(Step::Finish(stmt, 0));
                    stmt_children(stmt, |child| stack.push(Step::Enter(child)));
                    let count = stack.len() - first;
                    stack[first - 1] = Step::Finish(stmt, count);
                    stack[first..].reverse();
                    continue;
                }
                Step::Enter(stmt) => stmt,
                Step::Finish(stmt, count) => {
                    let first = done.len() - count;
                    let rebuilt = rebuild_stmt(cx, stmt, &done[first..]);
                    done.truncate(first);
                    rebuilt
                }
            };
            done.push(mutator.dispatch_mutate(rebuilt, cx)?);
        }
        Ok(done.pop().unwrap_or(root))
    })
}

/// Rewrites statements and the expressions in them: what an implementation of [`StmtMutator`] and [`ExprCloner`] is.
/// Variables that statements bind are left to the [`StmtMutator`].
pub trait StmtExprMutator<'c>: StmtMutator<'c> + ExprCloner<'c> {}

impl<'c, M: StmtMutator<'c> + ExprCloner<'c>> StmtExprMutator<'c> for M {}

/// A [`StmtExprMutator`] as a [`StmtMutator`]: the expressions of a statement are rewritten after its children and before
/// its own method is called. One memo serves all statements.
pub struct WithExprs<'a, 'c, M> {
    mutator: &'a mut M,
    clone: Cloning<'a, 'c>,
}

impl<'a, 'c, M: StmtExprMutator<'c>> WithExprs<'a, 'c, M> {
    /// With a memo that may hold replacements already ([`Cloning::replace`]).
    #[must_use]
    pub fn new(mutator: &'a mut M, clone: Cloning<'a, 'c>) -> Self {
        Self { mutator, clone }
    }
}

impl<'c, M: StmtExprMutator<'c>> StmtMutator<'c> for WithExprs<'_, 'c, M> {
    fn descends(&mut self, stmt: Stmt<'c>) -> bool {
        StmtMutator::descends(self.mutator, stmt)
    }

    fn dispatch_mutate(&mut self, stmt: Stmt<'c>, cx: &Context<'c>) -> Result<Stmt<'c>> {
        let stmt = rebuild_stmt_exprs(cx, stmt, |expr| self.clone.visit(self.mutator, expr))?;
        self.mutator.dispatch_mutate(stmt, cx)
    }
}

/// Rewrites a statement, everything in it and the expressions in that.
///
/// # Errors
/// What the rewriter or type inference refuses.
pub fn rewrite_stmt_exprs<'c, M: StmtExprMutator<'c>>(
    mutator: &mut M,
    root: Stmt<'c>,
    cx: &Context<'c>,
) -> Result<Stmt<'c>> {
    rewrite_stmt(&mut WithExprs::new(mutator, Cloning::new(cx)), root, cx)
}

/// Rewrites the body of a function; the same function comes back if nothing changed.
///
/// # Errors
/// What the rewriter refuses.
pub fn rewrite_prim_function<'c, M: StmtMutator<'c>>(
    mutator: &mut M,
    function: PrimFunction<'c>,
    cx: &Context<'c>,
) -> Result<PrimFunction<'c>> {
    let body = rewrite_stmt(mutator, function.body, cx)?;
    if body == function.body {
        return Ok(function);
    }
    Ok(cx.prim_function(PrimFunctionData { body, ..*function }))
}
