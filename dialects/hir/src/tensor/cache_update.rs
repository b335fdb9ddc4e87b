//! `cache_update`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::{AccessRelation, AffineMap, AxisAccess, Extent, identity};
use tf_types::{DType, TensorType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError, show_shape};

use crate::rules::{axis, layout, operand, terms};

const WHAT: &str = "`tf.cache_update`";

/// The axis of the rows in `[B, length, heads, dim]`.
const ROWS: usize = 1;

/// A copy of `cache` with `out[:, cur_pos : cur_pos + s] = new[:, :s]`.
///
/// ```python
/// def f(
///     cache: Tensor[(1, 64, 2, 8), "f32"],
///     pos: Tensor[(), "i32"],
///     n: Tensor[(), "i32"],
///     new: Tensor[(1, 4, 2, 8), "f32"],
/// ):
///     return tf.cache_update(cache, pos, n, new)
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct CacheUpdate {
    /// `[B, capacity, heads, dim]`.
    #[input(Tensor)]
    cache: (),
    /// The first row that is written: one i32.
    #[input(Any)]
    cur_pos: (),
    /// How many rows are written: one i32.
    #[input(Any)]
    s: (),
    /// `[B, length, heads, dim]`, of the same dtype.
    #[input(Tensor)]
    new: (),
}

/// Refuses what is not one i32 number.
fn check_number(name: &str, at: usize, number: &TensorType<'_>) -> Result<(), RuleError> {
    if number.dtype == DType::I32 && number.shape.iter().all(|extent| extent.as_const() == Some(1)) {
        return Ok(());
    }
    Err(RuleError::new(format!("{WHAT} takes one i32 number as `{name}`, found {number}"))
        .operand(at, format!("{number}"))
        .with_help("an i32 of shape (), or of extents that are all 1"))
}

/// Shapes and dtypes of the cache and its new rows.
fn check_rows<'c>(cx: &Context<'c>, cache: &TensorType<'c>, new: &TensorType<'c>) -> Result<(), RuleError> {
    let refuse = |message: String| {
        Err(RuleError::new(message)
            .operand(0, format!("{cache}"))
            .operand(3, format!("{new}"))
            .with_help("cache and new rows are [B, length, heads, dim]"))
    };
    for (name, tensor) in [("cache", cache), ("new", new)] {
        if tensor.rank() != 4 {
            return refuse(format!("{WHAT} takes `{name}` of rank 4, found rank {}", tensor.rank()));
        }
    }
    if cache.dtype != new.dtype {
        return refuse(format!("{WHAT} cannot write {} into {}", new.dtype, cache.dtype));
    }
    for (axis, name) in [(0, "B"), (2, "heads"), (3, "dim")] {
        if cache.shape[axis] != new.shape[axis] {
            return refuse(format!(
                "{WHAT} takes new rows of the cache's {name} (axis {axis}), {}, found {}",
                cache.shape[axis], new.shape[axis]
            ));
        }
    }
    let (capacity, length) = (cache.shape[ROWS], new.shape[ROWS]);
    if cx.dim_range(cx.dim_sub(length, capacity)).is_some_and(|(least, _)| least > 0) {
        return refuse(format!("{WHAT} cannot fit {length} new rows into a cache of {capacity}"));
    }
    Ok(())
}

/// Placed caches and rows are split alike.
fn check_splits<'c>(cx: &Context<'c>, cache: &TensorType<'c>, new: &TensorType<'c>) -> Result<(), RuleError> {
    let (Some(held), Some(written)) = (cache.shard(), new.shard()) else {
        return match new.shard().filter(|written| written.is_sharded()) {
            None => Ok(()),
            Some(written) => {
                Err(RuleError::new(format!("{WHAT} cannot write rows placed as {written} into an unplaced cache"))
                    .operand(0, format!("{cache}"))
                    .operand(3, format!("{new}"))
                    .with_help("reshard one of them"))
            }
        };
    };
    let alike = cx.same_positions((held, cache.shape), (written, new.shape));
    if alike {
        return Ok(());
    }
    Err(RuleError::new(format!("{WHAT} takes new rows split as the cache, {held}, found {written}"))
        .operand(0, format!("{cache}"))
        .operand(3, format!("{new}"))
        .with_help("reshard the new rows to the placement of the cache"))
}

impl TypeRule for CacheUpdate {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let (cache, new) = (operand::tensor(&call, 0)?, operand::tensor(&call, 3)?);
        check_number("cur_pos", 1, operand::tensor(&call, 1)?)?;
        check_number("s", 2, operand::tensor(&call, 2)?)?;
        check_rows(cx, cache, new)?;
        axis::whole(WHAT, 0, cache, ROWS)?;
        axis::whole(WHAT, 3, new, ROWS)?;
        terms::check_update(WHAT, cx, [0, 3], cache, new)?;
        check_splits(cx, cache, new)?;
        Ok(cx.tensor(cache.shape, cache.dtype, layout::same(cx, cache), cache.storage))
    }
}

impl AccessRule for CacheUpdate {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let [cache, new] = [call.cache(), call.new()].map(operand::shape);
        let number = |operand| vec![AxisAccess::Const; operand::shape(operand).len()];
        let mut written = identity(new.len());
        let mut rows = AccessRelation::over(new).reads(3, identity(new.len()));
        if let (Some(extent), Some(row)) = (rows.domain.get_mut(ROWS), written.get_mut(ROWS)) {
            *extent = Extent::Value(2);
            *row = AxisAccess::Map(AffineMap::value(1).term(ROWS, None));
        }
        let rows = rows.reads(1, number(call.cur_pos())).reads(2, number(call.s()));
        vec![AccessRelation::elementwise(cache, 1), rows.writes(written).replacing()]
    }
}

