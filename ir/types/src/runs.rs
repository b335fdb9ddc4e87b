//! Which elements of a split axis a position holds: runs of equal length, dealt out along the mesh axis in turn.

use std::cmp::Reverse;

use crate::shard::{check_attr_count, indivisible, layout_axis_to_tensor_axis};
use crate::{Dim, Mesh, ShardAttr, ShardLayout, TypeContext, TypeError};

impl<'c> TypeContext<'c> {
    /// For each mesh axis that splits a logical axis: how many neighbouring elements of it go to one position before the next
    /// position's begin. None over a mesh axis of extent 1, which has but one position.
    #[must_use]
    pub fn runs(&self, shard: ShardLayout<'c>, tensor_shape: &[Dim<'c>]) -> Vec<Option<Dim<'c>>> {
        let layout = shard.layout.shape();
        let map = layout_axis_to_tensor_axis(layout, tensor_shape);
        let run = |mesh_axis: usize| {
            let ShardAttr::Split(place) = shard.attrs[mesh_axis] else { return None };
            if shard.mesh.extents()[mesh_axis].as_const() == Some(1) {
                return None;
            }
            let place = place as usize;
            let mut run = *layout.get(place)?;
            for splitter in shard.splitters(place).filter(|&splitter| splitter <= mesh_axis) {
                run = self.dim_floor_div(run, shard.mesh.extents()[splitter]);
            }
            let inner = (place + 1..layout.len()).filter(|&at| map[at] == map[place]);
            Some(inner.fold(run, |run, at| self.dim_mul(run, layout[at])))
        };
        (0..shard.attrs.len()).map(run).collect()
    }

    /// Whether two tensors are split by the same mesh axes in the same way and hold terms alike, whatever their strides.
    #[must_use]
    pub fn same_positions(
        &self,
        (a, a_shape): (ShardLayout<'c>, &[Dim<'c>]),
        (b, b_shape): (ShardLayout<'c>, &[Dim<'c>]),
    ) -> bool {
        a.mesh == b.mesh
            && a.logical_attrs(a_shape) == b.logical_attrs(b_shape)
            && self.runs(a, a_shape) == self.runs(b, b_shape)
    }

    /// The placement that splits *logical* axes, one layout position per splitting mesh axis, the first one outermost.
    ///
    /// # Errors
    /// An extent that its mesh axes do not divide; a symbolic extent split by several mesh axes; a symbolic mesh
    /// extent under an integer axis; a Split of an axis the shape does not have.
    pub fn canonical_shard_layout(
        &self,
        logical_shape: &[Dim<'c>],
        mesh: Mesh<'c>,
        attrs: &[ShardAttr<'c>],
    ) -> Result<ShardLayout<'c>, TypeError> {
        self.shard_layout_in_runs(logical_shape, mesh, attrs, &vec![None; attrs.len()])
    }

    /// As [`TypeContext::canonical_shard_layout`], with runs of a stated length for each mesh axis that has one.
    ///
    /// # Errors
    /// As [`TypeContext::canonical_shard_layout`]; runs that do not nest.
    pub fn shard_layout_in_runs(
        &self,
        logical_shape: &[Dim<'c>],
        mesh: Mesh<'c>,
        attrs: &[ShardAttr<'c>],
        runs: &[Option<Dim<'c>>],
    ) -> Result<ShardLayout<'c>, TypeError> {
        check_attr_count(mesh, attrs.len())?;
        let run = |mesh_axis: usize| runs.get(mesh_axis).copied().flatten().and_then(Dim::as_const);
        let mut shape = Vec::with_capacity(logical_shape.len() + attrs.len());
        let mut placed = attrs.to_vec();
        for (axis, &extent) in logical_shape.iter().enumerate() {
            let mut splitters: Vec<usize> =
                (0..attrs.len()).filter(|&p| attrs[p] == ShardAttr::Split(axis as u32)).collect();
            let (Some(mut rest), false) = (extent.as_const(), splitters.is_empty()) else {
                if let [first, second, ..] = splitters[..] {
                    return Err(TypeError::new(format!(
                        "axis {axis} of symbolic extent {extent} is split by both `{}` and `{}`",
                        mesh.axis_name(first),
                        mesh.axis_name(second)
                    ))
                    .with_help("split a symbolic axis over one mesh axis"));
                }
                for &mesh_axis in &splitters {
                    placed[mesh_axis] = ShardAttr::Split(shape.len() as u32);
                }
                shape.push(extent);
                continue;
            };
            splitters.sort_by_key(|&mesh_axis| Reverse(run(mesh_axis)));
            for &mesh_axis in &splitters {
                let parts = mesh.extents()[mesh_axis];
                let Some(count) = parts.as_const().filter(|&count| count > 0 && rest % count == 0) else {
                    return Err(indivisible(extent, axis, mesh, mesh_axis));
                };
                let length = run(mesh_axis).unwrap_or(rest / count);
                if length <= 0 || rest % (count * length) != 0 {
                    return Err(TypeError::new(format!(
                        "axis {axis} of extent {extent} cannot be split over mesh axis `{}` in runs of {length}",
                        mesh.axis_name(mesh_axis)
                    ))
                    .with_help("reshard the operands so that the mesh axes split this axis one within the other"));
                }
                let outer = rest / (count * length);
                if outer != 1 {
                    shape.push(self.dim(outer));
                }
                placed[mesh_axis] = ShardAttr::Split(shape.len() as u32);
                shape.push(parts);
                rest = length;
            }
            if rest != 1 {
                shape.push(self.dim(rest));
            }
        }
        if let Some(mesh_axis) =
            attrs.iter().position(|a| matches!(*a, ShardAttr::Split(axis) if axis as usize >= logical_shape.len()))
        {
            let ShardAttr::Split(axis) = attrs[mesh_axis] else { unreachable!("position() matched a Split") };
            return Err(TypeError::new(format!(
                "mesh axis `{}` splits axis {axis}, but the shape has {} axes",
                mesh.axis_name(mesh_axis),
                logical_shape.len()
            )));
        }
        let strides = self.try_c_order_strides(&shape);
        Ok(self.shard_layout(self.layout(&shape, strides.as_deref()), &placed, mesh))
    }
}

#[cfg(test)]
mod tests {
    use crate::test_util::{dims, mesh};
    use crate::{Arena, ShardAttr, ShardLayout, TypeContext};

    fn placed<'c>(cx: &TypeContext<'c>, layout: &str, splits: &[u32]) -> ShardLayout<'c> {
        let axes: Vec<_> = ["w", "t"].into_iter().map(|name| (name, 2)).take(splits.len()).collect();
        let extent = if splits.len() == 1 { 2 } else { 4 };
        let attrs: Vec<_> = splits.iter().map(|&at| ShardAttr::Split(at)).collect();
        cx.shard_layout(cx.c_order_layout(dims(cx, layout)), &attrs, mesh(cx, &[("thread", extent)], &axes))
    }

    #[test]
    fn runs_of_a_split_axis() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let runs = |layout, splits: &[u32], shape| {
            let runs = cx.runs(placed(cx, layout, splits), dims(cx, shape));
            runs.into_iter().map(|run| run.map_or("whole".into(), |run| run.to_string())).collect::<Vec<_>>()
        };
        assert_eq!(runs("2 4 3", &[0], "8 3"), ["4"]);
        assert_eq!(runs("4 2 3", &[1], "8 3"), ["1"]);
        assert_eq!(runs("8 3", &[0], "8 3"), ["4"]);
        assert_eq!(runs("2 2 2", &[0, 1], "8"), ["4", "2"]);
        assert_eq!(runs("2 2 2", &[2, 0], "8"), ["1", "4"]);
        assert_eq!(runs("8", &[0, 0], "8"), ["4", "2"]);
    }

    #[test]
    fn a_placement_in_runs_is_the_one_they_are_of() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        for (layout, splits, shape) in
            [("2 4 3", &[0][..], "8 3"), ("4 2 3", &[1], "8 3"), ("2 2 2", &[0, 1], "8"), ("2 2 2", &[2, 0], "8")]
        {
            let (shard, shape) = (placed(cx, layout, splits), dims(cx, shape));
            let attrs = shard.logical_attrs(shape);
            let again = cx.shard_layout_in_runs(shape, shard.mesh, &attrs, &cx.runs(shard, shape));
            assert_eq!(again, Ok(shard));
        }
        // Both mesh axes deal out halves: none lies within the other.
        let shard = placed(cx, "2 2 2", &[0, 1]);
        let halves = [Some(cx.dim(4)); 2];
        let error = cx.shard_layout_in_runs(dims(cx, "8"), shard.mesh, &[ShardAttr::Split(0); 2], &halves).unwrap_err();
        assert_eq!(error.message, "axis 0 of extent 8 cannot be split over mesh axis `t` in runs of 4");
    }
}
