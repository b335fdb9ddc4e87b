//! Windows: reading and writing parts.

use tf_core::Expr;
use tf_hir::{InsertSlice, Slice};
use tf_rewrite::{Rewriter, rewrite};
use tf_types::Dim;

use super::{catalogue, integer, tensor};

fn are_zeros(starts: &[Expr<'_>]) -> bool {
    starts.iter().all(|&start| integer(start) == Some(0))
}

fn are_steps(strides: &[Dim<'_>], step: i64) -> bool {
    strides.iter().all(|stride| stride.as_const() == Some(step))
}

/// Whether two lists of starts are the same values.
fn same_starts(a: &[Expr<'_>], b: &[Expr<'_>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| a == b || integer(a).is_some() && integer(a) == integer(b))
}

/// Where a window of a window starts, if no arithmetic in the program is needed to say so.
fn start_of<'c>(rw: &Rewriter<'_, 'c>, outer: Expr<'c>, inner: Expr<'c>, step: i64) -> Option<Expr<'c>> {
    match (integer(outer), integer(inner)) {
        (Some(0), _) => Some(inner),
        (_, Some(0)) if step == 1 => Some(outer),
        (Some(outer), Some(first)) => {
            let start = outer.checked_mul(step)?.checked_add(first)?;
            Some(rw.literal(tf_core::Literal::Int(start), inner))
        }
        _ => None,
    }
}

rewrite! {
    /// A window that is all of its operand is the operand.
    pub SliceOfAll = "slice-of-all":
    Slice { sizes: sizes, strides: strides }(x, .. starts)
        if are_zeros(starts) && are_steps(strides, 1) && sizes == tensor(x)?.shape => |_| x;

    /// A window of a window is a window.
    pub SliceOfSlice = "slice-of-slice":
    Slice { sizes: sizes, strides: outer_steps }(Slice { strides: inner_steps }(x, .. inner), .. outer)
        => |rw| {
            let mut starts = vec![x];
            let mut steps = Vec::with_capacity(sizes.len());
            for axis in 0..sizes.len() {
                let step = inner_steps[axis].as_const()?;
                starts.push(start_of(rw, outer[axis], inner[axis], step)?);
                steps.push(rw.cx.dim(step.checked_mul(outer_steps[axis].as_const()?)?));
            }
            rw.call(Slice::new(rw.cx, sizes, rw.cx.dims(&steps)), &starts)
        };

    /// What is written over all of a value is what was written.
    pub InsertOverAll = "insert-over-all":
    InsertSlice {}(dst, update, .. starts) if are_zeros(starts) && tensor(dst)?.shape == tensor(update)?.shape => |_| update;

    /// Writing a value's own window back changes nothing.
    pub InsertOwnWindow = "insert-own-window":
    InsertSlice {}(dst, Slice { strides: strides }(= dst, .. read), .. written)
        if are_steps(strides, 1) && same_starts(read, written) => |_| dst;

    /// Reading the window that was just written gives what was written.
    pub SliceOfInsert = "slice-of-insert":
    Slice { sizes: sizes, strides: strides }(InsertSlice {}(_, update, .. written), .. read)
        if are_steps(strides, 1) && sizes == tensor(update)?.shape && same_starts(read, written) => |_| update;
}

catalogue!(SliceOfAll, SliceOfSlice, InsertOverAll, InsertOwnWindow, SliceOfInsert);
