//! What effects do to their operands.

use tf_core::node::TirCallee;
use tf_core::op::OpInstance;
use tf_core::{Expr, Stmt, StmtKind};

use crate::arith::binary::Binary;
use crate::arith::clamp::Clamp;
use crate::arith::unary::Unary;
use crate::memory::copy::Copy;
use crate::memory::fill::Fill;
use crate::nn::relu::Relu;
use crate::nn::rms_norm::RmsNorm;
use crate::tensor::reduce::Reduce;

/// The place of the operand that an effect writes, where writing it is all that the effect does.
fn destination(op: OpInstance<'_>) -> Option<usize> {
    if op.is::<Fill>() {
        return Some(0);
    }
    let second = op.is::<Copy>() || op.is::<Unary>() || op.is::<Clamp>() || op.is::<Reduce>();
    if second || op.is::<Relu>() || op.is::<RmsNorm>() {
        return Some(1);
    }
    op.is::<Binary>().then_some(2)
}

/// The operand that a statement sets without reading it, if that is all it does: what liveness needs to know of this dialect.
#[must_use]
pub fn overwritten<'c>(stmt: Stmt<'c>) -> Option<Expr<'c>> {
    let StmtKind::Evaluate { callee: TirCallee::Op(op), args } = stmt.kind else { return None };
    let at = destination(op)?;
    let written = *args.get(at)?;
    let reads_it = args.iter().enumerate().any(|(i, arg)| i != at && *arg == written);
    (!reads_it).then_some(written)
}
