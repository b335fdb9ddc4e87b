//! A call of an instance has the value of the function that it was elaborated from.

use std::sync::Arc;

use crate::generated::{expected, input, sizes};
use tf_core::node::{FunctionData, ModuleData};
use tf_core::tree::{Replacements, replaced};
use tf_core::{AnyFunction, Arena, Callee, Context, Expr, ExprKind, Function, Meta, Module};
use tf_evaluate::{Engine, Reading, ReadingRequest, Reference, Resource, Step};
use tf_infer::infer_function;
use tf_testing::{Options, Rng, random_module};
use tf_types::{DimKind, Storage, TensorLayout, Type};
use tf_value::DialectBuilder;
use tf_value::io::TensorMap;

/// Where the caller holds a tensor without a layout.
fn held<'c>(cx: &Context<'c>, ty: Type<'c>, seed: u64) -> Type<'c> {
    let Some(tensor) = ty.as_tensor().filter(|tensor| tensor.layout.is_none() && tensor.rank() > 0) else { return ty };
    let layout = seed.is_multiple_of(2).then(|| TensorLayout::Plain(cx.c_order_layout(tensor.shape)));
    cx.tensor(tensor.shape, tensor.dtype, layout, Storage::Rmem)
}

/// `caller`, which does nothing but call a function on parameters that it holds elsewhere.
fn caller<'c>(cx: &Context<'c>, function: Function<'c>, seed: u64) -> Function<'c> {
    let params = function.params.iter().map(|&param| {
        let ty = if param.is_const_param() { param.ty() } else { held(cx, param.ty(), seed) };
        cx.expr(param.kind, ty, Meta::default())
    });
    let params: &[Expr<'c>] = cx.alloc_slice(&params.collect::<Vec<_>>());
    let kind = ExprKind::Call { callee: Callee::Function(function), args: params };
    let call = cx.expr(kind, function.return_type, Meta::default());
    cx.function(FunctionData::new(cx.symbol("caller"), params, call, call.ty()))
}

/// The module with a caller of one of its functions, typed and linked, and both functions in it.
fn with_caller<'c>(
    cx: &Context<'c>,
    module: Module<'c>,
    at: usize,
    seed: u64,
) -> Option<(Module<'c>, Function<'c>, Function<'c>)> {
    let AnyFunction::Hir(function) = module.functions[at] else { return None };
    // A call tells the sizes of dims that are extents of arguments.
    let leaves: Vec<_> = function.params.iter().flat_map(|param| param.ty().leaves()).collect();
    let known = leaves.iter().flat_map(|tensor| tensor.shape).filter_map(|dim| match *dim.data() {
        DimKind::Var(var) => Some(var),
        _ => None,
    });
    let known: Vec<_> = known.collect();
    if !function.dim_vars_reached().iter().all(|var| known.contains(var)) {
        return None;
    }
    let untyped = caller(cx, function, seed);
    let typed = infer_function(untyped, cx).ok()?;
    let typed = cx.function(FunctionData { return_type: typed.body?.ty(), ..*typed });
    let functions = [module.functions, &[AnyFunction::Hir(typed)]].concat();
    let whole = cx.module(ModuleData { functions: cx.alloc_slice(&functions), ..*module });
    let whole = replaced(cx, whole, &Replacements::default(), &Function::callees).expect("well formed");
    match (whole.functions[at], whole.functions[functions.len() - 1]) {
        (AnyFunction::Hir(function), AnyFunction::Hir(caller)) => Some((whole, function, caller)),
        _ => None,
    }
}

#[test]
fn instances_have_the_values_of_their_origins() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300);
    let (mut compared, mut elaborated) = (0, 0);
    for seed in 0..cases {
        let arena = Arena::new();
        let mut builder = DialectBuilder::default();
        tf_dim::register(&mut builder);
        tf_hir::register(&mut builder);
        let (ops, rules) = builder.freeze().unwrap();
        let cx = &Context::new(&arena, ops);
        let engine = Reference::new(rules);
        let options = Options { tir: &["dim"], tir_functions: 0, ..Options::default() };
        let module = random_module(cx, seed, &options);
        for at in 0..module.functions.len() {
            let Some((whole, function, caller)) = with_caller(cx, module, at, seed) else { continue };
            let resource = Resource::new(Arc::new(TensorMap::default())).or_random(Some(seed));
            let reading = Reading::load(whole, resource);
            let mut rng = Rng::new(seed);
            let dims = sizes(&mut rng, function);
            let activations = function.params.iter().filter(|param| !param.is_const_param());
            let inputs = activations.map(|param| {
                let (dtype, shape) = expected(param.ty(), &dims).pop()?;
                input(&mut rng, dtype, &shape)
            });
            let Some(inputs) = inputs.collect::<Option<Vec<_>>>() else { continue };
            let run = |function| {
                let step = Step::Function(reading.clone(), function);
                engine.run_reading(&ReadingRequest { step, inputs: &inputs, dims: &dims, times: None }).unwrap()
            };
            match (run(function), run(caller)) {
                (Ok(a), Ok(b)) => {
                    let bytes = |all: &[tf_value::Tensor]| all.iter().map(|t| format!("{t:?}")).collect::<Vec<_>>();
                    assert_eq!(bytes(&a), bytes(&b), "seed {seed}, {}", function.name);
                    compared += 1;
                    elaborated += usize::from(!whole.instances.is_empty());
                }
                (Err(_), Err(_)) => {}
                (a, b) => {
                    panic!("seed {seed}, {}: one of both is refused: {:?}, {:?}", function.name, a.err(), b.err())
                }
            }
        }
    }
    assert!(compared > cases as usize / 2 && elaborated > cases as usize / 4, "{compared} compared, {elaborated}");
}
