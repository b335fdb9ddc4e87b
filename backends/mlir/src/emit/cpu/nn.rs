//! Matrix products.
use super::{Emitter, nest};
use crate::BackendError;
use melior::ir::{Attribute, ValueLike};
use tf_core::{
    Diagnostic, Result,
    op::{OpView, rules::typed},
};
use tf_tir::{nn::mma::Mma, tensor::reduce::accumulator};
use tf_types::DType;

/// For each row: the row of the accumulator widened, then a multiple of each row of `rhs` added, then the row rounded.
pub(super) fn mma<'c>(e: &mut Emitter<'_, 'c>, view: OpView<'c>) -> Result<()> {
    let call = typed::<Mma>(view);
    if let Some(atom) = call.atom() {
        return Err(Diagnostic::error(format!("the matrix instruction `{atom}` has no CPU form")));
    }
    let (acc, lhs, rhs) = (e.buffer(call.acc())?.clone(), e.buffer(call.lhs())?.clone(), e.buffer(call.rhs())?.clone());
    let ([m, n], [_, k]) = (&acc.shape[..], &lhs.shape[..]) else {
        return Err(Diagnostic::error("`T.mma` takes matrices"));
    };
    if lhs.dtype == DType::Bool {
        return Err(Diagnostic::error("`T.mma` takes numbers, found bool"));
    }
    let wide = accumulator(lhs.dtype);
    let row = e.allocate(wide, &[*n])?;
    let fused = Attribute::parse(e.s.session.context(), "#arith.fastmath<contract>")
        .ok_or_else(|| BackendError::new("cannot parse the fast-math flag"))?;
    nest::each(&e.s, &[*m], |s, i| {
        nest::each(s, &[*n], |s, j| {
            let sum = acc.load(s, &[i[0], j[0]])?;
            row.store(s, s.cast(acc.dtype, wide, sum)?, j)
        })?;
        nest::each(s, &[*k], |s, k| {
            let a = lhs.load(s, &[i[0], k[0]])?;
            let a = s.cast(lhs.dtype, wide, a)?;
            nest::each(s, &[*n], |s, j| {
                let b = rhs.load(s, &[k[0], j[0]])?;
                let b = s.cast(rhs.dtype, wide, b)?;
                let sum = row.load(s, j)?;
                let sum = if wide == DType::F32 {
                    let flags = [("fastmath", fused)];
                    let product = s.op_with("arith.mulf", &[a, b], a.r#type(), &flags)?;
                    s.op_with("arith.addf", &[sum, product], a.r#type(), &flags)?
                } else {
                    let product = s.op("arith.muli", &[a, b], a.r#type())?;
                    s.op("arith.addi", &[sum, product], a.r#type())?
                };
                row.store(s, sum, j)
            })
        })?;
        nest::each(s, &[*n], |s, j| {
            let sum = row.load(s, j)?;
            acc.store(s, s.cast(wide, acc.dtype, sum)?, &[i[0], j[0]])
        })
    })
}
