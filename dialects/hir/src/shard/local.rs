//! `local`.

use tf_core::op::{OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::{Dim, Layout, ShardAttr, ShardLayout, TensorLayout, TensorType, Type, layout_axis_to_tensor_axis};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::{layout, operand};

/// What a position holds of `x`, as a tensor of its own: every split axis divided by the mesh axes that split it. The
/// values differ by position, so only an evaluation of all positions (`mesh=all`) has them.
///
/// ```python
/// def f(x: Tensor[(4, 64), "f32"]):
///     with Mesh(("thread",), (2, 32), ("w", "l")) as m:
///         held = tf.reshard(x, layout=(4 @ m.w, 64 @ m.l), storage="rmem")
///         return tf.local(held)
/// ```
#[op(dialect = "tf", category = "shard")]
pub struct Local {
    /// A value with a placement.
    #[input(Tensor)]
    x: (),
}

const WHAT: &str = "`tf.local`";

/// The part of each logical axis that one position holds.
fn shape<'c>(cx: &Context<'c>, x: &TensorType<'c>, shard: ShardLayout<'c>) -> Result<Vec<Dim<'c>>, RuleError> {
    let mut shape = x.shape.to_vec();
    for (mesh_axis, axis) in shard.split_target_axes(x.shape).into_iter().enumerate() {
        let Some(axis) = axis else { continue };
        let (extent, parts) = (shape[axis], shard.mesh.extents()[mesh_axis]);
        shape[axis] = match (extent.as_const(), parts.as_const()) {
            _ if extent == parts => cx.dim(1),
            (_, Some(1)) => extent,
            (Some(extent), Some(parts)) if parts > 0 => cx.dim(extent.div_euclid(parts)),
            _ => {
                let name = shard.mesh.axis_name(mesh_axis);
                return Err(RuleError::new(format!(
                    "{WHAT} cannot divide axis {axis} of extent {extent} by mesh axis `{name}` of extent {parts}"
                ))
                .operand(0, format!("{x}"))
                .with_help("bind the symbolic dims first"));
            }
        };
    }
    Ok(shape)
}

/// The placement's own layout without the positions that a mesh coordinate fixes; none where the rest of a logical axis
/// is no single run.
fn inner<'c>(
    cx: &Context<'c>,
    x: &TensorType<'c>,
    shard: ShardLayout<'c>,
    shape: &[Dim<'c>],
) -> Result<Option<Layout<'c>>, RuleError> {
    let Some(source) = shard.layout.strides() else { return Ok(None) };
    let extents = cx.local_shape(shard, false)?;
    let map = layout_axis_to_tensor_axis(shard.layout.shape(), x.shape);
    let mut strides: Vec<Option<Dim<'c>>> = vec![None; shape.len()];
    let mut held = vec![cx.dim(1); shape.len()];
    for at in (0..extents.len()).rev().filter(|&at| extents[at].as_const() != Some(1)) {
        let Some(axis) = map[at] else { continue };
        match strides[axis] {
            None => strides[axis] = Some(source[at]),
            Some(stride) if source[at] == cx.dim_mul(stride, held[axis]) => {}
            Some(_) => return Ok(None),
        }
        held[axis] = cx.dim_mul(held[axis], extents[at]);
    }
    if held != shape {
        return Ok(None);
    }
    let strides: Vec<_> = strides.into_iter().map(|stride| stride.unwrap_or(cx.dim(0))).collect();
    Ok(Some(cx.layout(shape, Some(&strides))))
}

impl TypeRule for Local {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let x = operand::tensor(&call, 0)?;
        let Some(TensorLayout::Shard(shard)) = x.layout else {
            return Err(RuleError::new(format!("{WHAT} takes a value placed on a mesh, found {x}"))
                .operand(0, format!("{x}"))
                .with_help("reshard it to a mesh first"));
        };
        cx.check_shard_layout(shard)?;
        if let Some(mesh_axis) = shard.attrs.iter().position(|attr| *attr == ShardAttr::Dynamic) {
            let name = shard.mesh.axis_name(mesh_axis);
            return Err(RuleError::new(format!(
                "{WHAT} needs the owner of every element, but on `{name}` ownership is Dynamic"
            ))
            .operand(0, format!("{x}"))
            .with_help("reshard the operand to a static placement first"));
        }
        let shape = shape(cx, x, shard)?;
        let inner = inner(cx, x, shard, &shape)?.map(TensorLayout::Plain);
        Ok(cx.tensor(&shape, x.dtype, layout::or_c_order(cx, inner, &shape, x.storage), x.storage))
    }
}

