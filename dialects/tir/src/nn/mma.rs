//! `T.mma`

use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_types::DType;
use tf_value::rule::DialectBuilder;

use crate::rules::{same_dtype, tensor};

/// `acc[m, n] += sum over k of lhs[m, k] * rhs[k, n]`, every position on what it holds. It neither loads nor stores.
#[op(dialect = "T", category = "nn", effect)]
pub struct Mma {
    /// (M, N) accumulator.
    #[input(Tensor)]
    acc: (),
    /// (M, K)
    #[input(Tensor)]
    lhs: (),
    /// (K, N)
    #[input(Tensor)]
    rhs: (),
}

impl VerifyRule for Mma {
    fn verify<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        same_dtype("T.mma", (1, call.lhs()), (2, call.rhs()))?;
        let (acc, lhs, rhs) =
            (tensor(0, "acc", call.acc())?, tensor(1, "lhs", call.lhs())?, tensor(2, "rhs", call.rhs())?);
        let ([m, n], [lm, lk], [rk, rn]) = (acc.shape, lhs.shape, rhs.shape) else {
            return Err(RuleError::new(format!(
                "`T.mma` takes matrices, found ranks {}, {} and {}",
                acc.rank(),
                lhs.rank(),
                rhs.rank()
            )));
        };
        if m != lm || n != rn || lk != rk {
            let message = format!("`T.mma` multiplies ({lm}, {lk}) with ({rk}, {rn}) into ({m}, {n})");
            return Err(RuleError::new(message).with_help("the shapes must be (m, k), (k, n) and (m, n)"));
        }
        let wide_enough = acc.dtype == lhs.dtype || acc.dtype == DType::F32 && lhs.dtype.is_float();
        if wide_enough {
            return Ok(());
        }
        let message = format!("`T.mma` of {} accumulates in {} or f32, found {}", lhs.dtype, lhs.dtype, acc.dtype);
        Err(RuleError::new(message).operand(0, call.acc().ty().to_string()))
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Mma>().verifies().done();
}
