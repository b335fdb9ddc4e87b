//! Symbolic extents as run-time values: `x + N`, `x[N - 4 : N, :]`.

use rustc_hash::FxHashMap;
use tf_core::op::Attr;
use tf_core::{Context, Expr, ExprKind, Literal, Meta, Span};
use tf_types::{DType, Dim, DimKind, DimOp, DimVar, Storage};

use super::distance::operation;
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};

impl<'c> Parser<'_, 'c> {
    /// A dim as a rank-0 integer: its variables are extents of parameters, its operations ops of the `dim` dialect.
    pub(crate) fn dim_node(&mut self, dim: Dim<'c>, span: Span) -> Res<Expr<'c>> {
        self.dim_tree(dim, span, &mut |p, dim, var| p.extent_node(dim, var, span))
    }

    /// A dim as a rank-0 integer, with `leaf` for its variables.
    pub(crate) fn dim_tree(
        &mut self,
        dim: Dim<'c>,
        span: Span,
        leaf: &mut dyn FnMut(&mut Self, Dim<'c>, DimVar<'c>) -> Res<Expr<'c>>,
    ) -> Res<Expr<'c>> {
        match *dim.data() {
            DimKind::Const(value) => Ok(self.int_node(value, span)),
            DimKind::Var(var) => leaf(self, dim, var),
            DimKind::Op(op, a, b) => {
                let name = match op {
                    DimOp::Add => "add",
                    DimOp::Sub => "sub",
                    DimOp::Mul => "mul",
                    DimOp::FloorDiv => "floor_div",
                    DimOp::Mod => "mod",
                    DimOp::Min => "min",
                    DimOp::Max => "max",
                };
                let operands = self.nested(span, |p| Ok([p.dim_tree(a, span, leaf)?, p.dim_tree(b, span, leaf)?]))?;
                // In a `@func` extrema are those that `min(a, b)` stands for.
                let is_tensor_op = matches!(op, DimOp::Min | DimOp::Max) && !self.is_prim();
                let schema = self.schema(if is_tensor_op { "tf" } else { "dim" }, name, "a dim as a value", span)?;
                self.emit(schema, &operands, &[], span, None)
            }
        }
    }

    fn extent_node(&mut self, dim: Dim<'c>, var: DimVar<'c>, span: Span) -> Res<Expr<'c>> {
        let Some(body) = &mut self.body else { return Err(Refusal::Reported) };
        if let Some(expr) = body.extents.get(&dim) {
            return Ok(*expr);
        }
        let axes = body.axes.get_or_insert_with(|| {
            let mut axes = FxHashMap::default();
            for &param in &body.params {
                let shape = param.ty().as_tensor().map_or(&[][..], |tensor| tensor.shape);
                for (axis, &extent) in shape.iter().enumerate() {
                    axes.entry(extent).or_insert((param, axis));
                }
            }
            axes
        });
        let Some(&(param, axis)) = axes.get(&dim) else {
            let message =
                format!("no parameter has an axis of extent `{}`, so that its value is not known here", var.name);
            return Err(Refusal::wrong(span, message));
        };
        let expr = match self.is_prim() {
            true => self.shape_of(param, axis, span),
            false => self.extent_of(param, axis, span)?,
        };
        if let Some(body) = &mut self.body {
            body.extents.insert(dim, expr);
        }
        Ok(expr)
    }

    /// The extent of a parameter in TIR.
    pub(crate) fn shape_of(&self, param: Expr<'c>, axis: usize, span: Span) -> Expr<'c> {
        let ty = self.cx.tensor(&[], DType::I32, None, Storage::Rmem);
        self.cx.expr(ExprKind::ShapeOf { param, axis: axis as u32 }, ty, Meta::at(span))
    }

    /// The extent of a parameter in HIR: an item of its shape vector.
    fn extent_of(&mut self, param: Expr<'c>, axis: usize, span: Span) -> Res<Expr<'c>> {
        const WHAT: &str = "a dim as a value";
        let shape_of = self.schema("tf", "shape_of", WHAT, span)?;
        let shape = self.emit(shape_of, &[param], &[], span, None)?;
        let start = self.int_node(axis as i64, span);
        let one: &[Dim<'c>] = self.cx.normal_dims(&[self.cx.dim(1)]);
        let slice = self.schema("tf", "slice", WHAT, span)?;
        let item =
            self.emit(slice, &[shape, start], &[("sizes", Attr::Dims(one)), ("strides", Attr::Dims(one))], span, None)?;
        let reshape = self.schema("tf", "reshape", WHAT, span)?;
        self.emit(reshape, &[item], &[("new_shape", Attr::Dims(&[]))], span, None)
    }
}

/// Nodes of a run-time extent that are looked at.
const EXTENT_NODES: usize = 64;

/// The dim that a run-time scalar is: an extent of a parameter, or arithmetic of such.
pub(crate) fn extent_behind<'c>(cx: &Context<'c>, expr: Expr<'c>) -> Option<Dim<'c>> {
    let mut budget = EXTENT_NODES;
    behind(cx, expr, &mut budget)
}

fn behind<'c>(cx: &Context<'c>, expr: Expr<'c>, budget: &mut usize) -> Option<Dim<'c>> {
    *budget = budget.checked_sub(1)?;
    if let ExprKind::ShapeOf { param, axis } = expr.kind {
        return param.ty().as_tensor()?.shape.get(axis as usize).copied();
    }
    if let Some(literal) = expr.literal() {
        let Literal::Int(value) = literal else { return None };
        return Some(cx.dim(value));
    }
    let (name, [a, b]) = operation(expr)? else { return None };
    let (a, b) = (behind(cx, *a, budget)?, behind(cx, *b, budget)?);
    Some(match name {
        "add" => cx.dim_add(a, b),
        "sub" => cx.dim_sub(a, b),
        "mul" => cx.dim_mul(a, b),
        "floor_div" if cx.check_divisor(b).is_ok() => cx.dim_floor_div(a, b),
        "mod" if cx.check_divisor(b).is_ok() => cx.dim_mod(a, b),
        "min" => cx.dim_min(a, b),
        "max" => cx.dim_max(a, b),
        _ => return None,
    })
}
