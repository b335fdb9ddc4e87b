//! `T.reduce`

use tf_core::op::attr::Ints;
use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_types::kinds::ReduceKind;
use tf_types::{DType, Dim, Storage, TensorType};
use tf_value::rule::DialectBuilder;
use tf_value::tir::{Meaning, TirEvalRule};

use crate::rules::{floats, numbers, same_dtype, tensor};
use crate::tensor::plan::ReducePlan;
use crate::tensor::reduction::Reduction;

/// `dst = kind over axes of src`, across every position whose mesh axis splits a reduced axis; 16-bit floats
/// accumulate in f32. Reduced axes are 1 in `dst`, or left out.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"], out: Tensor[(4, 1), "f32"]):
///     T.reduce(x, out, axes=(1,), kind="sum")
/// ```
#[op(dialect = "T", category = "tensor", effect)]
pub struct Reduce {
    /// What is read.
    #[input(Tensor)]
    src: (),
    /// What is written.
    #[input(Tensor)]
    dst: (),
    /// Shared memory by which warps exchange their terms.
    #[input(Tensor, optional)]
    workspace: (),
    /// Logical axes of `src`, counted from 0.
    axes: Ints,
    /// The reduction.
    kind: ReduceKind,
}

/// The dtype in which a reduction of `dtype` accumulates.
#[must_use]
pub fn accumulator(dtype: DType) -> DType {
    if dtype.is_float() { DType::F32 } else { dtype }
}

impl VerifyRule for Reduce {
    fn verify<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        same_dtype("T.reduce", (0, call.src()), (1, call.dst()))?;
        match call.kind() {
            ReduceKind::Mean => floats("T.reduce` of kind `mean", (0, call.src()))?,
            ReduceKind::Sum | ReduceKind::AbsMax => numbers("T.reduce", (0, call.src()))?,
            ReduceKind::Max => {}
        }
        let (src, dst) = (tensor(0, "src", call.src())?, tensor(1, "dst", call.dst())?);
        check_axes(src, call.axes())?;
        let reduced = |axis: usize| call.axes().contains(&(axis as i64));
        if !is_reduced(src.shape, dst.shape, reduced) {
            let message = format!("`T.reduce` of {src} over {:?} does not give {dst}", call.axes());
            return Err(RuleError::new(message)
                .operand(0, src.to_string())
                .operand(1, dst.to_string())
                .with_help("reduced axes are 1 in the result, or left out"));
        }
        // Which positions hold what is known once run-time extents are.
        let is_symbolic = [src, dst].iter().any(|tensor| tensor.static_shape().is_none());
        if src.storage != Storage::Rmem || is_symbolic {
            return Ok(());
        }
        let plan = ReducePlan::new(src, dst, call.axes())?;
        let (needed, dtype) = (plan.workspace_len(), accumulator(src.dtype));
        let workspace = call.workspace().map(|w| tensor(2, "workspace", w)).transpose()?;
        let fits = |w: &TensorType<'_>| {
            let len = w.static_shape().map(|s| s.iter().product::<i64>());
            w.storage == Storage::Smem && w.dtype == dtype && len.is_some_and(|l| l >= needed)
        };
        if needed == 0 || workspace.is_some_and(fits) {
            return Ok(());
        }
        let message = format!("`T.reduce` across warps needs a workspace of {needed} x {dtype} in smem");
        let error = RuleError::new(message).with_help(format!(
            "pass it after the destination: `T.alloc_tensor(TensorType(({needed},), \"{dtype}\", None, \"smem\"))`"
        ));
        Err(match call.workspace() {
            Some(found) => error.operand(2, found.ty().to_string()),
            None => error.operand(0, src.to_string()),
        })
    }
}

