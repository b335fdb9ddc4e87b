//! Programs of any size: what the benchmarks measure and the tool `tf-gen` writes.

mod mlir;
mod shape;

use std::sync::Arc;

use tf_core::node::{FunctionData, ModuleData};
use tf_core::op::{OpRegistry, RegistryError};
use tf_core::{AnyFunction, Context, Expr, Function, Meta, Module};
use tf_hir::{Binary, Unary};
use tf_types::kinds::{BinaryKind, UnaryKind};
use tf_types::{DType, Storage};
use tf_value::DialectBuilder;

pub use mlir::{mlir, mlir_library};
pub use shape::{Op, Shape, ops};

/// The registry of the ops that the programs use.
///
/// # Errors
/// Mistakes in the registration of the dialect.
pub fn registry() -> Result<Arc<OpRegistry>, Vec<RegistryError>> {
    let mut dialects = DialectBuilder::default();
    tf_hir::register(&mut dialects);
    dialects.freeze().map(|(ops, _)| ops)
}

/// A module `@gen` with one HIR function `@f(%x, %y)` of `count` ops on `tensor<16x128xf32>`.
///
/// # Panics
/// If the dialect `tf` is not registered in the context.
#[must_use]
pub fn module<'c>(cx: &Context<'c>, shape: Shape, count: usize) -> Module<'c> {
    let function = function(cx, "f", shape, count);
    cx.module(ModuleData {
        functions: cx.alloc_slice(&[AnyFunction::Hir(function)]),
        entry: Some(function.name),
        ..ModuleData::new(cx.symbol("gen"))
    })
}

/// A module `@gen` with functions `@f0`, `@f1`, … of `count` ops each, which do not call each other.
///
/// # Panics
/// As [`module`].
#[must_use]
pub fn library<'c>(cx: &Context<'c>, shape: Shape, functions: usize, count: usize) -> Module<'c> {
    let one = |number| AnyFunction::Hir(function(cx, &format!("f{number}"), shape, count));
    let functions: Vec<_> = (0..functions).map(one).collect();
    cx.module(ModuleData { functions: cx.alloc_slice(&functions), ..ModuleData::new(cx.symbol("gen")) })
}

fn function<'c>(cx: &Context<'c>, name: &str, shape: Shape, count: usize) -> Function<'c> {
    let ty = cx.tensor(&[cx.dim(16), cx.dim(128)], DType::F32, None, Storage::Gmem);
    let params = ["x", "y"].map(|name| cx.var(cx.symbol(name), ty, Meta::default()));
    let binary = [Binary::new(cx, BinaryKind::Add), Binary::new(cx, BinaryKind::Mul)];
    let unary = Unary::new(cx, UnaryKind::Relu);
    let mut values: Vec<Expr<'c>> = params.to_vec();
    for op in ops(shape, count) {
        let value = match op {
            Op::Unary(x) => cx.call(unary, &[values[x]], Meta::default()),
            Op::Add(x, y) => cx.call(binary[0], &[values[x], values[y]], Meta::default()),
            Op::Mul(x, y) => cx.call(binary[1], &[values[x], values[y]], Meta::default()),
        };
        values.push(value.expect("elementwise ops of one type"));
    }
    let body = values[values.len() - 1];
    cx.function(FunctionData::new(cx.symbol(name), cx.alloc_slice(&params), body, body.ty()))
}
