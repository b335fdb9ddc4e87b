//! What a tree of modules holds that stands at the head of its file: dim variables, meshes, and the names that are given.

use rustc_hash::FxHashSet;
use tf_core::node::constraint::{AxisConstraint, ConstraintData};
use tf_core::node::{Intrinsic, TirCallee};
use tf_core::op::{Attr, OpInstance};
use tf_core::walk::{post_order, stmt_exprs, walk_stmts};
use tf_core::{AnyFunction, Callee, Expr, ExprKind, Function, Module, PrimFunction, StmtKind};
use tf_types::{
    ComposedLayout, Dim, DimKind, DimVar, Layout, Mesh, MeshLayout, OuterLayout, ShardLayout, Symbol, TensorLayout,
    Topology, Type, TypeKind,
};

/// Everything once, in the order of the tree.
#[derive(Default)]
pub(super) struct Survey<'c> {
    pub(super) vars: Vec<DimVar<'c>>,
    pub(super) meshes: Vec<Mesh<'c>>,
    /// Names of modules, functions, methods, parameters and variables, which are no choice of the printer.
    pub(super) given: FxHashSet<Symbol<'c>>,
    pub(super) intrinsics: Vec<&'c Intrinsic<'c>>,
    /// Whether the function that is looked at is one of TIR, whose values have no constraints.
    is_prim: bool,
    dims: FxHashSet<Dim<'c>>,
    types: FxHashSet<Type<'c>>,
    ops: FxHashSet<OpInstance<'c>>,
    known_meshes: FxHashSet<Mesh<'c>>,
    known_intrinsics: FxHashSet<&'c Intrinsic<'c>>,
}

impl<'c> Survey<'c> {
    pub(super) fn new(root: Module<'c>) -> Self {
        let mut survey = Self::default();
        for module in root.tree() {
            survey.given.insert(module.name);
            survey.given.extend(module.methods.iter().map(|method| method.name));
            survey.given.extend(module.children.iter().map(|child| child.name()));
            survey.topologies(module.topologies.unwrap_or_default());
            // Instances are printed as calls of what they were made from, private callees as functions of the file.
            for callee in module.instances.iter().filter(|instance| instance.origin.is_none()) {
                callee.with_parts().for_each(|part| survey.function(part));
            }
            for &function in module.functions {
                survey.given.insert(function.name());
                match function {
                    AnyFunction::Hir(function) => function.with_parts().for_each(|part| survey.function(part)),
                    AnyFunction::Tir(function) => survey.prim_function(function),
                }
            }
        }
        survey
    }

    fn function(&mut self, function: Function<'c>) {
        self.is_prim = false;
        self.given.insert(function.name);
        if function.return_type.as_tensor().is_some() {
            self.ty(function.return_type);
        }
        self.variables(function.params);
        if let Some(body) = function.body {
            self.exprs(&[body]);
        }
    }

    fn prim_function(&mut self, function: PrimFunction<'c>) {
        self.is_prim = true;
        self.variables(function.params);
        let mut roots = Vec::new();
        walk_stmts(function.body, |stmt| {
            stmt_exprs(stmt, |expr| roots.push(expr));
            match stmt.kind {
                StmtKind::Let { var, .. } | StmtKind::For { induction: var, .. } => self.variables(&[var]),
                StmtKind::MeshScope { mesh, binding, .. } => {
                    self.given.insert(binding);
                    self.mesh(mesh);
                }
                StmtKind::Evaluate { callee: TirCallee::Op(op), .. } => self.op(op),
                StmtKind::Evaluate { callee: TirCallee::Intrinsic(intrinsic), .. } => {
                    self.given.insert(intrinsic.name);
                    if self.known_intrinsics.insert(intrinsic) {
                        self.intrinsics.push(intrinsic);
                    }
                }
                _ => {}
            }
        });
        self.exprs(&roots);
    }

