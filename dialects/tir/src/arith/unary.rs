//! `T.unary`

use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_types::kinds::UnaryKind;
use tf_value::rule::DialectBuilder;

use crate::rules::{same_dtype, same_shape};

/// `dst[i] = kind(src[i])`; the kind `cast` converts to the dtype of `dst`.
#[op(dialect = "T", category = "arith", effect)]
pub struct Unary {
    /// What is read.
    #[input(Tensor)]
    src: (),
    /// What is written.
    #[input(Tensor)]
    dst: (),
    /// The operation.
    kind: UnaryKind,
}

impl VerifyRule for Unary {
    fn verify<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        if call.kind() != UnaryKind::Cast {
            same_dtype("T.unary", (0, call.src()), (1, call.dst()))?;
        }
        same_shape("T.unary", (0, call.src()), (1, call.dst()))
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Unary>().verifies().done();
}
