//! `T.copy`

use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_value::rule::DialectBuilder;

use crate::rules::{same_dtype, same_shape};

/// `dst[i] = src[i]`, every position what it holds; the direction follows from the storages.
#[op(dialect = "T", category = "memory", effect)]
pub struct Copy {
    /// What is read.
    #[input(Tensor)]
    src: (),
    /// What is written.
    #[input(Tensor)]
    dst: (),
}

impl VerifyRule for Copy {
    fn verify<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        same_dtype("T.copy", (0, call.src()), (1, call.dst()))?;
        same_shape("T.copy", (0, call.src()), (1, call.dst()))
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Copy>().verifies().done();
}
