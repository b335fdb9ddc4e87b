//! What the rules of a HIR function ask of its values.

use rustc_hash::FxHashSet;
use tf_core::walk::for_each_new;
use tf_core::{Callee, Expr, ExprKind, Function, NodeSet};
use tf_types::{DimVars, Mesh, Type};

use super::scope::mesh_of;

/// The values of a function that rules look at, from one walk over its body.
pub struct Values<'c> {
    pub loops: Vec<Expr<'c>>,
    pub variables: Vec<Expr<'c>>,
    /// With a schedule constraint; parameters count, here and below.
    pub constrained: Vec<Expr<'c>>,
    /// Calls of ops of the statement IR, which have no meaning here.
    pub statement_ops: Vec<Expr<'c>>,
    /// Each type with the first value of it.
    pub types: Vec<(Type<'c>, Expr<'c>)>,
    /// The dims of what functions return: a child's weights have some that the function itself does not know.
    pub returned: DimVars<'c>,
    /// Meshes of ops and constraints, with the value.
    pub meshes: Vec<(Mesh<'c>, Expr<'c>)>,
}

impl<'c> Values<'c> {
    pub fn of(function: Function<'c>) -> Self {
        let mut values = Self {
            loops: Vec::new(),
            variables: Vec::new(),
            constrained: Vec::new(),
            statement_ops: Vec::new(),
            types: Vec::new(),
            returned: DimVars::default(),
            meshes: Vec::new(),
        };
        let mut seen: FxHashSet<Type<'c>> = FxHashSet::default();
        let (mut last, mut last_op) = (None, None);
        let mut add = |expr: Expr<'c>, values: &mut Self| {
            // Most values have the type of the one before.
            if last != Some(expr.ty()) && seen.insert(expr.ty()) {
                values.types.push((expr.ty(), expr));
            }
            last = Some(expr.ty());
            if let Some(constraint) = expr.meta.constraint {
                values.constrained.push(expr);
                values.meshes.extend(constraint.mesh.map(|mesh| (mesh, expr)));
            }
        };
        function.params.iter().for_each(|&param| add(param, &mut values));
        for_each_new(&mut NodeSet::default(), function.data().body.as_slice(), |expr| {
            add(expr, &mut values);
            match expr.kind {
                ExprKind::Grid(_) => values.loops.push(expr),
                ExprKind::Var { .. } => values.variables.push(expr),
                ExprKind::Call { callee: Callee::Function(_), .. } => values.returned.add_type(expr.ty()),
                _ => {
                    let op = expr.op_call().map(|call| call.op);
                    if let Some(op) = op.filter(|_| op != last_op) {
                        if op.decl.name.dialect == "T" {
                            values.statement_ops.push(expr);
                        }
                        values.meshes.extend(op.attrs().iter().filter_map(|&attr| Some((mesh_of(attr)?, expr))));
                    }
                    last_op = op;
                }
            }
        });
        values
    }
}
