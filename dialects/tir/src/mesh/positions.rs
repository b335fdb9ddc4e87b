//! Mesh coordinates as functions of the CTA and thread ids.

use tf_types::{Mesh, MeshLayout, TypeError};

use tf_value::tir::Place;

pub use tf_value::tir::AxisPosition;

/// The coordinates of a mesh as functions of the CTA and thread ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Positions {
    /// By mesh axis.
    pub axes: Vec<AxisPosition>,
}

impl Positions {
    /// The positions of a mesh.
    ///
    /// # Errors
    /// A sliced mesh, symbolic extents, a level that is neither `cta` nor `thread`.
    pub fn of(mesh: Mesh<'_>) -> Result<Self, TypeError> {
        let static_dims = |dims: &[tf_types::Dim<'_>]| tf_types::layout::static_dims(dims);
        let (extents, strides) = (static_dims(mesh.extents()), mesh.strides().and_then(static_dims));
        let (Some(extents), Some(strides), false) = (extents, strides, mesh.is_sliced()) else {
            return Err(TypeError::new("the positions of a sliced or symbolic mesh are not static"));
        };
        let levels = mesh.axis_levels()?;
        let names: Vec<_> = mesh.topology_names().collect();
        let sizes: Vec<_> = mesh.topologies.iter().map(|t| t.size.and_then(|s| s.as_const()).unwrap_or(1)).collect();
        let mut axes = Vec::with_capacity(extents.len());
        for (axis, &level) in levels.iter().enumerate() {
            let in_cta = match names[level].as_str() {
                "thread" => true,
                "cta" => false,
                other => return Err(TypeError::new(format!("level `{other}` is no level of a CUDA target"))),
            };
            let deeper: i64 = sizes[level + 1..].iter().product();
            axes.push(AxisPosition { in_cta, stride: strides[axis] / deeper, extent: extents[axis] });
        }
        Ok(Self { axes })
    }
}

/// Where a position is along an axis of a mesh, or of a slice of one.
///
/// # Errors
/// As [`Positions::of`]; no such axis.
pub fn place(mesh: Mesh<'_>, axis: usize) -> Result<Place, TypeError> {
    let MeshLayout::Sliced(slice) = mesh.layout else {
        let axis = Positions::of(mesh)?.axes.get(axis).copied();
        return axis
            .map(|axis| Place { axis, start: 0 })
            .ok_or_else(|| TypeError::new(format!("{mesh} has no such axis")));
    };
    let refuse = || TypeError::new(format!("the positions of {mesh} are not static"));
    let strides = mesh.strides().and_then(tf_types::layout::static_dims).ok_or_else(refuse)?;
    let sizes: Option<Vec<_>> = mesh.topologies.iter().map(|t| t.size?.as_const()).collect();
    let (sizes, mut rest) = (sizes.ok_or_else(refuse)?, slice.offset.as_const().ok_or_else(refuse)?);
    // The offset is a sum of starts times strides, of which those of smaller strides do not reach the next one.
    let mut order: Vec<_> = (0..strides.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(strides[at]));
    let mut outer = sizes.iter().product::<i64>();
    for at in order {
        let stride = strides[at].max(1);
        let (start, extent) = (rest / stride, (outer / stride).max(1));
        rest %= stride;
        outer = stride;
        if at == axis {
            let (mut level, mut deeper) = (sizes.len().saturating_sub(1), 1);
            while level > 0 && stride >= deeper * sizes[level] {
                deeper *= sizes[level];
                level -= 1;
            }
            let in_cta = match mesh.topologies.get(level).map(|level| level.name.as_str()) {
                Some("thread") => true,
                Some("cta") => false,
                _ => return Err(refuse()),
            };
            return Ok(Place { axis: AxisPosition { in_cta, stride: stride / deeper, extent }, start });
        }
    }
    Err(TypeError::new(format!("{mesh} has no such axis")))
}

#[cfg(test)]
mod tests {
    use tf_core::Arena;
    use tf_types::MeshKey;
    use tf_types::mesh::MeshLayout;

    use super::{AxisPosition, place};
    use crate::test_util::{context, threads, topology};

    #[test]
    fn coordinates_of_slices_count_from_their_starts() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let of = |mesh, axis| place(mesh, axis).map(|place| (place.axis, place.start)).unwrap();
        let axis = |in_cta, stride, extent| AxisPosition { in_cta, stride, extent };
        let to = |start, stop| MeshKey::Slice(Some(start), Some(stop), None);
        let m = threads(cx, &[6, 32]);
        assert_eq!((of(m, 0), of(m, 1)), ((axis(true, 32, 6), 0), (axis(true, 1, 32), 0)));
        let part = cx.slice_mesh(m, &[to(1, 3), to(8, 16)]).unwrap();
        assert_eq!((of(part, 0), of(part, 1)), ((axis(true, 32, 6), 1), (axis(true, 1, 32), 8)));
        let levels = [topology(cx, "cta", 4), topology(cx, "thread", 64)];
        let layout = cx.layout(cx.const_dims(&[4, 2, 32]), Some(cx.const_dims(&[64, 32, 1])));
        let both = cx.mesh(&levels, MeshLayout::Plain(layout), &[]);
        let part = cx.slice_mesh(both, &[to(1, 4), to(1, 2), to(0, 32)]).unwrap();
        assert_eq!((of(part, 0), of(part, 1)), ((axis(false, 1, 4), 1), (axis(true, 32, 2), 1)));
        assert!(place(part, 3).is_err());
    }
}
