//! How far apart two run-time indices are.

use rustc_hash::FxHashMap;
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

/// `to - from` of two dims, without what both have: extrema, which have no normal form with others, are opaque. None where that
/// takes too many nodes to see.
pub(super) fn dim_distance<'c>(cx: &TypeContext<'c>, from: Dim<'c>, to: Dim<'c>) -> Option<Dim<'c>> {
    let mut budget = NODES;
    let mut constant = 0_i64;
    let mut terms: Vec<(Dim<'c>, i64)> = Vec::new();
    // Products as they are written, by what is multiplied and by how much.
    let mut products: FxHashMap<(Dim<'c>, i64), Dim<'c>> = FxHashMap::default();
    let mut open = vec![(from, -1), (to, 1_i64)];
    while let Some((dim, factor)) = open.pop() {
        budget = budget.checked_sub(1)?;
        match *dim.data() {
            DimKind::Const(value) => constant = constant.checked_add(value.checked_mul(factor)?)?,
            DimKind::Op(DimOp::Add, a, b) => open.extend([(b, factor), (a, factor)]),
            DimKind::Op(DimOp::Sub, a, b) => open.extend([(b, factor.checked_neg()?), (a, factor)]),
            DimKind::Op(DimOp::Mul, a, b) if let Some((of, by)) = scaled(a, b) => {
                products.entry((of, by)).or_insert(dim);
                open.push((of, factor.checked_mul(by)?));
            }
            _ => match terms.iter_mut().find(|(term, _)| *term == dim) {
                Some((_, known)) => *known = known.checked_add(factor)?,
                None => terms.push((dim, factor)),
            },
        }
    }
    terms.retain(|(_, factor)| *factor != 0);
    // In the order in which they are written, but a sum starts with what is added.
    if let Some(first) = terms.iter().position(|(_, factor)| *factor > 0) {
        terms[..=first].rotate_right(1);
    }
    let mut sum = None;
    for (of, factor) in terms {
        let by = factor.checked_abs()?;
        let term = match by {
            1 => of,
            _ => products.get(&(of, by)).copied().unwrap_or_else(|| cx.dim_mul(cx.dim(by), of)),
        };
        sum = Some(match sum {
            None if factor > 0 => term,
            None => cx.dim_sub(cx.dim(std::mem::take(&mut constant)), term),
            Some(sum) if factor > 0 => cx.dim_add(sum, term),
            Some(sum) => cx.dim_sub(sum, term),
        });
    }
    Some(match sum {
        None => cx.dim(constant),
        Some(sum) if constant > 0 => cx.dim_add(sum, cx.dim(constant)),
        Some(sum) if constant < 0 => cx.dim_sub(sum, cx.dim(constant.checked_neg()?)),
        Some(sum) => sum,
    })
}

/// What a product multiplies, and by which number.
fn scaled<'c>(a: Dim<'c>, b: Dim<'c>) -> Option<(Dim<'c>, i64)> {
    a.as_const().map(|by| (b, by)).or_else(|| b.as_const().map(|by| (a, by)))
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
