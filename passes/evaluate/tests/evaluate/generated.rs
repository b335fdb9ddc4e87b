//! Values of random functions have the shapes and dtypes that inference gives, at random sizes of dims.

use std::sync::Arc;

use tf_core::node::FunctionData;
use tf_core::walk::schedule;
use tf_core::{AnyFunction, Arena, Context, Function};
use tf_evaluate::{DimSizes, Engine, Reading, ReadingRequest, Reference, Resource, Step};
use tf_testing::{Options, Rng, random_module};
use tf_types::{DType, DimVar, Type, TypeKind};
use tf_value::io::TensorMap;
use tf_value::{DialectBuilder, Tensor, extent};

/// The tensors of a value of that type: dtype and extents, left to right.
pub fn expected<'c>(ty: Type<'c>, dims: &DimSizes<'c>) -> Vec<(DType, Vec<i64>)> {
    match *ty.data() {
        TypeKind::Tensor(ref tensor) => {
            vec![(tensor.dtype, tensor.shape.iter().map(|&dim| extent(dim, dims).unwrap()).collect())]
        }
        TypeKind::Tuple(fields) => fields.iter().flat_map(|&field| expected(field, dims)).collect(),
        TypeKind::Unit | TypeKind::Callable { .. } => Vec::new(),
    }
}

/// Small numbers, so that many are indices.
pub fn input(rng: &mut Rng, dtype: DType, shape: &[i64]) -> Option<Tensor> {
    let shape: Vec<usize> = shape.iter().map(|&n| usize::try_from(n)).collect::<Result<_, _>>().ok()?;
    let numbers: Vec<f32> = (0..shape.iter().product()).map(|_| rng.below(3) as f32).collect();
    Tensor::from_f32(&shape, &numbers).ok()?.cast(dtype).ok()
}

/// A size for each dim of a function's parameters.
pub fn sizes<'c>(rng: &mut Rng, function: Function<'c>) -> DimSizes<'c> {
    let vars = function.params.iter().flat_map(|param| param.ty().dim_vars());
    let mut size = |var: DimVar<'c>| var.lo + rng.below(usize::try_from((var.hi - var.lo).min(6)).unwrap()) as i64;
    vars.map(|var| (var.name, size(var))).collect()
}

struct Counts {
    compared: usize,
    refused: usize,
}

fn check<'c>(
    cx: &Context<'c>,
    engine: &Reference,
    reading: &Reading<'c>,
    function: Function<'c>,
    seed: u64,
    counts: &mut Counts,
) {
    let Some(body) = function.body else { return };
    let mut rng = Rng::new(seed);
    let dims = sizes(&mut rng, function);
    // The reading makes the constants up.
    let activations = function.params.iter().filter(|param| !param.is_const_param());
    let inputs = activations.map(|param| {
        let (dtype, shape) = expected(param.ty(), &dims).pop()?;
        input(&mut rng, dtype, &shape)
    });
    let Some(inputs) = inputs.collect::<Option<Vec<_>>>() else { return };
    for value in schedule(body).root {
        let copy = cx.function(FunctionData {
            span: function.span,
            ..FunctionData::new(function.name, function.params, value, value.ty())
        });
        let step = Step::Function(reading.clone(), copy);
        let request = ReadingRequest { step, inputs: &inputs, dims: &dims, times: None };
        match engine.run_reading(&request).unwrap() {
            Ok(outputs) => {
                let shape = |tensor: &Tensor| tensor.shape().iter().map(|&n| i64::try_from(n).unwrap()).collect();
                let found: Vec<(DType, Vec<i64>)> =
                    outputs.iter().map(|tensor| (tensor.dtype(), shape(tensor))).collect();
                assert_eq!(found, expected(value.ty(), &dims), "seed {seed}, {} = {value:?}", function.name);
                counts.compared += 1;
            }
            Err(error) => {
                assert!(!error.message.contains("panicked"), "seed {seed}: {}", error.message);
                counts.refused += 1;
            }
        }
    }
}

#[test]
fn values_have_their_inferred_types() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300);
    let mut counts = Counts { compared: 0, refused: 0 };
    for seed in 0..cases {
        let arena = Arena::new();
        let mut builder = DialectBuilder::default();
        tf_dim::register(&mut builder);
        tf_hir::register(&mut builder);
        let (ops, rules) = builder.freeze().unwrap();
        let cx = &Context::new(&arena, ops);
        let options = Options { tir: &["dim"], tir_functions: 0, ..Options::default() };
        let module = random_module(cx, seed, &options);
        let resource = Resource::new(Arc::new(TensorMap::default())).or_random(Some(seed));
        let reading = Reading::load(module, resource);
        let engine = Reference::new(rules);
        for function in module.all_functions() {
            let AnyFunction::Hir(function) = function else { continue };
            for part in function.with_parts() {
                check(cx, &engine, &reading, part, seed, &mut counts);
            }
        }
    }
    let Counts { compared, refused } = counts;
    assert!(compared > 3 * refused && compared > 2 * cases as usize, "{compared} values, {refused} refusals");
}
