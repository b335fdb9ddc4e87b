//! Buffers: dense strides where none are chosen, and none that nothing reads.

use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::node::PrimFunctionData;
use tf_core::op::OpView;
use tf_core::walk::{StmtRewriter, rewrite_stmt, walk_stmts};
use tf_core::{Callee, Context, Expr, ExprKind, Meta, PrimFunction, Result, Stmt, StmtKind};
use tf_framework::{Counter, FunctionCx, Pass, PrimFuncPass};
use tf_tir::memory::alloc_tensor::AllocTensor;
use tf_types::{ShardAttr, ShardLayout, Storage, TensorLayout, Type};

/// Gives every buffer whose layout has no strides dense ones (C-order over what one instance of its storage holds), and
/// removes buffers that are written but never read.
#[derive(Clone, Default, Pass)]
#[pass(name = "bufferize")]
pub struct Bufferize {
    #[statistic("buffers given strides")]
    placed: Counter,
    #[statistic("buffers removed")]
    removed: Counter,
}

impl PrimFuncPass for Bufferize {
    fn run<'c>(&self, function: PrimFunction<'c>, cx: &FunctionCx<'_, 'c>) -> Result<PrimFunction<'c>> {
        let mut body = function.body;
        loop {
            let dead = unread_buffers(body);
            if dead.is_empty() {
                break;
            }
            self.removed.add(dead.len() as u64);
            body = rewrite_stmt(cx, body, &mut Remove { dead })?;
        }
        let replaced = open_buffers(cx, body);
        if !replaced.is_empty() {
            self.placed.add(replaced.len() as u64);
            body = rewrite_stmt(cx, body, &mut Replace { replaced })?;
        }
        if body == function.body {
            return Ok(function);
        }
        Ok(cx.prim_function(PrimFunctionData { body, ..*function.data() }))
    }
}

fn allocation<'c>(stmt: Stmt<'c>) -> Option<(Expr<'c>, Type<'c>)> {
    match stmt.kind {
        StmtKind::Let { var, value, .. } => Some((var, value.as_op::<AllocTensor>()?.tensor_type())),
        _ => None,
    }
}

/// Allocations whose only uses are as the operand that an effect overwrites.
fn unread_buffers<'c>(body: Stmt<'c>) -> FxHashSet<Expr<'c>> {
    let mut allocated = FxHashSet::default();
    let mut read = FxHashSet::default();
    walk_stmts(body, |stmt| {
        allocated.extend(allocation(stmt).map(|(var, _)| var));
        match stmt.kind {
            StmtKind::Evaluate { args, .. } => {
                let overwritten = overwritten(stmt);
                read.extend(args.iter().copied().filter(|arg| Some(*arg) != overwritten));
            }
            StmtKind::Let { value, .. } => tf_core::walk::operands(value, |operand| {
                read.insert(operand);
            }),
            _ => {}
        }
    });
    allocated.retain(|var| !read.contains(var));
    allocated
}

/// The operand that a statement sets without reading it.
fn overwritten<'c>(stmt: Stmt<'c>) -> Option<Expr<'c>> {
    let StmtKind::Evaluate { callee: tf_core::node::TirCallee::Op(op), args } = stmt.kind else { return None };
    let at = if op.is::<tf_tir::memory::fill::Fill>() {
        0
    } else if op.is::<tf_tir::memory::copy::Copy>()
        || op.is::<tf_tir::arith::unary::Unary>()
        || op.is::<tf_tir::tensor::reduce::Reduce>()
    {
        1
    } else if op.is::<tf_tir::arith::binary::Binary>() {
        2
    } else {
        return None;
    };
    let written = args[at];
    let reads_it = args.iter().enumerate().any(|(i, arg)| i != at && *arg == written);
    (!reads_it).then_some(written)
}

struct Remove<'c> {
    dead: FxHashSet<Expr<'c>>,
}

impl<'c> StmtRewriter<'c> for Remove<'c> {
    fn rewrite(&mut self, stmt: Stmt<'c>, cx: &Context<'c>) -> Result<Stmt<'c>> {
        let empty = || cx.stmt(StmtKind::Sequential(&[]), None);
        Ok(match stmt.kind {
            StmtKind::Let { var, body, .. } if self.dead.contains(&var) => body,
            StmtKind::Evaluate { .. } if overwritten(stmt).is_some_and(|var| self.dead.contains(&var)) => empty(),
            _ => stmt,
        })
    }
}

