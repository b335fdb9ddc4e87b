//! Reductions.
use super::{Emitter, nest};
use tf_core::{
    Result,
    op::{OpView, rules::typed},
};
use tf_tir::tensor::reduce::{Reduce, accumulator};

/// Accumulates over the operand in memory order, so that rows are read contiguously whichever axes are reduced.
pub(super) fn reduce<'c>(e: &mut Emitter<'_, 'c>, view: OpView<'c>) -> Result<()> {
    let call = typed::<Reduce>(view);
    let (src, dst) = (e.buffer(call.src())?.clone(), e.buffer(call.dst())?.clone());
    let (kind, dtype) = (call.kind(), src.dtype);
    let reduced = |axis: usize| call.axes().contains(&(axis as i64));
    let keeps_axes = dst.shape.len() == src.shape.len();
    let total = e.allocate(accumulator(dtype), &dst.shape)?;
    nest::each(&e.s, &dst.shape, |s, at| total.store(s, s.identity(kind, dtype)?, at))?;
    nest::each(&e.s, &src.shape, |s, at| {
        let mut cell = Vec::with_capacity(dst.shape.len());
        for (axis, &index) in at.iter().enumerate() {
            match (reduced(axis), keeps_axes) {
                (false, _) => cell.push(index),
                (true, true) => cell.push(s.index(0)?),
                (true, false) => {}
            }
        }
        let (sum, x) = (total.load(s, &cell)?, src.load(s, at)?);
        total.store(s, s.combine(kind, dtype, sum, x)?, &cell)
    })?;
    let count = (0..src.shape.len()).filter(|&axis| reduced(axis)).map(|axis| src.shape[axis]).product();
    nest::each(&e.s, &dst.shape, |s, at| {
        let sum = total.load(s, at)?;
        dst.store(s, s.finish(kind, dtype, sum, count)?, at)
    })
}
