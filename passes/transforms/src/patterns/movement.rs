//! Shapes, permutations and placements.

use tf_hir::{RepeatInterleave, Reshape, Reshard, Transpose};
use tf_rewrite::rewrite;
use tf_types::{ShardAttr, TensorType};
use tf_value::normalize_axis;

use super::{catalogue, tensor};

/// The permutation with axes counted from 0.
fn permutation(axes: &[i64]) -> Option<Vec<usize>> {
    axes.iter().map(|&axis| normalize_axis(axis, axes.len()).ok()).collect()
}

/// Whether the positions of a mesh hold terms of a sum, or of another reduction.
fn has_terms(ty: &TensorType<'_>) -> bool {
    ty.shard().is_some_and(|shard| shard.attrs.iter().any(|attr| matches!(attr, ShardAttr::Partial(_))))
}

rewrite! {
    /// A reshape to the shape that the value has is the value.
    pub ReshapeToSame = "reshape-to-same":
    Reshape {}(x) => |_| x;

    /// Only the last of several reshapes counts.
    pub ReshapeOfReshape = "reshape-of-reshape":
    Reshape { new_shape: shape }(Reshape {}(x)) => |rw| rw.call(Reshape::new(rw.cx, shape), &[x]);

    /// A transpose that leaves all axes in place is its operand.
    pub TransposeInPlace = "transpose-in-place":
    Transpose { perm: perm }(x) if permutation(perm)?.iter().enumerate().all(|(to, &from)| to == from) => |_| x;

    /// Two transposes are one.
    pub TransposeOfTranspose = "transpose-of-transpose":
    Transpose { perm: outer }(Transpose { perm: inner }(x))
        => |rw| {
            let (outer, inner) = (permutation(outer)?, permutation(inner)?);
            let both: Vec<_> = outer.iter().map(|&axis| inner[axis] as i64).collect();
            rw.call(Transpose::new(rw.cx, rw.cx.alloc_slice(&both)), &[x])
        };

    /// Repeating once is the operand.
    pub RepeatOnce = "repeat-once":
    RepeatInterleave { repeats: 1 }(x) => |_| x;

    /// A reshard to where the value is already is the value.
    pub ReshardInPlace = "reshard-in-place":
    Reshard {}(x) => |_| x;

    /// A reshard there and back is the value, unless terms were added up on the way.
    pub ReshardAndBack = "reshard-and-back":
    Reshard {}(between @ Reshard {}(x)) if !has_terms(tensor(x)?) && !has_terms(tensor(between)?) => |_| x;
}

catalogue! {
    ReshapeToSame, ReshapeOfReshape, TransposeInPlace, TransposeOfTranspose, RepeatOnce, ReshardInPlace, ReshardAndBack,
}