/// New variables for the allocations whose layout has no strides.
fn open_buffers<'c>(cx: &Context<'c>, body: Stmt<'c>) -> FxHashMap<Expr<'c>, Expr<'c>> {
    let mut replaced = FxHashMap::default();
    walk_stmts(body, |stmt| {
        let Some((var, ty)) = allocation(stmt) else { return };
        let Some(tensor) = ty.as_tensor() else { return };
        let Some(TensorLayout::Shard(shard)) = tensor.layout else { return };
        if shard.layout.strides().is_none() {
            let dense = TensorLayout::Shard(dense(cx, shard, tensor.storage));
            let ty = cx.tensor(tensor.shape, tensor.dtype, Some(dense), tensor.storage);
            replaced.insert(var, cx.expr(var.kind, ty, var.meta));
        }
    });
    replaced
}

/// C-order over what one instance holds; axes that a position fixes, and extents of 1, have stride 0 (decisions 8, 9).
fn dense<'c>(cx: &Context<'c>, shard: ShardLayout<'c>, storage: Storage) -> ShardLayout<'c> {
    let shape = shard.layout.shape();
    let fixed = |axis: usize| storage == Storage::Rmem && shard.attrs.contains(&ShardAttr::Split(axis as u32));
    let mut strides = vec![cx.dim(0); shape.len()];
    let mut next = cx.dim(1);
    for axis in (0..shape.len()).rev() {
        if !fixed(axis) && shape[axis].as_const() != Some(1) {
            strides[axis] = next;
            next = cx.dim_mul(next, shape[axis]);
        }
    }
    cx.shard_layout(cx.layout(shape, Some(&strides)), shard.attrs, shard.mesh)
}

struct Replace<'c> {
    replaced: FxHashMap<Expr<'c>, Expr<'c>>,
}

impl<'c> Replace<'c> {
    fn get(&self, expr: Expr<'c>) -> Expr<'c> {
        self.replaced.get(&expr).copied().unwrap_or(expr)
    }

    fn all(&self, cx: &Context<'c>, exprs: &'c [Expr<'c>]) -> &'c [Expr<'c>] {
        if exprs.iter().all(|&e| self.get(e) == e) {
            return exprs;
        }
        let new: Vec<_> = exprs.iter().map(|&e| self.get(e)).collect();
        cx.alloc_slice(&new)
    }

    /// The value over replaced buffers; an allocation of a replaced buffer allocates the new type.
    fn value(&self, cx: &Context<'c>, var: Expr<'c>, value: Expr<'c>) -> Result<Expr<'c>> {
        if value.as_op::<AllocTensor>().is_some() && self.get(var) != var {
            return cx.call(AllocTensor::new(cx, self.get(var).ty()), &[], value.meta);
        }
        let ExprKind::Call { callee: Callee::Op(op), args } = value.kind else { return Ok(value) };
        let new = self.all(cx, args);
        if std::ptr::eq(new, args) {
            return Ok(value);
        }
        let ty = cx.infer(OpView { op, args: new }, value.span())?;
        Ok(cx.expr(ExprKind::Call { callee: Callee::Op(op), args: new }, ty, Meta { ..value.meta }))
    }
}

impl<'c> StmtRewriter<'c> for Replace<'c> {
    fn rewrite(&mut self, stmt: Stmt<'c>, cx: &Context<'c>) -> Result<Stmt<'c>> {
        let kind = match stmt.kind {
            StmtKind::Let { var, value, body } => {
                let (new_var, new_value) = (self.get(var), self.value(cx, var, value)?);
                if new_var == var && new_value == value {
                    return Ok(stmt);
                }
                StmtKind::Let { var: new_var, value: new_value, body }
            }
            StmtKind::Evaluate { callee, args } => {
                let new = self.all(cx, args);
                if std::ptr::eq(new, args) {
                    return Ok(stmt);
                }
                StmtKind::Evaluate { callee, args: new }
            }
            _ => return Ok(stmt),
        };
        Ok(cx.stmt(kind, stmt.span))
    }
}
