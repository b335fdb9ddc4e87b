//! What is visible at a statement.

use rustc_hash::FxHashSet;
use tf_core::op::{Attr, OpInstance};
use tf_core::{Context, Expr, PrimFunction};
use tf_types::{Mesh, TensorLayout};

/// The variables and meshes in scope.
pub struct Scope<'c> {
    /// Bound here.
    pub variables: FxHashSet<Expr<'c>>,
    /// Open meshes, outermost first.
    pub meshes: Vec<Mesh<'c>>,
    /// Meshes that parameters are placed on.
    signature: FxHashSet<Mesh<'c>>,
}

impl<'c> Scope<'c> {
    /// The scope around a function's body, without its parameters' variables.
    pub fn new(function: PrimFunction<'c>) -> Self {
        let leaves = function.params.iter().flat_map(|param| param.ty().leaves());
        let signature = leaves.filter_map(|tensor| tensor.shard()).map(|shard| shard.mesh).collect();
        Self { variables: FxHashSet::default(), meshes: Vec::new(), signature }
    }

    /// The meshes of the placements among an op's attributes that are not open.
    pub fn closed_meshes(&self, cx: &Context<'c>, op: OpInstance<'c>) -> Vec<Mesh<'c>> {
        let mut closed = Vec::new();
        for attr in op.attrs() {
            let mesh = mesh_of(*attr).filter(|_| !matches!(attr, Attr::Mesh(_)));
            closed.extend(mesh.filter(|&mesh| !self.is_open(cx, mesh) && !closed.contains(&mesh)));
        }
        closed
    }

    /// The threads of a CTA, by the innermost open mesh that has some.
    pub fn threads(&self) -> Option<i64> {
        let levels = self.meshes.iter().rev().flat_map(|mesh| mesh.topologies);
        levels.filter(|level| level.name.as_str() == "thread").find_map(|level| level.size?.as_const())
    }

    /// The open meshes, for notes.
    pub fn describe_meshes(&self) -> String {
        if self.meshes.is_empty() {
            return "no mesh is open".to_owned();
        }
        let open: Vec<_> = self.meshes.iter().map(|mesh| mesh.to_string()).collect();
        format!("open: {}", open.join(", "))
    }

    fn is_open(&self, cx: &Context<'c>, mesh: Mesh<'c>) -> bool {
        // Names of axes are the author's: fragments of an instruction have none.
        let has_its_positions = |open: Mesh<'c>| open.topologies == mesh.topologies && open.layout == mesh.layout;
        // A placement over several levels composes open meshes, outer ones first.
        let count = self.meshes.len();
        let mut runs = (0..count).flat_map(|from| (from + 1..=count).map(move |to| from..to));
        self.signature.contains(&mesh) || runs.any(|run| cx.composed(&self.meshes[run]).is_ok_and(has_its_positions))
    }
}

/// The mesh of an attribute that has one.
pub fn mesh_of(attr: Attr<'_>) -> Option<Mesh<'_>> {
    match attr {
        Attr::Mesh(mesh) => Some(mesh),
        Attr::Shard(shard) | Attr::Layout(TensorLayout::Shard(shard)) => Some(shard.mesh),
        Attr::Layout(TensorLayout::Composed(composed)) => composed.shard().map(|shard| shard.mesh),
        Attr::Type(ty) => ty.as_tensor().and_then(|tensor| tensor.shard()).map(|shard| shard.mesh),
        _ => None,
    }
}
