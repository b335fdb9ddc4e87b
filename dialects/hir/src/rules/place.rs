//! Placement of results: propagation, then the op's own rule.

use tf_core::Context;
use tf_core::op::{AccessRule, OpCall, RuleError};
use tf_types::{Dim, ShardAttr, ShardLayout, TensorType};

/// The placement that sharded operands give the result of `shape`, by the op's access relation; `None` if there is no sharded
/// operand.
///
/// # Errors
/// Ownership decided at run time; meshes or Splits that do not agree.
pub fn propagate<'c, O: AccessRule>(
    what: &str,
    cx: &Context<'c>,
    call: &OpCall<'c, O>,
    shape: &[Dim<'c>],
) -> Result<Option<ShardLayout<'c>>, RuleError> {
    propagate_from(what, cx, call, shape, 0)
}

/// As [`propagate`], of the operands from number `first` on.
///
/// # Errors
/// As [`propagate`].
pub fn propagate_from<'c, O: AccessRule>(
    what: &str,
    cx: &Context<'c>,
    call: &OpCall<'c, O>,
    shape: &[Dim<'c>],
    first: usize,
) -> Result<Option<ShardLayout<'c>>, RuleError> {
    let placed = |index: usize| -> Option<(&'c TensorType<'c>, ShardLayout<'c>)> {
        let tensor = call.operands()[index].ty().as_tensor()?;
        Some((tensor, tensor.shard()?))
    };
    let numbers = first..call.operands().len();
    for index in numbers.clone() {
        let Some((operand, shard)) = placed(index) else { continue };
        if let Some(mesh_axis) = shard.attrs.iter().position(|a| *a == ShardAttr::Dynamic) {
            let message = format!(
                "{what} needs the owner of every element, but on `{}` ownership is Dynamic",
                shard.mesh.axis_name(mesh_axis)
            );
            return Err(RuleError::new(message)
                .operand(index, format!("{operand}"))
                .with_help("reshard the operand to a static placement first"));
        }
    }
    if !numbers.clone().any(|index| placed(index).is_some_and(|(_, shard)| shard.is_sharded())) {
        return Ok(None);
    }
    let relations = O::access(*call, cx);
    let Some(relation) = relations.first() else { return Ok(None) };
    let mut operands = vec![None; first];
    operands.extend(numbers.clone().map(|index| call.operands()[index].ty().as_tensor()));
    cx.propagate(&operands, relation, shape).map_err(|error| {
        let mut error = RuleError::from(error);
        error.message = format!("{what} cannot place its result: {}", error.message);
        for (index, (operand, _)) in numbers.filter_map(|index| Some((index, placed(index)?))) {
            error = error.operand(index, format!("{operand}"));
        }
        error
    })
}
