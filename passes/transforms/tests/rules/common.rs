//! Modules for the tests.

use tf_core::node::{FunctionData, GridRegion, ModuleData, PrimFunctionData};
use tf_core::{
    AnyFunction, Arena, Context, Expr, Function, Meta, Module, PrimFunction, Span, Stmt, Target, TargetKind,
};
use tf_hir::math::Binary;
use tf_types::kinds::BinaryKind;
use tf_types::mesh::MeshLayout;
use tf_types::{DType, Mesh, Storage, Topology, Type};
use tf_value::DialectBuilder;

pub fn context(arena: &Arena) -> Context<'_> {
    let mut builder = DialectBuilder::default();
    tf_hir::register(&mut builder);
    tf_tir::register(&mut builder);
    tf_dim::register(&mut builder);
    let (ops, _) = builder.freeze().unwrap();
    Context::new(arena, ops)
}

pub fn tensor<'c>(cx: &Context<'c>, shape: &[i64], storage: Storage) -> Type<'c> {
    cx.tensor(cx.const_dims(shape), DType::F32, None, storage)
}

/// A span on that line, so that tests can tell errors apart.
pub fn line(cx: &Context<'_>, line: u32) -> Option<Span> {
    Some(Span::new(cx.sources().named("t"), (line, 1), (line, 2)))
}

pub fn var<'c>(cx: &Context<'c>, name: &str, ty: Type<'c>) -> Expr<'c> {
    cx.var(cx.symbol(name), ty, Meta::at(line(cx, 1)))
}

pub fn add<'c>(cx: &Context<'c>, lhs: Expr<'c>, rhs: Expr<'c>) -> Expr<'c> {
    cx.call(Binary::new(cx, BinaryKind::Add), &[lhs, rhs], Meta::at(line(cx, 5))).unwrap()
}

pub fn function<'c>(cx: &Context<'c>, params: &[Expr<'c>], body: Expr<'c>, return_type: Type<'c>) -> Function<'c> {
    let params = cx.alloc_slice(params);
    cx.function(FunctionData { span: line(cx, 1), ..FunctionData::new(cx.symbol("f"), params, body, return_type) })
}

pub fn prim<'c>(cx: &Context<'c>, params: &[Expr<'c>], body: Stmt<'c>) -> PrimFunction<'c> {
    let target = Target { kind: TargetKind::Cuda, device: cx.symbol("nvidia.h200_sxm") };
    let (name, params) = (cx.symbol("g"), cx.alloc_slice(params));
    cx.prim_function(PrimFunctionData { name, params, body, output_count: 1, target, doc: None, span: line(cx, 1) })
}

pub fn module<'c>(cx: &Context<'c>, functions: &[AnyFunction<'c>]) -> Module<'c> {
    cx.module(ModuleData { functions: cx.alloc_slice(functions), span: line(cx, 1), ..ModuleData::new(cx.symbol("m")) })
}

pub fn topology<'c>(cx: &Context<'c>, name: &str, size: i64) -> Topology<'c> {
    Topology { name: cx.symbol(name), size: Some(cx.dim(size)) }
}

pub fn mesh<'c>(cx: &Context<'c>, level: &str, size: i64, extents: &[i64]) -> Mesh<'c> {
    let layout = MeshLayout::Plain(cx.c_order_layout(cx.const_dims(extents)));
    cx.mesh(&[topology(cx, level, size)], layout, &[])
}

/// `for i in range(4)` with one carry.
pub fn grid<'c>(cx: &Context<'c>, carry: Expr<'c>, init: Expr<'c>, value: Expr<'c>) -> Expr<'c> {
    let region = GridRegion {
        induction: cx.var(cx.symbol("i"), cx.scalar(DType::I64), Meta::default()),
        carries: cx.alloc_slice(&[carry]),
        inits: cx.alloc_slice(&[init]),
        yields: cx.alloc_slice(&[value]),
        body: None,
        start: cx.dim(0),
        stop: cx.dim(4),
        step: cx.dim(1),
    };
    cx.grid(region, carry.ty(), Meta::at(line(cx, 4)))
}
