//! Values of dims in a run.

use rustc_hash::FxHashMap;
use tf_types::{Dim, DimKind, DimOp, Symbol};

use crate::ValueError;

/// The integer that a dim is under `sizes` of its variables. Division and remainder floor.
///
/// # Errors
/// A variable without a size, a zero divisor, a value beyond 64 bits.
pub fn extent<'c>(dim: Dim<'c>, sizes: &FxHashMap<Symbol<'c>, i64>) -> Result<i64, ValueError> {
    // Post-order over shared nodes: dims may be as deep as the program they come from is long.
    let mut done: FxHashMap<Dim<'c>, i64> = FxHashMap::default();
    let mut stack = vec![(dim, false)];
    while let Some((node, operands_done)) = stack.pop() {
        if done.contains_key(&node) {
            continue;
        }
        let value = match *node.data() {
            DimKind::Const(value) => value,
            DimKind::Var(var) => *sizes
                .get(&var.name)
                .ok_or_else(|| ValueError::new(format!("the size of dim `{}` is not known in this run", var.name)))?,
            DimKind::Op(_, a, b) if !operands_done => {
                stack.extend([(node, true), (b, false), (a, false)]);
                continue;
            }
            DimKind::Op(op, a, b) => apply(op, done[&a], done[&b])
                .ok_or_else(|| ValueError::new(format!("`{node}` divides by zero or exceeds 64 bits")))?,
        };
        done.insert(node, value);
    }
    Ok(done[&dim])
}

fn apply(op: DimOp, a: i64, b: i64) -> Option<i64> {
    match op {
        DimOp::Add => a.checked_add(b),
        DimOp::Sub => a.checked_sub(b),
        DimOp::Mul => a.checked_mul(b),
        DimOp::FloorDiv => {
            let inexact = a.checked_rem(b)? != 0;
            Some(a.checked_div(b)? - i64::from(inexact && (a < 0) != (b < 0)))
        }
        DimOp::Mod => {
            let rest = a.checked_rem(b)?;
            Some(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
        }
        DimOp::Min => Some(a.min(b)),
        DimOp::Max => Some(a.max(b)),
    }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashMap;
    use tf_types::{Arena, DimOp, DimVar, TypeContext};

    use super::extent;

    #[test]
    fn dims_have_values() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let s = cx.dim_var(DimVar { name: cx.symbol("S"), lo: 1, hi: 99 });
        let sizes = FxHashMap::from_iter([(cx.symbol("S"), 7)]);
        let of = |op, rhs| extent(cx.dim_op(op, s, cx.dim(rhs)), &sizes).map_err(|e| e.message);
        assert_eq!(of(DimOp::Add, 2), Ok(9));
        assert_eq!(of(DimOp::Sub, 9), Ok(-2));
        assert_eq!(of(DimOp::FloorDiv, -2), Ok(-4));
        assert_eq!(of(DimOp::Mod, -2), Ok(-1));
        assert_eq!(of(DimOp::Min, 3), Ok(3));
        assert_eq!(of(DimOp::Max, 3), Ok(7));
        assert_eq!(of(DimOp::Mod, 0), Err("`S % 0` divides by zero or exceeds 64 bits".into()));
        assert_eq!(
            of(DimOp::Mul, i64::MAX),
            Err("`S * 9223372036854775807` divides by zero or exceeds 64 bits".into())
        );
        let unknown = extent(s, &FxHashMap::default()).unwrap_err();
        assert_eq!(unknown.message, "the size of dim `S` is not known in this run");
        // Shared sub-expressions are visited once.
        let mut deep = s;
        for _ in 0..40 {
            deep = cx.dim_op(DimOp::Min, deep, deep);
        }
        assert_eq!(extent(deep, &sizes), Ok(7));
    }
}
