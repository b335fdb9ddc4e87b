//! `T.fill`

use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_value::rule::DialectBuilder;

use crate::rules::{same_dtype, tensor};

/// `tensor[i] = value`
#[op(dialect = "T", category = "memory", effect)]
pub struct Fill {
    /// What is written.
    #[input(Tensor)]
    tensor: (),
    /// A scalar of the same dtype.
    #[input(Scalar)]
    value: (),
}

impl VerifyRule for Fill {
    fn verify<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        same_dtype("T.fill", (0, call.tensor()), (1, call.value()))?;
        match tensor(1, "value", call.value())?.rank() {
            0 => Ok(()),
            rank => Err(RuleError::new(format!("`T.fill` takes a scalar, found rank {rank}"))
                .operand(1, call.value().ty().to_string())),
        }
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Fill>().verifies().done();
}
