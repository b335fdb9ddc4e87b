//! Placement of results: propagation, then the op's own rule (spec: shard §10, hir §5 R-prop).

use tf_core::Context;
use tf_core::op::RuleError;
use tf_types::access::AccessRelation;
use tf_types::propagate::Propagation;
use tf_types::{Dim, ShardAttr, ShardLayout, TensorType};

/// The placement that sharded operands give the result of `shape`; `None` if there is no sharded operand.
///
/// # Errors
/// Ownership decided at run time; meshes or Splits that do not agree.
pub fn propagate<'c>(
    what: &str,
    cx: &Context<'c>,
    operands: &[&TensorType<'c>],
    relation: &AccessRelation,
    shape: &[Dim<'c>],
    how: &Propagation,
) -> Result<Option<ShardLayout<'c>>, RuleError> {
    for (index, operand) in operands.iter().enumerate() {
        let Some(shard) = operand.shard() else { continue };
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
    cx.propagate(operands, relation, shape, how).map_err(|error| {
        let mut error = RuleError::from(error);
        error.message = format!("{what} cannot place its result: {}", error.message);
        for (index, operand) in operands.iter().enumerate().filter(|(_, t)| t.shard().is_some()) {
            error = error.operand(index, format!("{operand}"));
        }
        error
    })
}
