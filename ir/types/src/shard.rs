//! Placement of a tensor on a mesh.

use crate::intern::interned_handle;
use crate::{Dim, Layout, Mesh, Symbol, TypeContext, TypeError};

/// What the positions along one mesh axis hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShardAttr<'c> {
    /// Different slices of this axis of the *layout*.
    Split(u32),
    /// The same value.
    Broadcast,
    /// Terms whose reduction (`sum`, `max`, `min`) is the value.
    Partial(Symbol<'c>),
    /// Ownership decided at run time.
    Dynamic,
}

interned_handle! {
    /// A factored layout plus one attribute per mesh axis.
    ShardLayout => ShardLayoutData
}

/// The data of a [`ShardLayout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ShardLayoutData<'c> {
    /// The logical shape with split axes factored.
    pub layout: Layout<'c>,
    /// One per mesh axis, in mesh-axis order.
    pub attrs: &'c [ShardAttr<'c>],
    /// The mesh.
    pub mesh: Mesh<'c>,
}

impl<'c> ShardLayout<'c> {
    /// The logical axis that each mesh axis splits; `None` where it does not split.
    #[must_use]
    pub fn split_target_axes(self, tensor_shape: &[Dim<'c>]) -> Vec<Option<usize>> {
        let map = layout_axis_to_tensor_axis(self.layout.shape(), tensor_shape);
        let target = |attr: &ShardAttr<'c>| match *attr {
            ShardAttr::Split(axis) => map.get(axis as usize).copied().flatten(),
            _ => None,
        };
        self.attrs.iter().map(target).collect()
    }

