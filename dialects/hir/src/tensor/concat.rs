//! `concat`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::{AccessRelation, AffineMap, AxisAccess, identity};
use tf_types::{Dim, DimTuple, TensorType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Tensor, Value, ValueError, normalize_axis};

use crate::rules::{axis, joined, operand};

const WHAT: &str = "`tf.concat`";

/// The inputs one after the other along an axis; the other extents are equal.
///
/// ```python
/// def f(x: Tensor[(2, 6), "f32"], y: Tensor[(4, 6), "f32"]):
///     return tf.concat(x, y, axis=0)
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct Concat {
    /// One tensor or more, of one dtype.
    #[input(Tensor, variadic)]
    inputs: (),
    /// The axis; a negative one counts from the end.
    axis: i64,
}

/// The sum of the extents along the axis, with the other extents that all have.
fn shape<'c>(cx: &Context<'c>, inputs: &[&TensorType<'c>], along: usize) -> Result<Vec<Dim<'c>>, RuleError> {
    let first = inputs[0];
    let mut shape = first.shape.to_vec();
    for (index, input) in inputs.iter().enumerate().skip(1) {
        if input.rank() != first.rank() {
            return Err(RuleError::new(format!(
                "{WHAT} takes inputs of one rank, found {} and {}",
                first.rank(),
                input.rank()
            ))
            .operand(0, format!("{first}"))
            .operand(index, format!("{input}"))
            .with_help("`tf.stack` joins along a new axis; `tf.reshape` adds axes of extent 1"));
        }
        if let Some(axis) = (0..shape.len()).find(|&axis| axis != along && input.shape[axis] != first.shape[axis]) {
            return Err(RuleError::new(format!(
                "{WHAT} along axis {along} cannot join {} with {}: axis {axis} is {} and {}",
                DimTuple(first.shape),
                DimTuple(input.shape),
                first.shape[axis],
                input.shape[axis]
            ))
            .operand(0, format!("{first}"))
            .operand(index, format!("{input}"))
            .with_help("all extents but those of the joined axis must be equal"));
        }
        shape[along] = cx.dim_add(shape[along], input.shape[along]);
    }
    Ok(shape)
}

impl TypeRule for Concat {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let inputs = joined::inputs(WHAT, &call)?;
        let along = axis::of_operand(WHAT, 0, inputs[0], ("axis", call.axis()))?;
        let shape = shape(cx, &inputs, along)?;
        inputs.iter().enumerate().try_for_each(|(index, input)| axis::whole(WHAT, index, input, along))?;
        joined::result(WHAT, cx, &call, &inputs, &shape)
    }
}

impl AccessRule for Concat {
    /// Domain: the result. An input is read behind those before it.
    fn access<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let shapes: Vec<_> = call.inputs().iter().map(|&input| operand::shape(input)).collect();
        let Some(&first) = shapes.first() else { return Vec::new() };
        let Ok(along) = normalize_axis(call.axis(), first.len()) else { return Vec::new() };
        let (mut shape, mut reads) = (first.to_vec(), Vec::with_capacity(shapes.len()));
        shape[along] = cx.dim(0);
        for input in shapes {
            let mut read = identity(input.len());
            let before = cx.dim_sub(cx.dim(0), shape[along]);
            read[along] = AxisAccess::Map(AffineMap::default().term(along, None).plus(before));
            reads.push(read);
            shape[along] = cx.dim_add(shape[along], input[along]);
        }
        let result = AccessRelation::to(&shape).fresh();
        vec![reads.into_iter().enumerate().fold(result, |relation, (at, read)| relation.reads(at, read))]
    }
}

