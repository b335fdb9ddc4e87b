//! `softmax`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::Type;
use tf_types::access::{AccessRelation, AxisAccess, identity};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError, normalize_axis};

use crate::rules::dtype::Takes;
use crate::rules::{axis, elementwise, operand, partial};

/// `out[i] = e^(x[i] - m) / sum over the axis of e^(x - m)` with the axis' maximum `m`; computed in f32 and rounded once.
/// The axis may be split over positions.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"]):
///     return tf.softmax(x, axis=-1)
/// ```
#[op(dialect = "tf", category = "nn", name = "softmax")]
pub struct Softmax {
    /// The operand.
    #[input(Tensor)]
    x: (),
    /// The axis whose elements sum to 1; a negative one counts from the end.
    axis: i64,
}

impl TypeRule for Softmax {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        axis::of_operand("`tf.softmax`", 0, operand::tensor(&call, 0)?, ("axis", call.axis()))?;
        elementwise::infer(&call, cx, Takes::Floats, partial::NONE)
    }
}

impl AccessRule for Softmax {
    /// Domain: the result, then the scanned axis.
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let shape = operand::shape(call.x());
        let Ok(axis) = normalize_axis(call.axis(), shape.len()) else { return Vec::new() };
        let mut read = identity(shape.len());
        read[axis] = AxisAccess::Proj(shape.len());
        vec![AccessRelation::to(shape).dim(shape[axis]).reads(0, read)]
    }
}

impl EvalRule for Softmax {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        operand::take::<Self>(operands, 0)?.softmax(call.axis()).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Softmax>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Meta;
    use tf_types::{Arena, DType};

    use super::Softmax;
    use crate::test_util::{context, mesh, placed, plain};

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |x, axis| cx.call(Softmax::new(cx, axis), &[x], Meta::default()).map(|e| e.ty());
        let x = plain(cx, "x", "4 S", DType::BF16);
        assert!([-2, -1, 0, 1].into_iter().all(|axis| of(x, axis) == Ok(x.ty())));
        let error = of(x, 5).unwrap_err();
        assert_eq!(error.message, "`tf.softmax` has no axis 5: the operand has rank 2");
        assert_eq!(error.help.unwrap(), "axes go from -2 to 1");
        let error = of(plain(cx, "x", "", DType::F32), 0).unwrap_err();
        assert_eq!(error.message, "`tf.softmax` has no axis 0: the operand has rank 0");
        let error = of(plain(cx, "x", "4 6", DType::I64), 1).unwrap_err();
        assert_eq!(error.message, "`tf.softmax` takes floats, found i64");
        // A split axis is allowed; unreduced terms are not.
        let m = mesh(cx, "w=4 t=2");
        let x = placed(cx, "x", "16 64", "S0 S1", m);
        assert_eq!((of(x, 0), of(x, 1)), (Ok(x.ty()), Ok(x.ty())));
        let error = of(placed(cx, "x", "16 64", "B Pmax", m), 1).unwrap_err();
        assert_eq!(error.message, "`tf.softmax` cannot take unreduced terms, but `t` holds P(\"max\")");
    }
}
