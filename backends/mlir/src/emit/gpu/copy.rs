//! `T.copy`
use crate::emit::{
    gpu::{Buffer, KernelCx, memory::Place},
    table::EmitEffect,
};
use tf_core::{Result, op::OpCall};
use tf_tir::{distribution::Part, held::Held, memory::copy::Copy};

impl EmitEffect for Copy {
    const WRITES: &'static [usize] = &[1];

    fn emit<'a, 'c>(call: OpCall<'c, Self>, cx: &mut KernelCx<'a, 'c>) -> Result<()> {
        let (src, dst) = (cx.buffer(call.src())?, cx.buffer(call.dst())?);
        let wanted = distribution(&dst, [&src]);
        let values = cx.read(&src, &wanted)?;
        cx.write(&dst, &wanted, &values)
    }
}

/// By which distribution an elementwise operation runs.
pub(crate) fn distribution<'a, 'c, const N: usize>(dst: &Buffer<'a, 'c>, sources: [&Buffer<'a, 'c>; N]) -> Held<'c> {
    fn part<'b, 'c>(buffer: &'b Buffer<'_, 'c>) -> Part<'b, 'c> {
        Part { held: &buffer.held, in_registers: matches!(buffer.place, Place::Registers { .. }) }
    }
    tf_tir::distribution::distribution(part(dst), &sources.map(part))
}
