//! Loops: `hir.grid` to `For` over accumulators.

use tf_core::node::GridRegion;
use tf_core::{Expr, Literal, Meta, Result, StmtKind};
use tf_tir::memory::copy::Copy;
use tf_types::DType;

use crate::lowerer::Lowerer;

/// Lowers a loop. Every carry has an accumulator, which starts as the initial value.
///
/// # Errors
/// Symbolic bounds; a loop without carries; several carries.
pub(crate) fn lower<'c>(lowerer: &mut Lowerer<'_, 'c>, grid: Expr<'c>, region: &'c GridRegion<'c>) -> Result<()> {
    let cx = lowerer.cx;
    let [carry] = region.carries else {
        let message = format!("a loop with {} carries is not lowered yet; one is", region.carries.len());
        return Err(lowerer.refuse(message));
    };
    let bound = |dim: tf_types::Dim<'c>| match dim.as_const() {
        Some(value) => Ok(cx.constant(Literal::Int(value), DType::I64, Meta::default())),
        None => Err(lowerer.refuse(format!("a loop bound must be an integer here, found `{dim}`"))),
    };
    let (start, stop, step) = (bound(region.start)?, bound(region.stop)?, bound(region.step)?);
    let span = lowerer.span;
    let accumulator = lowerer.alloc_result(carry.ty(), "acc")?;
    let init = lowerer.buffer(region.inits[0])?;
    lowerer.emit(Copy::new(cx), &[init, accumulator]);
    lowerer.set(*carry, accumulator);
    lowerer.set(region.induction, region.induction);
    lowerer.open();
    lowerer.loop_body(grid)?;
    let next = lowerer.buffer(region.yields[0])?;
    if next != accumulator {
        lowerer.emit(Copy::new(cx), &[next, accumulator]);
    }
    let body = lowerer.close();
    let kind = StmtKind::For { induction: region.induction, start, stop, step, body };
    lowerer.push(cx.stmt(kind, span));
    lowerer.set(grid, accumulator);
    Ok(())
}
