//! `T.fill`
use crate::emit::{
    gpu::{KernelCx, memory::local_len},
    table::EmitEffect,
};
use tf_core::{Result, op::OpCall};
use tf_tir::memory::fill::Fill;

impl EmitEffect for Fill {
    const WRITES: &'static [usize] = &[0];

    fn emit<'a, 'c>(call: OpCall<'c, Self>, cx: &mut KernelCx<'a, 'c>) -> Result<()> {
        let tensor = cx.buffer(call.tensor())?;
        let value = cx.scalar(call.value())?;
        let len = local_len(&tensor.held)?;
        let wanted = tensor.held.clone();
        cx.write(&tensor, &wanted, &vec![value; len])
    }
}
