//! `T.binary`
use crate::emit::{
    gpu::{KernelCx, copy::distribution, kernel::dtype},
    table::EmitEffect,
};
use tf_core::{Result, op::OpCall};
use tf_tir::arith::binary::Binary;

impl EmitEffect for Binary {
    const WRITES: &'static [usize] = &[2];

    fn emit<'a, 'c>(call: OpCall<'c, Self>, cx: &mut KernelCx<'a, 'c>) -> Result<()> {
        let dst = cx.buffer(call.dst())?;
        let operands = [call.lhs(), call.rhs()].map(|operand| cx.buffer(operand).ok());
        let wanted = match &operands {
            [Some(lhs), Some(rhs)] => distribution(&dst, [lhs, rhs]),
            [Some(one), None] | [None, Some(one)] => distribution(&dst, [one]),
            [None, None] => distribution(&dst, []),
        };
        let (lhs, rhs) = (cx.operand(call.lhs(), &wanted)?, cx.operand(call.rhs(), &wanted)?);
        let (kind, dtype, scalars) = (call.kind(), dtype(call.lhs())?, cx.builder.scalars());
        let pairs = lhs.into_iter().zip(rhs);
        let values = pairs.map(|(a, b)| scalars.binary(kind, dtype, a, b)).collect::<Result<Vec<_>, _>>()?;
        cx.write(&dst, &wanted, &values)
    }
}
