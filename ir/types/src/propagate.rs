//! Placement of an op's result from the placements of its operands.

use crate::access::{AccessRelation, AxisAccess};
use crate::shard::layout_axis_to_tensor_axis;
use crate::size::same_element_count;
use crate::{Dim, ShardAttr, ShardLayout, TensorType, TypeContext, TypeError};

/// A sharded operand.
struct Operand<'a, 'c> {
    number: usize,
    shape: &'c [Dim<'c>],
    shard: ShardLayout<'c>,
    access: &'a [AxisAccess<'c>],
}

/// A layout position on its way into the result.
struct Position<'c> {
    /// The result axis it belongs to.
    axis: usize,
    /// Its number in the operand; `None`: inserted.
    source: Option<usize>,
    extent: Dim<'c>,
    reduced: bool,
}

impl<'c> TypeContext<'c> {
    /// The placement of the result that `relation` describes; `None` if no operand splits or holds partial terms, and the op's own
    /// rule decides. Operands are given by number; those that are `None` take no part.
    ///
    /// # Errors
    /// Operands on different meshes; a split axis that is read by other than a projection; operands that demand
    /// different attributes on one mesh axis; a factor that does not divide the result's extent.
    pub fn propagate(
        &self,
        operands: &[Option<&TensorType<'c>>],
        relation: &AccessRelation<'c>,
        output_shape: &[Dim<'c>],
    ) -> Result<Option<ShardLayout<'c>>, TypeError> {
        let mut sharded = Vec::new();
        for read in &relation.reads {
            let Some(operand) = operands.get(read.operand).copied().flatten() else { continue };
            if let Some(shard) = operand.shard().filter(|s| s.is_sharded()) {
                self.check_shard_layout(shard)?;
                sharded.push(Operand { number: read.operand, shape: operand.shape, shard, access: &read.axes });
            }
        }
        let Some(first) = sharded.first() else { return Ok(None) };
        let mesh = first.shard.mesh;
        if let Some(other) = sharded.iter().find(|o| o.shard.mesh != mesh) {
            return Err(TypeError::new(format!(
                "operand {} lies on {}, but operand {} on another mesh, {}",
                first.number, mesh, other.number, other.shard.mesh
            ))
            .with_help("reshard one of them to the mesh of the other"));
        }
        let derived = result_attrs(self, &sharded, relation)?;
        let attrs: Vec<_> = derived.iter().map(|derived| derived.attr).collect();
        let carriers: Vec<_> = sharded.iter().filter_map(|o| self.carried(o, relation, output_shape, &attrs)).collect();
        match carriers.split_first() {
            Some((&carrier, rest)) if rest.iter().all(|&c| c == carrier) => Ok(Some(carrier)),
            _ => {
                let runs: Vec<_> = derived.iter().map(|derived| derived.run).collect();
                self.shard_layout_in_runs(output_shape, mesh, &attrs, &runs).map(Some)
            }
        }
    }

    /// The operand's own factorisation carried over to the result, if it expresses `attrs` (step 5).
    fn carried(
        &self,
        operand: &Operand<'_, 'c>,
        relation: &AccessRelation<'c>,
        output_shape: &[Dim<'c>],
        attrs: &[ShardAttr<'c>],
    ) -> Option<ShardLayout<'c>> {
        let layout = operand.shard.layout;
        let one = self.dim(1);
        let map = layout_axis_to_tensor_axis(layout.shape(), operand.shape);
        let mut covered = vec![false; relation.domain.len()];
        let mut positions = Vec::with_capacity(layout.rank());
        for (source, (&extent, axis)) in layout.shape().iter().zip(map).enumerate() {
            let AxisAccess::Proj(dim) = *operand.access.get(axis?)? else { return None };
            *covered.get_mut(dim)? = true;
            let reduced = relation.complete.contains(&dim);
            let axis = match result_axis(relation, dim) {
                Some(axis) => axis,
                None if reduced => kept_axis(relation, dim)?,
                None => return None,
            };
            positions.push(Position {
                axis,
                source: Some(source),
                extent: if reduced { one } else { extent },
                reduced,
            });
        }
        if relation.result.iter().any(|a| matches!(a, AxisAccess::Proj(dim) if covered.get(*dim) != Some(&true))) {
            return None;
        }
        for axis in 0..output_shape.len() {
            if positions.iter().all(|p| p.axis != axis) {
                positions.push(Position { axis, source: None, extent: one, reduced: false });
            }
        }
        positions.sort_by_key(|p| p.axis);
        let shape: Vec<_> = positions.iter().map(|p| p.extent).collect();
        if !same_element_count(&shape, output_shape) {
            return None;
        }
        let strides = if relation.fresh {
            let dense = self.try_c_order_strides(&shape).unwrap_or_else(|| vec![one; shape.len()]);
            Some(dense.into_iter().zip(&shape).map(|(s, &e)| if e == one { self.dim(0) } else { s }).collect())
        } else {
            layout.strides().map(|strides| -> Vec<_> {
                let kept = |p: &Position<'c>| p.source.filter(|_| !p.reduced).map_or(self.dim(0), |at| strides[at]);
                positions.iter().map(kept).collect()
            })
        };
        let moved = |&attr: &ShardAttr<'c>| match attr {
            ShardAttr::Split(axis) => {
                let at = positions.iter().position(|p| p.source == Some(axis as usize))?;
                Some(if positions[at].reduced { ShardAttr::Broadcast } else { ShardAttr::Split(at as u32) })
            }
            other => Some(other),
        };
        let moved: Vec<_> = operand.shard.attrs.iter().map(moved).collect::<Option<_>>()?;
        let carrier = self.shard_layout(self.layout(&shape, strides.as_deref()), &moved, operand.shard.mesh);
        (carrier.logical_attrs(output_shape) == attrs).then_some(carrier)
    }
}

fn result_axis(relation: &AccessRelation<'_>, dim: usize) -> Option<usize> {
    relation.result.iter().position(|a| *a == AxisAccess::Proj(dim))
}

/// The result axis of extent 1 that a completely reduced dim left behind, else the last one.
fn kept_axis(relation: &AccessRelation<'_>, dim: usize) -> Option<usize> {
    let kept: Vec<usize> =
        (0..relation.result.len()).filter(|&axis| relation.result[axis] == AxisAccess::Const).collect();
    let mut reduced = relation.complete.clone();
    reduced.sort_unstable();
    let at = reduced.iter().position(|&d| d == dim)?;
    if kept.len() == reduced.len() { Some(kept[at]) } else { relation.result.len().checked_sub(1) }
}

/// What one mesh axis means to the result.
#[derive(Clone, Copy)]
struct Derived<'c> {
    /// Splits are on logical axes.
    attr: ShardAttr<'c>,
    /// The run of the split dim that goes to one position.
    run: Option<Dim<'c>>,
    /// The operand it comes from.
    setter: usize,
}

