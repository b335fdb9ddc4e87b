//! Operands in the wrong place, and the wrong op on the right ones.

use tf_hir::{MatMul, Reshape, Where};
use tf_types::kinds::BinaryKind;

use crate::fault::{faults, operands_of};

faults! {
    /// `a - b` becomes `b - a`.
    SwappedOperands = "fault-swapped-operands": |at| {
        let (a, b) = operands_of(at.expr, BinaryKind::Sub)?;
        at.binary(BinaryKind::Sub, b, a)
    };

    /// `a / b` becomes `b / a`.
    SwappedDivision = "fault-swapped-division": |at| {
        let (a, b) = operands_of(at.expr, BinaryKind::Div)?;
        at.binary(BinaryKind::Div, b, a)
    };

    /// `where(c, a, b)` becomes `where(c, b, a)`.
    SwappedSelection = "fault-swapped-selection": |at| {
        let call = at.expr.as_op::<Where>()?;
        at.call(Where::new(at.cx), &[call.condition(), call.other(), call.input()])
    };

    /// `a @ b` becomes `b @ a`; of square matrices the shape does not tell.
    SwappedMatmul = "fault-swapped-matmul": |at| {
        let call = at.expr.as_op::<MatMul>()?;
        at.call(MatMul::new(at.cx), &[call.rhs(), call.lhs()])
    };

    /// The lesser becomes the greater.
    MaxForMin = "fault-max-for-min": |at| {
        let (a, b) = operands_of(at.expr, BinaryKind::Min)?;
        at.binary(BinaryKind::Max, a, b)
    };

    /// A vector beside a square matrix is repeated along the rows in place of the columns.
    WrongBroadcast = "fault-wrong-broadcast": |at| {
        let (matrix, vector) = operands_of(at.expr, BinaryKind::Add)?;
        let &[extent] = vector.ty().as_tensor()?.shape else { return None };
        let column = at.call(Reshape::new(at.cx, at.cx.dims(&[extent, at.cx.dim(1)])), &[vector])?;
        at.binary(BinaryKind::Add, matrix, column)
    };
}

pub fn register(r: &mut tf_plugin::Registrar<'_>) {
    register_rewrites(r);
}
