//! Reductions over nothing.

use tf_core::Expr;
use tf_hir::{ArgMax, Reduce, Reshape};
use tf_rewrite::{Rewriter, rewrite};
use tf_types::Dim;
use tf_types::kinds::ReduceKind;
use tf_value::normalize_axis;

use super::{catalogue, is_integer, tensor, zeros};

/// Whether every one of the axes has the extent 1.
fn are_ones(shape: &[Dim<'_>], axes: &[i64]) -> bool {
    axes.iter().all(|&axis| normalize_axis(axis, shape.len()).is_ok_and(|axis| shape[axis].as_const() == Some(1)))
}

/// The operand in the shape of the result.
fn unreduced<'c>(rw: &Rewriter<'_, 'c>, x: Expr<'c>) -> Option<Expr<'c>> {
    if rw.root().ty() == x.ty() { Some(x) } else { rw.call(Reshape::new(rw.cx, tensor(rw.root())?.shape), &[x]) }
}

rewrite! {
    /// The maximum over axes of extent 1 is the value, in another shape where the axes go; so is the sum of integers.
    pub ReduceOnes = "reduce-ones":
    Reduce { kind: kind, axes: axes }(x)
        if are_ones(tensor(x)?.shape, axes) && (kind == ReduceKind::Max || kind == ReduceKind::Sum && is_integer(x))
        => |rw| unreduced(rw, x);

    /// The sum or mean over axes of extent 1 is the value, but for `-0.0`.
    @fast_math
    pub ReduceOnesOfFloats = "reduce-ones-of-floats":
    Reduce { kind: ReduceKind::Sum | ReduceKind::Mean, axes: axes }(x) if are_ones(tensor(x)?.shape, axes)
        => |rw| unreduced(rw, x);

    /// The greatest of one element is at 0.
    pub ArgMaxOfOne = "argmax-of-one":
    ArgMax { axis: axis }(x) if are_ones(tensor(x)?.shape, &[axis]) => |rw| zeros(rw, rw.root().ty());
}

catalogue!(ReduceOnes, ReduceOnesOfFloats, ArgMaxOfOne);
