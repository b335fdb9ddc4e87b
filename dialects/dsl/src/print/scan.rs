//! What is known of a body before its first line is printed: names that are taken, values that need no line.

use tf_core::node::GridRegion;
use tf_core::op::{Attr, OpView};
use tf_core::walk::{Schedule, operands};
use tf_core::{Callee, Diagnostic, Expr, ExprKind, Literal, NodeSet, Result};
use tf_types::{DType, Mesh, ShardAttr, Storage, TensorLayout};

use super::Printer;
use super::scope::LiteralKey;

/// Loops inside loops; the reader has the same limit.
const LOOPS: usize = 32;

/// Whether a call is of that op.
pub(super) fn is_op(call: OpView<'_>, dialect: &str, name: &str) -> bool {
    (call.op.decl.name.dialect, call.op.decl.name.name) == (dialect, name)
}

/// All loops of a body, outer ones first.
pub(super) fn loops<'c>(plan: &Schedule<'c>) -> Vec<Expr<'c>> {
    let is_loop = |expr: &Expr<'c>| matches!(expr.kind, ExprKind::Grid(_));
    let mut found: Vec<_> = plan.root.iter().copied().filter(is_loop).collect();
    let mut at = 0;
    while let Some(&grid) = found.get(at) {
        found.extend(plan.region(grid).iter().copied().filter(is_loop));
        at += 1;
    }
    found
}

/// Whether a loop has no name for its value: that is the end of a function or of a loop around it.
pub(super) fn is_nameless(region: &GridRegion<'_>) -> bool {
    region.carries.len() != 1
}

