//! Operands for the tests of rules.

use std::sync::Arc;

use tf_core::op::{OpInstance, OpView, RuleError};
use tf_core::{Arena, Context, Expr, Meta};
use tf_types::mesh::MeshLayout;
use tf_types::{DType, Mesh, Storage, Topology};
use tf_value::DialectBuilder;

pub fn context(arena: &Arena) -> Context<'_> {
    let mut builder = DialectBuilder::default();
    tf_dim::register(&mut builder);
    crate::register(&mut builder);
    let (ops, _) = builder.freeze().expect("the dialects are whole");
    Context::new(arena, Arc::clone(&ops))
}

/// A variable.
pub fn tensor<'c>(cx: &Context<'c>, shape: &[i64], dtype: DType, storage: Storage) -> Expr<'c> {
    let ty = cx.tensor(cx.const_dims(shape), dtype, None, storage);
    cx.var(cx.symbol("x"), ty, Meta::default())
}

pub fn topology<'c>(cx: &Context<'c>, name: &str, size: i64) -> Topology<'c> {
    Topology { name: cx.symbol(name), size: Some(cx.dim(size)) }
}

/// A mesh over threads, C-order.
pub fn threads<'c>(cx: &Context<'c>, extents: &[i64]) -> Mesh<'c> {
    let layout = MeshLayout::Plain(cx.c_order_layout(cx.const_dims(extents)));
    cx.mesh(&[topology(cx, "thread", extents.iter().product())], layout, &[])
}

/// What the op's verification rule refuses, if it does.
pub fn refusal<'c>(cx: &Context<'c>, op: OpInstance<'c>, operands: &[Expr<'c>]) -> Option<String> {
    refused(cx, op, operands).map(|error| error.message)
}

pub fn refused<'c>(cx: &Context<'c>, op: OpInstance<'c>, operands: &[Expr<'c>]) -> Option<RuleError> {
    let rule = cx.ops().verify.get(op.id).expect("an effect has a rule");
    rule(OpView { op, args: cx.alloc_slice(operands) }, cx).err()
}
