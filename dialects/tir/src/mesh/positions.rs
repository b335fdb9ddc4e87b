//! Mesh coordinates as functions of the CTA and thread ids.

use tf_types::{Mesh, TypeError};

/// Where the positions of a mesh axis are: the coordinate is `(id / stride) % extent` of a thread or CTA id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisPosition {
    /// Of threads within a CTA; otherwise of CTAs.
    pub in_cta: bool,
    /// Ids per coordinate.
    pub stride: i64,
    /// Number of coordinates.
    pub extent: i64,
}

impl AxisPosition {
    /// The xor distances that combine all coordinates of this axis, if they are lanes of one warp.
    #[must_use]
    pub fn butterfly(&self) -> Option<Vec<i64>> {
        let powers = (self.stride as u64).is_power_of_two() && (self.extent as u64).is_power_of_two();
        if !powers || self.stride * self.extent > 32 {
            return None;
        }
        let steps = std::iter::successors(Some(self.stride), |d| Some(d * 2));
        Some(steps.take_while(|d| *d < self.stride * self.extent).collect())
    }
}

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