impl EvalRule for Concat {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        Tensor::concat(&operand::values::<Self>(operands)?, call.axis()).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Concat>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Context, Diagnostic, Expr, Meta};
    use tf_types::{Arena, DType, Storage, Type};

    use super::Concat;
    use crate::test_util::{context, dims, mesh, placed, placement, plain, var};

    fn infer<'c>(cx: &Context<'c>, inputs: &[Expr<'c>], axis: i64) -> Result<Type<'c>, Diagnostic> {
        cx.call(Concat::new(cx, axis), inputs, Meta::default()).map(|e| e.ty())
    }

    #[test]
    fn shapes() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |shapes: &[&str], axis| {
            let inputs: Vec<_> = shapes.iter().map(|shape| plain(cx, "x", shape, DType::F32)).collect();
            infer(cx, &inputs, axis).map(|ty| ty.to_string()).map_err(|e| e.message)
        };
        assert_eq!(of(&["2 3", "4 3"], 0).unwrap(), r#"Tensor[(6, 3), "f32", (6, 3):(3, 1)]"#);
        assert_eq!(of(&["S 3", "2 3"], 0).unwrap(), r#"Tensor[(S + 2, 3), "f32", (S + 2, 3):(3, 1)]"#);
        assert_eq!(of(&["S 3", "S 1", "S 0"], -1).unwrap(), r#"Tensor[(S, 4), "f32", (S, 4):(4, 1)]"#);
        assert_eq!(of(&[], 0).unwrap_err(), "`tf.concat` takes at least one input, found none");
        let error = of(&["4 6", "4 5"], 0).unwrap_err();
        assert_eq!(error, "`tf.concat` along axis 0 cannot join (4, 6) with (4, 5): axis 1 is 6 and 5");
        assert_eq!(of(&["4 6", "4"], 0).unwrap_err(), "`tf.concat` takes inputs of one rank, found 2 and 1");
        assert_eq!(of(&["4", "4"], 1).unwrap_err(), "`tf.concat` has no axis 1: the operand has rank 1");
        assert!(of(&["", ""], 0).unwrap_err().contains("rank 0"));
        let pair = [plain(cx, "x", "4", DType::F32), plain(cx, "y", "4", DType::F16)];
        assert_eq!(
            infer(cx, &pair, 0).unwrap_err().message,
            "`tf.concat` takes inputs of one dtype, found f32 and f16"
        );
        let on = |storage| var(cx, "x", cx.tensor(&dims(cx, "4"), DType::F32, None, storage));
        let error = infer(cx, &[on(Storage::Smem), on(Storage::Gmem)], 0).unwrap_err().message;
        assert_eq!(error, "`tf.concat` takes operands of one storage, found smem and gmem");
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
        assert_eq!(of("S0", "S0", 1).unwrap(), "(4, 4, 128):(512, 128, 1) S0");
        assert_eq!(of("S0", "B", 1).unwrap(), "(4, 4, 128):(512, 128, 1) S0");
        assert_eq!(of("B", "B", 0).unwrap(), "(32, 64):(64, 1) B");
        assert_eq!(of("Psum", "Psum", 0).unwrap(), "(32, 64):(64, 1) Psum");
        let error = of("Psum", "B", 0).unwrap_err();
        assert_eq!(
            error,
            "`tf.concat` joins terms only with terms of the same reduction, but on `w` input 0 holds P(\"sum\") and input 1 does not"
        );
        assert!(of("B", "Pmax", 0).is_err() && of("Pmax", "Psum", 0).is_err());
        assert_eq!(of("S0", "B", 0).unwrap_err(), "`tf.concat` needs axis 0 whole, but it is split over mesh axis `w`");
        assert!(of("S0", "S1", 1).unwrap_err().contains("axis 1 whole"));
        let other = placed(cx, "y", "16 64", "B", mesh(cx, "w=8"));
        let error = infer(cx, &[placed(cx, "x", "16 64", "S0", m), other], 1).unwrap_err().message;
        assert!(error.starts_with("`tf.concat` takes operands of one mesh"), "{error}");
        let error = of("D", "B", 1).unwrap_err();
        assert!(error.contains("ownership is Dynamic"), "{error}");
    }
}
