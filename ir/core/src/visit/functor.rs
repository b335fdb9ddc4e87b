//! Dispatch by kind.

use super::for_each_expr_kind;
use crate::node::{Expr, ExprKind};

macro_rules! define {
    ($($kind:ident $visit:ident $clone:ident $what:literal,)*) => {
        /// Dispatch by kind and nothing else: no traversal, no memo.
        ///
        /// The most specific method wins; a kind without one gets [`ExprFunctor::default_visit`].
        ///
        /// ```
        /// use tf_core::visit::ExprFunctor;
        /// use tf_core::{Expr, Literal};
        ///
        /// /// The integer that an expression is, if it is a literal.
        /// struct Integer;
        /// impl<'c> ExprFunctor<'c, Option<i64>> for Integer {
        ///     fn default_visit(&mut self, _: Expr<'c>, _: &mut ()) -> Option<i64> {
        ///         None
        ///     }
        ///     fn visit_constant(&mut self, constant: Expr<'c>, _: &mut ()) -> Option<i64> {
        ///         match constant.literal() {
        ///             Some(Literal::Int(value)) => Some(value),
        ///             _ => None,
        ///         }
        ///     }
        /// }
        /// ```
        pub trait ExprFunctor<'c, T = (), C = ()> {
            /// A node whose kind has no method of its own.
            fn default_visit(&mut self, expr: Expr<'c>, cx: &mut C) -> T;
            $(
                #[doc = concat!("Visits ", $what, ".")]
                fn $visit(&mut self, expr: Expr<'c>, cx: &mut C) -> T {
                    self.default_visit(expr, cx)
                }
            )*
            /// Calls the method of the node's kind with the same context.
            fn visit(&mut self, expr: Expr<'c>, cx: &mut C) -> T {
                match expr.kind {
                    $(ExprKind::$kind { .. } => self.$visit(expr, cx),)*
                }
            }
        }
    };
}
for_each_expr_kind!(define);
