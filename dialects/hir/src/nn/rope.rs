//! `rope`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::{AccessRelation, AffineMap, AxisAccess, identity};
use tf_types::size::same_element_count;
use tf_types::{Dim, DimTuple, TensorType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Tensor, Value, ValueError};

use crate::rules::dtype::{self, Takes};
use crate::rules::{axis, layout, operand, partial};

/// Rotary embedding of `q` and of `k`: `x * cos + rot(x) * sin` with `rot(x) = concat(-x[d/2:], x[:d/2])` of the last axis;
/// row `i` of the position axis takes row `pos_ids[i]` of the caches. Computed in f32 and rounded once.
///
/// ```python
/// def f(
///     q: Tensor[(1, 3, 4, 8), "bf16"],
///     k: Tensor[(1, 3, 2, 8), "bf16"],
///     cos: Tensor[(16, 8), "f32"],
///     sin: Tensor[(16, 8), "f32"],
///     pos: Tensor[(1, 3), "i64"],
/// ):
///     return tf.rope(q, k, cos, sin, pos)
/// ```
#[op(dialect = "tf", category = "nn", name = "rope")]
pub struct Rope {
    /// `(…, s, heads, d)` with an even `d`.
    #[input(Tensor)]
    q: (),
    /// `(…, s, heads, d)`, of the dtype of `q`; the number of heads may differ.
    #[input(Tensor)]
    k: (),
    /// `(positions, d)`, any float dtype.
    #[input(Tensor)]
    cos_cache: (),
    /// As `cos_cache`.
    #[input(Tensor)]
    sin_cache: (),
    /// `s` rows of the caches, in any shape: i32 or i64.
    #[input(Tensor)]
    pos_ids: (),
}

const WHAT: &str = "`tf.rope`";

/// Positions and head size of an operand to rotate.
fn rotated<'c>(name: &str, at: usize, x: &TensorType<'c>) -> Result<[Dim<'c>; 2], RuleError> {
    dtype::check(WHAT, Takes::Floats, at, x)?;
    let &[.., length, _, head] = x.shape else {
        return Err(RuleError::new(format!("{WHAT} takes `{name}` of rank 3 or more, found rank {}", x.rank()))
            .operand(at, format!("{x}"))
            .with_help("the last axes are positions, heads and head size"));
    };
    if head.as_const().is_some_and(|head| head % 2 != 0) {
        return Err(RuleError::new(format!("{WHAT} takes an even head size, found {head} in `{name}`"))
            .operand(at, format!("{x}"))
            .with_help("the halves of a head are rotated into each other"));
    }
    Ok([length, head])
}

fn check_cache<'c>(name: &str, at: usize, cache: &TensorType<'c>, head: Dim<'c>) -> Result<(), RuleError> {
    dtype::check(WHAT, Takes::Floats, at, cache)?;
    if matches!(cache.shape, &[_, width] if width == head) {
        return Ok(());
    }
    Err(RuleError::new(format!(
        "{WHAT} of head size {head} takes `{name}` of shape (positions, {head}), found {}",
        DimTuple(cache.shape)
    ))
    .operand(at, format!("{cache}"))
    .with_help("a row of the cache has one number for each element of a head"))
}

