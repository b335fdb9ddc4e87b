//! Softmax and normalisations: reductions and arithmetic, in f32.

use tf_core::op::OpView;
use tf_core::op::rules::typed;
use tf_core::{Expr, Result};
use tf_hir::{LayerNorm, RmsNorm, Softmax};
use tf_types::kinds::{ReduceKind, UnaryKind};

use super::decompose::{Parts, in_f32};
use crate::lowerer::Lowerer;

/// `e^(x - max)` over its sum.
pub(super) fn softmax<'c>(lowerer: &mut Lowerer<'_, 'c>, expr: Expr<'c>, view: OpView<'c>) -> Result<Expr<'c>> {
    let call = typed::<Softmax>(view);
    let axes = [call.axis()];
    in_f32(lowerer, expr, call.x(), |parts, x| {
        let shifted = parts.sub(x, parts.reduce(ReduceKind::Max, x, &axes)?)?;
        let exp = parts.unary(UnaryKind::Exp, shifted)?;
        parts.div(exp, parts.reduce(ReduceKind::Sum, exp, &axes)?)
    })
}

/// `x * rsqrt(mean(x^2) + eps)`
fn by_root_mean_square<'c>(parts: &Parts<'_, 'c>, x: Expr<'c>, axes: &[i64], eps: f64) -> Result<Expr<'c>> {
    let mean = parts.reduce(ReduceKind::Mean, parts.unary(UnaryKind::Square, x)?, axes)?;
    parts.mul(x, parts.unary(UnaryKind::Rsqrt, parts.add(mean, parts.constant(eps))?)?)
}

pub(super) fn rms_norm<'c>(lowerer: &mut Lowerer<'_, 'c>, expr: Expr<'c>, view: OpView<'c>) -> Result<Expr<'c>> {
    let call = typed::<RmsNorm>(view);
    let placed = lowerer.tensor(call.x());
    in_f32(lowerer, expr, call.x(), |parts, x| {
        parts.mul(by_root_mean_square(parts, x, &[-1], call.eps())?, parts.beside(call.weight(), placed)?)
    })
}

/// The variance is the mean square of the differences from the mean.
pub(super) fn layer_norm<'c>(lowerer: &mut Lowerer<'_, 'c>, expr: Expr<'c>, view: OpView<'c>) -> Result<Expr<'c>> {
    let call = typed::<LayerNorm>(view);
    let placed = lowerer.tensor(call.x());
    let rank = placed.rank() as i64;
    let axes: Vec<_> = (call.axis().rem_euclid(rank)..rank).collect();
    in_f32(lowerer, expr, call.x(), |parts, x| {
        let centred = parts.sub(x, parts.reduce(ReduceKind::Mean, x, &axes)?)?;
        let scaled =
            parts.mul(by_root_mean_square(parts, centred, &axes, call.eps())?, parts.beside(call.weight(), placed)?)?;
        parts.add(scaled, parts.beside(call.bias(), placed)?)
    })
}
