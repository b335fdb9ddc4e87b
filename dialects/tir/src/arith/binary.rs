//! `T.binary`

use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_types::DType;
use tf_types::kinds::BinaryKind;
use tf_value::rule::DialectBuilder;

use crate::rules::{broadcasts_to, same_dtype, tensor};

/// `dst[i] = lhs[i] kind rhs[i]`; an operand of extent 1 along an axis is repeated.
#[op(dialect = "T", category = "arith", effect)]
pub struct Binary {
    /// Left operand.
    #[input(Tensor)]
    lhs: (),
    /// Right operand.
    #[input(Tensor)]
    rhs: (),
    /// What is written.
    #[input(Tensor)]
    dst: (),
    /// The operation.
    kind: BinaryKind,
}

impl VerifyRule for Binary {
    fn verify<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        same_dtype("T.binary", (0, call.lhs()), (1, call.rhs()))?;
        broadcasts_to("T.binary", (0, call.lhs()), (2, call.dst()))?;
        broadcasts_to("T.binary", (1, call.rhs()), (2, call.dst()))?;
        let expected = if call.kind().is_comparison() { DType::Bool } else { tensor(0, "lhs", call.lhs())?.dtype };
        let found = tensor(2, "dst", call.dst())?.dtype;
        if found == expected {
            return Ok(());
        }
        let message = format!("`T.binary` of kind {} writes {expected}, found {found}", call.kind().name());
        Err(RuleError::new(message).operand(2, call.dst().ty().to_string()))
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Binary>().verifies().done();
}
