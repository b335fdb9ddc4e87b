//! What one unit of a hardware level holds.

use crate::layout::OuterLayout;
use crate::shard::{ShardAttr, layout_axis_indivisible};
use crate::{Dim, ShardLayout, TensorLayout, TensorType, Topology, Type, TypeContext, TypeError, TypeKind};

impl<'c> TypeContext<'c> {
    /// The type of what one unit of `level` holds; `topologies` is the declared hierarchy, coarsest first. A placed
    /// tensor gets its factored shape, divided by the Splits of this level and of coarser ones.
    ///
    /// # Errors
    /// An undeclared or doubly declared level; a Split that does not divide its axis; a resulting extent that is
    /// symbolic or negative.
    pub fn local_type_of(&self, ty: Type<'c>, level: &str, topologies: &[Topology<'c>]) -> Result<Type<'c>, TypeError> {
        for (at, topology) in topologies.iter().enumerate() {
            if topologies[..at].iter().any(|t| t.name == topology.name) {
                return Err(TypeError::new(format!("level `{}` is declared twice", topology.name)));
            }
        }
        let depth = depth_of(level, topologies)?;
        self.local_type(ty, depth, topologies)
    }

    fn local_type(&self, ty: Type<'c>, depth: usize, topologies: &[Topology<'c>]) -> Result<Type<'c>, TypeError> {
        match ty.data() {
            TypeKind::Tensor(tensor) => self.local_tensor(tensor, depth, topologies),
            TypeKind::Tuple(fields) => {
                let local: Vec<_> =
                    fields.iter().map(|&f| self.local_type(f, depth, topologies)).collect::<Result<_, _>>()?;
                Ok(self.tuple(&local))
            }
            TypeKind::Unit | TypeKind::Callable { .. } => Ok(ty),
        }
    }

    fn local_tensor(
        &self,
        tensor: &TensorType<'c>,
        depth: usize,
        topologies: &[Topology<'c>],
    ) -> Result<Type<'c>, TypeError> {
        let shard = match tensor.layout {
            Some(TensorLayout::Shard(shard)) => shard,
            Some(TensorLayout::Composed(composed)) => match (composed.inner, composed.outer) {
                (None, Some(OuterLayout::Shard(shard))) => shard,
                _ => return Ok(self.tensor_type(*tensor)),
            },
            Some(TensorLayout::Plain(_)) | None => return Ok(self.tensor_type(*tensor)),
        };
        self.check_shard_layout(shard)?;
        let levels = shard.mesh.axis_levels()?;
        let mut local = shard.layout.shape().to_vec();
        for (mesh_axis, &attr) in shard.attrs.iter().enumerate() {
            let ShardAttr::Split(axis) = attr else { continue };
            let name = shard.mesh.topologies[levels[mesh_axis]].name;
            if depth_of(name.as_str(), topologies)? <= depth {
                let held = &mut local[axis as usize];
                *held = self.divided(*held, shard, mesh_axis, axis)?;
            }
        }
        for (axis, extent) in local.iter().enumerate() {
            if extent.as_const().is_none_or(|value| value < 0) {
                return Err(TypeError::new(format!(
                    "the local extent of layout axis {axis} must be a non-negative integer, but it is {extent}"
                )));
            }
        }
        Ok(self.tensor(&local, tensor.dtype, tensor.layout, tensor.storage))
    }

    fn divided(
        &self,
        held: Dim<'c>,
        shard: ShardLayout<'c>,
        mesh_axis: usize,
        axis: u32,
    ) -> Result<Dim<'c>, TypeError> {
        let parts = shard.mesh.extents()[mesh_axis];
        let name = shard.mesh.axis_name(mesh_axis);
        match (held.as_const(), parts.as_const()) {
            _ if held == parts => Ok(self.dim(1)),
            (Some(held), Some(count)) if count > 0 && held % count == 0 => Ok(self.dim(held / count)),
            (Some(_), Some(_)) => Err(layout_axis_indivisible(held, axis, shard.mesh, mesh_axis)),
            _ => Err(TypeError::new(format!(
                "layout axis {axis} of extent {held} cannot be divided by {parts}, the extent of mesh axis `{name}`"
            ))
            .with_help("bind the symbolic dims first")),
        }
    }
}

