//! The type of a reshard: checks and materialised strides.

use crate::layout::{Layout, OuterLayout};
use crate::shard::ShardAttr;
use crate::size::same_element_count;
use crate::{Dim, ShardLayout, Storage, TensorLayout, TensorType, Topology, Type, TypeContext, TypeError, TypeKind};

/// Levels inside one CTA; every other level separates CTAs.
const WITHIN_CTA: [&str; 4] = ["thread", "lane", "warp", "warpgroup"];

/// Whether two positions of that level hold different instances of a storage: rmem is per thread, smem
/// and tmem per CTA, gmem and host per program.
#[must_use]
pub fn separates_instances(storage: Storage, level: Topology<'_>) -> bool {
    match storage {
        Storage::Rmem | Storage::Umat => true,
        Storage::Smem | Storage::Tmem => !WITHIN_CTA.contains(&level.name.as_str()),
        Storage::Gmem | Storage::Host => false,
    }
}

impl<'c> TypeContext<'c> {
    /// The type of `reshard(source, layout, storage)`. Shape and dtype stay. Strides that the layout states are kept;
    /// missing ones are those of one instance of the destination where the value enters a storage, and keep the
    /// source's form where it stays.
    ///
    /// # Errors
    /// `umat` as a destination; a storage change without a layout; a move between `host` or `tmem` and another
    /// storage; a layout of another element count; an unsplit symbolic extent in smem or rmem.
    pub fn reshard_type(
        &self,
        source: &TensorType<'c>,
        layout: Option<ShardLayout<'c>>,
        storage: Option<Storage>,
    ) -> Result<Type<'c>, TypeError> {
        if storage == Some(Storage::Umat) {
            return Err(TypeError::new(
                "`umat` cannot be the destination of a reshard; a value is placed in a residency",
            )
            .with_help("place it in gmem, smem or rmem"));
        }
        let target = storage.unwrap_or(source.storage);
        let Some(shard) = layout else {
            if target != source.storage {
                return Err(TypeError::new(format!("a reshard from {} to {target} needs a layout", source.storage))
                    .with_help(
                        "state who holds what there: `layout=(64 @ m.w, 32)`, or `(64, 32)` for all of it everywhere",
                    ));
            }
            return Ok(self.tensor_type(*source));
        };
        self.check_shard_layout(shard)?;
        self.check_element_count(shard, source.shape)?;
        check_sizes_are_static(shard, target)?;
        if target != source.storage && (target.level().is_none() || source.storage.level().is_none()) {
            return Err(TypeError::new(format!(
                "a reshard from {} to {target} is not known: host and tmem have no storage tier",
                source.storage
            ))
            .with_help("values move between gmem, smem and rmem"));
        }
        let placed = match shard.layout.strides() {
            Some(_) => shard,
            None => self.materialized(source, shard, target)?,
        };
        Ok(self.tensor(source.shape, source.dtype, Some(TensorLayout::Shard(placed)), target))
    }

    /// Checks that a placement holds as many elements as the shape.
    ///
    /// # Errors
    /// It does not, or that cannot be decided.
    pub fn check_element_count(&self, shard: ShardLayout<'c>, shape: &[Dim<'c>]) -> Result<(), TypeError> {
        if same_element_count(shard.layout.shape(), shape) {
            return Ok(());
        }
        Err(TypeError::new(format!(
            "layout {} has {} elements, but the value {} has {}",
            crate::DimTuple(shard.layout.shape()),
            self.product(shard.layout.shape()),
            crate::DimTuple(shape),
            self.product(shape)
        ))
        .with_help("the extents of a placement multiply to those of the value"))
    }

    /// The type as it stands in a signature: layouts without strides get row-major ones, over the factored shape where the tensor is
    /// placed.
    pub fn signature_type(&self, ty: Type<'c>) -> Type<'c> {
        let plain = |layout: Layout<'c>| match layout.strides() {
            Some(_) => layout,
            None => self.c_order_layout(layout.shape()),
        };
        let shard = |shard: ShardLayout<'c>| self.shard_layout(plain(shard.layout), shard.attrs, shard.mesh);
        match *ty.data() {
            TypeKind::Tensor(tensor) => {
                let layout = tensor.layout.map(|layout| match layout {
                    TensorLayout::Plain(layout) => TensorLayout::Plain(plain(layout)),
                    TensorLayout::Shard(layout) => TensorLayout::Shard(shard(layout)),
                    TensorLayout::Composed(composed) => {
                        let outer = composed.outer.map(|outer| match outer {
                            OuterLayout::Plain(layout) => OuterLayout::Plain(plain(layout)),
                            OuterLayout::Shard(layout) => OuterLayout::Shard(shard(layout)),
                        });
                        TensorLayout::Composed(self.composed_layout(composed.inner.map(plain), composed.offset, outer))
                    }
                });
                self.tensor_type(TensorType { layout, ..tensor })
            }
            TypeKind::Tuple(fields) => {
                let fields: Vec<_> = fields.iter().map(|&field| self.signature_type(field)).collect();
                self.tuple(&fields)
            }
            TypeKind::Unit | TypeKind::Callable { .. } => ty,
        }
    }

    /// The same placement with row-major strides over its factored shape.
    pub fn with_c_order_strides(&self, shard: ShardLayout<'c>) -> ShardLayout<'c> {
        let layout = self.c_order_layout(shard.layout.shape());
        self.shard_layout(layout, shard.attrs, shard.mesh)
    }

    fn materialized(
        &self,
        source: &TensorType<'c>,
        shard: ShardLayout<'c>,
        target: Storage,
    ) -> Result<ShardLayout<'c>, TypeError> {
        let axes = if source.storage == target {
            let Some(axes) = per_instance_axes(source, shard)? else { return Ok(self.with_c_order_strides(shard)) };
            axes
        } else {
            separating_axes(shard, target)?
        };
        if axes.is_empty() {
            return Ok(self.with_c_order_strides(shard));
        }
        let mut held = shard.layout.shape().to_vec();
        for &axis in &axes {
            held[axis] = self.dim(1);
        }
        let one = self.dim(1);
        let mut strides = self.c_order_strides(&held);
        for (stride, &extent) in strides.iter_mut().zip(&held) {
            if extent == one {
                *stride = self.dim(0);
            }
        }
        let layout = self.layout(shard.layout.shape(), Some(&strides));
        Ok(self.shard_layout(layout, shard.attrs, shard.mesh))
    }
}

