//! What a function reaches: called functions and dim variables.

use rustc_hash::FxHashSet;
use tf_types::{DType, DimVar, DimVars, Storage, TensorLayout, TensorType};

use crate::node::{AnyFunction, Callee, ExprKind, Function};
use crate::op::Attr;
use crate::walk::post_order;

impl AnyFunction<'_> {
    /// Whether it calls a function or was made from one.
    #[must_use]
    pub fn refers(self) -> bool {
        match self {
            Self::Hir(function) => function.origin.is_some() || function.calls_functions(),
            Self::Tir(_) => false,
        }
    }
}

impl<'c> Function<'c> {
    /// The functions that its own body, variants and converters call, each once, in order of first appearance.
    #[must_use]
    pub fn callees(self) -> Vec<Function<'c>> {
        let mut seen = FxHashSet::default();
        let bodies: Vec<_> = self.bodies().filter(|body| body.calls_functions).collect();
        let called = post_order(&bodies).into_iter().filter_map(|expr| match expr.kind {
            ExprKind::Call { callee: Callee::Function(callee), .. } => Some(callee),
            _ => None,
        });
        called.filter(|&callee| seen.insert(callee)).collect()
    }

    /// Whether [`Function::callees`] names any; no walk.
    #[must_use]
    pub fn calls_functions(self) -> bool {
        self.bodies().any(|body| body.calls_functions)
    }

    /// The dim variables of its signature, body, attributes, loop bounds, variants and callees, by name.
    #[must_use]
    pub fn dim_vars_reached(self) -> Vec<DimVar<'c>> {
        let mut found = DimVars::default();
        for function in with_callees(&[self]) {
            own_dim_vars(function, &mut found);
        }
        let mut vars = found.as_slice().to_vec();
        vars.sort_by_key(|var| (var.name.as_str(), var.lo, var.hi));
        vars
    }

    /// The names of dim variables that have no value yet.
    #[must_use]
    pub fn residual_dims(self) -> Vec<tf_types::Symbol<'c>> {
        let mut names: Vec<_> = self.dim_vars_reached().into_iter().map(|var| var.name).collect();
        names.dedup();
        names
    }

    /// Whether no dim variable is left anywhere.
    #[must_use]
    pub fn is_concrete(self) -> bool {
        self.dim_vars_reached().is_empty()
    }
}

/// The functions and all that they call, callees first.
#[must_use]
pub fn with_callees<'c>(roots: &[Function<'c>]) -> Vec<Function<'c>> {
    closure(roots, Function::callees)
}

/// The functions, all that they call, and what those were made from, callees and origins first.
#[must_use]
pub fn with_origins<'c>(roots: &[Function<'c>]) -> Vec<Function<'c>> {
    closure(roots, |function| {
        let mut below = function.callees();
        below.extend(function.origin_of());
        below
    })
}

fn closure<'c>(roots: &[Function<'c>], below: impl Fn(Function<'c>) -> Vec<Function<'c>>) -> Vec<Function<'c>> {
    let mut order = Vec::new();
    let mut seen = FxHashSet::default();
    let mut stack: Vec<_> = roots.iter().rev().map(|&root| (root, false)).collect();
    while let Some((function, callees_done)) = stack.pop() {
        if callees_done {
            order.push(function);
        } else if seen.insert(function) {
            stack.push((function, true));
            let first = stack.len();
            stack.extend(below(function).into_iter().map(|callee| (callee, false)));
            stack[first..].reverse();
        }
    }
    order
}

fn own_dim_vars<'c>(function: Function<'c>, found: &mut DimVars<'c>) {
    for part in std::iter::once(function).chain(function.data().variants.iter().copied()) {
        part.params.iter().for_each(|param| found.add_type(param.ty()));
        found.add_type(part.return_type);
        for expr in post_order(&part.body.into_iter().collect::<Vec<_>>()) {
            found.add_type(expr.ty());
            match expr.kind {
                ExprKind::Call { callee: Callee::Op(op), .. } => {
                    op.attrs().iter().for_each(|&attr| attribute(attr, found));
                }
                ExprKind::Grid(region) => {
                    [region.start, region.stop, region.step].into_iter().for_each(|dim| found.add_dim(dim));
                    region.carries.iter().for_each(|carry| found.add_type(carry.ty()));
                }
                _ => {}
            }
        }
    }
}

fn attribute<'c>(attr: Attr<'c>, found: &mut DimVars<'c>) {
    let mut layout = |layout: TensorLayout<'c>| {
        let (shape, dtype, storage) = (&[][..], DType::Bool, Storage::Umat);
        found.add_tensor(&TensorType { shape, dtype, layout: Some(layout), storage });
    };
    match attr {
        Attr::Dim(dim) => found.add_dim(dim),
        Attr::Dims(dims) => dims.iter().for_each(|&dim| found.add_dim(dim)),
        Attr::Layout(value) => layout(value),
        Attr::Shard(shard) => layout(TensorLayout::Shard(shard)),
        Attr::Mesh(mesh) => found.add_mesh(mesh),
        Attr::Type(ty) => found.add_type(ty),
        Attr::None
        | Attr::Bool(_)
        | Attr::Int(_)
        | Attr::Float(_)
        | Attr::Str(_)
        | Attr::Enum(_)
        | Attr::DType(_)
        | Attr::Storage(_)
        | Attr::Ints(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tf_types::{Arena, DType};

    use crate::Context;
    use crate::node::{Callee, ExprKind, FunctionData, GridRegion, Meta};
    use crate::op::OpRegistryBuilder;

    #[test]
    fn a_call_is_found_through_tuples_and_loops() {
        let arena = Arena::new();
        let cx = &Context::new(&arena, Arc::new(OpRegistryBuilder::default().freeze().expect("empty registry")));
        let ty = cx.scalar(DType::F32);
        let params = cx.alloc_slice(&[cx.var(cx.symbol("x"), ty, Meta::default())]);
        let g = cx.function(FunctionData::new(cx.symbol("g"), params, params[0], ty));
        let call = cx.expr(ExprKind::Call { callee: Callee::Function(g), args: params }, ty, Meta::default());
        let tuple = cx.expr(ExprKind::Tuple(cx.alloc_slice(&[call])), cx.tuple(&[ty]), Meta::default());
        let region = GridRegion {
            induction: cx.var(cx.symbol("i"), cx.scalar(DType::I64), Meta::default()),
            carries: &[],
            inits: &[],
            yields: &[],
            body: Some(tuple),
            start: cx.dim(0),
            stop: cx.dim(2),
            step: cx.dim(1),
        };
        let grid = cx.grid(region, tuple.ty(), Meta::default());
        let function = |body| cx.function(FunctionData::new(cx.symbol("f"), params, body, ty)).callees();
        assert_eq!((function(grid), function(params[0])), (vec![g], vec![]));
        assert!(grid.calls_functions && !params[0].calls_functions);
    }
}
