//! Loops of HIR without some of their carries.

use tf_core::node::GridRegion;
use tf_core::{Context, Expr, ExprKind, Result};
use tf_hir::TupleGetItem;

/// Field `index` of a tuple: the element itself where the tuple is written out.
///
/// # Errors
/// There is no such field.
pub fn field<'c>(cx: &Context<'c>, tuple: Expr<'c>, index: usize) -> Result<Expr<'c>> {
    match tuple.kind {
        ExprKind::Tuple(elements) if index < elements.len() => Ok(elements[index]),
        _ => cx.call(TupleGetItem::new(cx, index as i64), &[tuple], tuple.source_metadata()),
    }
}

/// A tuple of values, or the value if there is one: what a loop with these results gives.
pub fn results<'c>(cx: &Context<'c>, loop_: Expr<'c>, values: &[Expr<'c>]) -> Expr<'c> {
    match values {
        [one] => *one,
        many => {
            let types: Vec<_> = many.iter().map(|value| value.ty()).collect();
            cx.expr(ExprKind::Tuple(cx.alloc_slice(many)), cx.tuple(&types), loop_.source_metadata())
        }
    }
}

/// The value of `region` without the carries that are not `kept`, which nothing in the loop uses: a value of the same type. `instead` has
/// the final values that are known, at least those of the carries that go.
///
/// # Errors
/// What type inference refuses.
pub fn without_carries<'c>(
    cx: &Context<'c>,
    loop_: Expr<'c>,
    region: &GridRegion<'c>,
    kept: &[usize],
    instead: &[Option<Expr<'c>>],
) -> Result<Expr<'c>> {
    if let Some(values) = instead.iter().copied().collect::<Option<Vec<_>>>() {
        return Ok(results(cx, loop_, &values));
    }
    let list = |exprs: &[Expr<'c>]| cx.alloc_slice(&kept.iter().map(|&at| exprs[at]).collect::<Vec<_>>());
    let (carries, inits, yields) = (list(region.carries), list(region.inits), list(region.yields));
    let types: Vec<_> = carries.iter().map(|carry| carry.ty()).collect();
    let ty = if let [one] = types[..] { one } else { cx.tuple(&types) };
    let new = cx.grid(GridRegion { carries, inits, yields, ..*region }, ty, loop_.meta);
    let mut values = Vec::with_capacity(instead.len());
    for (at, instead) in instead.iter().enumerate() {
        values.push(match (instead, kept.iter().position(|&kept| kept == at)) {
            (Some(value), _) => *value,
            (None, Some(place)) if kept.len() > 1 => field(cx, new, place)?,
            (None, _) => new,
        });
    }
    Ok(results(cx, loop_, &values))
}
