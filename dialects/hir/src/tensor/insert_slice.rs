//! `insert_slice`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, Expr, op};
use tf_types::access::{AccessRelation, AffineMap, identity};
use tf_types::{Storage, TensorType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::{axis, layout, operand, terms};

const WHAT: &str = "`tf.insert_slice`";

/// A copy of `dst` with `update` in place of the window of its shape that begins at `offsets`.
///
/// ```python
/// def f(x: Tensor[(8, 6), "f32"], u: Tensor[(2, 6), "f32"], first: Tensor[(), "i64"]):
///     return tf.insert_slice(x, u, (first, 0))
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct InsertSlice {
    /// What is written into.
    #[input(Tensor)]
    dst: (),
    /// What is written, of the same rank and dtype.
    #[input(Tensor)]
    update: (),
    /// The first index of each axis: rank-0 integers.
    #[input(Scalar, variadic)]
    offsets: (),
}

/// Checks the window on every axis, wherever it is known.
fn check_window<'c>(
    cx: &Context<'c>,
    dst: &TensorType<'c>,
    update: &TensorType<'c>,
    offsets: &[Expr<'c>],
) -> Result<(), RuleError> {
    for (axis, &offset) in offsets.iter().enumerate() {
        let (size, extent) = (update.shape[axis], dst.shape[axis]);
        if !offset.ty().as_tensor().is_some_and(|t| t.rank() == 0 && t.dtype.is_integer()) {
            return Err(RuleError::new(format!(
                "{WHAT} takes rank-0 integers (i32, i64) as offsets, found {} on axis {axis}",
                offset.ty()
            ))
            .operand(axis + 2, format!("{}", offset.ty()))
            .with_help(axis::INDEX_HELP));
        }
        let refuse = |message: String| {
            Err(RuleError::new(message)
                .operand(0, format!("{dst}: axis {axis} is {extent}"))
                .operand(1, format!("{update}: axis {axis} is {size}"))
                .with_help("windows are not cut off at the end of an axis"))
        };
        if cx.dim_range(cx.dim_sub(size, extent)).is_some_and(|(least, _)| least > 0) {
            return refuse(format!("{WHAT} cannot fit an update of {size} into axis {axis} of extent {extent}"));
        }
        let Some(first) = axis::literal(offset) else { continue };
        let end = cx.dim_add(cx.dim(first), size);
        // An end beyond 64 bits leaves every axis.
        let leaves = match (end.as_const(), size.as_const()) {
            (None, Some(_)) => true,
            _ => cx.dim_range(cx.dim_sub(end, extent)).is_some_and(|(least, _)| least > 0),
        };
        if first < 0 || leaves {
            return refuse(format!("{WHAT} window [{first}, {end}) leaves axis {axis} of extent {extent}"));
        }
    }
    Ok(())
}

/// An update is whole on every position, or split as the destination is along an axis that it covers: the position that owns an
/// element must have what is written there.
fn check_splits<'c>(cx: &Context<'c>, dst: &TensorType<'c>, update: &TensorType<'c>) -> Result<(), RuleError> {
    let Some(written) = update.shard() else { return Ok(()) };
    // All positions write into the one instance that there is.
    if dst.layout.is_none() && matches!(dst.storage, Storage::Gmem | Storage::Host) {
        return Ok(());
    }
    let (targets, runs) = (written.split_target_axes(update.shape), cx.runs(written, update.shape));
    let held = dst.shard().filter(|held| held.mesh == written.mesh);
    let (dst_targets, dst_runs) =
        held.map_or_else(Default::default, |held| (held.split_target_axes(dst.shape), cx.runs(held, dst.shape)));
    for (mesh_axis, axis) in targets.iter().enumerate() {
        let Some(axis) = *axis else { continue };
        let covers = update.shape[axis] == dst.shape[axis];
        let alike = dst_targets.get(mesh_axis) == Some(&Some(axis)) && dst_runs[mesh_axis] == runs[mesh_axis];
        if written.mesh.extents()[mesh_axis].as_const() != Some(1) && !(covers && alike) {
            let name = written.mesh.axis_name(mesh_axis);
            return Err(RuleError::new(format!(
                "{WHAT} needs axis {axis} of the update whole, but it is split over mesh axis `{name}`"
            ))
            .operand(0, format!("{dst}"))
            .operand(1, format!("{update}"))
            .with_help("only an axis that the update covers may be split, and as the destination's is"));
        }
    }
    Ok(())
}

impl TypeRule for InsertSlice {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let (dst, update) = (operand::tensor(&call, 0)?, operand::tensor(&call, 1)?);
        let rank = dst.rank();
        let refuse = |message: String| {
            Err(RuleError::new(message).operand(0, format!("{dst}")).operand(1, format!("{update}")).with_help(
                format!("the update has rank {rank} as the destination, and there is one offset for each axis"),
            ))
        };
        if update.rank() != rank {
            return refuse(format!("{WHAT} takes an update of rank {rank}, found rank {}", update.rank()));
        }
        if call.offsets().len() != rank {
            return refuse(format!("{WHAT} into rank {rank} takes {rank} offsets, found {}", call.offsets().len()));
        }
        if dst.dtype != update.dtype {
            return Err(RuleError::new(format!("{WHAT} cannot write {} into {}", update.dtype, dst.dtype))
                .operand(0, format!("{dst}"))
                .operand(1, format!("{update}"))
                .with_help(format!("cast the update to {}", dst.dtype)));
        }
        check_window(cx, dst, update, call.offsets())?;
        terms::check_update(WHAT, cx, [0, 1], dst, update)?;
        check_splits(cx, dst, update)?;
        Ok(cx.tensor(dst.shape, dst.dtype, layout::same(cx, dst), dst.storage))
    }
}

