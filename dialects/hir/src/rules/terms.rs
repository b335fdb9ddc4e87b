//! Partial terms of a destination that an update is written into.

use tf_core::Context;
use tf_core::op::RuleError;
use tf_types::{ShardAttr, TensorType};

/// The first mesh axis that holds terms, by name, and their reduction.
fn held(tensor: &TensorType<'_>) -> Option<(String, String)> {
    let shard = tensor.shard()?;
    let partial = |(mesh_axis, attr): (usize, &ShardAttr<'_>)| match attr {
        ShardAttr::Partial(reduction) => Some((shard.mesh.axis_name(mesh_axis), reduction.to_string())),
        _ => None,
    };
    shard.attrs.iter().enumerate().find_map(partial)
}

/// Terms go into terms only: a destination that holds some needs an update with the same mesh and attributes, a complete one a complete
/// update. The operands stand at `at`.
///
/// # Errors
/// As said.
pub fn check_update<'c>(
    what: &str,
    cx: &Context<'c>,
    at: [usize; 2],
    destination: &TensorType<'c>,
    update: &TensorType<'c>,
) -> Result<(), RuleError> {
    let refuse = |message: String, help: String| {
        Err(RuleError::new(message)
            .operand(at[0], format!("{destination}"))
            .operand(at[1], format!("{update}"))
            .with_help(help))
    };
    match (held(destination), held(update)) {
        (None, None) => Ok(()),
        (None, Some((axis, reduction))) => refuse(
            format!("{what} writes unreduced terms, P(\"{reduction}\") on `{axis}`, into a complete destination"),
            format!("reshard the update to Broadcast on `{axis}` first: that completes the {reduction}"),
        ),
        (Some((axis, reduction)), _) => {
            let alike = destination
                .shard()
                .zip(update.shard())
                .is_some_and(|(d, u)| cx.same_positions((d, destination.shape), (u, update.shape)));
            if alike {
                return Ok(());
            }
            refuse(
                format!(
                    "{what} of a destination that holds P(\"{reduction}\") on `{axis}` takes an update with the same mesh \
                     and attributes"
                ),
                format!("reshard the destination to Broadcast on `{axis}` first: that completes the {reduction}"),
            )
        }
    }
}
