//! `T.unary`, `T.relu`, `T.clamp`
use crate::BackendError;
use crate::emit::{
    V,
    gpu::{KernelCx, copy::distribution, kernel::dtype},
    scalar::Scalars,
    table::EmitEffect,
};
use tf_core::{Expr, Result, op::OpCall};
use tf_tir::arith::{clamp::Clamp, unary::Unary};
use tf_tir::nn::relu::Relu;
use tf_types::{DType, kinds::UnaryKind};

impl<'a, 'c> KernelCx<'a, 'c> {
    /// Writes `f(element, its dtype, dtype of dst)` of every element.
    fn map(
        &mut self,
        src: Expr<'c>,
        dst: Expr<'c>,
        f: impl Fn(Scalars<'a, 'a>, V<'a>, DType, DType) -> Result<V<'a>, BackendError>,
    ) -> Result<()> {
        let buffer = self.buffer(dst)?;
        let wanted = match self.buffer(src) {
            Ok(src) => distribution(&buffer, [&src]),
            Err(_) => distribution(&buffer, []),
        };
        let values = self.operand(src, &wanted)?;
        let (from, scalars) = (dtype(src)?, self.builder.scalars());
        let apply = |x| f(scalars, x, from, buffer.dtype);
        let values = values.into_iter().map(apply).collect::<Result<Vec<_>, _>>()?;
        self.write(&buffer, &wanted, &values)
    }
}

impl EmitEffect for Unary {
    const WRITES: &'static [usize] = &[1];

    fn emit<'a, 'c>(call: OpCall<'c, Self>, cx: &mut KernelCx<'a, 'c>) -> Result<()> {
        cx.map(call.src(), call.dst(), |scalars, x, from, to| match call.kind() {
            UnaryKind::Cast => scalars.cast(from, to, x),
            kind => scalars.unary(kind, from, x),
        })
    }
}

impl EmitEffect for Relu {
    const WRITES: &'static [usize] = &[1];

    fn emit<'a, 'c>(call: OpCall<'c, Self>, cx: &mut KernelCx<'a, 'c>) -> Result<()> {
        cx.map(call.src(), call.dst(), |scalars, x, dtype, _| scalars.unary(UnaryKind::Relu, dtype, x))
    }
}

impl EmitEffect for Clamp {
    const WRITES: &'static [usize] = &[1];

    fn emit<'a, 'c>(call: OpCall<'c, Self>, cx: &mut KernelCx<'a, 'c>) -> Result<()> {
        let (lo, hi) = (call.min_val(), call.max_val());
        cx.map(call.src(), call.dst(), |scalars, x, dtype, _| scalars.clamp(dtype, x, lo, hi))
    }
}