/// What each mesh axis means to the result (steps 3 and 4).
fn result_attrs<'c>(
    cx: &TypeContext<'c>,
    sharded: &[Operand<'_, 'c>],
    relation: &AccessRelation<'c>,
) -> Result<Vec<Derived<'c>>, TypeError> {
    let mesh = sharded[0].shard.mesh;
    let whole = Derived { attr: ShardAttr::Broadcast, run: None, setter: 0 };
    let mut derived = vec![whole; mesh.rank()];
    for operand in sharded {
        let targets = operand.shard.split_target_axes(operand.shape);
        let runs = cx.runs(operand.shard, operand.shape);
        for (mesh_axis, (&attr, target)) in operand.shard.attrs.iter().zip(targets).enumerate() {
            let (new, run) = match (attr, target) {
                (ShardAttr::Partial(_), _) => (attr, None),
                (ShardAttr::Split(_), Some(axis)) => match operand.access.get(axis) {
                    Some(AxisAccess::Const) | None => continue,
                    Some(access) => {
                        split(cx, relation, access, runs[mesh_axis]).ok_or_else(|| complex(operand, axis, mesh_axis))?
                    }
                },
                _ => continue,
            };
            let old = derived[mesh_axis];
            if old.attr != ShardAttr::Broadcast && old.attr != new {
                return Err(TypeError::new(format!(
                    "operand {} makes the result {} over mesh axis `{}`, but operand {} makes it {}",
                    old.setter,
                    describe(old.attr),
                    mesh.axis_name(mesh_axis),
                    operand.number,
                    describe(new)
                ))
                .with_help("reshard one operand"));
            }
            if let (Some(ours), Some(theirs)) = (old.run, run)
                && ours != theirs
            {
                return Err(TypeError::new(format!(
                    "mesh axis `{}` splits operand {} in runs of {ours} and operand {} in runs of {theirs}",
                    mesh.axis_name(mesh_axis),
                    old.setter,
                    operand.number
                ))
                .with_help("reshard one operand to the placement of the other"));
            }
            derived[mesh_axis] = Derived { attr: new, run: run.or(old.run), setter: operand.number };
        }
    }
    Ok(derived)
}

/// What a Split of an axis with that access makes of the result, and the run of the dim; `None`: the axis does not follow a dim,
/// or a run cuts a block.
fn split<'c>(
    cx: &TypeContext<'c>,
    relation: &AccessRelation<'c>,
    access: &AxisAccess<'c>,
    run: Option<Dim<'c>>,
) -> Option<(ShardAttr<'c>, Option<Dim<'c>>)> {
    let followed = access.follows(&relation.domain)?;
    let attr = split_result(cx, relation, followed.dim)?;
    match (attr, run) {
        (ShardAttr::Broadcast, _) | (_, None) => Some((attr, None)),
        (_, Some(run)) => Some((attr, Some(followed.run(cx, run)?))),
    }
}

/// What a Split of this domain dim makes of the result; `None`: the result uses it other than by projection.
fn split_result<'c>(cx: &TypeContext<'c>, relation: &AccessRelation<'c>, dim: usize) -> Option<ShardAttr<'c>> {
    if relation.complete.contains(&dim) {
        return Some(ShardAttr::Broadcast);
    }
    if let Some(axis) = result_axis(relation, dim) {
        return Some(ShardAttr::Split(axis as u32));
    }
    if relation.result.iter().any(|access| access.mentions(dim)) {
        return None;
    }
    let partial = relation.partial.contains(&dim);
    Some(if partial { ShardAttr::Partial(cx.symbol("sum")) } else { ShardAttr::Broadcast })
}

fn complex(operand: &Operand<'_, '_>, axis: usize, mesh_axis: usize) -> TypeError {
    TypeError::new(format!(
        "axis {axis} of operand {} is split over mesh axis `{}`, but its elements are not read one to one (non-projection \
         access)",
        operand.number,
        operand.shard.mesh.axis_name(mesh_axis)
    ))
    .with_help("reshard the operand so that this axis is whole")
}

fn describe(attr: ShardAttr<'_>) -> String {
    match attr {
        ShardAttr::Split(axis) => format!("split on axis {axis}"),
        ShardAttr::Broadcast => "the same at every position".to_owned(),
        ShardAttr::Partial(reduction) => format!("Partial({reduction})"),
        ShardAttr::Dynamic => "owned at run time".to_owned(),
    }
}
