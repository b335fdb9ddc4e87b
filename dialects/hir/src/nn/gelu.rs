//! `gelu`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::Type;
use tf_types::access::AccessRelation;
use tf_value::{Activation, DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::dtype::Takes;
use crate::rules::{elementwise, operand, partial};

/// Which formula `gelu` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approximation {
    /// With tanh.
    Tanh,
    /// The exact one.
    None,
}

impl Approximation {
    /// Both, in source order.
    pub const ALL: &'static [Self] = &[Self::Tanh, Self::None];

    /// The value in source and textual IR.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tanh => "tanh",
            Self::None => "none",
        }
    }
}

tf_core::attr_enum!(Approximation);

/// `out[i] = x[i] * Phi(x[i])` with the normal distribution's Phi (`approximate = "none"`), or
/// `x[i]/2 * (1 + tanh(sqrt(2/pi) * (x[i] + 0.044715 x[i]^3)))`; computed in f32 and rounded once.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"]):
///     return tf.gelu(x, approximate="none")
/// ```
#[op(dialect = "tf", category = "nn")]
pub struct Gelu {
    /// The operand.
    #[input(Tensor)]
    x: (),
    /// `tanh` or `none`.
    #[default(Approximation::Tanh)]
    approximate: Approximation,
}

impl TypeRule for Gelu {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        elementwise::infer(&call, cx, Takes::Floats, partial::NONE)
    }
}

impl AccessRule for Gelu {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        vec![AccessRelation::elementwise(operand::shape(call.x()), 1)]
    }
}

impl EvalRule for Gelu {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let function = match call.approximate() {
            Approximation::Tanh => Activation::GeluTanh,
            Approximation::None => Activation::Gelu,
        };
        operand::take::<Self>(operands, 0)?.activate(function).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Gelu>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Meta;
    use tf_types::{Arena, DType};

    use super::{Approximation, Gelu};
    use crate::test_util::{context, mesh, placed, plain};

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |x| {
            cx.call(Gelu::new(cx, Approximation::Tanh), &[x], Meta::default()).map(|e| e.ty()).map_err(|e| e.message)
        };
        for dtype in [DType::F32, DType::F16, DType::BF16, DType::Fp8E4M3] {
            for shape in ["", "S 4", "2 3 0"] {
                let x = plain(cx, "x", shape, dtype);
                assert_eq!(of(x), Ok(x.ty()));
            }
        }
        for dtype in [DType::Bool, DType::I32] {
            let refusal = format!("`tf.gelu` takes floats, found {dtype}");
            assert_eq!(of(plain(cx, "x", "4", dtype)), Err(refusal));
        }
        let x = |states: &str| placed(cx, "x", "16 64", states, mesh(cx, "w=4 t=2"));
        assert_eq!(of(x("S0 S1")), Ok(x("S0 S1").ty()));
        for (reduction, kept) in [("sum", false), ("max", false), ("min", false), ("prod", false)] {
            let states = format!("P{reduction} B");
            let x = x(&states);
            let refusal = format!("`tf.gelu` cannot take unreduced terms, but `w` holds P(\"{reduction}\")");
            assert_eq!(of(x), if kept { Ok(x.ty()) } else { Err(refusal) });
        }
    }
}