    /// The attributes with Splits renumbered to the logical axes of `tensor_shape`.
    #[must_use]
    pub fn logical_attrs(self, tensor_shape: &[Dim<'c>]) -> Vec<ShardAttr<'c>> {
        let targets = self.split_target_axes(tensor_shape);
        let logical = |(&attr, target): (&ShardAttr<'c>, Option<usize>)| match target {
            Some(axis) => ShardAttr::Split(axis as u32),
            None => attr,
        };
        self.attrs.iter().zip(targets).map(logical).collect()
    }

    /// Whether some mesh axis splits or holds partial terms.
    #[must_use]
    pub fn is_sharded(self) -> bool {
        self.attrs.iter().any(|a| matches!(a, ShardAttr::Split(_) | ShardAttr::Partial(_)))
    }

    /// Whether two placements agree in factored shape, attributes and mesh; strides do not count.
    #[must_use]
    pub fn same_placement(self, other: Self) -> bool {
        self.layout.shape() == other.layout.shape() && self.attrs == other.attrs && self.mesh == other.mesh
    }

    /// The mesh axes that split this axis of the layout, in mesh-axis order.
    pub fn splitters(self, layout_axis: usize) -> impl Iterator<Item = usize> {
        let splits = move |(_, attr): &(usize, &ShardAttr<'c>)| **attr == ShardAttr::Split(layout_axis as u32);
        self.data().attrs.iter().enumerate().filter(splits).map(|(mesh_axis, _)| mesh_axis)
    }
}

/// The logical axis that each position of a factored shape belongs to.
///
/// Static axes consume positions until their product reaches the extent, an axis of extent 1 exactly one; a symbolic
/// axis consumes an equal position, otherwise all that remain; what is left belongs to the last axis. `None` only
/// where the tensor has rank 0.
#[must_use]
pub fn layout_axis_to_tensor_axis(layout_shape: &[Dim<'_>], tensor_shape: &[Dim<'_>]) -> Vec<Option<usize>> {
    let mut map = Vec::with_capacity(layout_shape.len());
    for (axis, &extent) in tensor_shape.iter().enumerate() {
        let rest = &layout_shape[map.len()..];
        let taken = match extent.as_const() {
            Some(extent) if extent > 1 => {
                let mut product = 1i64;
                rest.iter()
                    .take_while(|position| {
                        let open = product < extent;
                        product = product.saturating_mul(position.as_const().unwrap_or(1));
                        open
                    })
                    .count()
            }
            Some(_) => rest.len().min(1),
            None if rest.first().is_some_and(|&position| position == extent) => 1,
            None => rest.len(),
        };
        map.resize(map.len() + taken, Some(axis));
    }
    map.resize(layout_shape.len(), tensor_shape.len().checked_sub(1));
    map
}

impl<'c> TypeContext<'c> {
    /// What one position holds of the factored domain: each Split divides its axis by its mesh extent, rounding
    /// down.
    ///
    /// # Errors
    /// A symbolic division other than by an equal extent; an extent that stays symbolic under `require_static`.
    pub fn local_shape(&self, shard: ShardLayout<'c>, require_static: bool) -> Result<Vec<Dim<'c>>, TypeError> {
        let mut local = shard.layout.shape().to_vec();
        for (mesh_axis, (&attr, &extent)) in shard.attrs.iter().zip(shard.mesh.extents()).enumerate() {
            let ShardAttr::Split(axis) = attr else { continue };
            let name = || shard.mesh.axis_name(mesh_axis);
            let Some(position) = local.get_mut(axis as usize) else {
                return Err(split_out_of_range(shard, mesh_axis, axis));
            };
            *position = match (position.as_const(), extent.as_const()) {
                _ if *position == extent => self.dim(1),
                (_, Some(1)) => *position,
                (Some(held), Some(parts)) if parts > 0 => self.dim(held.div_euclid(parts)),
                _ => {
                    return Err(TypeError::new(format!(
                        "layout axis {axis} of extent {position} cannot be divided by mesh axis `{}` of extent {extent}",
                        name()
                    ))
                    .with_help("bind the symbolic dims first, or factor the layout axis"));
                }
            };
        }
        if require_static && let Some(axis) = local.iter().position(|d| d.as_const().is_none()) {
            return Err(TypeError::new(format!(
                "the local extent of layout axis {axis} must be an integer, but it is {}",
                local[axis]
            )));
        }
        Ok(local)
    }

    /// Checks what every rule relies on: one attribute per mesh axis, every Split on an axis of the layout, which it divides without a
    /// rest: elements of a rest would be nobody's.
    ///
    /// # Errors
    /// A wrong number of attributes; a Split of an axis that the layout does not have, or that it does not divide.
    pub fn check_shard_layout(&self, shard: ShardLayout<'c>) -> Result<(), TypeError> {
        check_attr_count(shard.mesh, shard.attrs.len())?;
        for (mesh_axis, &attr) in shard.attrs.iter().enumerate() {
            let ShardAttr::Split(axis) = attr else { continue };
            let Some(&extent) = shard.layout.shape().get(axis as usize) else {
                return Err(split_out_of_range(shard, mesh_axis, axis));
            };
            let parts = |mesh_axis: usize| shard.mesh.extents()[mesh_axis].as_const();
            // Several Splits of one axis divide in turn.
            let mut so_far = shard.splitters(axis as usize).take_while(|&other| other <= mesh_axis).map(parts);
            let product = so_far.try_fold(1i64, |product, parts| product.checked_mul(parts?));
            if let (Some(held), Some(product)) = (extent.as_const(), product)
                && product > 0
                && held % product != 0
            {
                return Err(layout_axis_indivisible(extent, axis, shard.mesh, mesh_axis));
            }
        }
        Ok(())
    }
}

pub(crate) fn check_attr_count(mesh: Mesh<'_>, count: usize) -> Result<(), TypeError> {
    if count == mesh.rank() {
        return Ok(());
    }
    Err(TypeError::new(format!("a mesh of {} axes needs {} attributes, got {count}", mesh.rank(), mesh.rank())))
}

fn split_out_of_range(shard: ShardLayout<'_>, mesh_axis: usize, axis: u32) -> TypeError {
    TypeError::new(format!(
        "mesh axis `{}` splits layout axis {axis}, but the layout has {} axes",
        shard.mesh.axis_name(mesh_axis),
        shard.layout.rank()
    ))
}

/// The refusal of a layout axis whose `extent` a Split does not divide.
pub(crate) fn layout_axis_indivisible(extent: Dim<'_>, axis: u32, mesh: Mesh<'_>, mesh_axis: usize) -> TypeError {
    let (parts, name) = (mesh.extents()[mesh_axis], mesh.axis_name(mesh_axis));
    TypeError::new(format!(
        "layout axis {axis} of extent {extent} is not divisible by {parts}, the extent of mesh axis `{name}`"
    ))
    .with_help("factor the axis with the quotient rounded up")
}

/// The refusal of `extent` split over that mesh axis.
pub(crate) fn indivisible(extent: Dim<'_>, axis: usize, mesh: Mesh<'_>, mesh_axis: usize) -> TypeError {
    TypeError::new(format!(
        "axis {axis} of extent {extent} is not divisible by {}, the extent of mesh axis `{}`",
        mesh.extents()[mesh_axis],
        mesh.axis_name(mesh_axis)
    ))
}

#[cfg(test)]
mod tests {
    use super::{ShardAttr, layout_axis_to_tensor_axis};
    use crate::test_util::{dims, mesh};
    use crate::{Arena, DimTuple, TypeContext};

    fn attrs<'c>(cx: &TypeContext<'c>, text: &str) -> Vec<ShardAttr<'c>> {
        let attr = |word: &str| match word {
            "B" => ShardAttr::Broadcast,
            "P" => ShardAttr::Partial(cx.symbol("sum")),
            _ => ShardAttr::Split(word[1..].parse().unwrap()),
        };
        text.split_whitespace().map(attr).collect()
    }

    #[test]
    fn canonical_placements() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let m = mesh(cx, &[("cta", 4), ("thread", 64)], &[("b", 4), ("w", 2), ("l", 32)]);
        for (logical, given, shape, strides, want, local) in [
            ("16 128", "S0 S1 S1", "4 4 2 32 2", "512 128 64 2 1", "S0 S2 S3", "(1, 4, 1, 1, 2)"),
            ("16 128", "B S1 S1", "16 2 32 2", "128 64 2 1", "B S1 S2", "(16, 1, 1, 2)"),
            ("16 128", "S1 S0 P", "2 8 4 32", "1024 128 32 1", "S2 S0 P", "(1, 8, 1, 32)"),
            ("1 1536", "B S1 S1", "1 2 32 24", "1536 768 24 1", "B S1 S2", "(1, 1, 1, 24)"),
            ("4 64", "S0 B S1", "4 32 2", "64 2 1", "S0 B S1", "(1, 1, 2)"),
            ("S 128", "S0 B S1", "S 32 4", "", "S0 B S1", ""),
        ] {
            let logical = dims(cx, logical);
            let shard = cx.canonical_shard_layout(logical, m, &attrs(cx, given)).unwrap();
            assert_eq!(shard.layout.shape(), dims(cx, shape));
            assert_eq!(shard.layout.strides(), (!strides.is_empty()).then(|| dims(cx, strides)));
            assert_eq!(shard.attrs, attrs(cx, want));
            assert_eq!(shard.logical_attrs(logical), attrs(cx, given));
            assert!(shard.same_placement(cx.with_c_order_strides(shard)));
            if !local.is_empty() {
                assert_eq!(DimTuple(&cx.local_shape(shard, true).unwrap()).to_string(), local);
            }
        }
    }

    #[test]
    fn canonical_refusals() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let m = mesh(cx, &[("cta", 4), ("thread", 64)], &[("b", 4), ("w", 2), ("l", 32)]);
        let by_dim = mesh(cx, &[("cta", 0)], &[("b", 0)]);
        let refusal = |shape, mesh, given| {
            cx.canonical_shard_layout(dims(cx, shape), mesh, &attrs(cx, given)).unwrap_err().message
        };
        assert_eq!(
            refusal("18 128", m, "S0 B B"),
            "axis 0 of extent 18 is not divisible by 4, the extent of mesh axis `b`"
        );
        assert_eq!(refusal("S 128", m, "S0 S0 B"), "axis 0 of symbolic extent S is split by both `b` and `w`");
        assert_eq!(
            refusal("16", by_dim, "S0"),
            "axis 0 of extent 16 is not divisible by S, the extent of mesh axis `b`"
        );
        assert_eq!(refusal("16", by_dim, "S3"), "mesh axis `b` splits axis 3, but the shape has 1 axes");
        assert_eq!(refusal("16", m, "S0"), "a mesh of 3 axes needs 3 attributes, got 1");
    }