impl AccessRule for InsertSlice {
    fn access<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let [dst, update] = [call.dst(), call.update()].map(operand::shape);
        let mut window = AccessRelation::over(update).reads(1, identity(update.len()));
        let mut written = Vec::with_capacity(update.len());
        for (axis, &offset) in call.offsets().iter().enumerate() {
            let (position, read) = axis::from(cx, AffineMap::default().term(axis, None), offset, axis + 2);
            written.push(position);
            window.reads.extend(read);
        }
        vec![AccessRelation::elementwise(dst, 1), window.writes(written).replacing()]
    }
}

impl EvalRule for InsertSlice {
    fn eval<'c>(_: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let offsets: Result<Vec<_>, _> =
            (2..operands.len()).map(|index| operand::value::<Self>(operands, index)?.to_index()).collect();
        let (dst, update) = (operand::take::<Self>(operands, 0)?, operand::value::<Self>(operands, 1)?);
        dst.insert(update, &offsets?).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<InsertSlice>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Context, Diagnostic, Expr, Literal, Meta};
    use tf_types::{Arena, DType, Type};

    use super::InsertSlice;
    use crate::test_util::{context, mesh, placed, plain, var};

    /// Offsets: integers, or `i` for a run-time one.
    fn infer<'c>(cx: &Context<'c>, dst: Expr<'c>, update: Expr<'c>, offsets: &str) -> Result<Type<'c>, Diagnostic> {
        let offset = |word: &str| match word.parse() {
            Ok(value) => cx.constant(Literal::Int(value), DType::I64, Meta::default()),
            Err(_) => var(cx, word, cx.scalar(DType::I32)),
        };
        let operands: Vec<_> = [dst, update].into_iter().chain(offsets.split_whitespace().map(offset)).collect();
        cx.call(InsertSlice::new(cx), &operands, Meta::default()).map(|e| e.ty())
    }

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |dst, update, offsets| {
            let dst = plain(cx, "dst", dst, DType::F32);
            infer(cx, dst, plain(cx, "u", update, DType::F32), offsets).map(|ty| ty == dst.ty()).map_err(|e| e.message)
        };
        assert_eq!(of("4 6", "2 6", "i 0"), Ok(true));
        assert_eq!(of("S", "4", "1"), Ok(true));
        assert_eq!(of("", "", ""), Ok(true));
        assert_eq!(of("4 6", "0 6", "4 0"), Ok(true));
        let error = of("4 6", "2 6", "3 0").unwrap_err();
        assert_eq!(error, "`tf.insert_slice` window [3, 5) leaves axis 0 of extent 4");
        assert_eq!(of("S", "S", "1").unwrap_err(), "`tf.insert_slice` window [1, S + 1) leaves axis 0 of extent S");
        assert!(of("4", "2", "-1").unwrap_err().contains("[-1, 1)"));
        assert!(of("4", "2", "9223372036854775807").unwrap_err().contains("leaves axis 0 of extent 4"));
        assert_eq!(
            of("4", "5", "i").unwrap_err(),
            "`tf.insert_slice` cannot fit an update of 5 into axis 0 of extent 4"
        );
        let rank = of("4 6", "2", "0 0").unwrap_err();
        assert_eq!(rank, "`tf.insert_slice` takes an update of rank 2, found rank 1");
        let offsets = of("4 6", "2 2", "0").unwrap_err();
        assert_eq!(offsets, "`tf.insert_slice` into rank 2 takes 2 offsets, found 1");
        let x = plain(cx, "dst", "4", DType::F32);
        let error = infer(cx, x, plain(cx, "u", "1", DType::F16), "0").unwrap_err().message;
        assert_eq!(error, "`tf.insert_slice` cannot write f16 into f32");
        let error =
            cx.call(InsertSlice::new(cx), &[x, x, plain(cx, "o", "", DType::F32)], Meta::default()).unwrap_err();
        let message =
            r#"`tf.insert_slice` takes rank-0 integers (i32, i64) as offsets, found Tensor[(), "f32"] on axis 0"#;
        assert_eq!(error.message, message);
    }

    #[test]
    fn placements() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=4");
        let of = |dst, update| {
            let dst = placed(cx, "dst", "16 64", dst, m);
            infer(cx, dst, placed(cx, "u", "4 64", update, m), "0 0").map(|ty| ty == dst.ty()).map_err(|e| e.message)
        };
        assert_eq!((of("S1", "S1"), of("Psum", "Psum"), of("Pprod", "Pprod")), (Ok(true), Ok(true), Ok(true)));
        let error = of("Psum", "B").unwrap_err();
        assert_eq!(
            error,
            "`tf.insert_slice` of a destination that holds P(\"sum\") on `w` takes an update with the same mesh and attributes"
        );
        assert!(of("Psum", "Pmax").is_err());
        let error = of("B", "Psum").unwrap_err();
        assert_eq!(error, "`tf.insert_slice` writes unreduced terms, P(\"sum\") on `w`, into a complete destination");
        // A position writes what it has: along axis 0 the window may lie in another position's part.
        let error = of("S0", "S0").unwrap_err();
        assert_eq!(error, "`tf.insert_slice` needs axis 0 of the update whole, but it is split over mesh axis `w`");
        assert!(of("B", "S1").is_err() && of("S0", "S1").is_err() && of("S0", "B").is_ok());
        let dst = placed(cx, "dst", "16 64", "Pmax", m);
        assert!(infer(cx, dst, plain(cx, "u", "4 64", DType::F32), "0 0").is_err());
    }
}