fn depth_of(level: &str, topologies: &[Topology<'_>]) -> Result<usize, TypeError> {
    topologies.iter().position(|t| t.name.as_str() == level).ok_or_else(|| {
        let known: Vec<_> = topologies.iter().map(|t| t.name.as_str()).collect();
        TypeError::new(format!("level `{level}` is not declared; there are {}", known.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use crate::layout::OuterLayout;
    use crate::test_util::{dims, mesh};
    use crate::{Arena, DType, DimTuple, Mesh, ShardAttr, Storage, TensorLayout, Type, TypeContext};

    fn placed<'c>(cx: &TypeContext<'c>, shape: &str, m: Mesh<'c>, axes: &[u32]) -> Type<'c> {
        let attrs: Vec<_> = axes.iter().map(|&a| ShardAttr::Split(a)).collect();
        let shard = cx.shard_layout(cx.c_order_layout(dims(cx, shape)), &attrs, m);
        cx.tensor(dims(cx, shape), DType::F32, Some(TensorLayout::Shard(shard)), Storage::Rmem)
    }

    #[test]
    fn worked_levels() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let m = mesh(cx, &[("cta", 4), ("thread", 64)], &[("b", 4), ("w", 2), ("l", 32)]);
        let attrs = [ShardAttr::Split(0), ShardAttr::Split(1), ShardAttr::Split(1)];
        let shard = cx.canonical_shard_layout(dims(cx, "16 128"), m, &attrs).unwrap();
        let ty = cx.tensor(dims(cx, "16 128"), DType::F32, Some(TensorLayout::Shard(shard)), Storage::Rmem);
        let local = |ty, level| cx.local_type_of(ty, level, m.topologies).unwrap();
        let shape = |ty: Type<'_>| DimTuple(ty.as_tensor().unwrap().shape).to_string();
        assert_eq!(shape(local(ty, "cta")), "(1, 4, 2, 32, 2)");
        assert_eq!(local(ty, "cta").numel().unwrap(), 512);
        assert_eq!(shape(local(ty, "thread")), "(1, 4, 1, 1, 2)");
        assert_eq!(local(ty, "thread").as_tensor().unwrap().layout, ty.as_tensor().unwrap().layout);
        let pair = cx.tuple(&[ty, cx.scalar(DType::I64)]);
        assert_eq!(local(pair, "cta"), cx.tuple(&[local(ty, "cta"), cx.scalar(DType::I64)]));
        let sliced = cx.composed_layout(None, cx.dim(32), Some(OuterLayout::Shard(shard)));
        let sliced = cx.tensor(dims(cx, "16 128"), DType::F32, Some(TensorLayout::Composed(sliced)), Storage::Rmem);
        assert_eq!(shape(local(sliced, "cta")), "(1, 4, 2, 32, 2)");
        assert_eq!(local(cx.unit(), "cta"), cx.unit());
    }

    #[test]
    fn refusals() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let m = mesh(cx, &[("thread", 4)], &[("w", 4)]);
        let refusal = |ty| cx.local_type_of(ty, "thread", m.topologies).unwrap_err().message;
        assert_eq!(
            refusal(placed(cx, "18 2", m, &[0])),
            "layout axis 0 of extent 18 is not divisible by 4, the extent of mesh axis `w`"
        );
        assert_eq!(
            refusal(placed(cx, "S 2", m, &[0])),
            "layout axis 0 of extent S cannot be divided by 4, the extent of mesh axis `w`"
        );
        assert_eq!(
            refusal(placed(cx, "4 S", m, &[0])),
            "the local extent of layout axis 1 must be a non-negative integer, but it is S"
        );
        let ty = placed(cx, "4", m, &[0]);
        assert_eq!(
            cx.local_type_of(ty, "warp", m.topologies).unwrap_err().message,
            "level `warp` is not declared; there are thread"
        );
        let twice = [m.topologies[0], m.topologies[0]];
        assert_eq!(cx.local_type_of(ty, "thread", &twice).unwrap_err().message, "level `thread` is declared twice");
        let grid = mesh(cx, &[("cta", 0)], &[("b", 0)]);
        let all = [grid.topologies[0], m.topologies[0]];
        let symbolic = cx.local_type_of(placed(cx, "S 2", grid, &[0]), "thread", &all).unwrap();
        assert_eq!(symbolic.as_tensor().unwrap().static_shape().unwrap(), [1, 2]);
    }
}
