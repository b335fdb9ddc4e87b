//! Ops, builders and checks of the tests.

use std::sync::Arc;

use tf_core::equal::structurally_equal;
use tf_core::node::{AnyFunction, FunctionData, ModuleData, PrimFunctionData, Target};
use tf_core::op::attr::{AnyLayout, DimAttr, Dims, Ints, MeshAttr, Placement, TypeAttr};
use tf_core::op::{OpCall, OpInstance, OpRegistry, OpRegistryBuilder, RuleError, TypeRule, VerifyRule};
use tf_core::{Context, Expr, ExprKind, Meta, Module, Stmt, TargetKind, op};
use tf_text::{PrintOptions, parse_module, print_module};
use tf_types::kinds::ReduceKind;
use tf_types::{DType, Dim, DimVar, Mesh, MeshLayout, Storage, Topology, Type};

/// Sum.
#[op(dialect = "t", category = "math")]
pub struct Add {
    /// First.
    #[input(Any)]
    lhs: (),
    /// Second.
    #[input(Any)]
    rhs: (),
}

impl TypeRule for Add {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        if call.lhs().ty() != call.rhs().ty() {
            return Err(RuleError::new("the operands differ in type").operand(1, "this one"));
        }
        Ok(call.lhs().ty())
    }
}

/// Keeps its operand's type.
#[op(dialect = "t", category = "math")]
pub struct Reduce {
    /// Operand.
    #[input(Any)]
    x: (),
    /// Axes.
    axes: Ints,
    /// Keep them.
    #[default(true)]
    keepdim: bool,
    /// How.
    kind: ReduceKind,
}

impl TypeRule for Reduce {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        Ok(call.x().ty())
    }
}

/// A value of any type.
#[op(dialect = "T", category = "memory")]
pub struct Alloc {
    /// Operands that do not matter.
    #[input(Any, variadic)]
    coords: (),
    /// The type.
    tensor_type: TypeAttr,
}

impl TypeRule for Alloc {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        Ok(call.tensor_type())
    }
}

/// Attributes of plain kinds.
#[op(dialect = "t", category = "test")]
pub struct Every {
    /// Integer.
    #[default(-1)]
    i: i64,
    /// Float.
    #[default(0.5)]
    f: f64,
    /// Optional float with another default than none.
    #[default(2.0)]
    g: Option<f64>,
    /// Dtype.
    d: DType,
    /// Storage.
    s: Option<Storage>,
    /// Type.
    ty: TypeAttr,
}

impl TypeRule for Every {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        Ok(call.ty())
    }
}

/// Attributes of dims, layouts and meshes.
#[op(dialect = "t", category = "test")]
pub struct Placed {
    /// Dim.
    dim: DimAttr,
    /// Dims.
    dims: Dims,
    /// Any layout.
    l: Option<AnyLayout>,
    /// Placement.
    p: Option<Placement>,
    /// Mesh.
    m: Option<MeshAttr>,
    /// Type.
    ty: TypeAttr,
}

impl TypeRule for Placed {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        Ok(call.ty())
    }
}

/// Copies.
#[op(dialect = "T", category = "memory", effect)]
pub struct Copy {
    /// From.
    #[input(Any)]
    src: (),
    /// To.
    #[input(Any)]
    dst: (),
}

impl VerifyRule for Copy {
    fn verify<'c>(_: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        Ok(())
    }
}

/// Launches.
#[op(dialect = "T", category = "platform", effect)]
pub struct Launch {
    /// The function, extents, operands.
    #[input(Any, variadic)]
    args: (),
    /// Bytes.
    #[default(0)]
    dynamic_smem: i64,
}

impl VerifyRule for Launch {
    fn verify<'c>(_: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        Ok(())
    }
}

pub fn registry() -> Arc<OpRegistry> {
    let mut builder = OpRegistryBuilder::default();
    let id = builder.declare::<Add>();
    builder.types::<Add>(id);
    let id = builder.declare::<Reduce>();
    builder.types::<Reduce>(id);
    let id = builder.declare::<Alloc>();
    builder.types::<Alloc>(id);
    let id = builder.declare::<Every>();
    builder.types::<Every>(id);
    let id = builder.declare::<Placed>();
    builder.types::<Placed>(id);
    let id = builder.declare::<Copy>();
    builder.verifies::<Copy>(id);
    let id = builder.declare::<Launch>();
    builder.verifies::<Launch>(id);
    Arc::new(builder.freeze().expect("every op has its rule"))
}

pub fn tensor<'c>(cx: &Context<'c>, shape: &[i64]) -> Type<'c> {
    cx.tensor(cx.const_dims(shape), DType::F32, None, Storage::Gmem)
}

