//! `where`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::AccessRelation;
use tf_types::{DType, Dim, DimTuple, ShardAttr, ShardLayout, TensorLayout, TensorType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::{broadcast, dtype, layout, operand, partial, place, storage};

const WHAT: &str = "`tf.where`";

/// `out[i] = input[i] if condition[i] else other[i]`; all three broadcast.
///
/// ```python
/// def f(c: Tensor[(4, 1), "bool"], x: Tensor[(4, 6), "f32"], y: Tensor[(6,), "f32"]):
///     return tf.where(c, x, y)
/// ```
#[op(dialect = "tf", category = "tensor", name = "where")]
pub struct Where {
    /// Truth values.
    #[input(Tensor)]
    condition: (),
    /// Taken where the condition is true.
    #[input(Tensor)]
    input: (),
    /// Taken elsewhere, of the same dtype.
    #[input(Tensor)]
    other: (),
}

/// The shape of all three.
fn shape<'c>(
    condition: &TensorType<'c>,
    input: &TensorType<'c>,
    other: &TensorType<'c>,
) -> Result<Vec<Dim<'c>>, RuleError> {
    let shift = |mut error: RuleError| {
        error.operands.iter_mut().for_each(|(at, _)| *at += 1);
        error
    };
    let branches = broadcast::elementwise(WHAT, input, other).map_err(shift)?;
    broadcast::broadcast(condition.shape, &branches).map_err(|(_, a, b)| {
        RuleError::new(format!(
            "{WHAT} cannot broadcast the condition {} with the branches {}: {a} meets {b}",
            DimTuple(condition.shape),
            DimTuple(&branches)
        ))
        .operand(0, format!("{condition}"))
        .with_help("extents broadcast from the last axis backwards; they must be equal, or one of them 1")
    })
}

/// A placed condition lies as the result does, but for the axes along which it is broadcast.
fn check_condition<'c>(
    cx: &Context<'c>,
    condition: &TensorType<'c>,
    shape: &[Dim<'c>],
    result: Option<ShardLayout<'c>>,
) -> Result<(), RuleError> {
    let Some(held) = condition.shard() else { return Ok(()) };
    let refuse = |placed: String| {
        Err(RuleError::new(format!("{WHAT} takes a condition placed as its result, {placed}, found {held}"))
            .operand(0, format!("{condition}"))
            .with_help("reshard the condition to the placement of the branches"))
    };
    let Some(result) = result else {
        return if held.is_sharded() { refuse("which has no placement".to_owned()) } else { Ok(()) };
    };
    let missing = shape.len() - condition.rank();
    let wanted = result.logical_attrs(shape).into_iter().zip(cx.runs(result, shape)).map(|(attr, run)| match attr {
        ShardAttr::Split(axis) => match (axis as usize).checked_sub(missing) {
            Some(own) if condition.shape[own] == shape[axis as usize] => (ShardAttr::Split(own as u32), run),
            _ => (ShardAttr::Broadcast, None),
        },
        other => (other, None),
    });
    let found = held.logical_attrs(condition.shape).into_iter().zip(cx.runs(held, condition.shape));
    let equal = held.mesh == result.mesh
        && wanted.eq(found)
        && (condition.shape != shape || held.layout.shape() == result.layout.shape());
    if equal { Ok(()) } else { refuse(result.to_string()) }
}

impl TypeRule for Where {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let condition = operand::tensor(&call, 0)?;
        let branches = [operand::tensor(&call, 1)?, operand::tensor(&call, 2)?];
        let [input, other] = branches;
        if condition.dtype != DType::Bool {
            return Err(RuleError::new(format!("{WHAT} takes a bool condition, found {}", condition.dtype))
                .operand(0, format!("{condition}"))
                .with_help("compare first: `x != 0.0` gives bool"));
        }
        let of_branches = |error: RuleError| error.counted_from(1);
        dtype::equal(WHAT, input, other).map_err(of_branches)?;
        let shape = shape(condition, input, other)?;
        for (at, tensor) in [condition, input, other].into_iter().enumerate() {
            partial::check_one(WHAT, partial::NONE, at, tensor)?;
        }
        let storage = storage::anchor(WHAT, &branches).map_err(of_branches)?;
        let layout = match place::propagate_from(WHAT, cx, &call, &shape, 1)? {
            Some(shard) => Some(TensorLayout::Shard(shard)),
            None => {
                let merged = layout::merge(WHAT, cx, &branches, &shape).map_err(of_branches)?;
                layout::or_c_order(cx, merged, &shape, storage)
            }
        };
        let placement = match layout {
            Some(TensorLayout::Shard(shard)) => Some(shard),
            _ => None,
        };
        check_condition(cx, condition, &shape, placement)?;
        Ok(cx.tensor(&shape, input.dtype, layout, storage))
    }
}

impl AccessRule for Where {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let shapes = [call.condition(), call.input(), call.other()].map(operand::shape);
        let [condition, input, other] = shapes;
        let branches = broadcast::broadcast(input, other);
        let Ok(Ok(shape)) = branches.map(|branches| broadcast::broadcast(condition, &branches)) else {
            return Vec::new();
        };
        // Its own extent among the others changes nothing.
        let read = |own| broadcast::access(own, &shapes, shape.len());
        let result = AccessRelation::to(&shape);
        vec![result.reads(0, read(condition)).reads(1, read(input)).reads(2, read(other))]
    }
}

