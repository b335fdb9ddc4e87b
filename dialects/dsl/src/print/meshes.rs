//! Meshes: whole ones are variables of the file, slices are subscripts of those.

use tf_core::{Diagnostic, Result, Target, TargetKind};
use tf_types::{Mesh, MeshKey, MeshLayout, OuterLayout, Topology};

use super::Printer;
use super::doc::Doc;
use super::python::string;
use super::survey::Survey;

impl<'c> Printer<'_, 'c> {
    /// Names the meshes of the tree; the whole ones, in order.
    pub(super) fn name_meshes(&mut self, survey: &Survey<'c>) -> Result<Vec<Mesh<'c>>> {
        let mut meshes = Vec::new();
        for &mesh in &survey.meshes {
            let whole = match mesh.layout {
                MeshLayout::Plain(_) => mesh,
                MeshLayout::Sliced(_) => self.whole(mesh)?.0,
            };
            if !meshes.contains(&whole) {
                self.file.name_mesh(self.cx, whole);
                meshes.push(whole);
            }
        }
        Ok(meshes)
    }

    /// The definition of a mesh as a variable of the file.
    pub(super) fn mesh_definition(&mut self, mesh: Mesh<'c>) -> Result<Doc> {
        let name = self.file.mesh(mesh).unwrap_or_default();
        Ok(Doc::Seq(vec![format!("{name} = ").into(), self.mesh_value(mesh)?]))
    }

    /// `Mesh((Topology("thread", 192),), Layout((6, 32), (32, 1)), names=("w", "t"))`
    fn mesh_value(&mut self, mesh: Mesh<'c>) -> Result<Doc> {
        let refuse = |why: &str| Err(Diagnostic::error(format!("the DSL has no mesh {why}: {mesh}")));
        let MeshLayout::Plain(layout) = mesh.layout else { return refuse("of that form") };
        if layout.strides().is_none() {
            return refuse("without strides");
        }
        if layout.rank() == 0 || mesh.topologies.is_empty() {
            return refuse("without axes or levels");
        }
        let mut parts = vec![self.topologies(mesh.topologies)?, self.strided(layout)?];
        if !mesh.names.is_empty() {
            let names = mesh.names.iter().map(|name| string(name.as_str()).into()).collect();
            parts.push(Doc::keyword("names", Doc::tuple(names)));
        }
        Ok(Doc::call(self.file.import("Mesh"), parts))
    }

    /// `(Topology("cta", 4), Topology("thread", None))`
    pub(super) fn topologies(&mut self, topologies: &[Topology<'c>]) -> Result<Doc> {
        let levels = topologies.iter().map(|level| {
            let size = match level.size {
                Some(size) => self.dim(size)?,
                None => "None".to_owned(),
            };
            Ok(Doc::call(self.file.import("Topology"), vec![string(level.name.as_str()).into(), size.into()]))
        });
        Ok(Doc::tuple(levels.collect::<Result<Vec<_>>>()?))
    }

    /// A mesh by its name, or as a slice of a named one.
    pub(super) fn mesh(&mut self, mesh: Mesh<'c>) -> Result<String> {
        if let Some(open) = self.open_mesh_name(mesh) {
            return Ok(open);
        }
        if let MeshLayout::Plain(_) = mesh.layout {
            return Ok(self.file.mesh(mesh).unwrap_or_default());
        }
        let (whole, keys) = self.whole(mesh)?;
        let keys: Vec<_> = keys.iter().map(key).collect();
        let name = self.open_mesh_name(whole);
        let name = name.or_else(|| self.file.mesh(whole)).unwrap_or_default();
        Ok(format!("{name}[{}]", keys.join(", ")))
    }

    /// A mesh of which this one is a slice: with the extents that its strides and levels tell, else with the least.
    fn whole(&self, mesh: Mesh<'c>) -> Result<(Mesh<'c>, Vec<MeshKey>)> {
        let refuse = || Diagnostic::error(format!("the DSL has slices of a whole mesh only, found {mesh}"));
        let parts = || {
            let MeshLayout::Sliced(composed) = mesh.layout else { return None };
            let (Some(OuterLayout::Plain(outer)), None) = (composed.outer, composed.inner) else { return None };
            Some((composed.offset.as_const()?, outer.static_shape()?, outer.static_strides()?))
        };
        let (offset, selected, strides) = parts().ok_or_else(refuse)?;
        let mut axes: Vec<usize> = (0..strides.len()).collect();
        axes.sort_by_key(|&axis| std::cmp::Reverse(strides[axis]));
        let sizes = mesh.topologies.iter().map(|level| level.size?.as_const());
        let total = sizes.collect::<Option<Vec<_>>>().map(|sizes| sizes.iter().product::<i64>());
        let (mut starts, mut extents) = (vec![0; strides.len()], selected.clone());
        let mut rest = offset;
        let mut above = total;
        for axis in axes {
            let stride = strides[axis];
            if stride <= 0 {
                continue;
            }
            starts[axis] = rest / stride;
            rest %= stride;
            let least = starts[axis] + selected[axis];
            extents[axis] = above.map_or(least, |above| above / stride).max(least);
            above = Some(stride);
        }
        let layout = self.cx.layout(self.cx.const_dims(&extents), Some(self.cx.const_dims(&strides)));
        let whole = self.cx.mesh(mesh.topologies, MeshLayout::Plain(layout), mesh.names);
        let axes = starts.iter().zip(&selected).zip(&extents);
        let keys: Vec<_> = axes
            .map(|((&start, &count), &extent)| match (start, count) {
                (0, count) if count == extent => MeshKey::Slice(None, None, None),
                (start, 1) => MeshKey::Index(start),
                (start, count) => MeshKey::Slice(Some(start), Some(start + count), None),
            })
            .collect();
        match self.cx.slice_mesh(whole, &keys) {
            Ok(slice) if slice == mesh => Ok((whole, keys)),
            _ => Err(refuse()),
        }
    }

    /// `CudaTarget("nvidia.h200_sxm")`
    pub(super) fn target(&mut self, target: Target<'c>) -> Doc {
        let name = match target.kind {
            TargetKind::Cuda => "CudaTarget",
            TargetKind::Cpu => "CpuTarget",
            TargetKind::Amx => "AmxTarget",
        };
        let device = match target.kind {
            TargetKind::Cpu => Vec::new(),
            TargetKind::Cuda | TargetKind::Amx => vec![string(target.device.as_str()).into()],
        };
        Doc::call(self.file.import(name), device)
    }
}

fn key(key: &MeshKey) -> String {
    match *key {
        MeshKey::Index(at) => at.to_string(),
        MeshKey::Slice(start, stop, _) => {
            let bound = |bound: Option<i64>| bound.map(|value| value.to_string()).unwrap_or_default();
            format!("{}:{}", bound(start), bound(stop))
        }
    }
}
