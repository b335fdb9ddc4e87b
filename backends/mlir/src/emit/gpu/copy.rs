//! `T.copy`
use crate::emit::{
    gpu::{Buffer, KernelCx, memory::Place},
    table::EmitEffect,
};
use tf_core::{Result, op::OpCall};
use tf_tir::{held::Held, memory::copy::Copy};

impl EmitEffect for Copy {
    const WRITES: &'static [usize] = &[1];

    fn emit<'a, 'c>(call: OpCall<'c, Self>, cx: &mut KernelCx<'a, 'c>) -> Result<()> {
        let (src, dst) = (cx.buffer(call.src())?, cx.buffer(call.dst())?);
        let wanted = distribution(&dst, [&src]);
        let values = cx.read(&src, &wanted)?;
        cx.write(&dst, &wanted, &values)
    }
}

/// By which distribution an elementwise operation runs: that of the registers it touches, the destination's first;
/// memory can be addressed by any.
pub(crate) fn distribution<'a, 'c, const N: usize>(dst: &Buffer<'a, 'c>, sources: [&Buffer<'a, 'c>; N]) -> Held<'c> {
    let in_registers = |b: &Buffer<'_, 'c>| matches!(b.place, Place::Registers { .. });
    if in_registers(dst) {
        return dst.held.clone();
    }
    let extents = |h: &Held<'c>| h.axes.iter().map(|f| f.iter().map(|f| f.extent).product()).collect::<Vec<i64>>();
    let shape = extents(&dst.held);
    let splits = |b: &Buffer<'_, 'c>| b.held.split().next().is_some();
    let alike = |b: &&&Buffer<'_, 'c>| extents(&b.held) == shape;
    let registers = sources.iter().filter(alike).find(|b| in_registers(b));
    let split = || sources.iter().filter(alike).find(|b| !splits(dst) && splits(b));
    registers.or_else(split).map_or_else(|| dst.held.clone(), |b| b.held.clone())
}
