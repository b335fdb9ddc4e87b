//! `T.unary`
use crate::emit::{
    gpu::{KernelCx, copy::distribution, kernel::dtype},
    table::EmitEffect,
};
use tf_core::{Result, op::OpCall};
use tf_tir::arith::unary::Unary;
use tf_types::kinds::UnaryKind;

impl EmitEffect for Unary {
    const WRITES: &'static [usize] = &[1];

    fn emit<'a, 'c>(call: OpCall<'c, Self>, cx: &mut KernelCx<'a, 'c>) -> Result<()> {
        let dst = cx.buffer(call.dst())?;
        let wanted = match cx.buffer(call.src()) {
            Ok(src) => distribution(&dst, [&src]),
            Err(_) => distribution(&dst, []),
        };
        let values = cx.operand(call.src(), &wanted)?;
        let (from, scalars) = (dtype(call.src())?, cx.builder.scalars());
        let apply = |x| match call.kind() {
            UnaryKind::Cast => scalars.cast(from, dst.dtype, x),
            kind => scalars.unary(kind, from, x),
        };
        let values = values.into_iter().map(apply).collect::<Result<Vec<_>, _>>()?;
        cx.write(&dst, &wanted, &values)
    }
}
