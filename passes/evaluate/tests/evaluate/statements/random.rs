//! Random functions of statements: they have values, or are refused in words.

use tf_core::{AnyFunction, Arena};
use tf_evaluate::{DimSizes, Engine, Reference, Request};
use tf_testing::{Options, Rng, random_module};
use tf_value::Tensor;

use crate::common::context;
use crate::generated::{expected, input};

#[test]
fn random_functions_run_or_are_refused() {
    let options = Options { hir_functions: 0, tir_functions: 4, depth: 0, parts: false, ..Options::default() };
    let (mut run, mut refused) = (0, 0);
    for seed in 0..150 {
        let arena = Arena::new();
        let (cx, rules) = &context(&arena);
        let module = random_module(cx, seed, &options);
        let engine = Reference::new(std::sync::Arc::clone(rules));
        for &entry in module.functions {
            let AnyFunction::Tir(function) = entry else { continue };
            let mut rng = Rng::new(seed);
            let vars = function.dim_vars();
            let dims: DimSizes<'_> = vars
                .as_slice()
                .iter()
                .map(|var| (var.name, var.lo + rng.below(usize::try_from((var.hi - var.lo).min(3)).unwrap()) as i64))
                .collect();
            let tensor = |param: &tf_core::Expr<'_>, rng: &mut Rng| {
                let (dtype, shape) = expected(param.ty(), &dims).pop()?;
                input(rng, dtype, &shape)
            };
            let (params, changed) = function.inputs_and_outputs();
            let inputs: Option<Vec<Tensor>> = params.iter().map(|param| tensor(param, &mut rng)).collect();
            let Some(inputs) = inputs else { continue };
            let outputs: Vec<_> = changed.iter().map(|param| tensor(param, &mut rng)).collect();
            let request =
                Request { cx, module, entry, inputs: &inputs, outputs: &outputs, dims: &dims, argument: None };
            match engine.run(&request) {
                Ok(results) => {
                    run += 1;
                    for (result, param) in results.iter().zip(&changed) {
                        let (dtype, shape) = expected(param.ty(), &dims).pop().unwrap();
                        let found: Vec<_> = result.shape().iter().map(|&n| n as i64).collect();
                        assert_eq!((result.dtype(), found), (dtype, shape), "{seed}");
                    }
                }
                Err(error) => {
                    refused += 1;
                    assert!(!error.message.contains("panicked"), "{seed}: {}", error.message);
                }
            }
        }
    }
    assert!(run > 50 && refused > 10, "{run} run, {refused} refused");
}
