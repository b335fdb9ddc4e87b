//! `tf.reshard`: moves between residencies through views that every position makes of its part.

use tf_core::op::OpView;
use tf_core::op::rules::typed;
use tf_core::{Expr, Result};
use tf_hir::Reshard;
use tf_tir::held::Held;
use tf_tir::memory::copy::Copy;
use tf_tir::memory::tensor_view::TensorView;
use tf_tir::sync::barrier::Sync;
use tf_types::{ShardAttr, ShardLayout, Storage, TensorLayout, TensorType};

use crate::lowerer::Lowerer;
use crate::ops::ctas;

pub(super) fn lower<'c>(lowerer: &mut Lowerer<'_, 'c>, expr: Expr<'c>, view: OpView<'c>) -> Result<Expr<'c>> {
    let call = typed::<Reshard>(view);
    let src = lowerer.buffer(call.x())?;
    if lowerer.on_cpu() {
        return Ok(src);
    }
    let (from, to) = (lowerer.tensor(src), lowerer.tensor(expr));
    if has_partial(from) || has_partial(to) {
        return Err(lowerer.refuse("completing or making a Partial value is not lowered yet"));
    }
    let Some(shard) = to.shard() else { return Ok(src) };
    match (from.storage, to.storage) {
        (_, Storage::Gmem) => {
            let Some(outs) = lowerer.sinks.get(&expr).cloned() else {
                return Err(lowerer
                    .refuse(
                        "a move to gmem that is not the function's result needs scratch memory, which is not built yet",
                    )
                    .with_help("return the value, or keep it in rmem or smem"));
            };
            for &out in &outs {
                store(lowerer, src, shard, out)?;
            }
            Ok(outs[0])
        }
        (Storage::Gmem | Storage::Smem, Storage::Rmem) => {
            if from.storage == Storage::Smem {
                ctas::check_within(lowerer, from, to)?;
            }
            load(lowerer, src, to)
        }
        (Storage::Rmem, Storage::Rmem) => redistribute(lowerer, src, to),
        (Storage::Gmem | Storage::Rmem, Storage::Smem) => share(lowerer, src, shard, to),
        (from, to) => Err(lowerer.refuse(format!("a move from {from} to {to} is not lowered yet"))),
    }
}

fn has_partial(tensor: &TensorType<'_>) -> bool {
    tensor.shard().is_some_and(|s| s.attrs.iter().any(|a| matches!(a, ShardAttr::Partial(_))))
}

/// Writes what every position holds of `src`, placed as `shard`, to its part of `out`.
///
/// # Errors
/// The placement does not address `out`.
pub(crate) fn store<'c>(
    lowerer: &mut Lowerer<'_, 'c>,
    src: Expr<'c>,
    shard: ShardLayout<'c>,
    out: Expr<'c>,
) -> Result<()> {
    let from = lowerer.tensor(src);
    let placed = lowerer.cx.tensor(
        from.shape,
        from.dtype,
        Some(TensorLayout::Shard(lowerer.without_strides(shard))),
        Storage::Rmem,
    );
    let placed = placed.as_tensor().unwrap_or(from);
    if from.storage != Storage::Gmem && ctas::crosses(lowerer, from, placed)? {
        // All CTAs see gmem, so that every position can write what it has; which one does is nobody's business.
        let Some(own) = from.shard() else { return Err(lowerer.refuse("a value without placement is not stored")) };
        let own = lowerer.without_strides(own);
        return store(lowerer, src, own, out);
    }
    let held = match from.storage {
        Storage::Rmem => redistribute(lowerer, src, placed)?,
        _ => load(lowerer, src, placed)?,
    };
    let view = place(lowerer, out, shard)?;
    lowerer.emit(Copy::new(lowerer.cx), &[held, view]);
    Ok(())
}

/// Registers of the type `to`, read through a view of `src`.
fn load<'c>(lowerer: &mut Lowerer<'_, 'c>, src: Expr<'c>, to: &TensorType<'c>) -> Result<Expr<'c>> {
    let cx = lowerer.cx;
    let Some(shard) = to.shard() else { return Ok(src) };
    let view = place(lowerer, src, shard)?;
    let held = lowerer.alloc_named(cx.tensor_type(*to), "t")?;
    lowerer.emit(Copy::new(cx), &[view, held]);
    Ok(held)
}

/// Registers of the type `to`: the same ones if every position holds the same elements, else through shared memory.
fn redistribute<'c>(lowerer: &mut Lowerer<'_, 'c>, src: Expr<'c>, to: &TensorType<'c>) -> Result<Expr<'c>> {
    let from = lowerer.tensor(src);
    let held = |t| Held::of(t).map_err(|error| lowerer.refuse_type(error));
    if held(from)?.same_distribution(&held(to)?) {
        return Ok(src);
    }
    let Some(shard) = to.shard() else { return Ok(src) };
    ctas::check_within(lowerer, from, to)?;
    let open = lowerer.without_strides(shard);
    // A CTA that has more than it needs writes all of it.
    let open = if ctas::crosses(lowerer, to, from)? { lowerer.cx.with_c_order_strides(open) } else { open };
    let exchange =
        lowerer.cx.reshard_type(from, Some(open), Some(Storage::Smem)).map_err(|error| lowerer.refuse_type(error))?;
    let exchange = exchange.as_tensor().unwrap_or(to);
    let shared = share(lowerer, src, shard, exchange)?;
    load(lowerer, shared, to)
}

