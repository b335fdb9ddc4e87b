//! Values that pass through a dtype that cannot hold them.

use tf_hir::{Binary, Cast, MatMul, Reduce};
use tf_types::DType;
use tf_types::kinds::{BinaryKind, ReduceKind, UnaryKind};

use crate::fault::{dtype, faults};

faults! {
    /// A cast of a cast becomes one cast of the first operand: the rounding between is lost (pytorch/pytorch#180575).
    CastOfCast = "fault-cast-of-cast": |at| {
        let outer = at.expr.as_op::<Cast>()?;
        let inner = outer.x().as_op::<Cast>()?;
        at.cast(outer.dtype(), inner.x())
    };

    /// A sum of f32 is accumulated in f16.
    NarrowSum = "fault-narrow-sum": |at| {
        let call = at.expr.as_op::<Reduce>().filter(|call| call.kind() == ReduceKind::Sum)?;
        (dtype(call.x())? == DType::F32).then_some(())?;
        let sum = at.call(Reduce::new(at.cx, call.axes(), call.keepdim(), call.kind()), &[at.cast(DType::F16, call.x())?])?;
        at.cast(DType::F32, sum)
    };

    /// A product of f32 matrices is computed in bf16, as tensor cores would.
    NarrowMatmul = "fault-narrow-matmul": |at| {
        let call = at.expr.as_op::<MatMul>()?;
        (dtype(call.lhs())? == DType::F32).then_some(())?;
        let narrow = |x| at.cast(DType::BF16, x);
        at.cast(DType::F32, at.call(MatMul::new(at.cx), &[narrow(call.lhs())?, narrow(call.rhs())?])?)
    };

    /// Arithmetic on i64 goes through floats: great numbers lose their last digits (ahrefs/ocannl#824).
    IntegersThroughFloats = "fault-integers-through-floats": |at| {
        let call = at.expr.as_op::<Binary>().filter(|call| matches!(call.kind(), BinaryKind::Add | BinaryKind::Mul))?;
        (dtype(call.lhs())? == DType::I64).then_some(())?;
        let wide = |x| at.cast(DType::F32, x);
        at.cast(DType::I64, at.binary(call.kind(), wide(call.lhs())?, wide(call.rhs())?)?)
    };

    /// A float becomes the nearest integer in place of the next one toward zero.
    RoundedCast = "fault-rounded-cast": |at| {
        let call = at.expr.as_op::<Cast>().filter(|call| call.dtype().is_integer())?;
        dtype(call.x())?.is_float().then_some(())?;
        at.cast(call.dtype(), at.unary(UnaryKind::Round, call.x())?)
    };
}

pub fn register(r: &mut tf_plugin::Registrar<'_>) {
    register_rewrites(r);
}
