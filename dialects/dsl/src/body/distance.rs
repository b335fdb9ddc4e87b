//! How far apart two run-time indices are.

use tf_core::{Expr, ExprKind, Literal};
use tf_types::{Dim, DimKind, DimOp, TypeContext};

/// Nodes that are looked at before a distance counts as unknown.
const NODES: usize = 1024;

/// `to - from` of two index scalars, where it is a number whatever their variables are: `k * 8` and `(k + 1) * 8` are 8
/// apart.
pub(super) fn distance(from: Expr<'_>, to: Expr<'_>) -> Option<i64> {
    if from == to {
        return Some(0);
    }
    let mut budget = NODES;
    let mut constant = 0_i64;
    let mut terms: Vec<(Expr<'_>, i64)> = Vec::new();
    let mut open = vec![(to, 1_i64), (from, -1)];
    while let Some((expr, factor)) = open.pop() {
        budget = budget.checked_sub(1)?;
        if let Some(value) = integer(expr) {
            constant = constant.checked_add(value.checked_mul(factor)?)?;
            continue;
        }
        match operation(expr) {
            Some(("add", [a, b])) => open.extend([(*a, factor), (*b, factor)]),
            Some(("sub", [a, b])) => open.extend([(*a, factor), (*b, factor.checked_neg()?)]),
            Some(("mul", [a, b])) if let Some(by) = integer(*b) => open.push((*a, factor.checked_mul(by)?)),
            Some(("mul", [a, b])) if let Some(by) = integer(*a) => open.push((*b, factor.checked_mul(by)?)),
            _ => {
                let mut known = None;
                for (at, (term, _)) in terms.iter().enumerate() {
                    if same(*term, expr, &mut budget)? {
                        known = Some(at);
                        break;
                    }
                }
                match known {
                    Some(at) => terms[at].1 = terms[at].1.checked_add(factor)?,
                    None => terms.push((expr, factor)),
                }
            }
        }
    }
    terms.iter().all(|(_, factor)| *factor == 0).then_some(constant)
}

/// `to - from` of two dims, where it is a number or one dim: extrema, which have no normal form with others, are opaque.
pub(super) fn dim_distance<'c>(cx: &TypeContext<'c>, from: Dim<'c>, to: Dim<'c>) -> Option<Dim<'c>> {
    let mut budget = NODES;
    let mut constant = 0_i64;
    let mut terms: Vec<(Dim<'c>, i64)> = Vec::new();
    let mut open = vec![(to, 1_i64), (from, -1)];
    while let Some((dim, factor)) = open.pop() {
        budget = budget.checked_sub(1)?;
        match *dim.data() {
            DimKind::Const(value) => constant = constant.checked_add(value.checked_mul(factor)?)?,
            DimKind::Op(DimOp::Add, a, b) => open.extend([(a, factor), (b, factor)]),
            DimKind::Op(DimOp::Sub, a, b) => open.extend([(a, factor), (b, factor.checked_neg()?)]),
            DimKind::Op(DimOp::Mul, a, b) if let Some(by) = a.as_const() => open.push((b, factor.checked_mul(by)?)),
            DimKind::Op(DimOp::Mul, a, b) if let Some(by) = b.as_const() => open.push((a, factor.checked_mul(by)?)),
            _ => match terms.iter_mut().find(|(term, _)| *term == dim) {
                Some((_, known)) => *known = known.checked_add(factor)?,
                None => terms.push((dim, factor)),
            },
        }
    }
    terms.retain(|(_, factor)| *factor != 0);
    match (&terms[..], constant) {
        ([], constant) => Some(cx.dim(constant)),
        (&[(dim, 1)], 0) => Some(dim),
        _ => None,
    }
}

fn integer(expr: Expr<'_>) -> Option<i64> {
    match expr.literal()? {
        Literal::Int(value) => Some(value),
        _ => None,
    }
}

/// The name and operands of index arithmetic.
pub(super) fn operation<'c>(expr: Expr<'c>) -> Option<(&'static str, &'c [Expr<'c>])> {
    let call = expr.op_call()?;
    (call.op.decl.name.dialect == "dim").then_some((call.op.decl.name.name, call.args))
}

/// Whether two scalars are written alike; none when that takes too many nodes to see.
fn same(a: Expr<'_>, b: Expr<'_>, budget: &mut usize) -> Option<bool> {
    let mut open = vec![(a, b)];
    while let Some((a, b)) = open.pop() {
        *budget = budget.checked_sub(1)?;
        if a == b {
            continue;
        }
        let alike = a.ty() == b.ty()
            && match (a.kind, b.kind) {
                (ExprKind::Constant(a), ExprKind::Constant(b)) => a == b,
                _ => match (a.op_call(), b.op_call()) {
                    (Some(left), Some(right)) if left.op == right.op && left.args.len() == right.args.len() => {
                        open.extend(left.args.iter().copied().zip(right.args.iter().copied()));
                        true
                    }
                    _ => false,
                },
            };
        if !alike {
            return Some(false);
        }
    }
    Some(true)
}