/// A shared buffer of the type `to` with the elements of `src`, complete for all threads of the CTA.
fn share<'c>(
    lowerer: &mut Lowerer<'_, 'c>,
    src: Expr<'c>,
    shard: ShardLayout<'c>,
    to: &TensorType<'c>,
) -> Result<Expr<'c>> {
    let cx = lowerer.cx;
    let registers =
        cx.tensor(to.shape, to.dtype, Some(TensorLayout::Shard(lowerer.without_strides(shard))), Storage::Rmem);
    let registers = registers.as_tensor().unwrap_or(to);
    let from = lowerer.tensor(src);
    if from.storage == Storage::Rmem {
        ctas::check_within(lowerer, from, to)?;
    }
    let (held, writer) = match (from.storage, from.shard()) {
        (Storage::Rmem, Some(writer)) => (src, writer),
        (Storage::Rmem, None) => (src, shard),
        _ => (load(lowerer, src, registers)?, shard),
    };
    check_apart(lowerer, to)?;
    let shared = lowerer.alloc(cx.tensor_type(*to), "s")?;
    let view = place(lowerer, shared, writer)?;
    if lowerer.in_loop() {
        // The last iteration's readers must be done.
        barrier(lowerer);
    }
    lowerer.emit(Copy::new(cx), &[held, view]);
    barrier(lowerer);
    Ok(shared)
}

/// Bytes of shared memory that no CTA has.
const SMEM_LIMIT: i64 = 1 << 20;

/// Refuses strides by which elements of one CTA share an address.
fn check_apart<'c>(lowerer: &Lowerer<'_, 'c>, shared: &TensorType<'c>) -> Result<()> {
    let held = Held::of(shared).map_err(|error| lowerer.refuse_type(error))?;
    let ctas = ctas::mesh_axes(lowerer, &held)?;
    let within = held.axes.iter().flatten().filter(|f| f.mesh_axis.is_none_or(|axis| !ctas.contains(&axis)));
    let within: Vec<_> = within.filter(|f| f.extent > 1).collect();
    if within.iter().try_fold(1, |len: i64, f| len.checked_mul(f.extent)).is_none_or(|len| len > SMEM_LIMIT) {
        // Refused for its size where the kernel's memory is laid out.
        return Ok(());
    }
    let mut addresses = vec![0];
    for factor in within {
        let steps = (0..factor.extent).map(|at| at * factor.stride);
        addresses = steps.flat_map(|step| addresses.iter().map(move |address| address + step)).collect();
        addresses.sort_unstable();
        if addresses.windows(2).any(|pair| pair[0] == pair[1]) {
            let ty = lowerer.cx.tensor_type(*shared);
            return Err(lowerer
                .refuse(format!("the strides of {ty} put elements of different threads at one address"))
                .with_help("threads share smem: leave the strides out, or give every factor its own"));
        }
    }
    Ok(())
}

/// All threads of the CTA have come this far: whatever mesh a value is placed on, they share the memory.
fn barrier<'c>(lowerer: &mut Lowerer<'_, 'c>) {
    if let Some(mesh) = lowerer.threads {
        lowerer.emit(Sync::new(lowerer.cx, mesh), &[]);
    }
}

/// The view of `memory` that gives every position its part under the placement: the placement's factors with the
/// strides that address this memory.
fn place<'c>(lowerer: &mut Lowerer<'_, 'c>, memory: Expr<'c>, shard: ShardLayout<'c>) -> Result<Expr<'c>> {
    let cx = lowerer.cx;
    let tensor = lowerer.tensor(memory);
    let open = TensorLayout::Shard(lowerer.without_strides(shard));
    let wanted = TensorType { layout: Some(open), ..*tensor };
    let held = |t: &TensorType<'c>| Held::of(t).map_err(|error| lowerer.refuse_type(error));
    let Some(strides) = held(tensor)?.strides_for(&held(&wanted)?) else {
        let message = format!("{} cannot be read as {}", memory.ty(), cx.tensor_type(wanted));
        return Err(lowerer.refuse(message).with_help("use a placement whose factors nest in the source's"));
    };
    let layout = cx.layout(shard.layout.shape(), Some(cx.const_dims(&strides)));
    let placed = TensorLayout::Shard(cx.shard_layout(layout, shard.attrs, shard.mesh));
    lowerer.bind_op(TensorView::new(cx, placed, None), &[memory], "sv")
}