impl EvalRule for Local {
    /// The identity, where every position holds the whole value.
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let x = call.operands().first().and_then(|x| x.ty().as_tensor());
        if let Some((x, shard)) = x.and_then(|x| Some((x, x.shard()?))) {
            let targets = shard.split_target_axes(x.shape);
            let divides = |&at: &usize| targets[at].is_some() && shard.mesh.extents()[at].as_const() != Some(1);
            if let Some(mesh_axis) = (0..targets.len()).find(divides) {
                return Err(ValueError::new(format!(
                    "a value split over `{}` is another part at every position; only an evaluation with mesh=all has the parts",
                    shard.mesh.axis_name(mesh_axis)
                ))
                .with_help("evaluate with `mesh=all`"));
            }
        }
        operand::value::<Self>(operands, 0).cloned().map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Local>().types().evaluates().done();
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashMap;
    use tf_core::{Context, Expr, Meta};
    use tf_types::{Arena, DType, Storage, TensorLayout};
    use tf_value::{EvalCx, Tensor, Value};

    use super::Local;
    use crate::test_util::{attrs, context, dims, factored, mesh, placed, plain, var};

    fn call<'c>(cx: &Context<'c>, x: Expr<'c>) -> Result<Expr<'c>, String> {
        cx.call(Local::new(cx), &[x], Meta::default()).map_err(|e| e.message)
    }

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=4 t=2");
        let of = |shape, states| call(cx, placed(cx, "x", shape, states, m)).unwrap().ty().to_string();
        assert_eq!(of("16 64", "S0 B"), r#"Tensor[(4, 64), "f32", (4, 64):(64, 1), "rmem"]"#);
        assert_eq!(of("16 64", "S1 S0"), r#"Tensor[(8, 16), "f32", (8, 16):(64, 1), "rmem"]"#);
        assert_eq!(of("16 64", "B Psum"), r#"Tensor[(16, 64), "f32", (16, 64):(64, 1), "rmem"]"#);
        assert_eq!(of("8 3", "S0 S0"), r#"Tensor[(1, 3), "f32", (1, 3):(0, 1), "rmem"]"#);
        assert_eq!(of("S 8", "B S1"), r#"Tensor[(S, 4), "f32", (S, 4):(4, 1), "rmem"]"#);
        // A layout need not be factored, but no row may be nobody's.
        let unfactored = |shape| {
            let shape = dims(cx, shape);
            let shard = cx.shard_layout(cx.layout(&shape, Some(&dims(cx, "64 1"))), &attrs(cx, "S0 B"), m);
            let ty = cx.tensor(&shape, DType::F32, Some(TensorLayout::Shard(shard)), Storage::Rmem);
            call(cx, var(cx, "x", ty)).map(|local| local.ty().to_string())
        };
        assert_eq!(unfactored("12 64").unwrap(), r#"Tensor[(3, 64), "f32", (3, 64):(64, 1), "rmem"]"#);
        let error = unfactored("13 64").unwrap_err();
        assert_eq!(error, "layout axis 0 of extent 13 is not divisible by 4, the extent of mesh axis `w`");
        // What is left of an axis is no single run: rows 0 1 8 9 of 16.
        let shard = factored(cx, "2 4 2 64", "B S1", mesh(cx, "a=1 w=4"));
        let ty = cx.tensor(&dims(cx, "16 64"), DType::F32, Some(TensorLayout::Shard(shard)), Storage::Gmem);
        assert_eq!(call(cx, var(cx, "x", ty)).unwrap().ty().to_string(), r#"Tensor[(4, 64), "f32"]"#);
    }

    #[test]
    fn refusals() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let refusal = |x| call(cx, x).unwrap_err();
        let x = plain(cx, "x", "4 6", DType::F32);
        assert_eq!(refusal(x), r#"`tf.local` takes a value placed on a mesh, found Tensor[(4, 6), "f32"]"#);
        let m = mesh(cx, "w=4");
        let placed = |shape, states| {
            let shard = TensorLayout::Shard(factored(cx, shape, states, m));
            var(cx, "x", cx.tensor(&dims(cx, shape), DType::F32, Some(shard), Storage::Rmem))
        };
        assert_eq!(
            refusal(placed("S 6", "S0")),
            "`tf.local` cannot divide axis 0 of extent S by mesh axis `w` of extent 4"
        );
        assert_eq!(
            refusal(placed("4 6", "D")),
            "`tf.local` needs the owner of every element, but on `w` ownership is Dynamic"
        );
    }

    #[test]
    fn plain_evaluation_has_no_parts() {
        let arena = Arena::new();
        let (cx, eval) = &context(&arena);
        let m = mesh(cx, "w=4 t=1");
        let value = Tensor::from_f32(&[4], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        let run = |states| {
            let call = call(cx, placed(cx, "x", "4", states, m)).unwrap();
            let view = call.op_call().unwrap();
            let sizes = FxHashMap::default();
            let eval_cx = EvalCx { dims: &sizes, result_type: call.ty() };
            let mut operands = [Value::from(value.clone())];
            eval.get(view.op.id).unwrap()(view, &mut operands, &eval_cx).map(|v| v.as_tensor().unwrap().to_f32_vec())
        };
        for states in ["B B", "Psum B", "B S0"] {
            assert_eq!(run(states), Ok(value.to_f32_vec()));
        }
        let message = run("S0 B").unwrap_err().message;
        let want =
            "a value split over `w` is another part at every position; only an evaluation with mesh=all has the parts";
        assert_eq!(message, want);
    }
}
