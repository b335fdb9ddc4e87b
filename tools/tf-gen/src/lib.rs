//! Programs of any size: what the benchmarks measure and the tool `tf-gen` writes.

mod mlir;
mod shape;

use std::sync::Arc;

use tf_core::node::{FunctionData, ModuleData};
use tf_core::op::{OpRegistry, RegistryError};
use tf_core::visit::{Cloning, Same, collect_exprs};
use tf_core::{AnyFunction, Context, Expr, Function, Meta, Module, Result};
use tf_hir::{Binary, Unary};
use tf_testing::{Options, random_module};
use tf_types::kinds::{BinaryKind, UnaryKind};
use tf_types::{DType, Storage};
use tf_value::DialectBuilder;

pub use mlir::{mlir, mlir_library};
pub use shape::{Op, Shape, ops};

/// The registry of the ops that the programs use.
///
/// # Errors
/// Mistakes in the registration of the dialect.
pub fn registry() -> std::result::Result<Arc<OpRegistry>, Vec<RegistryError>> {
    let mut dialects = DialectBuilder::default();
    tf_hir::register(&mut dialects);
    dialects.freeze().map(|(ops, _)| ops)
}

/// The registry of all ops that HIR functions have.
///
/// # Errors
/// Mistakes in the registration of a dialect.
pub fn all_ops() -> std::result::Result<Arc<OpRegistry>, Vec<RegistryError>> {
    let mut dialects = DialectBuilder::default();
    tf_hir::register(&mut dialects);
    tf_dim::register(&mut dialects);
    dialects.freeze().map(|(ops, _)| ops)
}

/// A module of HIR functions of at most `most` steps that have `count` ops or a few more, of every kind that [`all_ops`] has. It is a
/// function of the seed.
///
/// # Errors
/// None: the functions are well typed.
pub fn random<'c>(cx: &Context<'c>, seed: u64, count: usize, most: usize) -> Result<Module<'c>> {
    let options = Options {
        hir: &["tf", "dim"],
        tir: &[],
        hir_functions: 1,
        tir_functions: 0,
        steps: most,
        depth: 0,
        parts: false,
        odd: false,
    };
    let mut functions = Vec::new();
    let mut made = 0;
    for at in 0.. {
        let module = random_module(cx, seed.wrapping_mul(1 << 20).wrapping_add(at), &options);
        for function in module.functions {
            let AnyFunction::Hir(function) = *function else { continue };
            let body = function.value()?;
            made += collect_exprs(body).iter().filter(|value| value.op_call().is_some()).count();
            // One weight is one tensor of the whole module, so functions that were made apart have none.
            let mut clone = Cloning::new(cx);
            let mut params = function.params.to_vec();
            for param in params.iter_mut().filter(|param| param.is_const_param()) {
                if let Some(name) = param.var_name() {
                    let ordinary = cx.var(name, param.ty(), param.meta);
                    clone.replace(*param, ordinary);
                    *param = ordinary;
                }
            }
            let body = clone.visit(&mut Same, body)?;
            let (name, params) = (cx.symbol(&format!("f{}", functions.len())), cx.alloc_slice(&params));
            let data = FunctionData { name, params, body: Some(body), ..*function };
            functions.push(AnyFunction::Hir(cx.function(data)));
        }
        if made >= count {
            break;
        }
    }
    Ok(cx.module(ModuleData { functions: cx.alloc_slice(&functions), ..ModuleData::new(cx.symbol("gen")) }))
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
