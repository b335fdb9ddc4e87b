//! `tanh`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::Type;
use tf_types::access::AccessRelation;
use tf_value::{Activation, DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::dtype::Takes;
use crate::rules::{elementwise, operand, partial};

/// `out[i] = tanh(x[i])`, computed in f32 and rounded once.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"]):
///     return tf.tanh(x)
/// ```
#[op(dialect = "tf", category = "nn")]
pub struct Tanh {
    /// The operand.
    #[input(Tensor)]
    x: (),
}

impl TypeRule for Tanh {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        elementwise::infer(&call, cx, Takes::Floats, partial::MONOTONE)
    }
}

impl AccessRule for Tanh {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        vec![AccessRelation::elementwise(operand::shape(call.x()), 1)]
    }
}

impl EvalRule for Tanh {
    fn eval<'c>(_: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        operand::take::<Self>(operands, 0)?.activate(Activation::Tanh).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Tanh>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_types::{Arena, DType};

    use super::Tanh;
    use crate::test_util::{check_activation, context};

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        check_activation(cx, Tanh::new(cx), [DType::Bool, DType::I32], &["max", "min"]);
    }
}
