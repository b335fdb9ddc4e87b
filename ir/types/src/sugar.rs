//! Placement sugar: `(16 @ m.w, 64 @ (m.a, m.b))`.

use crate::shard::ShardAttr;
use crate::size::same_element_count;
use crate::{Dim, DimTuple, Mesh, ShardLayout, Symbol, TypeContext, TypeError};

/// A placement as written, names resolved to meshes and axis numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacementSugar<'c> {
    /// The axis tuple.
    pub axes: Vec<SugarAxis<'c>>,
    /// Explicit strides, one per written axis: then nothing is factored.
    pub strides: Option<Vec<Dim<'c>>>,
    /// `{mesh.axis @ P("reduction")}`: mesh, axis number, reduction.
    pub partials: Vec<(Mesh<'c>, usize, Symbol<'c>)>,
}

/// One item of the axis tuple: `extent`, `extent @ m.a` or `extent @ (m.a, m.b)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SugarAxis<'c> {
    /// The extent before `@`.
    pub extent: Dim<'c>,
    /// Mesh and axis number of each split, in the written order.
    pub splits: Vec<(Mesh<'c>, usize)>,
}

/// The mesh that a placement lies on and how written mesh axes number in it.
struct Binding<'c> {
    mesh: Mesh<'c>,
    /// Each named mesh and the number of its first axis.
    first_axes: Vec<(Mesh<'c>, usize)>,
    attrs: Vec<ShardAttr<'c>>,
}

impl<'c> Binding<'c> {
    fn bind(&mut self, (mesh, axis): (Mesh<'c>, usize), attr: ShardAttr<'c>) -> Result<(), TypeError> {
        if axis >= mesh.rank() {
            return Err(TypeError::new(format!("mesh axis number {axis} of a mesh of {} axes", mesh.rank())));
        }
        let first = self.first_axes.iter().find(|f| f.0 == mesh).map_or(0, |f| f.1);
        let slot = &mut self.attrs[first + axis];
        if *slot != ShardAttr::Broadcast {
            return Err(TypeError::new(format!(
                "mesh axis `{}` is bound twice in one placement",
                mesh.axis_name(axis)
            ))
            .with_help("a mesh axis splits one axis, or holds terms"));
        }
        *slot = attr;
        Ok(())
    }
}

impl<'c> TypeContext<'c> {
    /// The placement that sugar stands for. `enclosing` holds the mesh scopes, outermost first; where
    /// `logical_shape` is given, the placement must hold as many elements. Strides that are not written stay absent.
    ///
    /// # Errors
    /// A mesh that does not enclose, no mesh at all, meshes that cannot be composed, an axis bound twice, an extent
    /// that a mesh axis does not divide, a symbolic extent that is not the mesh extent, strides of another length,
    /// another element count.
    pub fn place(
        &self,
        sugar: &PlacementSugar<'c>,
        enclosing: &[Mesh<'c>],
        logical_shape: Option<&[Dim<'c>]>,
    ) -> Result<ShardLayout<'c>, TypeError> {
        if let Some(strides) = &sugar.strides
            && strides.len() != sugar.axes.len()
        {
            return Err(TypeError::new(format!(
                "a placement of {} axes has {} strides",
                sugar.axes.len(),
                strides.len()
            )));
        }
        let mut binding = self.binding(sugar, enclosing)?;
        let mut shape = Vec::with_capacity(sugar.axes.len());
        for (number, axis) in sugar.axes.iter().enumerate() {
            let extent = self.simplify(axis.extent);
            if sugar.strides.is_some() {
                verbatim(number, extent, &axis.splits)?;
                for &split in &axis.splits {
                    binding.bind(split, ShardAttr::Split(shape.len() as u32))?;
                }
                shape.push(extent);
                continue;
            }
            let mut rest = extent;
            for &(mesh, mesh_axis) in &axis.splits {
                binding.bind((mesh, mesh_axis), ShardAttr::Split(shape.len() as u32))?;
                rest = self.split_evenly(number, rest, extent, mesh, mesh_axis)?;
                shape.push(mesh.extents()[mesh_axis]);
            }
            // One mesh axis drops a remainder of 1, several keep it.
            if axis.splits.len() != 1 || rest != self.dim(1) {
                shape.push(rest);
            }
        }
        for &(mesh, axis, reduction) in &sugar.partials {
            binding.bind((mesh, axis), ShardAttr::Partial(reduction))?;
        }
        if let Some(logical) = logical_shape
            && !same_element_count(&shape, logical)
        {
            return Err(TypeError::new(format!(
                "placement {} has {} elements, but the value {} has {}",
                DimTuple(&shape),
                self.product(&shape),
                DimTuple(logical),
                self.product(logical)
            ))
            .with_help("the extents of a placement multiply to those of the value"));
        }
        let layout = self.layout(&shape, sugar.strides.as_deref().map(|s| self.normal_dims(s)));
        Ok(self.shard_layout(layout, &binding.attrs, binding.mesh))
    }

    /// The mesh of the placement: the named scopes composed outermost first, else the innermost scope.
    fn binding(&self, sugar: &PlacementSugar<'c>, enclosing: &[Mesh<'c>]) -> Result<Binding<'c>, TypeError> {
        let named: Vec<Mesh<'c>> = sugar
            .axes
            .iter()
            .flat_map(|axis| axis.splits.iter().map(|s| s.0))
            .chain(sugar.partials.iter().map(|p| p.0))
            .collect();
        if let Some(mesh) = named.iter().find(|mesh| !enclosing.contains(mesh)) {
            return Err(TypeError::new(format!("{mesh} is not an enclosing mesh scope"))
                .with_help("open it with `with ... as m:` around this value"));
        }
        let mut used: Vec<Mesh<'c>> = Vec::new();
        for mesh in enclosing {
            if named.contains(mesh) && !used.contains(mesh) {
                used.push(*mesh);
            }
        }
        if used.is_empty() {
            let innermost = enclosing.last().ok_or_else(|| {
                TypeError::new("a placement needs an enclosing mesh scope")
                    .with_help("write it inside `with Mesh(...) as m:`")
            })?;
            used.push(*innermost);
        }
        let mesh = self.composed(&used)?;
        let mut first_axes = Vec::with_capacity(used.len());
        let mut next = 0;
        for part in used {
            first_axes.push((part, next));
            next += part.rank();
        }
        Ok(Binding { mesh, first_axes, attrs: vec![ShardAttr::Broadcast; mesh.rank()] })
    }

