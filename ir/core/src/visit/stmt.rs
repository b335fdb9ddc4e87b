//! Read-only traversal of statements.

use super::{for_each_stmt_kind, grow};
use crate::node::{PrimFunction, Stmt, StmtKind};
use crate::walk::stmt_children;

macro_rules! define {
    ($($kind:ident $visit:ident $mutate:ident $what:literal,)*) => {
        /// Computes a `T` of a statement from those of its child statements. Expressions are not entered.
        ///
        /// ```
        /// use tf_core::visit::{StmtVisitor, StmtWalk, visit_stmt};
        /// use tf_core::Stmt;
        ///
        /// /// How deep loops nest.
        /// struct Nesting;
        /// impl<'c> StmtVisitor<'c, usize> for Nesting {
        ///     fn generic_visit(&mut self, _: Stmt<'c>, walk: &mut StmtWalk<'_, usize>) -> usize {
        ///         walk.children.iter().copied().max().unwrap_or(0)
        ///     }
        ///     fn visit_for(&mut self, stmt: Stmt<'c>, walk: &mut StmtWalk<'_, usize>) -> usize {
        ///         1 + self.generic_visit(stmt, walk)
        ///     }
        /// }
        /// fn nesting(root: Stmt<'_>) -> usize {
        ///     visit_stmt(&mut Nesting, root)
        /// }
        /// ```
        pub trait StmtVisitor<'c, T: Default = ()>: Sized {
            /// Called for a statement before its children, in program order. Where it answers false they are not visited, unless
            /// the statement's method does so by [`visit_stmt`].
            fn enters(&mut self, stmt: Stmt<'c>) -> bool {
                let _ = stmt;
                true
            }
            /// A statement whose kind has no method of its own.
            fn generic_visit(&mut self, stmt: Stmt<'c>, walk: &mut StmtWalk<'_, T>) -> T {
                let _ = (stmt, walk);
                T::default()
            }
            $(
                #[doc = concat!("Visits ", $what, ".")]
                fn $visit(&mut self, stmt: Stmt<'c>, walk: &mut StmtWalk<'_, T>) -> T {
                    self.generic_visit(stmt, walk)
                }
            )*
            /// Calls the method of the statement's kind.
            fn dispatch_visit(&mut self, stmt: Stmt<'c>, walk: &mut StmtWalk<'_, T>) -> T {
                match stmt.kind {
                    $(StmtKind::$kind { .. } => self.$visit(stmt, walk),)*
                }
            }
        }
    };
}
for_each_stmt_kind!(define);

/// What is known when a statement is visited.
pub struct StmtWalk<'a, T> {
    /// The results of the child statements in order; empty if they were not entered.
    pub children: &'a [T],
}

enum Step<'c> {
    Enter(Stmt<'c>),
    Finish(Stmt<'c>, usize),
}

/// The result of a statement.
pub fn visit_stmt<'c, T: Default, V: StmtVisitor<'c, T>>(visitor: &mut V, root: Stmt<'c>) -> T {
    grow(|| {
        let mut stack = vec![Step::Enter(root)];
        let mut done: Vec<T> = Vec::new();
        while let Some(step) = stack.pop() {
            let (stmt, count) = match step {
                Step::Enter(stmt) if visitor.enters(stmt) => {
                    let first = stack.len() + 1;
                    stack.push(Step::Finish(stmt, 0));
                    stmt_children(stmt, |child| stack.push(Step::Enter(child)));
                    let count = stack.len() - first;
                    stack[first - 1] = Step::Finish(stmt, count);
                    stack[first..].reverse();
                    continue;
                }
                Step::Enter(stmt) => (stmt, 0),
                Step::Finish(stmt, count) => (stmt, count),
            };
            let first = done.len() - count;
            let result = visitor.dispatch_visit(stmt, &mut StmtWalk { children: &done[first..] });
            done.truncate(first);
            done.push(result);
        }
        done.pop().unwrap_or_default()
    })
}

/// Visits the body of a function, not the function itself.
pub fn walk_prim_function<'c, T: Default, V: StmtVisitor<'c, T>>(visitor: &mut V, function: PrimFunction<'c>) -> T {
    visit_stmt(visitor, function.body)
}
