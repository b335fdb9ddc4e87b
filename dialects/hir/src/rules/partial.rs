//! Which ops commute with a reduction that is still to come.
//!
//! A row lists the reductions an op keeps; every other one is refused.

use tf_core::op::RuleError;
use tf_types::kinds::{BinaryKind, ReduceKind, UnaryKind};
use tf_types::{ShardAttr, ShardLayout, TensorType};

/// What the other operand must hold on the mesh axis where one holds partial terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    /// The same Partial.
    Joint,
    /// The same value everywhere; an operand without a placement counts as such.
    Broadcast,
}

/// A reduction that survives the op.
#[derive(Clone, Copy, Debug)]
pub struct Keeps {
    reduction: &'static str,
    other: Other,
}

/// The reductions that an op keeps.
pub type Row = &'static [Keeps];

const SUM: Keeps = Keeps { reduction: "sum", other: Other::Broadcast };
const JOINT_SUM: Keeps = Keeps { reduction: "sum", other: Other::Joint };
const MAX: Keeps = Keeps { reduction: "max", other: Other::Broadcast };
const MIN: Keeps = Keeps { reduction: "min", other: Other::Broadcast };

/// Of ops that commute with no reduction: every operand must be complete.
pub const NONE: Row = &[];

/// Of monotone increasing functions, which pass extremes through.
pub const MONOTONE: Row = &[MAX, MIN];

/// Of `matmul`: linear in each operand.
pub const MATMUL: Row = &[SUM];

/// Of ops that are linear in what they transform: `rope` in q and k, `conv2d` in input and weight.
pub const LINEAR: Row = &[SUM];

/// Of `unary`: negation is linear, the monotone increasing kinds pass extremes through.
#[must_use]
pub const fn unary(kind: UnaryKind) -> Row {
    match kind {
        UnaryKind::Neg => &[SUM],
        UnaryKind::Exp
        | UnaryKind::Log
        | UnaryKind::Relu
        | UnaryKind::Ceil
        | UnaryKind::Round
        | UnaryKind::Exp2
        | UnaryKind::Log2 => &[MAX, MIN],
        UnaryKind::Abs | UnaryKind::Rsqrt | UnaryKind::Not | UnaryKind::Square | UnaryKind::Cast => &[],
    }
}

/// Of `binary`.
#[must_use]
pub const fn binary(kind: BinaryKind) -> Row {
    match kind {
        BinaryKind::Add => &[JOINT_SUM, MAX, MIN],
        BinaryKind::Mul => &[SUM],
        _ => &[],
    }
}

/// Of `reduce`.
#[must_use]
pub const fn reduce(kind: ReduceKind) -> Row {
    match kind {
        ReduceKind::Sum | ReduceKind::Mean => &[SUM],
        ReduceKind::Max => &[MAX],
        ReduceKind::AbsMax => &[],
    }
}

/// Refuses operands whose partial terms the op would reduce wrongly; `what` is the op, or the op and its kind.
///
/// # Errors
/// A reduction that the row does not keep, or another operand that does not hold what it must.
pub fn check(what: &str, row: Row, operands: &[&TensorType<'_>]) -> Result<(), RuleError> {
    let numbered: Vec<_> = operands.iter().copied().enumerate().collect();
    check_some(what, row, &numbered)
}

/// As [`check`], of some operands: each with its number in the call.
///
/// # Errors
/// As [`check`].
pub fn check_some(what: &str, row: Row, operands: &[(usize, &TensorType<'_>)]) -> Result<(), RuleError> {
    let shards: Vec<_> = operands.iter().map(|(_, t)| t.shard()).collect();
    let placed = shards.iter().flatten().filter(|s| s.is_sharded());
    if !row.is_empty() && placed.clone().any(|s| placed.clone().any(|t| s.mesh != t.mesh)) {
        return Ok(()); // Propagation refuses different meshes.
    }
    let noted = |error: RuleError, at: usize| error.operand(operands[at].0, format!("{}", operands[at].1));
    for (index, shard) in shards.iter().enumerate() {
        let Some(shard) = *shard else { continue };
        for (mesh_axis, attr) in shard.attrs.iter().enumerate() {
            let ShardAttr::Partial(reduction) = *attr else { continue };
            let axis = shard.mesh.axis_name(mesh_axis);
            let Some(keeps) = row.iter().find(|keeps| keeps.reduction == reduction.as_str()) else {
                let message = format!("{what} cannot take unreduced terms, but `{axis}` holds P(\"{reduction}\")");
                return Err(noted(RuleError::new(message), index).with_help(format!(
                    "reshard the operand to Broadcast on `{axis}` first: that completes the {reduction}"
                )));
            };
            let misfit = |&(at, other): &(usize, &Option<ShardLayout<'_>>)| {
                let held = held_by(*other, shard, mesh_axis);
                at != index && held != if keeps.other == Other::Joint { *attr } else { ShardAttr::Broadcast }
            };
            if let Some((other, _)) = shards.iter().enumerate().find(misfit) {
                let must = match keeps.other {
                    Other::Joint => format!("hold P(\"{reduction}\") on `{axis}` too"),
                    Other::Broadcast => format!("be Broadcast on `{axis}`"),
                };
                let message = format!(
                    "{what} keeps P(\"{reduction}\") of one operand only if the other's placement is right: it must {must}"
                );
                return Err(noted(noted(RuleError::new(message), index), other).with_help(format!(
                    "reshard the operand to Broadcast on `{axis}` first: that completes the {reduction}"
                )));
            }
        }
    }
    Ok(())
}

/// As [`check`], of one operand that stands at `index`.
///
/// # Errors
/// A reduction that the row does not keep.
pub fn check_one(what: &str, row: Row, index: usize, operand: &TensorType<'_>) -> Result<(), RuleError> {
    check_some(what, row, &[(index, operand)])
}

/// What another operand holds on a mesh axis of `shard`'s mesh.
fn held_by<'c>(other: Option<ShardLayout<'c>>, shard: ShardLayout<'c>, mesh_axis: usize) -> ShardAttr<'c> {
    other.filter(|o| o.mesh == shard.mesh).map_or(ShardAttr::Broadcast, |o| o.attrs[mesh_axis])
}
