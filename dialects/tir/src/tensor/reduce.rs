//! `T.reduce`

use tf_core::op::attr::Ints;
use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_types::kinds::ReduceKind;
use tf_types::{DType, Storage, TensorType, TypeError};
use tf_value::rule::DialectBuilder;

use crate::held::Held;
use crate::rules::{same_dtype, tensor};

/// `dst = kind over axes of src`, across every position whose mesh axis splits a reduced axis; 16-bit floats
/// accumulate in f32. Reduced axes are 1 in `dst`, or left out.
#[op(dialect = "T", category = "tensor", effect)]
pub struct Reduce {
    /// What is read.
    #[input(Tensor)]
    src: (),
    /// What is written.
    #[input(Tensor)]
    dst: (),
    /// Shared memory by which warps exchange their terms.
    #[input(Tensor, optional)]
    workspace: (),
    /// Logical axes of `src`.
    axes: Ints,
    /// The reduction.
    kind: ReduceKind,
}

/// The dtype in which a reduction of `dtype` accumulates (decision 23).
#[must_use]
pub fn accumulator(dtype: DType) -> DType {
    if dtype.is_float() { DType::F32 } else { dtype }
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
            match (reduced(axis), place.butterfly()) {
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
}

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
    fn butterfly(&self) -> Option<Vec<i64>> {
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
    pub fn of(mesh: tf_types::Mesh<'_>) -> Result<Self, TypeError> {
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

/// The result with every reduced axis as an axis of 1, so that it aligns with the operand.
fn kept_as_ones<'c>(to: &Held<'c>, rank: usize, reduced: &impl Fn(usize) -> bool) -> Held<'c> {
    if to.axes.len() == rank {
        return to.clone();
    }
    let mut rest = to.axes.iter().cloned();
    let axes = (0..rank).map(|axis| if reduced(axis) { vec![] } else { rest.next().unwrap_or_default() });
    Held { axes: axes.collect(), mesh: to.mesh }
}

impl VerifyRule for Reduce {
    fn verify<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        same_dtype("T.reduce", (0, call.src()), (1, call.dst()))?;
        let (src, dst) = (tensor(0, "src", call.src())?, tensor(1, "dst", call.dst())?);
        let rank = src.rank() as i64;
        if let Some(bad) = call.axes().iter().find(|&&axis| !(0..rank).contains(&axis)) {
            return Err(RuleError::new(format!("`T.reduce` over axis {bad} of rank {rank}")));
        }
        if src.storage != Storage::Rmem {
            return Ok(());
        }
        let plan = ReducePlan::new(src, dst, call.axes())?;
        let (needed, dtype) = (plan.workspace_len(), accumulator(src.dtype));
        let workspace = call.workspace().map(|w| tensor(2, "workspace", w)).transpose()?;
        let fits = |w: &TensorType<'_>| {
            let len = w.static_shape().map(|s| s.iter().product::<i64>());
            w.storage == Storage::Smem && w.dtype == dtype && len.is_some_and(|l| l >= needed)
        };
        if needed == 0 || workspace.is_some_and(fits) {
            return Ok(());
        }
        let message = format!("`T.reduce` across warps needs a workspace of {needed} x {dtype} in smem");
        Err(match call.workspace() {
            Some(found) => RuleError::new(message).operand(2, found.ty().to_string()),
            None => RuleError::new(message),
        })
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Reduce>().verifies().done();
}
