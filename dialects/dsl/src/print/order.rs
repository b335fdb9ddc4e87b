//! The order of statements: as the author wrote them, as far as each value comes after what it uses.

use tf_core::walk::{Schedule, operands, post_order};
use tf_core::{Expr, ExprKind, NodeMap};

use super::scan::loops;

/// Sorts the values of each block by where the last of what they are made of ends. A call that elaborates its callee is thus
/// printed where the author put it among others, and its instance gets the same number. A constant stands before its first use,
/// which is where it has its place when the text is read again.
pub(super) fn as_written<'c>(plan: &mut Schedule<'c>, body: Expr<'c>) {
    let mut ends: NodeMap<Expr<'c>, (u32, u32)> = NodeMap::default();
    let nodes = post_order(&[body]);
    let is_constant = |expr: Expr<'c>| matches!(expr.kind, ExprKind::Constant(_));
    for &expr in nodes.iter().filter(|expr| !is_constant(**expr)) {
        let mut end = expr.span().map_or((0, 0), |span| (span.end_line, span.end_column));
        operands(expr, |operand| end = end.max(ends.get(&operand).copied().unwrap_or_default()));
        ends.insert(expr, end);
    }
    for &user in nodes.iter().filter(|expr| !is_constant(**expr)) {
        let end = ends.get(&user).copied().unwrap_or_default();
        operands(user, |operand| {
            if is_constant(operand) {
                let first = ends.or_insert_with(operand, || end);
                *first = end.min(*first);
            }
        });
    }
    let end = |expr: &Expr<'c>| ends.get(expr).copied().unwrap_or_default();
    for grid in loops(plan) {
        if let Some(block) = plan.regions.get_mut(&grid) {
            block.sort_by_key(end);
        }
    }
    plan.root.sort_by_key(end);
}
