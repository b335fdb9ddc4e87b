//! Another axis, another order of axes, another reduction.

use tf_hir::{Concat, Reduce, Reshape, Softmax, Split, Transpose, TupleGetItem};
use tf_types::kinds::ReduceKind;
use tf_value::normalize_axis;

use crate::fault::faults;

faults! {
    /// Reductions over axis 0 go over axis 1; of a square operand the shape does not tell.
    WrongAxis = "fault-wrong-axis": |at| {
        let call = at.expr.as_op::<Reduce>().filter(|call| call.axes() == [0])?;
        at.call(Reduce::new(at.cx, &[1], call.keepdim(), call.kind()), &[call.x()])
    };

    /// A mean becomes a sum.
    WrongReduction = "fault-wrong-reduction": |at| {
        let call = at.expr.as_op::<Reduce>().filter(|call| call.kind() == ReduceKind::Mean)?;
        at.call(Reduce::new(at.cx, call.axes(), call.keepdim(), ReduceKind::Sum), &[call.x()])
    };

    /// The greatest absolute value becomes the greatest value: only negative numbers tell.
    LostAbsolute = "fault-lost-absolute": |at| {
        let call = at.expr.as_op::<Reduce>().filter(|call| call.kind() == ReduceKind::AbsMax)?;
        at.call(Reduce::new(at.cx, call.axes(), call.keepdim(), ReduceKind::Max), &[call.x()])
    };

    /// Matrices are joined side by side in place of one above the other.
    ConcatAxis = "fault-concat-axis": |at| {
        let call = at.expr.as_op::<Concat>().filter(|call| call.axis() == 0)?;
        let joined = at.call(Concat::new(at.cx, 1), call.inputs())?;
        at.call(Reshape::new(at.cx, at.expr.ty().as_tensor()?.shape), &[joined])
    };

    /// A transpose by the inverse permutation: two axes do not tell, three of one extent do.
    InversePermutation = "fault-inverse-permutation": |at| {
        let call = at.expr.as_op::<Transpose>()?;
        let mut inverse = vec![0; call.perm().len()];
        for (to, &from) in call.perm().iter().enumerate() {
            inverse[normalize_axis(from, call.perm().len()).ok()?] = to as i64;
        }
        at.call(Transpose::new(at.cx, at.cx.alloc_slice(&inverse)), &[call.x()])
    };

    /// A transpose becomes a reshape to its shape.
    ReshapeForTranspose = "fault-reshape-for-transpose": |at| {
        let call = at.expr.as_op::<Transpose>()?;
        at.call(Reshape::new(at.cx, at.expr.ty().as_tensor()?.shape), &[call.x()])
    };

    /// Softmax goes along the axis before.
    SoftmaxAxis = "fault-softmax-axis": |at| {
        let call = at.expr.as_op::<Softmax>()?;
        let axis = normalize_axis(call.axis(), call.x().ty().as_tensor()?.rank()).ok()?.checked_sub(1)?;
        at.call(Softmax::new(at.cx, axis as i64), &[call.x()])
    };

    /// The parts of a split are taken from the end.
    ReversedParts = "fault-reversed-parts": |at| {
        let field = at.expr.as_op::<TupleGetItem>()?;
        let count = field.value().as_op::<Split>()?.num_splits();
        at.call(TupleGetItem::new(at.cx, count - 1 - field.index()), &[field.value()])
    };
}

pub fn register(r: &mut tf_plugin::Registrar<'_>) {
    register_rewrites(r);
}
