//! `reshard` (spec: hir §9, shard §9; decisions 3, 8, 10).

use tf_core::op::attr::Placement;
use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::AccessRelation;
use tf_types::{Storage, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::{broadcast, operand};

/// `out = x`, placed anew: on a mesh, in a storage, or both. Where `x` holds partial terms and the result does not, this is
/// their reduction; where only the result is Partial, position 0 keeps the value and the others the reduction's identity.
#[op(dialect = "tf", category = "shard")]
pub struct Reshard {
    /// The value.
    #[input(Tensor)]
    x: (),
    /// The placement; without strides they follow from the storages; none keeps the operand's layout.
    #[default(None)]
    layout: Option<Placement>,
    /// The residency; none keeps the operand's.
    #[default(None)]
    storage: Option<Storage>,
}

impl TypeRule for Reshard {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let x = operand::tensor(&call, 0)?;
        cx.reshard_type(x, call.layout(), call.storage()).map_err(|e| RuleError::from(e).operand(0, format!("{x}")))
    }
}

impl AccessRule for Reshard {
    fn access(call: OpCall<'_, Self>) -> AccessRelation {
        broadcast::elementwise_relation(operand::shape(call.x()).len())
    }
}

impl EvalRule for Reshard {
    /// The identity: evaluation holds logical values.
    fn eval<'c>(_: OpCall<'c, Self>, operands: &[Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        operand::value::<Self>(operands, 0).cloned().map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Reshard>().types().access().evaluates().done();
}
