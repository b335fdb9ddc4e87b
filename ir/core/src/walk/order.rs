//! Operand-before-consumer order.

use crate::NodeSet;
use crate::node::{Expr, ExprKind};

/// Calls `f` with the value operands in fixed order: tuple elements, call operands, the parameter of an extent, a loop's inits, yields and body.
/// Binders (parameters, induction variable, carries) and bodies of called functions are no operands.
pub fn operands<'c>(expr: Expr<'c>, mut f: impl FnMut(Expr<'c>)) {
    match expr.kind {
        ExprKind::Var { .. } | ExprKind::Constant(_) | ExprKind::SymbolRef(_) => {}
        ExprKind::ShapeOf { param, .. } => f(param),
        ExprKind::Tuple(elements) => elements.iter().copied().for_each(f),
        ExprKind::Call { args, .. } => args.iter().copied().for_each(f),
        ExprKind::Grid(region) => {
            region.inits.iter().copied().for_each(&mut f);
            region.yields.iter().copied().for_each(&mut f);
            region.body.into_iter().for_each(f);
        }
    }
}

/// Every expression that the roots reach, once, operands first.
#[must_use]
pub fn post_order<'c>(roots: &[Expr<'c>]) -> Vec<Expr<'c>> {
    let mut order = Vec::new();
    for_each_new(&mut NodeSet::default(), roots, |expr| order.push(expr));
    order
}

/// Calls `f` with every expression that the roots reach and that is not in `seen`, operands first, and adds it.
pub fn for_each_new<'c>(seen: &mut NodeSet<Expr<'c>>, roots: &[Expr<'c>], mut f: impl FnMut(Expr<'c>)) {
    let mut stack: Vec<(Expr<'c>, bool)> = roots.iter().rev().map(|&root| (root, false)).collect();
    while let Some((expr, operands_done)) = stack.pop() {
        if operands_done {
            f(expr);
        } else if seen.insert(expr) {
            stack.push((expr, true));
            let first = stack.len();
            operands(expr, |operand| {
                if !seen.contains(&operand) {
                    stack.push((operand, false));
                }
            });
            if stack.len() == first {
                stack.pop();
                f(expr);
            } else {
                stack[first..].reverse();
            }
        }
    }
}
