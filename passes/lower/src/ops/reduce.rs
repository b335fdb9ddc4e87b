//! `tf.reduce`: one effect, with a workspace where warps must exchange terms.

use tf_core::op::OpView;
use tf_core::op::rules::typed;
use tf_core::{Expr, Result};
use tf_hir::Reduce;
use tf_tir::tensor::plan::ReducePlan;
use tf_tir::tensor::reduce::accumulator;
use tf_types::Storage;

use crate::lowerer::Lowerer;

pub(super) fn lower<'c>(lowerer: &mut Lowerer<'_, 'c>, expr: Expr<'c>, view: OpView<'c>) -> Result<Expr<'c>> {
    let call = typed::<Reduce>(view);
    let src = lowerer.buffer(call.x())?;
    let from = lowerer.tensor(src);
    let rank = from.rank() as i64;
    let axes: Vec<i64> = call.axes().iter().map(|axis| axis.rem_euclid(rank.max(1))).collect();
    let axes = lowerer.cx.alloc_slice(&axes);
    let dst = lowerer.alloc_result(expr.ty(), "r")?;
    let mut args = vec![src, dst];
    if !lowerer.on_cpu() {
        if from.storage != Storage::Rmem {
            let message = format!("the operand of a reduction lies in {}", from.storage);
            return Err(lowerer.refuse(message).with_help("reshard it to rmem first"));
        }
        let plan = ReducePlan::new(from, lowerer.tensor(dst), axes).map_err(|error| lowerer.refuse_type(error))?;
        let len = plan.workspace_len();
        if len > 0 {
            let shape = lowerer.cx.const_dims(&[len]);
            let workspace = lowerer.cx.tensor(shape, accumulator(from.dtype), None, Storage::Smem);
            args.push(lowerer.alloc(workspace, "ws")?);
        }
    }
    lowerer.emit(tf_tir::tensor::reduce::Reduce::new(lowerer.cx, axes, call.kind()), &args);
    Ok(dst)
}
