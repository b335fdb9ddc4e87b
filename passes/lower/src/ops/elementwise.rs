//! Elementwise ops: a new buffer and one effect.

use tf_core::op::OpView;
use tf_core::op::rules::typed;
use tf_core::{Expr, Result};
use tf_hir::{Binary, Unary};
use tf_tir::held::Held;
use tf_types::Storage;
use tf_types::kinds::UnaryKind;

use crate::lowerer::Lowerer;

pub(super) fn binary<'c>(lowerer: &mut Lowerer<'_, 'c>, expr: Expr<'c>, view: OpView<'c>) -> Result<Expr<'c>> {
    let call = typed::<Binary>(view);
    let (lhs, rhs) = (lowerer.buffer(call.lhs())?, lowerer.buffer(call.rhs())?);
    let dst = lowerer.alloc_result(expr.ty(), "v")?;
    for operand in [lhs, rhs] {
        check_reachable(lowerer, operand, dst)?;
    }
    lowerer.emit(tf_tir::arith::binary::Binary::new(lowerer.cx, call.kind()), &[lhs, rhs, dst]);
    Ok(dst)
}

pub(super) fn unary<'c>(lowerer: &mut Lowerer<'_, 'c>, expr: Expr<'c>, view: OpView<'c>) -> Result<Expr<'c>> {
    let call = typed::<Unary>(view);
    pointwise(lowerer, expr, call.x(), call.kind())
}

pub(super) fn cast<'c>(lowerer: &mut Lowerer<'_, 'c>, expr: Expr<'c>, view: OpView<'c>) -> Result<Expr<'c>> {
    pointwise(lowerer, expr, view.args[0], UnaryKind::Cast)
}

fn pointwise<'c>(
    lowerer: &mut Lowerer<'_, 'c>,
    expr: Expr<'c>,
    operand: Expr<'c>,
    kind: UnaryKind,
) -> Result<Expr<'c>> {
    let src = lowerer.buffer(operand)?;
    let dst = lowerer.alloc_result(expr.ty(), "v")?;
    check_reachable(lowerer, src, dst)?;
    lowerer.emit(tf_tir::arith::unary::Unary::new(lowerer.cx, kind), &[src, dst]);
    Ok(dst)
}

/// Refuses an operand of which a position does not hold the elements that its part of the result needs.
fn check_reachable<'c>(lowerer: &Lowerer<'_, 'c>, operand: Expr<'c>, dst: Expr<'c>) -> Result<()> {
    if lowerer.on_cpu() {
        return Ok(());
    }
    let (src, dst) = (lowerer.tensor(operand), lowerer.tensor(dst));
    if src.storage != Storage::Rmem {
        let message = format!("an operand lies in {}, but a kernel computes in registers", src.storage);
        return Err(lowerer.refuse(message).with_help("reshard it to rmem first"));
    }
    let held = |t| Held::of(t).map_err(|e| lowerer.refuse_type(e));
    let (src_held, dst_held) = (held(src)?, held(dst)?);
    let first = (dst_held.local_len() > 0).then_some(0);
    if first.is_some_and(|index| src_held.local_index_for(&dst_held, index).is_none()) {
        let message = format!("{} is not distributed like the result {}", operand.ty(), dst_ty(lowerer, dst));
        return Err(lowerer.refuse(message).with_help("reshard the operand to the result's layout first"));
    }
    Ok(())
}

fn dst_ty<'c>(lowerer: &Lowerer<'_, 'c>, dst: &tf_types::TensorType<'c>) -> tf_types::Type<'c> {
    lowerer.cx.tensor_type(*dst)
}
