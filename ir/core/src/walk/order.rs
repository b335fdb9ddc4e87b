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
    let mut seen = NodeSet::default();
    let mut stack: Vec<(Expr<'c>, bool)> = roots.iter().rev().map(|&root| (root, false)).collect();
    while let Some((expr, operands_done)) = stack.pop() {
        if operands_done {
            order.push(expr);
        } else if seen.insert(expr) {
            stack.push((expr, true));
            let first = stack.len();
            operands(expr, |operand| {
                if !seen.contains(&operand) {
                    stack.push((operand, false));
                }
            });
            stack[first..].reverse();
        }
    }
    order
}
