//! Channels split over positions, and the partial sums they leave.

use tf_core::op::RuleError;
use tf_types::{ShardAttr, TensorType};

use crate::rules::partial;

const WHAT: &str = "`tf.conv2d`";

/// The mesh axes that split an axis, by number.
fn splitters(tensor: &TensorType<'_>, axis: usize) -> Vec<usize> {
    let Some(shard) = tensor.shard() else { return Vec::new() };
    let targets = shard.split_target_axes(tensor.shape);
    let parts = |mesh_axis: &usize| shard.mesh.extents()[*mesh_axis].as_const() != Some(1);
    (0..targets.len()).filter(|&at| targets[at] == Some(axis)).filter(parts).collect()
}

/// `w`, or `nothing`, for the mesh axes that split something.
fn names(tensor: &TensorType<'_>, mesh_axes: &[usize]) -> String {
    let named: Vec<_> = tensor
        .shard()
        .map_or_else(Vec::new, |s| mesh_axes.iter().map(|&a| format!("`{}`", s.mesh.axis_name(a))).collect());
    if named.is_empty() { "nothing".into() } else { named.join(", ") }
}

/// Whether parts of so many channels each are whole groups, or groups are whole parts.
fn aligned(tensor: &TensorType<'_>, axis: usize, mesh_axes: &[usize], groups: i64) -> bool {
    let Some(shard) = tensor.shard() else { return true };
    let parts = mesh_axes.iter().try_fold(1i64, |n, &a| n.checked_mul(shard.mesh.extents()[a].as_const()?));
    let (Some(parts), Some(channels)) = (parts.filter(|&p| p > 0), tensor.shape[axis].as_const()) else { return false };
    let (part, group) = (channels / parts, channels / groups);
    part > 0 && group > 0 && (part % group == 0 || group % part == 0)
}

/// Which channels may be split: contracted ones alike on both sides, groups together with their result channels.
fn check_channels(input: &TensorType<'_>, weight: &TensorType<'_>, groups: i64) -> Result<(), RuleError> {
    let (c, o, per_group) = (splitters(input, 1), splitters(weight, 0), splitters(weight, 1));
    let refuse = |message: String, help: &str| {
        Err(RuleError::new(message).operand(0, format!("{input}")).operand(1, format!("{weight}")).with_help(help))
    };
    if groups == 1 {
        if c == per_group {
            return Ok(());
        }
        let (ours, theirs) = (names(input, &c), names(weight, &per_group));
        return refuse(
            format!("{WHAT} sums over input channels that {ours} splits in the input and {theirs} in the weight"),
            "reshard one of them so that both split the channels alike, or neither does",
        );
    }
    if !per_group.is_empty() {
        let theirs = names(weight, &per_group);
        return refuse(
            format!("{WHAT} in {groups} groups has channels of one group split over {theirs}"),
            "split whole groups: axis 1 of the input and axis 0 of the weight",
        );
    }
    if !c.is_empty() && c != o {
        let (ours, theirs) = (names(input, &c), names(weight, &o));
        return refuse(
            format!("{WHAT} in {groups} groups has them split over {ours} in the input and {theirs} in the weight"),
            "split axis 1 of the input and axis 0 of the weight alike",
        );
    }
    let whole_groups = |axes: &[usize], tensor, axis| axes.is_empty() || aligned(tensor, axis, axes, groups);
    let input_parts = c.iter().try_fold(1, |n, &a| Some(n * input.shard()?.mesh.extents()[a].as_const()?));
    if !whole_groups(&o, weight, 0) || input_parts.is_none_or(|parts: i64| groups % parts != 0) {
        return refuse(
            format!("{WHAT} has {groups} groups of channels that {} cuts apart", names(weight, &o)),
            "split the channels into parts of whole groups",
        );
    }
    Ok(())
}

/// The mesh axes on which the result holds partial sums, as the input and the weight have it.
fn summed(input: &TensorType<'_>, weight: &TensorType<'_>) -> Vec<usize> {
    let mut axes: Vec<_> = (1..4).flat_map(|axis| splitters(weight, axis)).collect();
    for shard in [input, weight].into_iter().filter_map(|t| t.shard()) {
        let partial = |at: &usize| matches!(shard.attrs[*at], ShardAttr::Partial(_));
        axes.extend((0..shard.attrs.len()).filter(partial));
    }
    axes.sort_unstable();
    axes.dedup();
    axes
}

/// Checks splits of channels and partial sums: the bias must hold a sum wherever the result will, and nowhere else.
pub(super) fn check(operands: [&TensorType<'_>; 3], groups: i64) -> Result<(), RuleError> {
    let [input, weight, bias] = operands;
    for (at, operand) in operands.into_iter().enumerate() {
        partial::check_one(WHAT, partial::LINEAR, at, operand)?;
    }
    partial::check_some(WHAT, partial::LINEAR, &[(0, input), (1, weight)])?;
    check_channels(input, weight, groups)?;
    let (want, held) = (summed(input, weight), partial_axes(bias));
    let mesh = [input, weight].into_iter().filter_map(|t| t.shard()).find(|s| s.is_sharded()).map(|s| s.mesh);
    let misfit = want.iter().find(|axis| !held.contains(axis)).or(held.iter().find(|axis| !want.contains(axis)));
    let Some(&axis) = misfit else { return Ok(()) };
    let name = mesh.or(bias.shard().map(|s| s.mesh)).map_or_else(String::new, |m| m.axis_name(axis));
    let (message, help) = if held.contains(&axis) {
        let message = format!("{WHAT} adds a bias of terms, P(\"sum\") on `{name}`, to a complete sum");
        (message, format!("reshard the bias to Broadcast on `{name}`"))
    } else {
        let message = format!("{WHAT} leaves partial sums on `{name}`, where every position would add the whole bias");
        (message, format!("reshard the bias to P(\"sum\") on `{name}`: then one position adds it"))
    };
    Err(RuleError::new(message)
        .operand(0, format!("{input}"))
        .operand(1, format!("{weight}"))
        .operand(2, format!("{bias}"))
        .with_help(help))
}

fn partial_axes(tensor: &TensorType<'_>) -> Vec<usize> {
    let Some(shard) = tensor.shard() else { return Vec::new() };
    (0..shard.attrs.len()).filter(|&at| matches!(shard.attrs[at], ShardAttr::Partial(_))).collect()
}
