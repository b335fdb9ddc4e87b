//! `tf.matmul`: an accumulator set to zero and `T.mma` on what each position holds.

use tf_core::op::OpView;
use tf_core::op::rules::typed;
use tf_core::{Expr, Literal, Meta, Result};
use tf_hir::MatMul;
use tf_tir::arith::unary::Unary;
use tf_tir::held::Held;
use tf_tir::memory::fill::Fill;
use tf_tir::nn::mma::Mma;
use tf_tir::tensor::reduce::accumulator;
use tf_types::kinds::UnaryKind;
use tf_types::{Storage, TensorType};

use crate::lowerer::Lowerer;

pub(super) fn lower<'c>(lowerer: &mut Lowerer<'_, 'c>, expr: Expr<'c>, view: OpView<'c>) -> Result<Expr<'c>> {
    let call = typed::<MatMul>(view);
    let cx = lowerer.cx;
    let (lhs, rhs) = (lowerer.buffer(call.lhs())?, lowerer.buffer(call.rhs())?);
    let result = lowerer.tensor(expr);
    if result.rank() != 2 {
        return Err(lowerer.refuse(format!("a batched product (rank {}) is not lowered yet", result.rank())));
    }
    if !lowerer.on_cpu() {
        check_local(lowerer, lowerer.tensor(lhs), lowerer.tensor(rhs), result)?;
    }
    let dtype = accumulator(result.dtype);
    let acc_type = cx.tensor(result.shape, dtype, result.layout, result.storage);
    let acc = lowerer.alloc_result(acc_type, "acc")?;
    let zero = if dtype.is_float() { Literal::Float(0.0) } else { Literal::Int(0) };
    let zero = cx.constant(zero, dtype, Meta::at(lowerer.span));
    lowerer.emit(Fill::new(cx), &[acc, zero]);
    lowerer.emit(Mma::new(cx, None), &[acc, lhs, rhs]);
    if dtype == result.dtype {
        return Ok(acc);
    }
    let rounded = lowerer.alloc_result(expr.ty(), "v")?;
    lowerer.emit(Unary::new(cx, UnaryKind::Cast), &[acc, rounded]);
    Ok(rounded)
}

/// Refuses operands that are not in registers, whose contracted axis is split over positions, or of which a position
/// lacks the rows or columns of its part of the result.
fn check_local<'c>(
    lowerer: &Lowerer<'_, 'c>,
    lhs: &TensorType<'c>,
    rhs: &TensorType<'c>,
    result: &TensorType<'c>,
) -> Result<()> {
    let rows_and_columns = Held::of(result).map_err(|error| lowerer.refuse_type(error))?;
    for (operand, contracted) in [(lhs, 1), (rhs, 0)] {
        if operand.storage != Storage::Rmem {
            let message = format!("an operand of a product lies in {}", operand.storage);
            return Err(lowerer.refuse(message).with_help("reshard it to rmem first"));
        }
        let held = Held::of(operand).map_err(|error| lowerer.refuse_type(error))?;
        if held.split().any(|(axis, factor)| axis == contracted && factor.extent > 1) {
            return Err(lowerer
                .refuse("a product whose contracted axis is split over positions is not lowered yet")
                .with_help("keep the K axis whole on every position"));
        }
        let mut needed = rows_and_columns.clone();
        needed.axes[contracted] = held.axes[contracted].clone();
        if held.local_index_for(&needed, 0).is_none() {
            let (operand, result) = (lowerer.cx.tensor_type(*operand), lowerer.cx.tensor_type(*result));
            let message = format!("{operand} is not distributed like the product {result}");
            return Err(lowerer
                .refuse(message)
                .with_help("write the mesh axes of a split axis in the mesh's own order"));
        }
    }
    Ok(())
}
