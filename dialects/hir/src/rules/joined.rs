//! What `concat` and `stack` share.

use tf_core::Context;
use tf_core::op::{AccessRule, Op, OpCall, RuleError};
use tf_types::{Dim, ShardAttr, TensorLayout, TensorType, Type};

use crate::rules::{layout, operand, place, storage};

/// The inputs: at least one, all of one dtype.
///
/// # Errors
/// None given; a tuple among them; unequal dtypes.
pub fn inputs<'c, O: Op>(what: &str, call: &OpCall<'c, O>) -> Result<Vec<&'c TensorType<'c>>, RuleError> {
    if call.operands().is_empty() {
        return Err(RuleError::new(format!("{what} takes at least one input, found none"))
            .with_help(format!("inputs stand before the keywords: `{}(x, y, axis=0)`", what.trim_matches('`'))));
    }
    let inputs = (0..call.operands().len()).map(|at| operand::tensor(call, at)).collect::<Result<Vec<_>, _>>()?;
    match inputs.iter().position(|input| input.dtype != inputs[0].dtype) {
        None => Ok(inputs),
        Some(other) => Err(RuleError::new(format!(
            "{what} takes inputs of one dtype, found {} and {}",
            inputs[0].dtype, inputs[other].dtype
        ))
        .operand(0, format!("{}", inputs[0]))
        .operand(other, format!("{}", inputs[other]))
        .with_help("nothing is promoted: cast one input")),
    }
}

/// Every input must hold terms of the same reduction on a mesh axis, or none.
fn check_terms(what: &str, inputs: &[&TensorType<'_>]) -> Result<(), RuleError> {
    for (index, input) in inputs.iter().enumerate() {
        let Some(shard) = input.shard() else { continue };
        for (mesh_axis, attr) in shard.attrs.iter().enumerate() {
            let ShardAttr::Partial(reduction) = *attr else { continue };
            let held = |other: &TensorType<'_>| other.shard().is_some_and(|o| o.attrs.get(mesh_axis) == Some(attr));
            let Some(other) = inputs.iter().position(|other| !held(other)) else { continue };
            let axis = shard.mesh.axis_name(mesh_axis);
            return Err(RuleError::new(format!(
                "{what} joins terms only with terms of the same reduction, but on `{axis}` input {index} holds \
                 P(\"{reduction}\") and input {other} does not"
            ))
            .operand(index, format!("{input}"))
            .operand(other, format!("{}", inputs[other]))
            .with_help(format!(
                "reshard input {index} to Broadcast on `{axis}` first: that completes the {reduction}"
            )));
        }
    }
    Ok(())
}

/// The result's type: placed as the inputs, in a new buffer; row-major where none is placed.
///
/// # Errors
/// Storages or meshes that differ; terms of different reductions; placements that do not fit.
pub fn result<'c, O: AccessRule>(
    what: &str,
    cx: &Context<'c>,
    call: &OpCall<'c, O>,
    inputs: &[&TensorType<'c>],
    shape: &[Dim<'c>],
) -> Result<Type<'c>, RuleError> {
    let placement = layout::common_placement(what, inputs)?;
    check_terms(what, inputs)?;
    let storage = storage::anchor(what, inputs)?;
    let layout = match (place::propagate(what, cx, call, shape)?, placement) {
        (Some(shard), _) => TensorLayout::Shard(shard),
        (None, Some(shard)) => layout::broadcast_on(cx, shard, shape)?,
        (None, None) => TensorLayout::Plain(cx.c_order_layout(shape)),
    };
    Ok(cx.tensor(shape, inputs[0].dtype, Some(layout), storage))
}
