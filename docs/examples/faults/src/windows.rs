//! Reading and writing the wrong part.

use tf_core::Literal;
use tf_hir::{IndexAdd, IndexCopy, InsertSlice, Slice};

use crate::fault::{dtype, faults, integer};

faults! {
    /// A window starts one element early.
    WindowOffByOne = "fault-window-off-by-one": |at| {
        let call = at.expr.as_op::<Slice>()?;
        let &[start, ref rest @ ..] = call.starts() else { return None };
        let early = integer(start).filter(|&start| start > 0)? - 1;
        let early = at.literal(Literal::Int(early), dtype(start)?);
        at.call(Slice::new(at.cx, call.sizes(), call.strides()), &[&[call.x(), early], rest].concat())
    };

    /// A window with steps becomes one without.
    DroppedStride = "fault-dropped-stride": |at| {
        let call = at.expr.as_op::<Slice>()?;
        let ones = vec![at.cx.dim(1); call.strides().len()];
        (call.strides() != ones).then_some(())?;
        at.call(Slice::new(at.cx, call.sizes(), at.cx.dims(&ones)), &[&[call.x()], call.starts()].concat())
    };

    /// What is written into a part is lost, as if the part were outside (pytorch/pytorch#180164).
    DroppedUpdate = "fault-dropped-update": |at| Some(at.expr.as_op::<InsertSlice>()?.dst());

    /// Two writes change places though they overlap.
    ReorderedUpdates = "fault-reordered-updates": |at| {
        let second = at.expr.as_op::<InsertSlice>()?;
        let first = second.dst().as_op::<InsertSlice>()?;
        let write = |dst, update, offsets: &[_]| at.call(InsertSlice::new(at.cx), &[&[dst, update], offsets].concat());
        write(write(first.dst(), second.update(), second.offsets())?, first.update(), first.offsets())
    };

    /// Reading a part gives what was last written, whether it was written there or not.
    ForwardedWrite = "fault-forwarded-write": |at| {
        let write = at.expr.as_op::<Slice>()?.x().as_op::<InsertSlice>()?;
        Some(write.update())
    };

    /// What is added at positions replaces what was there: positions that occur twice, and what was there, tell.
    OverwritingAdd = "fault-overwriting-add": |at| {
        let call = at.expr.as_op::<IndexAdd>()?;
        at.call(IndexCopy::new(at.cx, call.dim()), &[call.dst(), call.index(), call.src()])
    };
}

pub fn register(r: &mut tf_plugin::Registrar<'_>) {
    register_rewrites(r);
}
