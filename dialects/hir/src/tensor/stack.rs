//! `stack`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::DimTuple;
use tf_types::Type;
use tf_types::access::{AccessRelation, AxisAccess};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Tensor, Value, ValueError, normalize_axis};

use crate::rules::{axis, joined, operand};

const WHAT: &str = "`tf.stack`";

/// The inputs, all of one shape, side by side along a new axis.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"], y: Tensor[(4, 6), "f32"]):
///     return tf.stack(x, y, axis=1)
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct Stack {
    /// One tensor or more, of one shape and dtype.
    #[input(Tensor, variadic)]
    inputs: (),
    /// Where the new axis stands in the result; a negative one counts from the result's end.
    axis: i64,
}

impl TypeRule for Stack {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let inputs = joined::inputs(WHAT, &call)?;
        let first = inputs[0];
        if let Some(other) = inputs.iter().position(|input| input.shape != first.shape) {
            return Err(RuleError::new(format!(
                "{WHAT} takes inputs of one shape, found {} and {}",
                DimTuple(first.shape),
                DimTuple(inputs[other].shape)
            ))
            .operand(0, format!("{first}"))
            .operand(other, format!("{}", inputs[other]))
            .with_help("`tf.concat` joins along an axis that the inputs have"));
        }
        let new = axis::of_rank(WHAT, "the result", ("axis", call.axis()), first.rank() + 1)?;
        let mut shape = first.shape.to_vec();
        shape.insert(new, cx.dim(inputs.len() as i64));
        joined::result(WHAT, cx, &call, &inputs, &shape)
    }
}

impl AccessRule for Stack {
    /// Domain: the result. An input lacks the new axis, and is read where that counts to it.
    fn access<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let mut shape = call.inputs().first().map_or(&[][..], |&input| operand::shape(input)).to_vec();
        let Ok(new) = normalize_axis(call.axis(), shape.len() + 1) else { return Vec::new() };
        let count = call.inputs().len();
        shape.insert(new, cx.dim(count as i64));
        let read = || (0..shape.len()).filter(|axis| *axis != new).map(AxisAccess::Proj).collect();
        let result = AccessRelation::to(&shape).fresh();
        vec![(0..count).fold(result, |relation, at| relation.reads(at, read()).only_at(new, at as i64))]
    }
}

impl EvalRule for Stack {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        Tensor::stack(&operand::values::<Self>(operands)?, call.axis()).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Stack>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Context, Diagnostic, Expr, Meta};
    use tf_types::{Arena, DType, Type};

    use super::Stack;
    use crate::test_util::{context, mesh, placed, placement, plain};

    fn infer<'c>(cx: &Context<'c>, inputs: &[Expr<'c>], axis: i64) -> Result<Type<'c>, Diagnostic> {
        cx.call(Stack::new(cx, axis), inputs, Meta::default()).map(|e| e.ty())
    }

    #[test]
    fn shapes() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |shapes: &[&str], axis| {
            let inputs: Vec<_> = shapes.iter().map(|shape| plain(cx, "x", shape, DType::BF16)).collect();
            infer(cx, &inputs, axis).map(|ty| ty.to_string()).map_err(|e| e.message)
        };
        assert_eq!(of(&["2 S", "2 S"], -1).unwrap(), r#"Tensor[(2, S, 2), "bf16", (2, S, 2):(2 * S, 2, 1)]"#);
        assert_eq!(of(&["", "", ""], 0).unwrap(), r#"Tensor[(3,), "bf16", (3,):(1,)]"#);
        assert_eq!(
            of(&["4 6", "3 6"], 0).unwrap_err(),
            "`tf.stack` takes inputs of one shape, found (4, 6) and (3, 6)"
        );
        assert_eq!(of(&["4"], 2).unwrap_err(), "`tf.stack` has no axis 2: the result has rank 2");
        assert_eq!(of(&[], 0).unwrap_err(), "`tf.stack` takes at least one input, found none");
    }

    #[test]
    fn placements() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=4");
        let of = |a, b, axis| {
            let inputs = [placed(cx, "x", "16 64", a, m), placed(cx, "y", "16 64", b, m)];
            infer(cx, &inputs, axis).map(placement).map_err(|e| e.message)
        };
        assert_eq!(of("S0", "S0", 0).unwrap(), "(2, 4, 4, 64):(1024, 256, 64, 1) S1");
        assert_eq!(of("S0", "B", 2).unwrap(), "(4, 4, 64, 2):(512, 128, 2, 1) S0");
        assert_eq!(of("Pmin", "Pmin", 1).unwrap(), "(16, 2, 64):(128, 64, 1) Pmin");
        assert!(of("S0", "S1", 0).unwrap_err().starts_with("`tf.stack` cannot place its result"));
        assert!(of("Psum", "B", 0).is_err());
        let one = infer(cx, &[placed(cx, "x", "16 64", "S0", m)], 0).unwrap();
        assert_eq!(placement(one), "(1, 4, 4, 64):(1024, 256, 64, 1) S1");
    }
}
