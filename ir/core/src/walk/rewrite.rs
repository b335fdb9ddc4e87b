//! The rebuild table of expressions; what does not change stays the same pointer.

use crate::node::{Callee, Expr, ExprKind, GridRegion};
use crate::op::OpView;
use crate::{Context, Diagnostic, Result};

/// The node with every operand and binder replaced by what `map` gives for it: the same pointer if all stay, else a new one
/// whose type is inferred.
///
/// # Errors
/// The new operands do not fit the op; a loop's yield has another type than its carry.
pub fn rebuild_expr<'c>(cx: &Context<'c>, expr: Expr<'c>, map: impl Fn(Expr<'c>) -> Expr<'c>) -> Result<Expr<'c>> {
    match expr.kind {
        ExprKind::Var { .. } | ExprKind::Constant(_) | ExprKind::SymbolRef(_) => Ok(expr),
        ExprKind::Tuple(elements) => {
            let Some(new) = map_all(cx, elements, map) else { return Ok(expr) };
            let types: Vec<_> = new.iter().map(|e| e.ty()).collect();
            Ok(cx.expr(ExprKind::Tuple(new), cx.tuple(&types), expr.meta))
        }
        ExprKind::Call { callee, args } => {
            let Some(new) = map_all(cx, args, map) else { return Ok(expr) };
            let ty = match callee {
                Callee::Op(op) => cx.infer(OpView { op, args: new }, expr.span())?,
                Callee::Function(_) => expr.ty(),
            };
            Ok(cx.expr(ExprKind::Call { callee, args: new }, ty, expr.meta))
        }
        ExprKind::ShapeOf { param, axis } => match map(param) {
            same if same == param => Ok(expr),
            new => cx.shape_of(new, axis, expr.meta),
        },
        ExprKind::Grid(region) => rebuild_grid(cx, expr, region, map),
    }
}

/// The mapped list, or `None` if it is the same.
pub(crate) fn map_all<'c>(
    cx: &Context<'c>,
    exprs: &'c [Expr<'c>],
    map: impl Fn(Expr<'c>) -> Expr<'c>,
) -> Option<&'c [Expr<'c>]> {
    let first = exprs.iter().position(|&e| map(e) != e)?;
    let mut new = exprs.to_vec();
    new[first..].iter_mut().for_each(|e| *e = map(*e));
    Some(cx.alloc_slice(&new))
}

fn rebuild_grid<'c>(
    cx: &Context<'c>,
    expr: Expr<'c>,
    region: &GridRegion<'c>,
    map: impl Fn(Expr<'c>) -> Expr<'c>,
) -> Result<Expr<'c>> {
    let [carries, inits, yields] = [region.carries, region.inits, region.yields].map(|list| map_all(cx, list, &map));
    let (induction, body) = (map(region.induction), region.body.map(&map));
    let same = carries.or(inits).or(yields).is_none() && induction == region.induction && body == region.body;
    if same {
        return Ok(expr);
    }
    let new = GridRegion {
        induction,
        carries: carries.unwrap_or(region.carries),
        inits: inits.unwrap_or(region.inits),
        yields: yields.unwrap_or(region.yields),
        body,
        ..*region
    };
    for (carry, value) in new.carries.iter().zip(new.yields) {
        if !carry.ty().carries(value.ty()) {
            let message = format!("the loop carries {} as {}", carry.describe(), carry.ty());
            let found = format!("but yields {}", value.ty());
            return Err(Diagnostic::error(format!("{message} {found}")).at(value.span().or(expr.span())));
        }
    }
    Ok(cx.grid(new, cx.loop_type(new.carries, new.body), expr.meta))
}
