//! Ops lowered as several simpler ones: a rule makes their HIR, and the lowering of those does the rest.
//!
//! Floats are widened to f32 first and rounded once at the end.

use tf_core::{Context, Expr, Literal, Meta, Result, Span};
use tf_hir::{Binary, Cast, Reduce, Reshard, Unary};
use tf_types::kinds::{BinaryKind, ReduceKind, UnaryKind};
use tf_types::{DType, ShardAttr, ShardLayout, TensorType, Type, layout_axis_to_tensor_axis};

use crate::lowerer::Lowerer;

/// Makes HIR ops at the place of the one that is lowered.
pub(super) struct Parts<'a, 'c> {
    pub(super) cx: &'a Context<'c>,
    span: Option<Span>,
}

impl<'a, 'c> Parts<'a, 'c> {
    fn new(lowerer: &Lowerer<'a, 'c>) -> Self {
        Self { cx: lowerer.cx, span: lowerer.span }
    }

    pub(super) fn binary(&self, kind: BinaryKind, lhs: Expr<'c>, rhs: Expr<'c>) -> Result<Expr<'c>> {
        self.cx.call(Binary::new(self.cx, kind), &[lhs, rhs], Meta::at(self.span))
    }

    pub(super) fn add(&self, lhs: Expr<'c>, rhs: Expr<'c>) -> Result<Expr<'c>> {
        self.binary(BinaryKind::Add, lhs, rhs)
    }

    pub(super) fn sub(&self, lhs: Expr<'c>, rhs: Expr<'c>) -> Result<Expr<'c>> {
        self.binary(BinaryKind::Sub, lhs, rhs)
    }

    pub(super) fn mul(&self, lhs: Expr<'c>, rhs: Expr<'c>) -> Result<Expr<'c>> {
        self.binary(BinaryKind::Mul, lhs, rhs)
    }

    pub(super) fn div(&self, lhs: Expr<'c>, rhs: Expr<'c>) -> Result<Expr<'c>> {
        self.binary(BinaryKind::Div, lhs, rhs)
    }

    pub(super) fn unary(&self, kind: UnaryKind, x: Expr<'c>) -> Result<Expr<'c>> {
        self.cx.call(Unary::new(self.cx, kind), &[x], Meta::at(self.span))
    }

    /// `x` between `-limit` and `limit`.
    pub(super) fn within(&self, x: Expr<'c>, limit: f64) -> Result<Expr<'c>> {
        let raised = self.binary(BinaryKind::Max, x, self.constant(-limit))?;
        self.binary(BinaryKind::Min, raised, self.constant(limit))
    }

    /// `kind` along the axes, which stay with extent 1.
    pub(super) fn reduce(&self, kind: ReduceKind, x: Expr<'c>, axes: &[i64]) -> Result<Expr<'c>> {
        let axes = self.cx.alloc_slice(axes);
        self.cx.call(Reduce::new(self.cx, axes, true, kind), &[x], Meta::at(self.span))
    }

    pub(super) fn constant(&self, value: f64) -> Expr<'c> {
        self.literal(Literal::Float(value), DType::F32)
    }

    pub(super) fn literal(&self, value: Literal, dtype: DType) -> Expr<'c> {
        self.cx.constant(value, dtype, Meta::at(self.span))
    }

    /// The value in another dtype; the same node where it has it.
    pub(super) fn cast(&self, x: Expr<'c>, dtype: DType) -> Result<Expr<'c>> {
        if x.ty().as_tensor().is_some_and(|t| t.dtype == dtype) {
            return Ok(x);
        }
        self.cx.call(Cast::new(self.cx, dtype), &[x], Meta::at(self.span))
    }

    /// An operand that goes along the last axes of `x`, in f32, placed as `x` is: each position has what its elements need.
    pub(super) fn beside(&self, operand: Expr<'c>, x: &TensorType<'c>) -> Result<Expr<'c>> {
        let (Some(shard), Some(tensor)) = (x.shard(), operand.ty().as_tensor()) else {
            return self.cast(operand, DType::F32);
        };
        let wanted = trailing(self.cx, shard, x, tensor.rank());
        let op = Reshard::new(self.cx, Some(wanted), Some(x.storage));
        self.cast(self.cx.call(op, &[operand], Meta::at(self.span))?, DType::F32)
    }
}

/// The placement of the last axes alone, with open strides; what splits other axes has the same value everywhere.
fn trailing<'c>(cx: &Context<'c>, shard: ShardLayout<'c>, x: &TensorType<'c>, rank: usize) -> ShardLayout<'c> {
    let first = x.rank() - rank;
    let map = layout_axis_to_tensor_axis(shard.layout.shape(), x.shape);
    let kept: Vec<_> = (0..map.len()).filter(|&at| map[at].is_some_and(|axis| axis >= first)).collect();
    let moved = |attr: &ShardAttr<'c>| match *attr {
        ShardAttr::Split(at) => kept
            .iter()
            .position(|&kept| kept == at as usize)
            .map_or(ShardAttr::Broadcast, |at| ShardAttr::Split(at as u32)),
        other => other,
    };
    let extents: Vec<_> = kept.iter().map(|&at| shard.layout.shape()[at]).collect();
    let attrs: Vec<_> = shard.attrs.iter().map(moved).collect();
    cx.shard_layout(cx.layout(&extents, None), &attrs, shard.mesh)
}

/// Lowers `expr` as what `formula` makes of its operand in f32, rounded to the result's dtype.
pub(super) fn in_f32<'c>(
    lowerer: &mut Lowerer<'_, 'c>,
    expr: Expr<'c>,
    x: Expr<'c>,
    formula: impl FnOnce(&Parts<'_, 'c>, Expr<'c>) -> Result<Expr<'c>>,
) -> Result<Expr<'c>> {
    let parts = Parts::new(lowerer);
    let wide = formula(&parts, parts.cast(x, DType::F32)?)?;
    let dtype = lowerer.tensor(expr).dtype;
    let value = parts.cast(wide, dtype)?;
    finish(lowerer, expr.ty(), value)
}

/// As [`in_f32`], in the operand's own dtype.
pub(super) fn as_is<'c>(
    lowerer: &mut Lowerer<'_, 'c>,
    expr: Expr<'c>,
    formula: impl FnOnce(&Parts<'_, 'c>) -> Result<Expr<'c>>,
) -> Result<Expr<'c>> {
    let value = formula(&Parts::new(lowerer))?;
    finish(lowerer, expr.ty(), value)
}

/// The buffer of the value, placed as the type that inference gave the op.
fn finish<'c>(lowerer: &mut Lowerer<'_, 'c>, ty: Type<'c>, value: Expr<'c>) -> Result<Expr<'c>> {
    let shard = |ty: Type<'c>| ty.as_tensor().and_then(|t| t.shard());
    let value = match (shard(ty), shard(value.ty())) {
        (Some(wanted), Some(found)) if !wanted.same_placement(found) => {
            let op = Reshard::new(lowerer.cx, Some(lowerer.without_strides(wanted)), None);
            lowerer.cx.call(op, &[value], Meta::at(lowerer.span))?
        }
        _ => value,
    };
    lowerer.parts(value)
}
