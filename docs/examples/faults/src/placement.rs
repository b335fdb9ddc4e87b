//! Wrong placement: logical values do not tell, what positions hold does.

use tf_core::Expr;
use tf_core::op::OpCall;
use tf_hir::{Local, Reshape, Reshard};
use tf_types::ShardAttr;
use tf_types::ShardAttr::{Broadcast, Partial, Split};

use crate::fault::{Site, faults};

/// The reshard whose parts a `local` gives.
fn dealt_out<'c>(at: &Site<'_, 'c>) -> Option<OpCall<'c, Reshard>> {
    at.expr.as_op::<Local>()?.x().as_op()
}

/// What positions hold of the operand of a reshard when it is placed by other attributes, of logical axes, and in runs of that length.
fn parts<'c>(
    at: &Site<'_, 'c>,
    reshard: OpCall<'c, Reshard>,
    change: impl FnOnce(&mut [ShardAttr<'c>]),
    run: Option<i64>,
) -> Option<Expr<'c>> {
    let (shape, shard) = (reshard.x().ty().as_tensor()?.shape, reshard.layout()?);
    let mut attrs = shard.logical_attrs(shape);
    change(&mut attrs);
    let runs = vec![run.map(|run| at.cx.dim(run)); attrs.len()];
    let dealt = at.cx.shard_layout_in_runs(shape, shard.mesh, &attrs, &runs).ok()?;
    // Without strides: those of the storage follow.
    let layout = at.cx.shard_layout(at.cx.layout(dealt.layout.shape(), None), dealt.attrs, dealt.mesh);
    let placed = at.call(Reshard::new(at.cx, Some(layout), reshard.storage()), &[reshard.x()])?;
    at.call(Local::new(at.cx), &[placed])
}

/// The same with one attribute in the place of every one that is another.
fn parts_with<'c>(at: &Site<'_, 'c>, old: ShardAttr<'c>, new: ShardAttr<'c>) -> Option<Expr<'c>> {
    let change =
        |attrs: &mut [ShardAttr<'c>]| attrs.iter_mut().filter(|attr| **attr == old).for_each(|attr| *attr = new);
    parts(at, dealt_out(at)?, change, None)
}

/// Whether a value is made of terms.
fn has_terms(expr: Expr<'_>) -> bool {
    let shard = expr.ty().as_tensor().and_then(|tensor| tensor.shard());
    shard.is_some_and(|shard| shard.attrs.iter().any(|attr| matches!(attr, Partial(_))))
}

faults! {
    /// What completes terms takes those of each position for the value: positions disagree.
    LostPartial = "fault-lost-partial": |at| {
        let call = at.expr.as_op::<Reshard>().filter(|call| has_terms(call.x()))?;
        let own = at.call(Local::new(at.cx), &[call.x()])?;
        at.call(Reshard::new(at.cx, call.layout(), call.storage()), &[own])
    };

    /// A position goes on with its terms where it had the value.
    TermsForValue = "fault-terms-for-value": |at| {
        let completed = dealt_out(at).filter(|call| has_terms(call.x()))?;
        at.call(Local::new(at.cx), &[completed.x()])
    };

    /// Terms of a maximum begin at zero, as those of a sum do: only negative numbers tell.
    WrongIdentity = "fault-wrong-identity": |at| {
        parts_with(at, Partial(at.cx.symbol("max")), Partial(at.cx.symbol("sum")))
    };

    /// Only the first position gets what all shall have.
    HeldOnce = "fault-held-once": |at| parts_with(at, Broadcast, Partial(at.cx.symbol("sum")));

    /// Columns are dealt out in place of rows; each position has as many elements.
    WrongSplitAxis = "fault-wrong-split-axis": |at| {
        let columns = parts_with(at, Split(0), Split(1))?;
        at.call(Reshape::new(at.cx, at.expr.ty().as_tensor()?.shape), &[columns])
    };

    /// Two axes of the mesh change places; of a square mesh the shape of the parts does not tell.
    SwappedMeshAxes = "fault-swapped-mesh-axes": |at| parts(at, dealt_out(at)?, <[_]>::reverse, None);

    /// Elements are dealt out one by one in place of block by block.
    CyclicParts = "fault-cyclic-parts": |at| parts(at, dealt_out(at)?, |_| (), Some(1));
}

pub fn register(r: &mut tf_plugin::Registrar<'_>) {
    register_rewrites(r);
}
