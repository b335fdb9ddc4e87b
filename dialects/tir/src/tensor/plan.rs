//! How a reduction runs over the positions of a mesh: within a thread, across lanes, through shared memory.

use tf_types::{TensorType, TypeError};
use tf_value::tir::AxisPosition;

use crate::held::{Factor, Held};
use crate::mesh::positions::Positions;
use crate::sync::participants::WARP;

/// The xor distances that combine all coordinates of an axis of threads, if they are lanes of one warp.
fn butterfly(place: AxisPosition) -> Option<Vec<i64>> {
    let AxisPosition { stride, extent, .. } = place;
    let powers = (stride as u64).is_power_of_two() && (extent as u64).is_power_of_two();
    if !powers || stride * extent > WARP {
        return None;
    }
    let steps = std::iter::successors(Some(stride), |d| Some(d * 2));
    Some(steps.take_while(|d| *d < stride * extent).collect())
}

/// How a reduction runs over the positions of a mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReducePlan {
    /// For each local element of `src`, the local element of `dst` that it goes into.
    pub cell_of: Vec<usize>,
    /// Number of local elements of `dst`.
    pub cells: usize,
    /// Lane distances of the butterfly steps: each combines lanes `l` and `l xor distance`.
    pub shuffles: Vec<i64>,
    /// Mesh axes that are reduced through shared memory.
    pub exchanged: Vec<usize>,
    /// Mesh axes by which the positions' terms are told apart in the workspace, outermost first, with extents.
    /// Includes `exchanged`.
    pub slots: Vec<(usize, i64)>,
    /// Number of elements that one cell combines.
    pub count: i64,
}

impl ReducePlan {
    /// The plan of a reduction.
    ///
    /// # Errors
    /// A type without static positions; `dst` not distributed as `src` along the kept axes; a reduced axis
    /// split over CTAs.
    pub fn new(src: &TensorType<'_>, dst: &TensorType<'_>, axes: &[i64]) -> Result<Self, TypeError> {
        let (from, to) = (Held::of(src)?, Held::of(dst)?);
        let reduced = |axis: usize| axes.contains(&(axis as i64));
        let kept = kept_as_ones(&to, from.axes.len(), &reduced);
        let mut cell_of = Vec::with_capacity(from.local_len());
        for index in 0..from.local_len() {
            let cell = kept.local_index_for(&from, index).ok_or_else(|| {
                TypeError::new("the result of the reduction is not distributed like its operand")
                    .with_help("reshard the result after the reduction")
            })?;
            cell_of.push(cell);
        }
        let count = from.axes.iter().enumerate().filter(|(axis, _)| reduced(*axis));
        let count = count.flat_map(|(_, factors)| factors).map(|f| f.extent).product();
        let mut plan =
            Self { cell_of, cells: to.local_len(), shuffles: vec![], exchanged: vec![], slots: vec![], count };
        plan.over_positions(&from, reduced)?;
        Ok(plan)
    }

    fn over_positions(&mut self, from: &Held<'_>, reduced: impl Fn(usize) -> bool) -> Result<(), TypeError> {
        let Some(mesh) = from.mesh else { return Ok(()) };
        let positions = Positions::of(mesh)?;
        let mut kept = Vec::new();
        for (axis, factor) in from.split() {
            let Some(mesh_axis) = factor.mesh_axis.filter(|_| factor.extent > 1) else { continue };
            let place = &positions.axes[mesh_axis];
            if !place.in_cta {
                if reduced(axis) {
                    return Err(TypeError::new(format!(
                        "axis {axis} is reduced but split over CTAs by `{}`",
                        mesh.axis_name(mesh_axis)
                    ))
                    .with_help("reductions across CTAs are not built yet; split the axis over threads only"));
                }
                continue;
            }
            match (reduced(axis), butterfly(*place)) {
                (true, Some(distances)) => self.shuffles.extend(distances),
                (true, None) => {
                    self.exchanged.push(mesh_axis);
                    kept.push((mesh_axis, factor.extent));
                }
                (false, _) => kept.push((mesh_axis, factor.extent)),
            }
        }
        if !self.exchanged.is_empty() {
            kept.sort_unstable();
            self.slots = kept;
        }
        Ok(())
    }

    /// Elements of workspace that the plan needs; 0: none.
    #[must_use]
    pub fn workspace_len(&self) -> i64 {
        if self.exchanged.is_empty() {
            return 0;
        }
        self.slots.iter().map(|(_, extent)| extent).product::<i64>() * self.cells as i64
    }

    /// The workspace as a tensor of (kept…, exchanged…, cell): the elements that a position of `src`'s mesh writes, and those it reads.
    #[must_use]
    pub fn slots_of<'c>(&self, src: &Held<'c>) -> (Held<'c>, Held<'c>) {
        let is_exchanged = |slot: &&(usize, i64)| self.exchanged.contains(&slot.0);
        let kept = self.slots.iter().filter(|slot| !is_exchanged(slot));
        let order: Vec<_> = kept.chain(self.slots.iter().filter(is_exchanged)).copied().collect();
        let (mut write, mut read) = (vec![], vec![]);
        let mut stride = order.iter().map(|(_, extent)| extent).product::<i64>() * self.cells as i64;
        for slot in order {
            let (axis, extent) = slot;
            stride /= extent;
            let split = Factor { extent, step: 1, stride, mesh_axis: Some(axis) };
            write.push(vec![split]);
            read.push(vec![if is_exchanged(&&slot) { Factor { mesh_axis: None, ..split } } else { split }]);
        }
        let cell = vec![Factor { extent: self.cells as i64, step: 1, stride: 1, mesh_axis: None }];
        write.push(cell.clone());
        read.push(cell);
        (Held { axes: write, mesh: src.mesh }, Held { axes: read, mesh: src.mesh })
    }
}

/// The result with every reduced axis as an axis of 1, so that it aligns with the operand.
fn kept_as_ones<'c>(to: &Held<'c>, rank: usize, reduced: &impl Fn(usize) -> bool) -> Held<'c> {
    if to.axes.len() == rank {
        return to.clone();
    }
    let mut rest = to.axes.iter().cloned();
    let axes = (0..rank).map(|axis| if reduced(axis) { vec![] } else { rest.next().unwrap_or_default() });
    Held { axes: axes.collect(), mesh: to.mesh }
}

#[cfg(test)]
mod tests {
    use tf_value::tir::AxisPosition;

    use super::butterfly;

    #[test]
    fn lanes_of_a_warp_combine_by_xor() {
        let place = |stride, extent| AxisPosition { in_cta: true, stride, extent };
        assert_eq!(butterfly(place(1, 32)), Some(vec![1, 2, 4, 8, 16]));
        assert_eq!(butterfly(place(4, 4)), Some(vec![4, 8]));
        assert_eq!([butterfly(place(32, 4)), butterfly(place(1, 24))], [None, None]);
    }
}