/// Terms pass through the rotation, which is linear; what it reads beside must be complete and the same everywhere.
fn check_terms(operands: &[&TensorType<'_>; 5]) -> Result<(), RuleError> {
    for (at, table) in operands.iter().enumerate().skip(2) {
        partial::check_one(WHAT, partial::NONE, at, table)?;
    }
    for at in [0, 1] {
        partial::check_one(WHAT, partial::LINEAR, at, operands[at])?;
        let with_tables = [at, 2, 3, 4].map(|at| (at, operands[at]));
        partial::check_some(WHAT, partial::LINEAR, &with_tables)?;
    }
    Ok(())
}

impl TypeRule for Rope {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let of = |index| operand::tensor(&call, index);
        let operands = [of(0)?, of(1)?, of(2)?, of(3)?, of(4)?];
        let [q, k, cos, sin, positions] = operands;
        dtype::equal(WHAT, q, k)?;
        let ([length, head], [k_length, k_head]) = (rotated("q", 0, q)?, rotated("k", 1, k)?);
        for (what, q_extent, k_extent) in [("head sizes", head, k_head), ("numbers of positions", length, k_length)] {
            if q_extent != k_extent {
                return Err(RuleError::new(format!(
                    "{WHAT} takes q and k of equal {what}, found {q_extent} and {k_extent}"
                ))
                .operand(0, format!("{q}"))
                .operand(1, format!("{k}"))
                .with_help("only the number of heads may differ"));
            }
        }
        // An element takes its partner from the other half.
        axis::whole(WHAT, 0, q, q.rank() - 1)?;
        axis::whole(WHAT, 1, k, k.rank() - 1)?;
        check_cache("cos_cache", 2, cos, head)?;
        check_cache("sin_cache", 3, sin, head)?;
        if cos.shape != sin.shape {
            let (cos_rows, sin_rows) = (cos.shape[0], sin.shape[0]);
            return Err(RuleError::new(format!(
                "{WHAT} takes caches of equal length, found {cos_rows} and {sin_rows}"
            ))
            .operand(2, format!("{cos}"))
            .operand(3, format!("{sin}"))
            .with_help("both have a row for each position"));
        }
        dtype::check(WHAT, Takes::Integers, 4, positions)?;
        if !same_element_count(positions.shape, &[length]) {
            return Err(RuleError::new(format!(
                "{WHAT} takes {length} positions, one for each row of q, found `pos_ids` of shape {}",
                DimTuple(positions.shape)
            ))
            .operand(0, format!("{q}: axis {} is {length}", q.rank() - 3))
            .operand(4, format!("{positions}"))
            .with_help("all batches share the positions"));
        }
        check_terms(&operands)?;
        let same = |x: &TensorType<'c>| cx.tensor(x.shape, x.dtype, layout::same(cx, x), x.storage);
        Ok(cx.tuple(&[same(q), same(k)]))
    }
}

/// One of q and k: each element from itself and from the one half a head away, with row `pos_ids` of the caches.
fn rotation<'c>(cx: &Context<'c>, at: usize, x: &[Dim<'c>], positions: &[Dim<'c>]) -> Option<AccessRelation<'c>> {
    let &[.., length, _, head] = x else { return None };
    let last = x.len() - 1;
    let mut partner = identity(x.len());
    let half = cx.dim_floor_div(head, cx.dim(2));
    partner[last] = AxisAccess::Map(AffineMap::default().term(last, None).plus(half).modulo(head));
    let cache = || vec![AxisAccess::Map(AffineMap::value(4)), AxisAccess::Proj(last)];
    let index = cx.row_major(last - 2, &[length], positions);
    let relation = AccessRelation::to(x).to_field(at).reads(at, identity(x.len())).reads(at, partner);
    Some(relation.reads(2, cache()).reads(3, cache()).reads(4, index))
}

impl AccessRule for Rope {
    fn access<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let positions = operand::shape(call.pos_ids());
        let of = |at, x| rotation(cx, at, operand::shape(x), positions);
        [of(0, call.q()), of(1, call.k())].into_iter().flatten().collect()
    }
}

