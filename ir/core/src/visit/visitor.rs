//! Read-only traversal of expressions.

use super::{for_each_expr_kind, grow};
use crate::NodeMap;
use crate::node::{Expr, ExprKind, Function};
use crate::walk::operands;

macro_rules! define {
    ($($kind:ident $visit:ident $clone:ident $what:literal,)*) => {
        /// Computes a `T` of every expression that a root reaches, operands first, each once.
        ///
        /// `C` is a context that every method sees as [`Walk::cx`].
        ///
        /// ```
        /// use tf_core::visit::{ExprVisitor, Walk, visit_expr};
        /// use tf_core::Expr;
        ///
        /// /// The depth of a value: calls on its longest path.
        /// struct Depth;
        /// impl<'c> ExprVisitor<'c, usize> for Depth {
        ///     fn visit_call(&mut self, call: Expr<'c>, walk: &mut Walk<'c, usize>) -> usize {
        ///         1 + walk.visit_operands(self, call).into_iter().max().unwrap_or(0)
        ///     }
        /// }
        /// fn depth(root: Expr<'_>) -> usize {
        ///     visit_expr(&mut Depth, root)
        /// }
        /// ```
        pub trait ExprVisitor<'c, T: Clone + Default = (), C = ()>: Sized {
            /// Whether the operands are visited before the node itself. Its method visits them otherwise, or leaves them out.
            fn enters(&mut self, expr: Expr<'c>, walk: &mut Walk<'c, T, C>) -> bool {
                let _ = (expr, walk);
                true
            }
            /// A node whose kind has no method of its own.
            fn default_visit(&mut self, expr: Expr<'c>, walk: &mut Walk<'c, T, C>) -> T {
                let _ = (expr, walk);
                T::default()
            }
            $(
                #[doc = concat!("Visits ", $what, ".")]
                fn $visit(&mut self, expr: Expr<'c>, walk: &mut Walk<'c, T, C>) -> T {
                    self.default_visit(expr, walk)
                }
            )*
            /// Calls the method of the node's kind.
            fn dispatch_visit(&mut self, expr: Expr<'c>, walk: &mut Walk<'c, T, C>) -> T {
                match expr.kind {
                    $(ExprKind::$kind { .. } => self.$visit(expr, walk),)*
                }
            }
        }
    };
}
for_each_expr_kind!(define);

/// A traversal: its context, and the results so far by the identity of nodes.
#[derive(Default)]
pub struct Walk<'c, T = (), C = ()> {
    /// The caller's context.
    pub cx: C,
    memo: NodeMap<Expr<'c>, T>,
    root: Option<Function<'c>>,
    other_functions: bool,
}

impl<'c, T: Clone + Default, C> Walk<'c, T, C> {
    /// A traversal that has seen nothing.
    #[must_use]
    pub fn new(cx: C) -> Self {
        Self { cx, memo: NodeMap::default(), root: None, other_functions: false }
    }

    /// Lets [`Walk::visit_function_body`] into every function, not only the first.
    #[must_use]
    pub fn with_other_functions(self) -> Self {
        Self { other_functions: true, ..self }
    }

    /// Forgets results and the root function.
    pub fn clear(&mut self) {
        self.memo.clear();
        self.root = None;
    }

    /// What became of a node that has been visited.
    #[must_use]
    pub fn get(&self, expr: Expr<'c>) -> Option<&T> {
        self.memo.get(&expr)
    }

    /// The result of a node; it is visited if it has none yet.
    pub fn visit<V: ExprVisitor<'c, T, C>>(&mut self, visitor: &mut V, expr: Expr<'c>) -> T {
        match self.memo.get(&expr) {
            Some(result) => result.clone(),
            None => grow(|| self.drive(visitor, expr)),
        }
    }

    /// The results of the operands in order.
    pub fn visit_operands<V: ExprVisitor<'c, T, C>>(&mut self, visitor: &mut V, expr: Expr<'c>) -> Vec<T> {
        let mut results = Vec::new();
        operands(expr, |operand| results.push(self.visit(visitor, operand)));
        results
    }

    /// The result of a function's body. The first function asked for is the root; the bodies of others are visited only
    /// [`Walk::with_other_functions`], and give `None` otherwise, as does a function without body.
    pub fn visit_function_body<V: ExprVisitor<'c, T, C>>(
        &mut self,
        visitor: &mut V,
        function: Function<'c>,
    ) -> Option<T> {
        let root = *self.root.get_or_insert(function);
        let body = function.body.filter(|_| root == function || self.other_functions)?;
        Some(self.visit(visitor, body))
    }

    fn drive<V: ExprVisitor<'c, T, C>>(&mut self, visitor: &mut V, root: Expr<'c>) -> T {
        let mut stack = vec![(root, false)];
        while let Some((expr, entered)) = stack.pop() {
            if self.memo.contains_key(&expr) {
                continue;
            }
            if !entered && visitor.enters(expr, self) {
                stack.push((expr, true));
                let first = stack.len();
                operands(expr, |operand| stack.push((operand, false)));
                if stack.len() > first {
                    stack[first..].reverse();
                    continue;
                }
                stack.pop();
            }
            let result = visitor.dispatch_visit(expr, self);
            self.memo.insert(expr, result);
        }
        self.memo[&root].clone()
    }
}

/// The result of `root` with a fresh context and memo.
pub fn visit_expr<'c, T: Clone + Default, C: Default, V: ExprVisitor<'c, T, C>>(visitor: &mut V, root: Expr<'c>) -> T {
    Walk::new(C::default()).visit(visitor, root)
}