impl<'c> Printer<'_, 'c> {
    /// Looks at all values of a function.
    pub(super) fn scan(&mut self, plan: &Schedule<'c>, body: Expr<'c>) -> Result<()> {
        let loops = loops(plan);
        let all = || plan.root.iter().chain(loops.iter().flat_map(|grid| plan.region(*grid))).copied();
        for expr in all() {
            operands(expr, |operand| *self.scope.uses.or_insert_with(operand, || 0) += 1);
        }
        *self.scope.uses.or_insert_with(body, || 0) += 1;
        for expr in all() {
            self.scan_value(expr).map_err(|error| error.at(expr.span()))?;
        }
        // Which values are written in place depends on the uses of all; the first of several coordinates counts.
        for &expr in &plan.root {
            self.scan_coordinate(expr);
        }
        for expr in all() {
            self.scan_call(expr);
        }
        self.scan_starts(&plan.root);
        loops.iter().for_each(|grid| self.scan_starts(plan.region(*grid)));
        self.check_nesting(plan)
    }

    /// The values of a block that have the names of carries: those that start a loop of it. A value from outside keeps a name of its
    /// own, or the loops around would carry that as well.
    fn scan_starts(&mut self, block: &[Expr<'c>]) {
        let mut grids = block.iter().filter_map(|expr| match expr.kind {
            ExprKind::Grid(region) => Some(region),
            _ => None,
        });
        let Some(first) = grids.next() else { return };
        let own: NodeSet<Expr<'c>> = block.iter().copied().collect();
        for region in std::iter::once(first).chain(grids) {
            for (init, carry) in region.inits.iter().zip(region.carries).filter(|(init, _)| own.contains(*init)) {
                let name = carry.var_name().filter(|name| init.meta.name.is_none_or(|given| given == *name));
                self.scope.starts.extend(name.map(|name| (*init, name)));
            }
        }
    }

    fn scan_value(&mut self, expr: Expr<'c>) -> Result<()> {
        self.scope.authored.extend(expr.meta.name);
        match expr.kind {
            ExprKind::Call { callee: Callee::Op(op), .. } => {
                let name = self.surface(op).name;
                self.scope.callees.insert(name.into());
            }
            ExprKind::Call { callee: Callee::Function(function), .. } => {
                let called = self.called_as(function)?;
                self.scope.callees.insert(called.root().into());
            }
            ExprKind::Grid(region) => {
                for var in region.binders() {
                    if let Some(name) = var.var_name() {
                        self.scope.reserve(name).map_err(|error| error.at(var.span()))?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn scan_call(&mut self, expr: Expr<'c>) {
        let ExprKind::Call { callee, args } = expr.kind else { return };
        if let Callee::Op(op) = callee {
            let call = OpView { op, args };
            if let Some(axes) = self.window(call) {
                for (axis, start) in axes.iter().zip(&args[1..]) {
                    if axis.base.is_some_and(|base| base != *start) {
                        self.scope.inlined.insert(*start);
                    }
                    self.scope.windows.extend(axis.base.map(|base| (base, axis.size)));
                }
                return;
            }
            if op.decl.name.dialect == "dim" {
                return;
            }
            if let (true, Some(Attr::Int(at)), [of]) = (is_op(call, "tf", "tuple_get_item"), op.attr("index"), args)
                && matches!(of.kind, ExprKind::Grid(region) if region.carries.len() > 1)
                && self.scope.items.insert((*of, at as usize), expr).is_none()
            {
                self.scope.inlined.insert(expr);
            }
        }
        let literals = args.iter().filter_map(|arg| arg.literal());
        self.scope.named_literals.extend(literals.map(LiteralKey::from));
    }

    /// The position on a mesh axis, as the reader makes it: `reshape` of `local` of `arange` split over that axis.
    fn scan_coordinate(&mut self, expr: Expr<'c>) {
        let steps = || {
            let reshape = expr.op_call().filter(|call| is_op(*call, "tf", "reshape"))?;
            let local = reshape.args[0].op_call().filter(|call| is_op(*call, "tf", "local"))?;
            let arange = local.args[0].op_call().filter(|call| is_op(*call, "tf", "arange"))?;
            let Some(Attr::Type(ty)) = arange.op.attr("type") else { return None };
            let is_plain = reshape.op.attr("new_shape") == Some(Attr::Dims(&[]))
                && arange.op.attr("start") == Some(Attr::None)
                && arange.op.attr("step") == Some(Attr::Int(1));
            let (mesh, axis) = self.counted(ty.as_tensor()?)?;
            is_plain.then_some(([reshape.args[0], local.args[0]], mesh, axis))
        };
        let Some((inner, mesh, axis)) = steps() else { return };
        let is_alone = inner.iter().all(|part| self.scope.uses.get(part) == Some(&1));
        let is_new = !self.scope.coordinates.values().any(|known| *known == (mesh, axis));
        if is_alone && is_new && expr.meta.constraint.is_none() {
            self.scope.inlined.extend(inner.into_iter().chain([expr]));
            self.scope.coordinates.insert(expr, (mesh, axis));
        }
    }

    /// The mesh axis that splits a vector of its positions.
    fn counted(&self, tensor: &tf_types::TensorType<'c>) -> Option<(Mesh<'c>, usize)> {
        let Some(TensorLayout::Shard(shard)) = tensor.layout else { return None };
        let mesh = shard.mesh;
        let is_split = |attr: &ShardAttr<'c>| *attr == ShardAttr::Split(0);
        let axis = shard.attrs.iter().position(is_split)?;
        let extent = mesh.extents()[axis];
        let others_hold_all =
            shard.attrs.iter().enumerate().all(|(at, attr)| at == axis || *attr == ShardAttr::Broadcast);
        let layout = self.cx.layout(&[extent], Some(&[self.cx.dim(0)]));
        let is_it = tensor.shape == [extent] && tensor.dtype == DType::I64 && tensor.storage == Storage::Rmem;
        let name = mesh.axis_name(axis);
        let is_named = super::python::is_name(&name) && mesh.axis_index(&name) == Some(axis);
        (is_it && is_named && others_hold_all && shard.layout == layout).then_some((mesh, axis))
    }

    /// Bounds how deep loops nest, so that what follows may recurse into them.
    fn check_nesting(&self, plan: &Schedule<'c>) -> Result<()> {
        let mut stack: Vec<(Expr<'c>, usize)> = plan.root.iter().map(|&expr| (expr, 1)).collect();
        while let Some((expr, depth)) = stack.pop() {
            if !matches!(expr.kind, ExprKind::Grid(_)) {
                continue;
            }
            if depth > LOOPS {
                return Err(Diagnostic::error(format!("loops are nested more than {LOOPS} deep")).at(expr.span()));
            }
            stack.extend(plan.region(expr).iter().map(|&inner| (inner, depth + 1)));
        }
        Ok(())
    }
}

/// An `i64` constant, as the reader makes one of an integer.
pub(super) fn integer(expr: Expr<'_>) -> Option<i64> {
    match expr.literal()? {
        Literal::Int(value) => {
            let tensor = expr.ty().as_tensor()?;
            (tensor.dtype == DType::I64 && tensor.rank() == 0).then_some(value)
        }
        _ => None,
    }
}