impl EvalRule for Rope {
    fn eval<'c>(_: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let (q, k) = (operand::take::<Self>(operands, 0)?, operand::take::<Self>(operands, 1)?);
        let of = |index| operand::value::<Self>(operands, index);
        let (cos, sin, positions) = (of(2)?, of(3)?, of(4)?);
        let turned = |x: Tensor| x.rope(cos, sin, positions).map(Value::from);
        Ok(Value::Tuple(vec![turned(q)?, turned(k)?]))
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Rope>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Context, Expr, Meta};
    use tf_types::{Arena, DType, Type};

    use super::Rope;
    use crate::test_util::{context, mesh, placed, plain};

    fn infer<'c>(cx: &Context<'c>, operands: [Expr<'c>; 5]) -> Result<Type<'c>, String> {
        cx.call(Rope::new(cx), &operands, Meta::default()).map(Expr::ty).map_err(|e| e.message)
    }

    #[test]
    fn types_and_refusals() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |q: &str, k: &str, cos: &str, sin: &str, pos: &str| {
            let x = |name, shape| plain(cx, name, shape, DType::F32);
            let pos = plain(cx, "p", pos, DType::I64);
            infer(cx, [x("q", q), x("k", k), x("c", cos), x("s", sin), pos]).map(|ty| ty.to_string())
        };
        let pair = r#"(Tensor[(1, S, 4, 6), "f32"], Tensor[(1, S, 2, 6), "f32"])"#;
        assert_eq!(of("1 S 4 6", "1 S 2 6", "9 6", "9 6", "S").unwrap(), pair);
        assert!(of("2 1 2 6", "2 1 1 6", "P 6", "P 6", "1 1").is_ok());
        let refusal = |q, k, cos, sin, pos| of(q, k, cos, sin, pos).unwrap_err();
        let odd = refusal("1 2 1 5", "1 2 1 5", "4 5", "4 5", "2");
        assert_eq!(odd, "`tf.rope` takes an even head size, found 5 in `q`");
        let heads = refusal("1 2 1 6", "1 2 1 4", "4 6", "4 6", "2");
        assert_eq!(heads, "`tf.rope` takes q and k of equal head sizes, found 6 and 4");
        let lengths = refusal("1 2 1 6", "1 3 1 6", "4 6", "4 6", "2");
        assert_eq!(lengths, "`tf.rope` takes q and k of equal numbers of positions, found 2 and 3");
        let rank = refusal("2 6", "1 2 1 6", "4 6", "4 6", "2");
        assert_eq!(rank, "`tf.rope` takes `q` of rank 3 or more, found rank 2");
        let width = refusal("1 2 1 6", "1 2 1 6", "4 6", "4 3", "2");
        assert_eq!(width, "`tf.rope` of head size 6 takes `sin_cache` of shape (positions, 6), found (4, 3)");
        let rank = refusal("1 2 1 6", "1 2 1 6", "1 4 6", "4 6", "2");
        assert_eq!(rank, "`tf.rope` of head size 6 takes `cos_cache` of shape (positions, 6), found (1, 4, 6)");
        let rows = refusal("1 2 1 6", "1 2 1 6", "4 6", "5 6", "2");
        assert_eq!(rows, "`tf.rope` takes caches of equal length, found 4 and 5");
        let count = refusal("1 2 1 6", "1 2 1 6", "4 6", "4 6", "3");
        assert_eq!(count, "`tf.rope` takes 2 positions, one for each row of q, found `pos_ids` of shape (3,)");
    }

    #[test]
    fn dtypes() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |q, k, cos, pos| {
            let x = |dtype| plain(cx, "x", "1 2 1 6", dtype);
            let cache = plain(cx, "c", "4 6", cos);
            infer(cx, [x(q), x(k), cache, cache, plain(cx, "p", "2", pos)]).map(|_| ())
        };
        let (f32, bf16) = (DType::F32, DType::BF16);
        assert_eq!(of(bf16, bf16, f32, DType::I32), Ok(()));
        assert_eq!(
            of(bf16, f32, f32, DType::I32).unwrap_err(),
            "`tf.rope` takes operands of one dtype, found bf16 and f32"
        );
        assert_eq!(of(DType::I32, DType::I32, f32, DType::I32).unwrap_err(), "`tf.rope` takes floats, found i32");
        assert_eq!(of(f32, f32, DType::I64, DType::I32).unwrap_err(), "`tf.rope` takes floats, found i64");
        assert_eq!(of(f32, f32, f32, f32).unwrap_err(), "`tf.rope` takes integers (i32, i64), found f32");
    }

    #[test]
    fn placements() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=4 t=2");
        let cache = plain(cx, "c", "9 6", DType::F32);
        let pos = plain(cx, "p", "2", DType::I64);
        let x = |states| placed(cx, "x", "1 2 4 6", states, m);
        let of = |q, k, cos| infer(cx, [x(q), x(k), cos, cache, pos]);
        assert_eq!(of("S2 S1", "B B", cache), Ok(cx.tuple(&[x("S2 S1").ty(), x("B B").ty()])));
        assert!(of("Psum B", "B Psum", cache).is_ok());
        assert!(of("Psum B", "B B", placed(cx, "c", "8 6", "B B", m)).is_err(), "caches of unequal length");
        let extreme = "`tf.rope` cannot take unreduced terms, but `w` holds P(\"max\")";
        assert_eq!(of("B B", "Pmax B", cache).unwrap_err(), extreme);
        let table = placed(cx, "c", "9 6", "B Psum", m);
        let refusal = "`tf.rope` cannot take unreduced terms, but `t` holds P(\"sum\")";
        assert_eq!(of("B B", "B B", table).unwrap_err(), refusal);
        let head = "`tf.rope` needs axis 3 whole, but it is split over mesh axis `t`";
        assert_eq!(of("B S3", "B B", cache).unwrap_err(), head);
        assert_eq!(of("B B", "B S3", cache).unwrap_err(), head);
        let split = placed(cx, "c", "9 6", "B S1", m);
        assert!(of("B Psum", "B B", split).unwrap_err().ends_with("it must be Broadcast on `t`"));
    }
}
