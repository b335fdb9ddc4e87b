//! An op and builders.

use std::sync::Arc;

use tf_core::node::{FunctionData, ModuleData, Target};
use tf_core::op::attr::{AnyLayout, Dims, TypeAttr};
use tf_core::op::{OpCall, OpRegistry, OpRegistryBuilder, RuleError, TypeRule};
use tf_core::{AnyFunction, Callee, Context, Diagnostic, Expr, ExprKind, Function, Meta, Module, TargetKind, op};
use tf_types::{DType, Dim, DimVar, Storage, Type};

/// Another shape of its operand.
#[op(dialect = "t", category = "test")]
pub struct Shaped {
    /// Operand.
    #[input(Any)]
    x: (),
    /// The shape.
    shape: Dims,
    /// Some type.
    ty: TypeAttr,
    /// Some layout.
    layout: Option<AnyLayout>,
}

impl TypeRule for Shaped {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        Ok(cx.tensor(call.shape(), DType::F32, None, Storage::Gmem))
    }
}

pub fn registry() -> Arc<OpRegistry> {
    let mut builder = OpRegistryBuilder::default();
    let id = builder.declare::<Shaped>();
    builder.types::<Shaped>(id);
    Arc::new(builder.freeze().expect("every op has its rule"))
}

pub fn with_context(test: impl for<'c> FnOnce(&Context<'c>)) {
    let arena = tf_core::Arena::new();
    test(&Context::new(&arena, registry()));
}

pub fn dim<'c>(cx: &Context<'c>, name: &str, lo: i64, hi: i64) -> Dim<'c> {
    cx.dim_var(DimVar { name: cx.symbol(name), lo, hi })
}

pub fn tensor<'c>(cx: &Context<'c>, shape: &[Dim<'c>]) -> Type<'c> {
    cx.tensor(shape, DType::F32, None, Storage::Gmem)
}

/// `[S in 1..9, 8]`
pub fn rows<'c>(cx: &Context<'c>) -> Type<'c> {
    tensor(cx, &[dim(cx, "S", 1, 9), cx.dim(8)])
}

pub fn var<'c>(cx: &Context<'c>, name: &str, ty: Type<'c>) -> Expr<'c> {
    cx.var(cx.symbol(name), ty, Meta::default())
}

pub fn weight<'c>(cx: &Context<'c>, name: &str, ty: Type<'c>) -> Expr<'c> {
    cx.expr(ExprKind::Var { name: cx.symbol(name), is_const: true }, ty, Meta::default())
}

/// A function that returns its first parameter.
pub fn identity<'c>(cx: &Context<'c>, name: &str, params: &[Expr<'c>]) -> Function<'c> {
    let params = cx.alloc_slice(params);
    cx.function(FunctionData::new(cx.symbol(name), params, params[0], params[0].ty()))
}

pub fn call<'c>(cx: &Context<'c>, callee: Function<'c>, args: &[Expr<'c>]) -> Expr<'c> {
    let kind = ExprKind::Call { callee: Callee::Function(callee), args: cx.alloc_slice(args) };
    cx.expr(kind, callee.return_type, Meta::default())
}

/// A function `name(x)` whose value is made of `x`.
pub fn made<'c>(cx: &Context<'c>, name: &str, ty: Type<'c>, body: impl FnOnce(Expr<'c>) -> Expr<'c>) -> Function<'c> {
    let x = var(cx, "x", ty);
    let body = body(x);
    cx.function(FunctionData::new(cx.symbol(name), cx.alloc_slice(&[x]), body, body.ty()))
}

pub fn module<'c>(cx: &Context<'c>, name: &str, functions: &[Function<'c>]) -> ModuleData<'c> {
    let functions: Vec<_> = functions.iter().copied().map(AnyFunction::Hir).collect();
    ModuleData { functions: cx.alloc_slice(&functions), ..ModuleData::new(cx.symbol(name)) }
}

pub fn cuda<'c>(cx: &Context<'c>) -> Target<'c> {
    Target { kind: TargetKind::Cuda, device: cx.symbol("nvidia.h200_sxm") }
}

pub fn hir<'c>(module: Module<'c>, name: &str) -> Function<'c> {
    match module.lookup(name) {
        Some(AnyFunction::Hir(function)) => function,
        _ => panic!("no HIR function {name}"),
    }
}

pub fn messages(errors: &[Diagnostic]) -> Vec<&str> {
    errors.iter().map(|error| error.message.as_str()).collect()
}