impl EvalRule for CacheUpdate {
    fn eval<'c>(_: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let cache = operand::take::<Self>(operands, 0)?;
        let of = |index| operand::value::<Self>(operands, index);
        let new = of(3)?;
        let (position, count) = (of(1)?.to_index()?, of(2)?.to_index()?);
        if cache.rank() != 4 || new.rank() != 4 {
            return Err(ValueError::new(format!(
                "cache_update takes a cache and rows of rank 4, found {} and {}",
                show_shape(cache.shape()),
                show_shape(new.shape())
            )));
        }
        let (capacity, length) = (cache.shape()[ROWS], new.shape()[ROWS]);
        let Some(rows) = usize::try_from(count).ok().filter(|&rows| (1..=length).contains(&rows)) else {
            return Err(ValueError::new(format!("cache_update writes s = {count} rows of {length} new ones"))
                .with_help("s is at least 1 and at most the number of new rows"));
        };
        let first = usize::try_from(position).ok().filter(|&first| first + rows <= capacity);
        if first.is_none() {
            let end = position.saturating_add(count);
            return Err(ValueError::new(format!(
                "cache_update writes rows [{position}, {end}) of a cache of {capacity}: cur_pos + s leaves its capacity"
            )));
        }
        let mut sizes = new.shape().to_vec();
        sizes[ROWS] = rows;
        cache.insert(&new.slice(&[0; 4], &sizes, &[1; 4])?, &[0, position, 0, 0]).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<CacheUpdate>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Context, Diagnostic, Expr, Meta};
    use tf_types::{Arena, DType, Type};

    use super::CacheUpdate;
    use crate::test_util::{context, mesh, placed, plain};

    fn infer<'c>(
        cx: &Context<'c>,
        cache: Expr<'c>,
        numbers: [Expr<'c>; 2],
        new: Expr<'c>,
    ) -> Result<Type<'c>, Diagnostic> {
        cx.call(CacheUpdate::new(cx), &[cache, numbers[0], numbers[1], new], Meta::default()).map(|e| e.ty())
    }

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let number = plain(cx, "p", "", DType::I32);
        let of = |cache, numbers, new, dtype| {
            let cache = plain(cx, "cache", cache, DType::F16);
            infer(cx, cache, numbers, plain(cx, "new", new, dtype)).map(|ty| ty == cache.ty()).map_err(|e| e.message)
        };
        let rows = |cache, new| of(cache, [number, number], new, DType::F16);
        assert_eq!(rows("1 8 2 4", "1 1 2 4"), Ok(true));
        assert_eq!(rows("1 S 2 4", "1 8 2 4"), Ok(true));
        let ones = plain(cx, "p", "1 1", DType::I32);
        assert_eq!(of("1 8 2 4", [ones, ones], "1 8 2 4", DType::F16), Ok(true));
        assert_eq!(rows("1 8 2 4", "1 9 2 4"), Err("`tf.cache_update` cannot fit 9 new rows into a cache of 8".into()));
        let error = rows("1 8 2 4", "1 1 3 4").unwrap_err();
        assert_eq!(error, "`tf.cache_update` takes new rows of the cache's heads (axis 2), 2, found 3");
        assert_eq!(rows("8 2 4", "1 1 2 4"), Err("`tf.cache_update` takes `cache` of rank 4, found rank 3".into()));
        let error = of("1 8 2 4", [number, number], "1 1 2 4", DType::F32).unwrap_err();
        assert_eq!(error, "`tf.cache_update` cannot write f32 into f16");
        let wide = plain(cx, "p", "", DType::I64);
        let error = of("1 8 2 4", [wide, number], "1 1 2 4", DType::F16).unwrap_err();
        assert_eq!(error, r#"`tf.cache_update` takes one i32 number as `cur_pos`, found Tensor[(), "i64"]"#);
        let pair = plain(cx, "s", "2", DType::I32);
        assert!(of("1 8 2 4", [number, pair], "1 1 2 4", DType::F16).unwrap_err().contains("as `s`"));
    }

    #[test]
    fn placements() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=4");
        let number = plain(cx, "p", "", DType::I32);
        let of = |cache, new| {
            let cache = placed(cx, "cache", "1 8 4 8", cache, m);
            let ty = infer(cx, cache, [number; 2], placed(cx, "new", "1 4 4 8", new, m));
            ty.map(|ty| ty == cache.ty()).map_err(|e| e.message)
        };
        assert_eq!((of("S2", "S2"), of("B", "B"), of("Psum", "Psum")), (Ok(true), Ok(true), Ok(true)));
        assert_eq!(
            of("S1", "B"),
            Err("`tf.cache_update` needs axis 1 whole, but it is split over mesh axis `w`".into())
        );
        assert!(of("S2", "S3").unwrap_err().starts_with("`tf.cache_update` takes new rows split as the cache"));
        assert!(of("B", "Psum").is_err() && of("Psum", "B").is_err());
        let plain_new = plain(cx, "new", "1 4 4 8", DType::F32);
        let split = placed(cx, "cache", "1 8 4 8", "S2", m);
        assert!(infer(cx, split, [number; 2], plain_new).is_ok());
        assert!(infer(cx, plain_new, [number; 2], split).is_err());
    }
}
