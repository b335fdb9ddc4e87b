//! Functions for the tests.

use std::sync::Arc;

use tf_core::node::{FunctionData, GridRegion};
use tf_core::{Arena, Context, Expr, Function, Literal, Meta, Module, Span};
use tf_hir::{Binary, Cast};
use tf_types::kinds::BinaryKind;
use tf_types::{DType, Dim, DimVar, Storage, Type};
use tf_value::{DialectBuilder, EvalRegistry, Tensor};

pub fn context(arena: &Arena) -> (Context<'_>, Arc<EvalRegistry>) {
    let mut builder = DialectBuilder::default();
    tf_dim::register(&mut builder);
    tf_hir::register(&mut builder);
    tf_tir::register(&mut builder);
    let (ops, rules) = builder.freeze().unwrap();
    (Context::new(arena, ops), rules)
}

pub fn parsed<'c>(cx: &Context<'c>, text: &str) -> Module<'c> {
    tf_text::parse_module(cx, cx.sources().add("t.tfir", text)).unwrap_or_else(|errors| panic!("{errors:?}"))
}

pub fn f32s(values: &[f32]) -> Tensor {
    Tensor::from_f32(&[values.len()], values).unwrap()
}

pub fn line(cx: &Context<'_>, line: u32) -> Option<Span> {
    Some(Span::new(cx.sources().named("t"), (line, 1), (line, 2)))
}

pub fn tensor<'c>(cx: &Context<'c>, shape: &[Dim<'c>], dtype: DType) -> Type<'c> {
    cx.tensor(shape, dtype, None, Storage::Gmem)
}

pub fn dim<'c>(cx: &Context<'c>, name: &str, lo: i64, hi: i64) -> Dim<'c> {
    cx.dim_var(DimVar { name: cx.symbol(name), lo, hi })
}

pub fn var<'c>(cx: &Context<'c>, name: &str, ty: Type<'c>) -> Expr<'c> {
    cx.var(cx.symbol(name), ty, Meta::at(line(cx, 1)))
}

pub fn int<'c>(cx: &Context<'c>, value: i64) -> Expr<'c> {
    cx.constant(Literal::Int(value), DType::I64, Meta::default())
}

pub fn binary<'c>(cx: &Context<'c>, kind: BinaryKind, lhs: Expr<'c>, rhs: Expr<'c>) -> Expr<'c> {
    cx.call(Binary::new(cx, kind), &[lhs, rhs], Meta::at(line(cx, 5)).named(cx.symbol("y"))).unwrap()
}

pub fn add<'c>(cx: &Context<'c>, lhs: Expr<'c>, rhs: Expr<'c>) -> Expr<'c> {
    binary(cx, BinaryKind::Add, lhs, rhs)
}

pub fn cast<'c>(cx: &Context<'c>, x: Expr<'c>, dtype: DType) -> Expr<'c> {
    cx.call(Cast::new(cx, dtype), &[x], Meta::default()).unwrap()
}

pub fn function<'c>(cx: &Context<'c>, name: &str, params: &[Expr<'c>], body: Expr<'c>) -> Function<'c> {
    let params = cx.alloc_slice(params);
    cx.function(FunctionData { span: line(cx, 1), ..FunctionData::new(cx.symbol(name), params, body, body.ty()) })
}

/// A loop over `0..stop` with these `(carry, init, yield)`, or with a body value.
pub fn grid<'c>(
    cx: &Context<'c>,
    induction: Expr<'c>,
    stop: Dim<'c>,
    carried: &[(Expr<'c>, Expr<'c>, Expr<'c>)],
    body: Option<Expr<'c>>,
) -> Expr<'c> {
    let of =
        |f: fn(&(Expr<'c>, Expr<'c>, Expr<'c>)) -> Expr<'c>| cx.alloc_slice(&carried.iter().map(f).collect::<Vec<_>>());
    let (carries, inits, yields) = (of(|c| c.0), of(|c| c.1), of(|c| c.2));
    let ty = cx.loop_type(carries, body);
    let region = GridRegion { induction, carries, inits, yields, body, start: cx.dim(0), stop, step: cx.dim(1) };
    cx.grid(region, ty, Meta::at(line(cx, 4)))
}
