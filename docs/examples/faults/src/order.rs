//! Which of several elements is found.

use tf_core::{Expr, ExprKind, Literal};
use tf_hir::{Arange, ArgMax, IndexSelect, TopK, TupleGetItem, Where};
use tf_types::kinds::BinaryKind;
use tf_types::{DType, Storage};
use tf_value::normalize_axis;

use crate::fault::{Site, dtype, extent, faults};

/// The operand from its last element to its first along an axis, and the number of its last.
fn reversed<'c>(at: &Site<'_, 'c>, x: Expr<'c>, axis: i64) -> Option<(Expr<'c>, Expr<'c>)> {
    let axis = normalize_axis(axis, x.ty().as_tensor()?.rank()).ok()?;
    let count = extent(x, axis)?;
    let positions = at.cx.tensor(&[at.cx.dim(count)], DType::I64, None, Storage::Gmem);
    let last = at.literal(Literal::Int(count - 1), DType::I64);
    let backward = at.binary(BinaryKind::Sub, last, at.call(Arange::new(at.cx, positions, None, 1), &[])?)?;
    Some((at.call(IndexSelect::new(at.cx, axis as i64), &[x, backward])?, last))
}

faults! {
    /// Of several greatest elements the last is found (pytorch/pytorch#99879).
    LastOfTies = "fault-last-of-ties": |at| {
        let call = at.expr.as_op::<ArgMax>()?;
        let (x, last) = reversed(at, call.x(), call.axis())?;
        at.binary(BinaryKind::Sub, last, at.call(ArgMax::new(at.cx, call.axis()), &[x])?)
    };

    /// The greatest element is looked for among the numbers only, where NaN is the greatest (pytorch/pytorch#118266).
    ArgmaxSkipsNan = "fault-argmax-skips-nan": |at| {
        let call = at.expr.as_op::<ArgMax>().filter(|call| dtype(call.x()).is_some_and(DType::is_float))?;
        let is_number = at.binary(BinaryKind::Eq, call.x(), call.x())?;
        let least = at.filled(call.x(), f64::NEG_INFINITY)?;
        let numbers = at.call(Where::new(at.cx), &[is_number, call.x(), least])?;
        at.call(ArgMax::new(at.cx, call.axis()), &[numbers])
    };

    /// Of equal elements the one further on comes first.
    TopkTies = "fault-topk-ties": |at| {
        let call = at.expr.as_op::<TopK>()?;
        let (x, last) = reversed(at, call.x(), call.axis())?;
        let found = at.call(TopK::new(at.cx, call.k(), call.axis(), call.largest(), call.sorted()), &[x])?;
        let field = |index| at.call(TupleGetItem::new(at.cx, index), &[found]);
        let fields = [field(0)?, at.binary(BinaryKind::Sub, last, field(1)?)?];
        let ty = at.cx.tuple(&fields.map(|field| field.ty()));
        Some(at.cx.expr(ExprKind::Tuple(at.cx.alloc_slice(&fields)), ty, at.expr.source_metadata()))
    };

    /// The least elements in place of the greatest.
    LeastForGreatest = "fault-least-for-greatest": |at| {
        let call = at.expr.as_op::<TopK>()?;
        at.call(TopK::new(at.cx, call.k(), call.axis(), !call.largest(), call.sorted()), &[call.x()])
    };
}

pub fn register(r: &mut tf_plugin::Registrar<'_>) {
    register_rewrites(r);
}