    /// What remains of `rest` after a split over that mesh axis.
    fn split_evenly(
        &self,
        number: usize,
        rest: Dim<'c>,
        whole: Dim<'c>,
        mesh: Mesh<'c>,
        mesh_axis: usize,
    ) -> Result<Dim<'c>, TypeError> {
        let parts = self.simplify(mesh.extents()[mesh_axis]);
        match (rest.as_const(), parts.as_const()) {
            _ if rest == parts => Ok(self.dim(1)),
            (Some(held), Some(count)) if count > 0 && held % count == 0 => Ok(self.dim(held / count)),
            (Some(_), Some(_)) => Err(not_divided(number, whole, rest, mesh, mesh_axis)),
            _ => Err(undecided(number, whole, mesh, mesh_axis)),
        }
    }
}

fn not_divided(number: usize, whole: Dim<'_>, rest: Dim<'_>, mesh: Mesh<'_>, mesh_axis: usize) -> TypeError {
    let of_whole = if rest == whole { String::new() } else { format!(", of which {rest} remain,") };
    TypeError::new(format!(
        "axis {number} of extent {whole}{of_whole} is not divisible by {}, the extent of mesh axis `{}`",
        mesh.extents()[mesh_axis],
        mesh.axis_name(mesh_axis)
    ))
    .with_help("every position holds as many elements: take an extent that is a multiple, or another mesh axis")
}

fn undecided(number: usize, whole: Dim<'_>, mesh: Mesh<'_>, mesh_axis: usize) -> TypeError {
    TypeError::new(format!(
        "axis {number} of extent {whole} cannot be split over mesh axis `{}` of extent {}: a symbolic extent splits \
         only over a mesh axis of the same dim",
        mesh.axis_name(mesh_axis),
        mesh.extents()[mesh_axis]
    ))
    .with_help("leave the axis whole, or give the mesh axis that extent")
}

/// Checks an axis that keeps its written extent.
fn verbatim<'c>(number: usize, extent: Dim<'c>, splits: &[(Mesh<'c>, usize)]) -> Result<(), TypeError> {
    let &[(mesh, mesh_axis)] = splits else {
        if splits.is_empty() {
            return Ok(());
        }
        return Err(TypeError::new(format!(
            "axis {number} is split over {} mesh axes, which cannot be factored where strides are written",
            splits.len()
        ))
        .with_help("write one axis and one stride per mesh axis"));
    };
    let Some(&parts) = mesh.extents().get(mesh_axis) else { return Ok(()) };
    match (extent.as_const(), parts.as_const()) {
        _ if extent == parts => Ok(()),
        (Some(held), Some(count)) if count > 0 && held % count == 0 => Ok(()),
        (Some(_), Some(_)) => Err(not_divided(number, extent, extent, mesh, mesh_axis)),
        _ => Err(undecided(number, extent, mesh, mesh_axis)),
    }
}
