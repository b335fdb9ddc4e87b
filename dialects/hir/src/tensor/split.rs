//! `split`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::{AccessRelation, AffineMap, AxisAccess, identity};
use tf_types::{TensorLayout, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError, normalize_axis, show_shape};

use crate::rules::{axis, operand};

const WHAT: &str = "`tf.split`";

/// Every part is a field of the result's type.
const MOST_PARTS: i64 = 1 << 16;

/// `num_splits` equal parts along an axis, as a tuple. Of a symbolic extent `n` a part has `n // num_splits`.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"]):
///     left, right = tf.split(x, axis=1, num_splits=2)
///     return left - right
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct Split {
    /// The operand.
    #[input(Tensor)]
    x: (),
    /// The axis; a negative one counts from the end.
    axis: i64,
    /// How many parts, at least one.
    num_splits: i64,
}

impl TypeRule for Split {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let (x, parts) = (operand::tensor(&call, 0)?, call.num_splits());
        let along = axis::of_operand(WHAT, 0, x, ("axis", call.axis()))?;
        if parts <= 0 || parts > MOST_PARTS {
            return Err(RuleError::new(format!("{WHAT} takes 1 to {MOST_PARTS} parts as `num_splits`, found {parts}"))
                .operand(0, format!("{x}: axis {along} is {}", x.shape[along]))
                .attr("num_splits")
                .with_help("it is how many parts the axis is cut into, not their extent"));
        }
        let extent = x.shape[along];
        let remainder = cx.dim_mod(extent, cx.dim(parts));
        if cx.dim_range(remainder).is_some_and(|(lo, _)| lo > 0) {
            return Err(RuleError::new(format!(
                "{WHAT} cannot cut axis {along} of extent {extent} into {parts} equal parts"
            ))
            .operand(0, format!("{x}: axis {along} is {extent}"))
            .attr("num_splits")
            .with_help("the number of parts must divide the extent"));
        }
        axis::whole(WHAT, 0, x, along)?;
        let mut shape = x.shape.to_vec();
        shape[along] = cx.dim_floor_div(extent, cx.dim(parts));
        let layout = match (x.shard(), x.layout) {
            (Some(shard), _) => {
                let attrs = shard.logical_attrs(x.shape);
                let runs = cx.runs(shard, x.shape);
                Some(TensorLayout::Shard(cx.shard_layout_in_runs(&shape, shard.mesh, &attrs, &runs)?))
            }
            (None, Some(_)) => Some(TensorLayout::Plain(cx.c_order_layout(&shape))),
            (None, None) => None,
        };
        let part = cx.tensor(&shape, x.dtype, layout, x.storage);
        Ok(cx.tuple(&vec![part; parts as usize]))
    }
}

impl AccessRule for Split {
    fn access<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let (mut shape, parts) = (operand::shape(call.x()).to_vec(), call.num_splits());
        let Ok(along) = normalize_axis(call.axis(), shape.len()) else { return Vec::new() };
        shape[along] = cx.dim_floor_div(shape[along], cx.dim(parts));
        let part = |at: i64| {
            let mut read = identity(shape.len());
            let first = cx.dim_mul(cx.dim(at), shape[along]);
            read[along] = AxisAccess::Map(AffineMap::default().term(along, None).plus(first));
            AccessRelation::to(&shape).to_field(at as usize).reads(0, read)
        };
        (0..parts).map(part).collect()
    }
}

impl EvalRule for Split {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let x = operand::value::<Self>(operands, 0)?;
        let along = normalize_axis(call.axis(), x.rank())?;
        let extent = x.shape()[along];
        let parts = Some(call.num_splits()).filter(|parts| (1..=MOST_PARTS).contains(parts));
        let Some(parts) = parts.map(|parts| parts as usize).filter(|parts| extent % parts == 0) else {
            return Err(ValueError::new(format!(
                "split of {} cannot cut axis {along} of extent {extent} into {} equal parts",
                show_shape(x.shape()),
                call.num_splits()
            )));
        };
        let (mut sizes, mut starts) = (x.shape().to_vec(), vec![0; x.rank()]);
        sizes[along] = extent / parts;
        let mut part = |at: usize| {
            starts[along] = (at * sizes[along]) as i64;
            x.slice(&starts, &sizes, &vec![1; sizes.len()]).map(Value::from)
        };
        (0..parts).map(&mut part).collect::<Result<_, _>>().map(Value::Tuple)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Split>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Context, Diagnostic, Expr, Meta};
    use tf_types::{Arena, DType, Storage, TensorLayout, Type, TypeKind};

    use super::Split;
    use crate::test_util::{context, dims, mesh, placed, placement, plain, var};

    fn infer<'c>(cx: &Context<'c>, x: Expr<'c>, axis: i64, parts: i64) -> Result<Vec<Type<'c>>, Diagnostic> {
        let call = cx.call(Split::new(cx, axis, parts), &[x], Meta::default())?;
        match *call.ty().data() {
            TypeKind::Tuple(fields) => Ok(fields.to_vec()),
            _ => panic!("{}", call.ty()),
        }
    }

    #[test]
    fn shapes_and_plain_layouts() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |x, axis, parts| {
            let fields = infer(cx, x, axis, parts).map_err(|e| e.message)?;
            assert!(fields.len() as i64 == parts && fields.iter().all(|field| *field == fields[0]));
            Ok::<_, String>(fields[0].to_string())
        };
        let x = plain(cx, "x", "6 S", DType::I64);
        assert_eq!(of(x, 0, 3).unwrap(), r#"Tensor[(2, S), "i64"]"#);
        assert_eq!(of(x, -1, 4).unwrap(), r#"Tensor[(6, S // 4), "i64"]"#);
        assert_eq!(of(plain(cx, "x", "0", DType::F32), 0, 2).unwrap(), r#"Tensor[(0,), "f32"]"#);
        assert_eq!(of(x, 0, 4).unwrap_err(), "`tf.split` cannot cut axis 0 of extent 6 into 4 equal parts");
        assert_eq!(of(x, 0, 0).unwrap_err(), "`tf.split` takes 1 to 65536 parts as `num_splits`, found 0");
        assert!(of(x, 1, 1 << 40).unwrap_err().ends_with("found 1099511627776"));
        assert_eq!(of(x, 2, 1).unwrap_err(), "`tf.split` has no axis 2: the operand has rank 2");
        let layout = Some(TensorLayout::Plain(cx.layout(&dims(cx, "4 6"), Some(&dims(cx, "1 4")))));
        let strided = var(cx, "x", cx.tensor(&dims(cx, "4 6"), DType::F32, layout, Storage::Gmem));
        assert_eq!(of(strided, 0, 2).unwrap(), r#"Tensor[(2, 6), "f32", (2, 6):(6, 1)]"#);
    }

    #[test]
    fn placements() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=4 o=1");
        let of = |states, axis| {
            infer(cx, placed(cx, "x", "16 64", states, m), axis, 2)
                .map(|fields| placement(fields[0]))
                .map_err(|e| e.message)
        };
        assert_eq!(of("S0 B", 1).unwrap(), "(4, 4, 32):(128, 32, 1) S0 B");
        assert_eq!(of("Psum B", 0).unwrap(), "(8, 64):(64, 1) Psum B");
        assert_eq!(of("S0 B", 0).unwrap_err(), "`tf.split` needs axis 0 whole, but it is split over mesh axis `w`");
        assert_eq!(of("B S0", 0).unwrap(), "(1, 8, 64):(512, 64, 1) B S0");
    }
}
