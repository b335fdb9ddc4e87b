//! The order of statements: as the author wrote them, as far as each value comes after what it uses.

use tf_core::walk::{Schedule, operands, post_order};
use tf_core::{Expr, ExprKind, NodeMap};

use super::scan::loops;

/// Sorts the values of each block by where the last of what they are made of ends. A call that elaborates its callee is thus
/// printed where the author put it among others, and its instance gets the same number. A constant stands before the first statement
/// that uses it, or has a use inside, which is where it has its place when the text is read again.
pub(super) fn as_written<'c>(plan: &mut Schedule<'c>, body: Expr<'c>) {
    let mut ends: NodeMap<Expr<'c>, (u32, u32)> = NodeMap::default();
    let nodes = post_order(&[body]);
    let is_constant = |expr: Expr<'c>| matches!(expr.kind, ExprKind::Constant(_));
    for &expr in nodes.iter().filter(|expr| !is_constant(**expr)) {
        let mut end = expr.span().map_or((0, 0), |span| (span.end_line, span.end_column));
        operands(expr, |operand| end = end.max(ends.get(&operand).copied().unwrap_or_default()));
        ends.insert(expr, end);
    }
    let end = |expr: &Expr<'c>| ends.get(expr).copied().unwrap_or_default();
    for grid in loops(plan) {
        if let Some(block) = plan.regions.get_mut(&grid) {
            block.sort_by_key(end);
        }
    }
    // No constant depends on a loop, so that all of them are of the outermost block.
    let (constants, mut others): (Vec<_>, Vec<_>) = plan.root.iter().partition(|expr| is_constant(**expr));
    others.sort_by_key(end);
    let mut places: NodeMap<Expr<'c>, usize> = NodeMap::default();
    for (place, &statement) in others.iter().enumerate() {
        let mut inside = vec![statement];
        while let Some(expr) = inside.pop() {
            places.insert(expr, place);
            if let ExprKind::Grid(_) = expr.kind {
                inside.extend(plan.region(expr));
            }
        }
    }
    let mut first: NodeMap<Expr<'c>, usize> = NodeMap::default();
    for &user in nodes.iter().filter(|expr| !is_constant(**expr)) {
        let place = places.get(&user).copied().unwrap_or(others.len());
        operands(user, |operand| {
            if is_constant(operand) {
                let first = first.or_insert_with(operand, || place);
                *first = place.min(*first);
            }
        });
    }
    let mut all: Vec<(usize, Expr<'c>)> = constants
        .into_iter()
        .map(|constant| (first.get(&constant).copied().unwrap_or(others.len()), constant))
        .collect();
    all.extend(others.into_iter().enumerate());
    all.sort_by_key(|(place, _)| *place);
    plan.root.clear();
    plan.root.extend(all.into_iter().map(|(_, expr)| expr));
}
