//! Walks for their side effect, and lists of expressions.

use super::{ExprVisitor, Walk};
use crate::NodeSet;
use crate::node::{Expr, Function};
use crate::walk::operands;

/// Sees every expression once, operands before consumers; most walks need no more.
///
/// ```
/// use tf_core::visit::{ExprWalker, walk_exprs};
/// use tf_core::Expr;
///
/// struct CountCalls;
/// impl<'c> ExprWalker<'c, usize> for CountCalls {
///     fn default_visit_leaf(&mut self, expr: Expr<'c>, count: &mut usize) {
///         *count += usize::from(expr.op_call().is_some());
///     }
/// }
/// fn calls(root: Expr<'_>) -> usize {
///     walk_exprs(&mut CountCalls, root, 0)
/// }
/// ```
pub trait ExprWalker<'c, C = ()> {
    /// A node whose operands have been seen.
    fn default_visit_leaf(&mut self, expr: Expr<'c>, cx: &mut C);
}

struct Walking<'a, W>(&'a mut W);

impl<'c, C, W: ExprWalker<'c, C>> ExprVisitor<'c, (), C> for Walking<'_, W> {
    fn default_visit(&mut self, expr: Expr<'c>, walk: &mut Walk<'c, (), C>) {
        self.0.default_visit_leaf(expr, &mut walk.cx);
    }
}

/// Walks everything that `root` reaches and gives the context back.
pub fn walk_exprs<'c, C, W: ExprWalker<'c, C>>(walker: &mut W, root: Expr<'c>, cx: C) -> C {
    let mut walk = Walk::new(cx);
    walk.visit(&mut Walking(walker), root);
    walk.cx
}

/// Appends every expression to the list that is its context.
pub struct ExprCollector;

impl<'c> ExprWalker<'c, Vec<Expr<'c>>> for ExprCollector {
    fn default_visit_leaf(&mut self, expr: Expr<'c>, list: &mut Vec<Expr<'c>>) {
        list.push(expr);
    }
}

/// Every expression that `root` reaches, once, operands before consumers.
#[must_use]
pub fn collect_exprs(root: Expr<'_>) -> Vec<Expr<'_>> {
    walk_exprs(&mut ExprCollector, root, Vec::new())
}

/// The value operands of a node in order; bodies of called functions and binders are none.
#[must_use]
pub fn expr_operands(expr: Expr<'_>) -> Vec<Expr<'_>> {
    let mut list = Vec::new();
    operands(expr, |operand| list.push(operand));
    list
}

/// The parameters of a function, then the other values of its body as [`collect_exprs`] orders them.
#[must_use]
pub fn function_values(function: Function<'_>) -> Vec<Expr<'_>> {
    let mut values = function.params.to_vec();
    let params: NodeSet<_> = values.iter().copied().collect();
    let body = function.body.map(collect_exprs).unwrap_or_default();
    values.extend(body.into_iter().filter(|value| !params.contains(value)));
    values
}
