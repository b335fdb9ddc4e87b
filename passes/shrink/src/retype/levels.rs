//! Fewer positions.

use std::ops::Range;

use tf_core::node::{HeaderSpans, ModuleData};
use tf_core::{Context, Module, Result};
use tf_types::{Dim, Mesh, MeshLayout, Symbol, Topology, TypeError};

use super::{Map, Rule, mapped};
use crate::module::edited;
use crate::{ModuleReduction, OnModule, Reduction};

/// How many positions of a level are left.
#[derive(Clone, Copy, Debug)]
enum To {
    One,
    Half,
}

impl To {
    fn of(self, size: i64) -> Option<i64> {
        match self {
            Self::One => (size > 1).then_some(1),
            Self::Half => (size > 2 && size % 2 == 0).then_some(size / 2),
        }
    }
}

/// A level with fewer positions.
pub(super) struct Level<'c> {
    name: Symbol<'c>,
    to: To,
}

impl<'c> Level<'c> {
    fn topologies(&self, cx: &Context<'c>, topologies: &[Topology<'c>]) -> Result<Vec<Topology<'c>>, TypeError> {
        let shrunk = |topology: &Topology<'c>| {
            let size = topology.size.filter(|_| topology.name == self.name);
            let Some(size) = size else { return Ok(*topology) };
            let new = size.as_const().and_then(|size| self.to.of(size));
            let new = new.ok_or_else(|| TypeError::new("a level keeps its size"))?;
            Ok(Topology { name: topology.name, size: Some(cx.dim(new)) })
        };
        topologies.iter().map(shrunk).collect()
    }

    /// The mesh on what is left: axes over the level have one coordinate, or the innermost even one has half of them.
    pub fn mesh(&self, cx: &Context<'c>, mesh: Mesh<'c>) -> Result<Mesh<'c>, TypeError> {
        let Some(level) = mesh.topology_names().position(|name| name == self.name) else { return Ok(mesh) };
        let refused = || TypeError::new("the mesh counts its positions in no plain order");
        let mut extents: Vec<Dim<'c>> = mesh.extents().to_vec();
        if mesh.is_sliced() || mesh.strides() != cx.try_c_order_strides(&extents).as_deref() {
            return Err(refused());
        }
        let axes: Vec<usize> = mesh
            .axis_levels()?
            .into_iter()
            .enumerate()
            .filter(|(_, own)| *own == level)
            .map(|(axis, _)| axis)
            .collect();
        match self.to {
            To::One => axes.iter().for_each(|&axis| extents[axis] = cx.dim(1)),
            To::Half => {
                let is_even = |axis: &usize| extents[*axis].as_const().is_some_and(|extent| extent % 2 == 0);
                let axis = axes.into_iter().rev().find(is_even).ok_or_else(refused)?;
                extents[axis] = cx.dim(extents[axis].as_const().unwrap_or(1) / 2);
            }
        }
        let strides = cx.try_c_order_strides(&extents).ok_or_else(refused)?;
        let layout = MeshLayout::Plain(cx.layout(cx.dims(&extents), Some(cx.dims(&strides))));
        Ok(cx.mesh(&self.topologies(cx, mesh.topologies)?, layout, mesh.names))
    }
}

/// Levels that modules declare get fewer positions, everywhere at once: a place is a level.
struct Levels(To);

/// The levels that a tree declares, each once.
fn declared<'c>(module: Module<'c>, to: To) -> Vec<Symbol<'c>> {
    let mut found = Vec::new();
    for topology in module.tree().iter().flat_map(|module| module.topologies.unwrap_or_default()) {
        let shrinks = topology.size.and_then(Dim::as_const).is_some_and(|size| to.of(size).is_some());
        if shrinks && !found.contains(&topology.name) {
            found.push(topology.name);
        }
    }
    found
}

impl ModuleReduction for Levels {
    fn name(&self) -> &'static str {
        "levels"
    }

    fn places<'c>(&self, _: &Context<'c>, module: Module<'c>) -> usize {
        declared(module, self.0).len()
    }

    fn apply<'c>(&self, cx: &Context<'c>, module: Module<'c>, places: Range<usize>) -> Result<Module<'c>> {
        let mut module = module;
        for name in declared(module, self.0)[places].to_vec() {
            let level = Level { name, to: self.0 };
            let sized = edited(cx, module, &mut |_, data| {
                let topologies = level.topologies(cx, data.topologies?).ok()?;
                let topologies = Some(cx.topologies(&topologies));
                Some(ModuleData { topologies, header: HeaderSpans::default(), ..data })
            });
            module = mapped(cx, sized, Map(Rule::Level(level)))?;
        }
        Ok(module)
    }
}

/// To one position, then by halves.
pub(super) fn reductions() -> impl Iterator<Item = Box<dyn Reduction>> {
    [To::One, To::Half].into_iter().map(|to| Box::new(OnModule(Levels(to))) as Box<dyn Reduction>)
}

#[cfg(test)]
mod tests {
    use super::{Levels, To};
    use crate::OnModule;
    use crate::testing::{check, reduced};

    /// A program on two threads meshes of `w * l` positions, whose results are terms of a sum or parts.
    fn program(w: i64, l: i64) -> String {
        let (all, rows, parts) = (w * l, 8 / w, 8 / l);
        format!(
            r#"#grid = mesh<[thread = {all}], ({w}, {l}):({l}, 1), [w, l]>
#parts = shard<({w}, {rows}, {l}, {parts}):({}, 8, {parts}, 1), [S(0), S(2)], #grid>
module @m topology(thread = {all}) {{ hir.func @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32, #parts> {{
  %0 = tf.reshard %x {{layout = #parts}} : (tensor<8x8xf32>) -> tensor<8x8xf32, #parts>
  %1 = tf.unary %0 {{kind = "exp"}} : (tensor<8x8xf32, #parts>) -> tensor<8x8xf32, #parts>
  hir.return %1 }} }}"#,
            rows * 8
        )
    }

    #[test]
    fn levels_shrink_with_all_that_lies_on_them() {
        check(&OnModule(Levels(To::Half)), &program(2, 4), 0..1, 1, &program(2, 2));
        check(&OnModule(Levels(To::Half)), &program(4, 1), 0..1, 1, &program(2, 1));
        let (count, after) = reduced(&OnModule(Levels(To::One)), &program(2, 4), 0..1);
        let after = after.expect("it is reduced");
        assert!(count == 1 && after.contains("topology(thread = 1)") && after.contains("(1, 1):(1, 1)"), "{after}");
        assert_eq!(reduced(&OnModule(Levels(To::One)), &program(1, 1), 0..0).0, 0);
    }
}
