//! Buffers: dense strides where none are chosen, and none that nothing reads.

use rustc_hash::FxHashMap;
use tf_core::node::PrimFunctionData;
use tf_core::visit::{Cloning, ExprCloner, StmtMutator, WithExprs, rewrite_stmt};
use tf_core::walk::walk_stmts;
use tf_core::{Context, Expr, PrimFunction, Result, Stmt, StmtKind};
use tf_dataflow::Liveness;
use tf_framework::{Counter, FunctionCx, Pass, PrimFuncPass, RemarkKind};
use tf_tir::memory::alloc_tensor::AllocTensor;
use tf_transforms::BufferLiveness;
use tf_types::{ShardAttr, ShardLayout, Storage, TensorLayout, Type};

/// Gives every buffer whose layout has no strides dense ones (C-order over what one instance of its storage holds), and
/// removes buffers that are written but never read, and what only writes to them.
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
        let liveness = cx.analysis(&BufferLiveness, function);
        if !liveness.is_tight() {
            let mut remove = Remove { liveness: &liveness, remarks: cx, removed: 0 };
            body = rewrite_stmt(&mut remove, body, cx)?;
            self.removed.add(remove.removed);
        }
        let replaced = open_buffers(cx, body);
        if !replaced.is_empty() {
            self.placed.add(replaced.len() as u64);
            let mut clone = Cloning::new(cx);
            replaced.iter().for_each(|(&old, &new)| clone.replace(old, new));
            let mut rewriter = Replace { replaced };
            body = rewrite_stmt(&mut WithExprs::new(&mut rewriter, clone), body, cx)?;
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

struct Remove<'a, 'c> {
    liveness: &'a Liveness<'c>,
    remarks: &'a FunctionCx<'a, 'c>,
    removed: u64,
}

impl<'c> StmtMutator<'c> for Remove<'_, 'c> {
    fn mutate_let(&mut self, stmt: Stmt<'c>, _: &Context<'c>) -> Result<Stmt<'c>> {
        let StmtKind::Let { var, body, .. } = stmt.kind else { return Ok(stmt) };
        if !self.liveness.is_unread(var) {
            return Ok(stmt);
        }
        if allocation(stmt).is_some() {
            self.removed += 1;
            self.remarks.remark(RemarkKind::Applied, stmt.span, || format!("nothing reads buffer {}", var.describe()));
        }
        Ok(body)
    }

    fn mutate_evaluate(&mut self, stmt: Stmt<'c>, cx: &Context<'c>) -> Result<Stmt<'c>> {
        Ok(if self.liveness.is_dead(stmt) { cx.stmt(StmtKind::Sequential(&[]), None) } else { stmt })
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

/// C-order over what one instance holds; axes that a position fixes, and extents of 1, have stride 0.
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

/// Binds the new variables and allocates their types; uses follow by the memo.
struct Replace<'c> {
    replaced: FxHashMap<Expr<'c>, Expr<'c>>,
}

impl<'c> ExprCloner<'c> for Replace<'c> {}

impl<'c> StmtMutator<'c> for Replace<'c> {
    fn mutate_let(&mut self, stmt: Stmt<'c>, cx: &Context<'c>) -> Result<Stmt<'c>> {
        let StmtKind::Let { var, value, body } = stmt.kind else { return Ok(stmt) };
        let Some(&var) = self.replaced.get(&var) else { return Ok(stmt) };
        let value = cx.call(AllocTensor::new(cx, var.ty()), &[], value.meta)?;
        Ok(cx.stmt(StmtKind::Let { var, value, body }, stmt.span))
    }
}
