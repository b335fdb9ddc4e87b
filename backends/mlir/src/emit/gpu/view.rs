//! `T.tensor_view`: the same memory, or some of the same registers, under another layout.
use crate::emit::{
    gpu::{
        Buffer, KernelCx,
        index::Index,
        memory::{Place, axis_stride, local_len},
    },
    table::EmitBuffer,
};
use tf_core::{Diagnostic, Expr, Result, op::OpCall};
use tf_tir::{held::Held, memory::tensor_view::TensorView};
use tf_types::TensorType;

impl EmitBuffer for TensorView {
    fn emit<'a, 'c>(call: OpCall<'c, Self>, var: Expr<'c>, cx: &mut KernelCx<'a, 'c>) -> Result<Buffer<'a, 'c>> {
        let memory = cx.buffer(call.memory())?;
        let tensor = var.ty().as_tensor().ok_or_else(|| Diagnostic::error("a view is a tensor"))?;
        let viewed = TensorType { layout: Some(call.layout()), ..*tensor };
        let held = Held::of(&viewed).map_err(Diagnostic::from)?;
        let starts = call.coords().iter().map(|&coord| cx.index(coord)).collect::<Result<Vec<_>>>()?;
        let place = match &memory.place {
            Place::Memory { memref, start, shared } => {
                let mut from = *start;
                let is_flat = starts.len() == 1 && memory.held.axes.len() != 1;
                if is_flat {
                    from = cx.builder.add_index(from, starts[0])?;
                }
                for (axis, &coord) in starts.iter().enumerate().filter(|_| !is_flat) {
                    let offset = window_offset(cx, &memory.held, axis, coord)?;
                    from = cx.builder.add_index(from, offset)?;
                }
                Place::Memory { memref: *memref, start: from, shared: *shared }
            }
            Place::Registers { file, at } => {
                let at = registers(&memory.held, &held, &starts, at)?;
                Place::Registers { file: *file, at }
            }
        };
        Ok(Buffer { dtype: memory.dtype, held, place })
    }
}

/// Elements of memory between coordinate 0 and `coord` of an axis.
fn window_offset<'a>(cx: &KernelCx<'a, '_>, memory: &Held<'_>, axis: usize, coord: Index<'a>) -> Result<Index<'a>> {
    let factors = memory.axes.get(axis).map_or(&[][..], Vec::as_slice);
    if let Some(stride) = axis_stride(factors) {
        return cx.builder.scale_index(coord, stride);
    }
    if coord.term.is_some() {
        return Err(Diagnostic::error(format!(
            "a window along axis {axis} moves, but its layout has no single stride"
        )));
    }
    let offset = factors.iter().map(|f| (coord.constant / f.step) % f.extent * f.stride).sum();
    Ok(Index::constant(offset))
}

/// The registers of a view of registers.
fn registers<'c>(memory: &Held<'c>, view: &Held<'c>, starts: &[Index<'_>], at: &[usize]) -> Result<Vec<usize>> {
    let moved = || Diagnostic::error("a view of registers must start at constants").with_help("unroll the loop");
    let starts: Vec<i64> =
        starts.iter().map(|s| s.term.is_none().then_some(s.constant).ok_or_else(moved)).collect::<Result<_>>()?;
    let elsewhere = || {
        Diagnostic::error("a position does not hold the registers of this view")
            .with_help("reshard the tensor before slicing an axis that is split")
    };
    let is_flat = starts.len() == 1 && memory.axes.len() != 1;
    if is_flat || memory.axes.len() != view.axes.len() {
        return Err(elsewhere());
    }
    // Along an axis that positions share the view must be the whole axis, distributed alike.
    for (axis, (mine, theirs)) in memory.axes.iter().zip(&view.axes).enumerate() {
        let split = mine.iter().chain(theirs).any(|f| f.mesh_axis.is_some() && f.extent > 1);
        let start = starts.get(axis).copied().unwrap_or(0);
        let one = |factors: &Vec<_>| Held { axes: vec![factors.clone()], mesh: memory.mesh };
        let alike = memory.mesh == view.mesh && one(mine).same_distribution(&one(theirs));
        if split && (start != 0 || !alike) {
            return Err(elsewhere());
        }
    }
    let len = local_len(view)?;
    let mut found = Vec::with_capacity(len);
    for index in 0..len {
        let mut coords = view.local_coords(index);
        coords.iter_mut().zip(&starts).for_each(|(coord, start)| *coord += start);
        let mut local = 0;
        for (axis, factors) in memory.axes.iter().enumerate() {
            for factor in factors.iter().filter(|f| f.mesh_axis.is_none()) {
                local = local * factor.extent + (coords[axis] / factor.step) % factor.extent;
            }
        }
        found.push(*at.get(local as usize).ok_or_else(elsewhere)?);
    }
    Ok(found)
}
