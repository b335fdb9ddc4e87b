//! Which dim variables a type has.

use rustc_hash::FxHashSet;

use crate::dim::{DimKind, DimVar};
use crate::layout::OuterLayout;
use crate::mesh::MeshLayout;
use crate::{ComposedLayout, Dim, Layout, Mesh, ShardLayout, TensorLayout, TensorType, Type, TypeKind};

/// Collects dim variables in order of first appearance.
#[derive(Debug, Default)]
pub struct DimVars<'c> {
    variables: Vec<DimVar<'c>>,
    known: FxHashSet<DimVar<'c>>,
}

impl<'c> DimVars<'c> {
    /// The variables found so far.
    #[must_use]
    pub fn as_slice(&self) -> &[DimVar<'c>] {
        &self.variables
    }

    /// Adds a variable.
    pub fn add_dim_var(&mut self, var: DimVar<'c>) {
        if self.known.insert(var) {
            self.variables.push(var);
        }
    }

    /// Adds the variables of a dim.
    pub fn add_dim(&mut self, dim: Dim<'c>) {
        let mut seen = FxHashSet::default();
        let mut stack = vec![dim];
        while let Some(dim) = stack.pop() {
            match *dim.data() {
                DimKind::Const(_) => {}
                DimKind::Var(var) => self.add_dim_var(var),
                DimKind::Op(_, a, b) if seen.insert(dim) => stack.extend([b, a]),
                DimKind::Op(..) => {}
            }
        }
    }

    fn add_layout(&mut self, layout: Layout<'c>) {
        layout.shape().iter().chain(layout.strides().unwrap_or_default()).for_each(|&d| self.add_dim(d));
    }

    fn add_composed(&mut self, composed: ComposedLayout<'c>) {
        composed.inner.into_iter().for_each(|layout| self.add_layout(layout));
        self.add_dim(composed.offset);
        match composed.outer {
            Some(OuterLayout::Plain(layout)) => self.add_layout(layout),
            Some(OuterLayout::Shard(shard)) => self.add_shard(shard),
            None => {}
        }
    }

    /// Adds the variables of a mesh and its levels.
    pub fn add_mesh(&mut self, mesh: Mesh<'c>) {
        mesh.topologies.iter().filter_map(|t| t.size).for_each(|size| self.add_dim(size));
        match mesh.layout {
            MeshLayout::Plain(layout) => self.add_layout(layout),
            MeshLayout::Sliced(composed) => self.add_composed(composed),
        }
    }

    /// Adds the variables of a placement.
    pub fn add_shard(&mut self, shard: ShardLayout<'c>) {
        self.add_layout(shard.layout);
        self.add_mesh(shard.mesh);
    }

    /// Adds the variables of a tensor type: of its shape first.
    pub fn add_tensor(&mut self, tensor: &TensorType<'c>) {
        tensor.shape.iter().for_each(|&d| self.add_dim(d));
        match tensor.layout {
            Some(TensorLayout::Plain(layout)) => self.add_layout(layout),
            Some(TensorLayout::Composed(composed)) => self.add_composed(composed),
            Some(TensorLayout::Shard(shard)) => self.add_shard(shard),
            None => {}
        }
    }

    /// Adds the variables of a type.
    pub fn add_type(&mut self, ty: Type<'c>) {
        match *ty.data() {
            TypeKind::Tensor(ref tensor) => self.add_tensor(tensor),
            TypeKind::Tuple(fields) => fields.iter().for_each(|&f| self.add_type(f)),
            TypeKind::Unit => {}
            TypeKind::Callable { params, result } => {
                params.iter().for_each(|&p| self.add_type(p));
                self.add_type(result);
            }
        }
    }
}

impl<'c> Type<'c> {
    /// The dim variables of a type in order of first appearance.
    #[must_use]
    pub fn dim_vars(self) -> Vec<DimVar<'c>> {
        let mut vars = DimVars::default();
        vars.add_type(self);
        vars.variables
    }

    /// Whether no dim variable occurs.
    #[must_use]
    pub fn is_concrete(self) -> bool {
        self.dim_vars().is_empty()
    }
}