impl EvalRule for Where {
    fn eval<'c>(_: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let yes = operand::take::<Self>(operands, 1)?;
        let of = |index| operand::value::<Self>(operands, index);
        of(0)?.select(yes, of(2)?).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Where>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Context, Diagnostic, Expr, Meta};
    use tf_types::{Arena, DType, Storage, TensorLayout, Type};

    use super::Where;
    use crate::test_util::{attrs, context, dims, mesh, placed, placement, plain, var};

    fn infer<'c>(cx: &Context<'c>, operands: [Expr<'c>; 3]) -> Result<Type<'c>, Diagnostic> {
        cx.call(Where::new(cx), &operands, Meta::default()).map(|e| e.ty())
    }

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |condition, input, other| {
            let operands = [(condition, DType::Bool), (input, DType::F16), (other, DType::F16)];
            infer(cx, operands.map(|(shape, dtype)| plain(cx, "x", shape, dtype))).map(|ty| ty.to_string())
        };
        assert_eq!(of("3 1", "1 4", "4").unwrap(), r#"Tensor[(3, 4), "f16"]"#);
        assert_eq!(of("", "S 4", "").unwrap(), r#"Tensor[(S, 4), "f16"]"#);
        assert_eq!(of("2 3 1", "4", "3 4").unwrap(), r#"Tensor[(2, 3, 4), "f16"]"#);
        let error = of("3", "4", "4").unwrap_err();
        assert_eq!(error.message, "`tf.where` cannot broadcast the condition (3,) with the branches (4,): 3 meets 4");
        let error = of("4", "4", "5").unwrap_err();
        assert_eq!(error.message, "`tf.where` cannot broadcast (4,) with (5,): 4 meets 5");
        assert_eq!(error.notes[0].1, r#"operand 1: Tensor[(4,), "f16"]: axis 0 is 4"#);
        let x = plain(cx, "x", "4", DType::F32);
        assert_eq!(infer(cx, [x, x, x]).unwrap_err().message, "`tf.where` takes a bool condition, found f32");
        let (c, y) = (plain(cx, "c", "4", DType::Bool), plain(cx, "y", "4", DType::BF16));
        let error = infer(cx, [c, x, y]).unwrap_err().message;
        assert_eq!(error, "`tf.where` takes operands of one dtype, found f32 and bf16");
        let on = |storage| var(cx, "x", cx.tensor(&dims(cx, "4"), DType::F32, None, storage));
        let error = infer(cx, [c, on(Storage::Smem), on(Storage::Rmem)]).unwrap_err();
        assert_eq!(error.message, "`tf.where` takes operands of one storage, found smem and rmem");
        let notes: Vec<_> = error.notes.iter().map(|(_, note)| note.as_str()).collect();
        assert_eq!(notes, [r#"operand 1: Tensor[(4,), "f32", "smem"]"#, r#"operand 2: Tensor[(4,), "f32", "rmem"]"#]);
        let row_major = infer(cx, [c, on(Storage::Smem), on(Storage::Umat)]).unwrap().to_string();
        assert_eq!(row_major, r#"Tensor[(4,), "f32", (4,):(1,), "smem"]"#);
    }

    #[test]
    fn placements() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=4 t=2");
        let condition = |shape: &str, states: &str| {
            let shape = dims(cx, shape);
            let shard = cx.canonical_shard_layout(&shape, m, &attrs(cx, states)).unwrap();
            var(cx, "c", cx.tensor(&shape, DType::Bool, Some(TensorLayout::Shard(shard)), Storage::Rmem))
        };
        let x = |states| placed(cx, "x", "16 64", states, m);
        let of = |c, a, b| infer(cx, [c, a, b]).map(placement).map_err(|e| e.message);
        let unplaced = plain(cx, "c", "16 64", DType::Bool);
        let split = "(4, 4, 64):(256, 64, 1) S0 B";
        assert_eq!(of(unplaced, x("S0 B"), x("S0 B")).unwrap(), split);
        assert_eq!(of(condition("16 64", "S0 B"), x("S0 B"), x("S0 B")).unwrap(), split);
        assert_eq!(of(condition("16 1", "S0 B"), x("S0 B"), x("B B")).unwrap(), split);
        assert_eq!(
            of(condition("64", "B S0"), x("S0 S1"), x("S0 S1")).unwrap(),
            "(4, 4, 2, 32):(256, 64, 32, 1) S0 S2"
        );
        for wrong in ["B B", "S1 B", "S0 S1"] {
            let error = of(condition("16 64", wrong), x("S0 B"), x("S0 B")).unwrap_err();
            assert!(error.starts_with("`tf.where` takes a condition placed as its result, ((4 @ w, 4, 64)"), "{error}");
        }
        assert!(of(condition("1 64", "B B"), x("S0 B"), x("S0 B")).is_ok());
        for at in 0..3 {
            let mut operands = [condition("16 64", "B B"), x("B B"), x("B B")];
            operands[at] = if at == 0 { condition("16 64", "Pmax B") } else { x("Pmax B") };
            let error = of(operands[0], operands[1], operands[2]).unwrap_err();
            assert_eq!(error, "`tf.where` cannot take unreduced terms, but `w` holds P(\"max\")");
        }
        let bare = plain(cx, "x", "16 64", DType::F32);
        let error = infer(cx, [condition("16 64", "S0 B"), bare, bare]).unwrap_err().message;
        assert!(error.contains("which has no placement, found"), "{error}");
    }
}
