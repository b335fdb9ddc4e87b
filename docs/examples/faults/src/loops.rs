//! Loops with another number of steps, or other carries.

use tf_core::node::GridRegion;
use tf_core::{Expr, ExprKind};

use crate::fault::{Site, faults};

fn region<'c>(expr: Expr<'c>) -> Option<&'c GridRegion<'c>> {
    match expr.kind {
        ExprKind::Grid(region) => Some(region),
        _ => None,
    }
}

fn with<'c>(at: &Site<'_, 'c>, region: GridRegion<'c>) -> Option<Expr<'c>> {
    Some(at.cx.grid(region, at.expr.ty(), at.expr.source_metadata()))
}

faults! {
    /// The first carry of a loop is what it was at the start.
    DroppedCarry = "fault-dropped-carry": |at| {
        let region = region(at.expr)?;
        let ([carry, ..], [_, rest @ ..]) = (region.carries, region.yields) else { return None };
        let yields = at.cx.alloc_slice(&[&[*carry], rest].concat());
        with(at, GridRegion { yields, ..*region })
    };

    /// Two carries of one type are exchanged at the end of each step.
    ExchangedCarries = "fault-exchanged-carries": |at| {
        let region = region(at.expr)?;
        let [first, second, rest @ ..] = region.yields else { return None };
        (first.ty() == second.ty()).then_some(())?;
        let yields = at.cx.alloc_slice(&[&[*second, *first], rest].concat());
        with(at, GridRegion { yields, ..*region })
    };

    /// A carry sees what another carry becomes in this step, in place of what it was: all carries change together.
    EagerCarry = "fault-eager-carry": |at| {
        let region = region(at.expr)?;
        let [first, second] = region.yields else { return None };
        (*second == region.carries[0] && first.ty() == second.ty()).then_some(())?;
        with(at, GridRegion { yields: at.cx.alloc_slice(&[*first, *first]), ..*region })
    };

    /// An accumulator starts at zero.
    WrongInitialValue = "fault-wrong-initial-value": |at| {
        let region = region(at.expr)?;
        let [init, rest @ ..] = region.inits else { return None };
        let inits = at.cx.alloc_slice(&[&[at.filled(*init, 0.0)?], rest].concat());
        with(at, GridRegion { inits, ..*region })
    };

    /// A loop ends one step early.
    OffByOne = "fault-off-by-one": |at| {
        let region = region(at.expr)?;
        let stop = at.cx.dim(region.stop.as_const()? - region.step.as_const()?);
        with(at, GridRegion { stop, ..*region })
    };

    /// A loop starts one step late.
    LateStart = "fault-late-start": |at| {
        let region = region(at.expr)?;
        let start = at.cx.dim(region.start.as_const()? + region.step.as_const()?);
        with(at, GridRegion { start, ..*region })
    };

    /// A loop is unrolled by two, and one of the two copies of its body is lost.
    LostUnrolledHalf = "fault-lost-unrolled-half": |at| {
        let region = region(at.expr)?;
        with(at, GridRegion { step: at.cx.dim(2 * region.step.as_const()?), ..*region })
    };

    /// What a loop computes is moved before it though it depends on a carry: all steps but the first are lost.
    HoistedCarry = "fault-hoisted-carry": |at| {
        let region = region(at.expr)?;
        let stop = at.cx.dim(region.start.as_const()? + region.step.as_const()?);
        (region.stop.as_const()? > stop.as_const()?).then(|| with(at, GridRegion { stop, ..*region })).flatten()
    };
}

pub fn register(r: &mut tf_plugin::Registrar<'_>) {
    register_rewrites(r);
}
