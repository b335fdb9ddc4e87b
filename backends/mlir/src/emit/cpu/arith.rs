//! Elementwise ops.
use super::{Emitter, nest};
use tf_core::{
    Result,
    op::{OpView, rules::typed},
};
use tf_tir::arith::{binary::Binary, clamp::Clamp, unary::Unary};
use tf_tir::nn::relu::Relu;
use tf_types::kinds::UnaryKind;

pub(super) fn binary<'c>(e: &mut Emitter<'_, 'c>, view: OpView<'c>) -> Result<()> {
    let call = typed::<Binary>(view);
    let (lhs, rhs, dst) = (e.buffer(call.lhs())?, e.buffer(call.rhs())?, e.buffer(call.dst())?);
    nest::each(&e.s, &dst.shape, |s, at| {
        let (a, b) = (lhs.load_broadcast(s, at)?, rhs.load_broadcast(s, at)?);
        dst.store(s, s.binary(call.kind(), lhs.dtype, a, b)?, at)
    })
}

pub(super) fn relu<'c>(e: &mut Emitter<'_, 'c>, view: OpView<'c>) -> Result<()> {
    let call = typed::<Relu>(view);
    let (src, dst) = (e.buffer(call.src())?, e.buffer(call.dst())?);
    nest::each(&e.s, &dst.shape, |s, at| dst.store(s, s.unary(UnaryKind::Relu, src.dtype, src.load(s, at)?)?, at))
}

pub(super) fn clamp<'c>(e: &mut Emitter<'_, 'c>, view: OpView<'c>) -> Result<()> {
    let call = typed::<Clamp>(view);
    let (src, dst) = (e.buffer(call.src())?, e.buffer(call.dst())?);
    let (lo, hi) = (call.min_val(), call.max_val());
    nest::each(&e.s, &dst.shape, |s, at| dst.store(s, s.clamp(src.dtype, src.load(s, at)?, lo, hi)?, at))
}

pub(super) fn unary<'c>(e: &mut Emitter<'_, 'c>, view: OpView<'c>) -> Result<()> {
    let call = typed::<Unary>(view);
    let (src, dst) = (e.buffer(call.src())?, e.buffer(call.dst())?);
    nest::each(&e.s, &dst.shape, |s, at| {
        let x = src.load(s, at)?;
        let result = match call.kind() {
            UnaryKind::Cast => s.cast(src.dtype, dst.dtype, x)?,
            kind => s.unary(kind, src.dtype, x)?,
        };
        dst.store(s, result, at)
    })
}