/// Layout axes whose Split separates instances of `storage`.
fn separating_axes(shard: ShardLayout<'_>, storage: Storage) -> Result<Vec<usize>, TypeError> {
    let topologies = shard.mesh.topologies;
    let separates = |level: usize| topologies.get(level).is_some_and(|&t| separates_instances(storage, t));
    let every = (0..topologies.len()).all(separates);
    let none = !(0..topologies.len()).any(separates);
    let levels = if every || none { None } else { Some(shard.mesh.axis_levels()?) };
    let separated = |mesh_axis: usize| levels.as_ref().map_or(every, |levels| separates(levels[mesh_axis]));
    Ok(split_axes(shard).filter(|&(mesh_axis, _)| separated(mesh_axis)).map(|(_, axis)| axis).collect())
}

/// For a reshard within a storage whose source is in per-instance form: the layout axes of the result to give
/// stride 0. `None`: the shared form.
fn per_instance_axes<'c>(source: &TensorType<'c>, shard: ShardLayout<'c>) -> Result<Option<Vec<usize>>, TypeError> {
    let Some(TensorLayout::Shard(have)) = source.layout else { return Ok(None) };
    let Some(strides) = have.layout.strides() else { return Ok(None) };
    let is_zero = |axis: &usize| strides[*axis].as_const() == Some(0);
    let mut splits = split_axes(have).map(|(_, axis)| axis).peekable();
    let every = splits.peek().is_some() && splits.all(|axis| is_zero(&axis));
    if source.storage == Storage::Smem {
        // Threads share smem: only Splits over CTAs are without stride.
        let own = separating_axes(have, Storage::Smem)?;
        if !own.is_empty() && own.iter().all(is_zero) {
            return separating_axes(shard, Storage::Smem).map(Some);
        }
    }
    Ok(every.then(|| split_axes(shard).map(|(_, axis)| axis).collect()))
}

/// `(mesh axis, layout axis)` of every Split.
fn split_axes<'c>(shard: ShardLayout<'c>) -> impl Iterator<Item = (usize, usize)> {
    shard.data().attrs.iter().enumerate().filter_map(|(mesh_axis, attr)| match attr {
        ShardAttr::Split(axis) => Some((mesh_axis, *axis as usize)),
        _ => None,
    })
}

/// smem and rmem are sized at compile time.
fn check_sizes_are_static(shard: ShardLayout<'_>, target: Storage) -> Result<(), TypeError> {
    if !matches!(target, Storage::Smem | Storage::Rmem) {
        return Ok(());
    }
    for (axis, extent) in shard.layout.shape().iter().enumerate() {
        if extent.as_const().is_none() && shard.splitters(axis).next().is_none() {
            return Err(TypeError::new(format!(
                "layout axis {axis} has the symbolic extent {extent} and is not split, but {target} needs a static size"
            ))
            .with_help("keep the value in gmem, or split the axis over a mesh axis of the same extent"));
        }
    }
    Ok(())
}