    #[test]
    fn positions_map_to_logical_axes() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let map = |layout, tensor| {
            let map = layout_axis_to_tensor_axis(dims(cx, layout), dims(cx, tensor));
            map.iter().map(|axis| axis.map_or("-".to_owned(), |a| a.to_string())).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(map("1 6 32 8", "1 1536"), "0 1 1 1");
        assert_eq!(map("4 4 4 32", "16 4 32"), "0 0 1 2");
        assert_eq!(map("S 4 32", "S 128"), "0 1 1");
        assert_eq!(map("4 S 32", "S 128"), "0 0 0");
        assert_eq!(map("6 32 1 8", "192 8"), "0 0 1 1");
        assert_eq!(map("4 4", ""), "- -");
    }

    #[test]
    fn local_shape_refusals() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let m = mesh(cx, &[("thread", 4)], &[("w", 4)]);
        let by_dim = mesh(cx, &[("cta", 0)], &[("b", 0)]);
        let shard =
            |shape, mesh, axis| cx.shard_layout(cx.layout(dims(cx, shape), None), &[ShardAttr::Split(axis)], mesh);
        let refusal = |shard, is_static| cx.local_shape(shard, is_static).unwrap_err().message;
        assert_eq!(DimTuple(&cx.local_shape(shard("S 8", by_dim, 0), true).unwrap()).to_string(), "(1, 8)");
        assert_eq!(
            refusal(shard("S 8", m, 0), false),
            "layout axis 0 of extent S cannot be divided by mesh axis `w` of extent 4"
        );
        assert_eq!(
            refusal(shard("4 S", m, 0), true),
            "the local extent of layout axis 1 must be an integer, but it is S"
        );
        assert_eq!(refusal(shard("4", m, 7), false), "mesh axis `w` splits layout axis 7, but the layout has 1 axes");
        assert_eq!(cx.check_shard_layout(shard("4", m, 7)).unwrap_err().message, refusal(shard("4", m, 7), false));
        let rest = cx.check_shard_layout(shard("2 18", m, 1)).unwrap_err().message;
        assert_eq!(rest, "layout axis 1 of extent 18 is not divisible by 4, the extent of mesh axis `w`");
        let two = mesh(cx, &[("thread", 8)], &[("w", 4), ("t", 2)]);
        let both = |shape| {
            let attrs = [ShardAttr::Split(0), ShardAttr::Split(0)];
            cx.check_shard_layout(cx.shard_layout(cx.layout(dims(cx, shape), None), &attrs, two))
        };
        assert!(both("16").is_ok() && both("S").is_ok());
        assert!(
            both("12").unwrap_err().message.contains("extent 12 is not divisible by 2, the extent of mesh axis `t`")
        );
    }
}