/// Every axis is one of `src`, named once.
fn check_axes(src: &TensorType<'_>, axes: &[i64]) -> Result<(), RuleError> {
    let rank = src.rank() as i64;
    if let Some(&bad) = axes.iter().find(|&&axis| !(0..rank).contains(&axis)) {
        let error = RuleError::new(format!("`T.reduce` over axis {bad} of rank {rank}")).operand(0, src.to_string());
        return Err(error.with_help(match rank {
            0 => "a scalar has no axes".to_owned(),
            _ if (-rank..0).contains(&bad) => format!("axes are counted from 0: write {}", bad + rank),
            _ => format!("axes go from 0 to {}", rank - 1),
        }));
    }
    let twice = axes.iter().enumerate().find(|(at, axis)| axes[..*at].contains(axis));
    twice.map_or(Ok(()), |(_, axis)| {
        Err(RuleError::new(format!("`T.reduce` names axis {axis} twice, axes are {axes:?}"))
            .operand(0, src.to_string())
            .with_help("name each axis once"))
    })
}

/// Whether `dst` has the axes of `src` with the reduced ones as 1, or without them.
fn is_reduced(src: &[Dim<'_>], dst: &[Dim<'_>], reduced: impl Fn(usize) -> bool) -> bool {
    if dst.len() == src.len() {
        let same = |(axis, (&s, &d)): (usize, (&Dim<'_>, &Dim<'_>))| {
            if reduced(axis) { d.as_const() == Some(1) } else { s == d }
        };
        return src.iter().zip(dst).enumerate().all(same);
    }
    let kept: Vec<_> = src.iter().enumerate().filter(|(axis, _)| !reduced(*axis)).map(|(_, &extent)| extent).collect();
    kept == dst
}

impl TirEvalRule for Reduce {
    fn meaning<'c>(call: OpCall<'c, Self>) -> Result<Meaning, RuleError> {
        Reduction::of(&call)
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Reduce>().verifies().means().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Arena, Meta};
    use tf_types::kinds::ReduceKind;
    use tf_types::{DType, DimVar, Storage};

    use super::Reduce;
    use crate::test_util::{context, refusal, tensor};

    #[test]
    fn operands() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let of = |kind, dst: &[i64], axes: &[i64], dtype| {
            let operands = [tensor(cx, &[4, 8, 2], dtype, Storage::Gmem), tensor(cx, dst, dtype, Storage::Gmem)];
            refusal(cx, Reduce::new(cx, cx.alloc_slice(axes), kind), &operands)
        };
        let (sum, mean, f32) = (ReduceKind::Sum, ReduceKind::Mean, DType::F32);
        assert_eq!(of(sum, &[4, 1, 2], &[1], f32), None);
        assert_eq!(of(sum, &[4, 2], &[1], f32), None);
        assert_eq!(of(mean, &[2], &[0, 1], DType::BF16), None);
        assert_eq!(of(sum, &[4, 2], &[3], f32).unwrap(), "`T.reduce` over axis 3 of rank 3");
        assert_eq!(of(sum, &[4, 2], &[-2], f32).unwrap(), "`T.reduce` over axis -2 of rank 3");
        let twice = of(sum, &[4, 2], &[1, 1], f32).unwrap();
        assert_eq!(twice, "`T.reduce` names axis 1 twice, axes are [1, 1]");
        assert_eq!(
            of(sum, &[4, 8], &[1], f32).unwrap(),
            r#"`T.reduce` of Tensor[(4, 8, 2), "f32"] over [1] does not give Tensor[(4, 8), "f32"]"#
        );
        assert!(of(sum, &[4, 8, 1], &[1], f32).is_some());
        assert_eq!(of(mean, &[4, 2], &[1], DType::I32).unwrap(), "`T.reduce` of kind `mean` takes floats, found i32");
        assert_eq!(of(sum, &[4, 2], &[1], DType::Bool).unwrap(), "`T.reduce` takes numbers, found bool");
        assert_eq!(of(ReduceKind::Max, &[4, 2], &[1], DType::Bool), None);
    }

    #[test]
    fn rows_may_be_known_at_run_time_only() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let n = cx.dim_var(DimVar { name: cx.symbol("n"), lo: 1, hi: 9 });
        let rows = |width| {
            let ty = cx.tensor(&[n, cx.dim(width)], DType::F32, None, Storage::Rmem);
            cx.var(cx.symbol("x"), ty, Meta::default())
        };
        let sum = |dst| refusal(cx, Reduce::new(cx, cx.alloc_slice(&[1]), ReduceKind::Sum), &[rows(8), rows(dst)]);
        assert_eq!(sum(1), None);
        assert!(sum(2).is_some());
    }
}