pub fn s<'c>(cx: &Context<'c>) -> Dim<'c> {
    cx.dim_var(DimVar { name: cx.symbol("S"), lo: 1, hi: 1025 })
}

pub fn mesh<'c>(cx: &Context<'c>) -> Mesh<'c> {
    let levels = [("cta", 4), ("thread", 64)];
    let levels = levels.map(|(name, size)| Topology { name: cx.symbol(name), size: Some(cx.dim(size)) });
    let names = ["b", "w", "l"].map(|name| cx.symbol(name));
    cx.mesh(&levels, MeshLayout::Plain(cx.c_order_layout(cx.const_dims(&[4, 2, 32]))), &names)
}

pub fn var<'c>(cx: &Context<'c>, name: &str, ty: Type<'c>) -> Expr<'c> {
    cx.var(cx.symbol(name), ty, Meta::default())
}

pub fn call<'c>(cx: &Context<'c>, op: OpInstance<'c>, args: &[Expr<'c>], name: &str) -> Expr<'c> {
    let mut meta = Meta::default();
    if !name.is_empty() {
        meta = meta.named(cx.symbol(name));
    }
    cx.call(op, args, meta).expect("a well-typed call")
}

pub fn add<'c>(cx: &Context<'c>, lhs: Expr<'c>, rhs: Expr<'c>, name: &str) -> Expr<'c> {
    call(cx, Add::new(cx), &[lhs, rhs], name)
}

pub fn reduce<'c>(cx: &Context<'c>, x: Expr<'c>) -> Expr<'c> {
    call(cx, Reduce::new(cx, &[1, -1], false, ReduceKind::Mean), &[x], "")
}

pub fn tuple<'c>(cx: &Context<'c>, elements: &[Expr<'c>]) -> Expr<'c> {
    let types: Vec<_> = elements.iter().map(|e| e.ty()).collect();
    cx.expr(ExprKind::Tuple(cx.alloc_slice(elements)), cx.tuple(&types), Meta::default())
}

pub fn hir<'c>(cx: &Context<'c>, name: &str, params: &[Expr<'c>], body: Expr<'c>) -> AnyFunction<'c> {
    AnyFunction::Hir(cx.function(FunctionData::new(cx.symbol(name), cx.alloc_slice(params), body, body.ty())))
}

pub fn tir<'c>(cx: &Context<'c>, name: &str, params: &[Expr<'c>], body: Stmt<'c>) -> AnyFunction<'c> {
    let target = Target { kind: TargetKind::Cpu, device: cx.symbol("") };
    let (name, params) = (cx.symbol(name), cx.alloc_slice(params));
    AnyFunction::Tir(cx.prim_function(PrimFunctionData {
        name,
        params,
        body,
        output_count: 1,
        target,
        doc: None,
        span: None,
    }))
}

pub fn module<'c>(cx: &Context<'c>, functions: &[AnyFunction<'c>]) -> Module<'c> {
    cx.module(ModuleData { functions: cx.alloc_slice(functions), ..ModuleData::new(cx.symbol("m")) })
}

pub fn parse<'c>(cx: &Context<'c>, text: &str) -> Module<'c> {
    let file = cx.sources().add("m.tfir", text);
    parse_module(cx, file).unwrap_or_else(|errors| {
        let errors: Vec<_> = errors.iter().map(|e| e.render(cx.sources(), tf_core::diag::Style::Plain)).collect();
        panic!("{}\nin\n{text}", errors.join("\n"))
    })
}

/// Prints, parses and compares, without and with locations; gives the text without.
pub fn round_trip<'c>(cx: &Context<'c>, module: Module<'c>) -> String {
    for options in [PrintOptions { locations: Some(cx.sources()) }, PrintOptions::default()] {
        let text = print_module(module, &options);
        let again = parse(cx, &text);
        assert_eq!(print_module(again, &options), text);
        assert!(structurally_equal(module, again), "{text}");
    }
    print_module(module, &PrintOptions::default())
}

/// Message, line and column of every error, and its help.
pub fn errors(text: &str) -> Vec<String> {
    let arena = tf_core::Arena::new();
    let cx = Context::new(&arena, registry());
    let file = cx.sources().add("m.tfir", text);
    let Err(errors) = parse_module(&cx, file) else { return Vec::new() };
    let describe = |e: &tf_core::Diagnostic| {
        let span = e.span.expect("every error has a place");
        let help = e.help.as_ref().map_or(String::new(), |help| format!(" [{help}]"));
        format!("{}:{}-{}: {}{help}", span.line, span.column, span.end_column, e.message)
    };
    errors.iter().map(describe).collect()
}
