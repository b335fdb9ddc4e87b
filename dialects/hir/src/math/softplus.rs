//! `softplus`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::Type;
use tf_types::access::AccessRelation;
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::dtype::Takes;
use crate::rules::{elementwise, operand, partial};

/// `out[i] = log(1 + exp(x[i]))`, and `x[i]` itself above 20; computed in f32, rounded once.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"]):
///     return tf.softplus(x)
/// ```
#[op(dialect = "tf", category = "math")]
pub struct Softplus {
    /// The operand.
    #[input(Tensor)]
    x: (),
}

impl TypeRule for Softplus {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        elementwise::infer(&call, cx, Takes::Floats, partial::MONOTONE)
    }
}

impl AccessRule for Softplus {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        vec![AccessRelation::elementwise(operand::shape(call.x()), 1)]
    }
}

impl EvalRule for Softplus {
    fn eval<'c>(_: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        operand::take::<Self>(operands, 0)?.softplus().map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Softplus>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Meta;
    use tf_types::{Arena, DType};

    use super::Softplus;
    use crate::test_util::{context, mesh, placed, plain};

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |x| cx.call(Softplus::new(cx), &[x], Meta::default()).map(|e| e.ty()).map_err(|e| e.message);
        let x = plain(cx, "x", "S 4", DType::F16);
        assert_eq!(of(x), Ok(x.ty()));
        assert_eq!(of(plain(cx, "x", "4", DType::I32)), Err("`tf.softplus` takes floats, found i32".into()));
        let x = placed(cx, "x", "16 64", "S0 Pmax", mesh(cx, "w=4 t=2"));
        assert_eq!(of(x), Ok(x.ty()));
        let term = placed(cx, "x", "16 64", "S0 Psum", mesh(cx, "w=4 t=2"));
        assert_eq!(of(term), Err("`tf.softplus` cannot take unreduced terms, but `t` holds P(\"sum\")".into()));
    }
}