    fn variables(&mut self, vars: &[Expr<'c>]) {
        for var in vars {
            self.given.extend(var.var_name());
            self.expr(*var);
        }
    }

    fn exprs(&mut self, roots: &[Expr<'c>]) {
        for expr in post_order(roots) {
            self.expr(expr);
        }
    }

    fn expr(&mut self, expr: Expr<'c>) {
        // Types of calls follow from what they take, so only those that are written count.
        match expr.kind {
            ExprKind::Var { .. } => self.ty(expr.ty()),
            ExprKind::Call { callee: Callee::Op(op), .. } => self.op(op),
            ExprKind::Grid(region) => {
                self.all_dims(&[region.start, region.stop, region.step]);
                self.given.extend(region.induction.var_name());
                self.given.extend(region.carries.iter().filter_map(|carry| carry.var_name()));
            }
            _ => {}
        }
        let has_statement = matches!(expr.kind, ExprKind::Var { .. } | ExprKind::Call { .. } | ExprKind::Grid(_));
        if let Some(constraint) = expr.meta.constraint.filter(|_| has_statement && !self.is_prim) {
            self.constraint(constraint.data());
        }
    }

    fn constraint(&mut self, constraint: &ConstraintData<'c>) {
        for axis in constraint.layout.iter().flat_map(|layout| layout.axes) {
            match *axis {
                AxisConstraint::Extent(dim) | AxisConstraint::Split(Some(dim), _) => self.dim(dim),
                AxisConstraint::Any | AxisConstraint::Split(None, _) => {}
            }
        }
        constraint.mesh.into_iter().for_each(|mesh| self.mesh(mesh));
    }

    fn op(&mut self, op: OpInstance<'c>) {
        if !self.ops.insert(op) {
            return;
        }
        for attr in op.attrs() {
            match *attr {
                Attr::Dim(dim) => self.dim(dim),
                Attr::Dims(dims) => self.all_dims(dims),
                Attr::Layout(layout) => self.layout(layout),
                Attr::Shard(shard) => self.shard(shard),
                Attr::Mesh(mesh) => self.mesh(mesh),
                Attr::Type(ty) => self.ty(ty),
                _ => {}
            }
        }
    }

    fn ty(&mut self, root: Type<'c>) {
        let mut stack = vec![root];
        while let Some(ty) = stack.pop() {
            if !self.types.insert(ty) {
                continue;
            }
            match ty.data() {
                TypeKind::Tensor(tensor) => {
                    self.all_dims(tensor.shape);
                    tensor.layout.into_iter().for_each(|layout| self.layout(layout));
                }
                TypeKind::Tuple(fields) => stack.extend(fields.iter().rev()),
                TypeKind::Unit | TypeKind::Callable { .. } => {}
            }
        }
    }

    fn layout(&mut self, layout: TensorLayout<'c>) {
        match layout {
            TensorLayout::Plain(layout) => self.strided(layout),
            TensorLayout::Composed(composed) => self.composed(composed),
            TensorLayout::Shard(shard) => self.shard(shard),
        }
    }

    fn composed(&mut self, composed: ComposedLayout<'c>) {
        composed.inner.into_iter().for_each(|layout| self.strided(layout));
        self.dim(composed.offset);
        match composed.outer {
            Some(OuterLayout::Plain(layout)) => self.strided(layout),
            Some(OuterLayout::Shard(shard)) => self.shard(shard),
            None => {}
        }
    }

    fn strided(&mut self, layout: Layout<'c>) {
        self.all_dims(layout.shape());
        self.all_dims(layout.strides().unwrap_or_default());
    }

    fn shard(&mut self, shard: ShardLayout<'c>) {
        self.strided(shard.layout);
        self.mesh(shard.mesh);
    }

    fn mesh(&mut self, mesh: Mesh<'c>) {
        if !self.known_meshes.insert(mesh) {
            return;
        }
        self.topologies(mesh.topologies);
        match mesh.layout {
            MeshLayout::Plain(layout) => self.strided(layout),
            MeshLayout::Sliced(composed) => self.composed(composed),
        }
        self.meshes.push(mesh);
    }

    fn topologies(&mut self, topologies: &[Topology<'c>]) {
        topologies.iter().filter_map(|level| level.size).for_each(|size| self.dim(size));
    }

    fn all_dims(&mut self, dims: &[Dim<'c>]) {
        dims.iter().for_each(|&dim| self.dim(dim));
    }

    fn dim(&mut self, root: Dim<'c>) {
        if root.as_const().is_some() {
            return;
        }
        let mut stack = vec![root];
        while let Some(dim) = stack.pop() {
            if !self.dims.insert(dim) {
                continue;
            }
            match *dim.data() {
                DimKind::Const(_) => {}
                DimKind::Var(var) => self.vars.push(var),
                DimKind::Op(_, a, b) => stack.extend([b, a]),
            }
        }
    }
}
