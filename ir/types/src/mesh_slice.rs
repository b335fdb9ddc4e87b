//! Slices of meshes: `m[k0, k1, …]`.

use crate::layout::OuterLayout;
use crate::mesh::MeshLayout;
use crate::{Mesh, TypeContext, TypeError};

/// One subscript of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshKey {
    /// One position along the axis; a negative one counts from the end. The axis stays, with extent 1.
    Index(i64),
    /// `start:stop:step`, each optional.
    Slice(Option<i64>, Option<i64>, Option<i64>),
}

impl MeshKey {
    /// The selected `start..stop` of an axis.
    fn resolve(self, axis: usize, extent: i64) -> Result<(i64, i64), TypeError> {
        let from_end = |value: i64| if value < 0 { value.saturating_add(extent) } else { value };
        match self {
            Self::Index(index) => {
                let at = from_end(index);
                if (0..extent).contains(&at) {
                    return Ok((at, at + 1));
                }
                Err(TypeError::new(format!("mesh index {index} is out of range for axis {axis} of extent {extent}")))
            }
            Self::Slice(_, _, Some(step)) if step != 1 => {
                Err(TypeError::new(format!("a mesh slice has step 1, but axis {axis} has step {step}")))
            }
            Self::Slice(start, stop, _) => {
                let (from, to) = (from_end(start.unwrap_or(0)), from_end(stop.unwrap_or(extent)));
                let written = format!("{}:{}", start.unwrap_or(0), stop.unwrap_or(extent));
                if from < 0 || to > extent || to < 0 {
                    return Err(TypeError::new(format!(
                        "mesh slice {written} is out of range for axis {axis} of extent {extent}"
                    )));
                }
                if from >= to {
                    return Err(TypeError::new(format!("mesh slice {written} of axis {axis} selects no position")));
                }
                Ok((from, to))
            }
        }
    }
}

impl<'c> TypeContext<'c> {
    /// The positions of `mesh` that the keys select; missing keys select everything and the rank stays.
    ///
    /// # Errors
    /// A sliced mesh, more keys than axes, an index or bound out of range, an empty selection, a step other than 1,
    /// a symbolic extent or stride.
    pub fn slice_mesh(&self, mesh: Mesh<'c>, keys: &[MeshKey]) -> Result<Mesh<'c>, TypeError> {
        let MeshLayout::Plain(layout) = mesh.layout else {
            return Err(TypeError::new("a sliced mesh cannot be sliced again").with_help("slice the whole mesh"));
        };
        if keys.len() > mesh.rank() {
            return Err(TypeError::new(format!("{} mesh subscripts for a mesh of {} axes", keys.len(), mesh.rank())));
        }
        let (Some(extents), Some(strides)) = (layout.static_shape(), layout.static_strides()) else {
            return Err(TypeError::new(format!(
                "slicing a mesh needs integer extents and strides, not those of {mesh}"
            )));
        };
        let mut offset = 0i64;
        let mut selected = Vec::with_capacity(extents.len());
        for (axis, (&extent, &stride)) in extents.iter().zip(&strides).enumerate() {
            let key = keys.get(axis).copied().unwrap_or(MeshKey::Slice(None, None, None));
            let (from, to) = key.resolve(axis, extent)?;
            offset = from
                .checked_mul(stride)
                .and_then(|shift| offset.checked_add(shift))
                .ok_or_else(|| TypeError::new("the offset of the mesh slice overflows"))?;
            selected.push(to - from);
        }
        let outer = self.layout(self.const_dims(&selected), layout.strides());
        let scope = self.composed_layout(None, self.dim(offset), Some(OuterLayout::Plain(outer)));
        Ok(self.mesh(mesh.topologies, MeshLayout::Sliced(scope), mesh.names))
    }
}

#[cfg(test)]
mod tests {
    use super::MeshKey;
    use super::MeshKey::{Index, Slice};
    use crate::test_util::mesh;
    use crate::{Arena, TypeContext};

    const ALL: MeshKey = Slice(None, None, None);

    #[test]
    fn worked_slices() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let m = mesh(cx, &[("thread", 192)], &[("w", 6), ("t", 32)]);
        let part = cx.slice_mesh(m, &[Slice(Some(1), Some(3), None), ALL]).unwrap();
        let scope = cx.scope(part);
        assert_eq!(scope.to_string(), "(2, 32):(32, 1) + 32");
        assert_eq!([0, 1, 63].map(|c| scope.image(c).unwrap()), [32, 64, 95]);
        assert_eq!([40, 95].map(|t| scope.project(t).unwrap().unwrap()), [[0, 8], [1, 31]]);
        assert_eq!(scope.project(96).unwrap(), None);
        assert!(scope.contains(32).unwrap() && !scope.contains(31).unwrap());
        assert_eq!(cx.scope(cx.slice_mesh(m, &[Index(0)]).unwrap()).to_string(), "(1, 32):(32, 1) + 0");
        assert_eq!(cx.slice_mesh(m, &[Index(-1)]).unwrap(), cx.slice_mesh(m, &[Index(5), ALL]).unwrap());
        part.check_extents().unwrap();
        assert_eq!(part.extents(), cx.const_dims(&[2, 32]));
    }

    #[test]
    fn slice_refusals() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let m = mesh(cx, &[("thread", 192)], &[("w", 6), ("t", 32)]);
        let refusal = |keys: &[MeshKey]| cx.slice_mesh(m, keys).unwrap_err().message;
        assert_eq!(refusal(&[Index(0), ALL, Index(0)]), "3 mesh subscripts for a mesh of 2 axes");
        assert_eq!(refusal(&[Slice(Some(0), Some(7), None)]), "mesh slice 0:7 is out of range for axis 0 of extent 6");
        assert_eq!(refusal(&[Index(6)]), "mesh index 6 is out of range for axis 0 of extent 6");
        assert_eq!(refusal(&[Slice(Some(0), Some(4), Some(2))]), "a mesh slice has step 1, but axis 0 has step 2");
        assert_eq!(refusal(&[Slice(Some(3), Some(3), None)]), "mesh slice 3:3 of axis 0 selects no position");
        let part = cx.slice_mesh(m, &[Index(0)]).unwrap();
        assert_eq!(cx.slice_mesh(part, &[ALL]).unwrap_err().message, "a sliced mesh cannot be sliced again");
        let symbolic = mesh(cx, &[("cta", 0)], &[("b", 0)]);
        assert_eq!(
            cx.slice_mesh(symbolic, &[Index(0)]).unwrap_err().message,
            "slicing a mesh needs integer extents and strides, not those of Mesh(cta S; b=S)"
        );
        assert_eq!(
            cx.level_projection(part, "thread").unwrap_err().message,
            "a sliced mesh cannot be projected to a level"
        );
        assert!(cx.composed(&[part, m]).unwrap_err().message.starts_with("only whole meshes of one level"));
        let far = cx.layout(cx.const_dims(&[6]), Some(cx.const_dims(&[i64::MAX])));
        let far = cx.mesh(m.topologies, crate::MeshLayout::Plain(far), &[]);
        assert_eq!(cx.slice_mesh(far, &[Index(2)]).unwrap_err().message, "the offset of the mesh slice overflows");
        let huge = crate::MeshLayout::Sliced(cx.composed_layout(
            None,
            cx.dim(160),
            Some(crate::OuterLayout::Plain(cx.c_order_layout(cx.const_dims(&[2, 32])))),
        ));
        assert_eq!(
            cx.mesh(m.topologies, huge, &[]).check_extents().unwrap_err().message,
            "the mesh slice reaches position 223, but thread 192 has 192"
        );
    }
}
