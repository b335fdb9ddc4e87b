//! Ops that lowering takes apart, on all their reference cases: parsed, lowered for the CPU, compiled, run, and compared
//! with the stored values and with the evaluator.
use serde_json::Value as Json;
use tf_core::{Arena, Context, Diagnostic, Module, diag::Style};
use tf_evaluate::{DimSizes, Engines, Reference, Request};
use tf_framework::{PassManager, PassRegistry, Pipeline};
use tf_lower::LowerRules;
use tf_types::DType;
use tf_value::{DialectBuilder, EvalRegistry, Tensor, Tolerance, io::TensorFile};

use crate::support::reference;

/// Ops and how many cases they have.
const OPS: [(&str, usize); 10] = [
    ("relu", 7),
    ("sigmoid", 5),
    ("tanh", 5),
    ("silu", 5),
    ("gelu", 7),
    ("softplus", 4),
    ("clamp", 6),
    ("softmax", 10),
    ("rms_norm", 8),
    ("layer_norm", 10),
];

fn with_ops<R>(f: impl for<'c> FnOnce(&Context<'c>, &PassRegistry, std::sync::Arc<EvalRegistry>) -> R) -> R {
    let mut dialects = DialectBuilder::default();
    tf_hir::register(&mut dialects);
    tf_dim::register(&mut dialects);
    tf_tir::register(&mut dialects);
    let (ops, eval) = dialects.freeze().unwrap();
    let mut passes = PassRegistry::default();
    tf_lower::register(&mut passes, LowerRules::default().freeze(&ops).unwrap());
    let arena = Arena::new();
    f(&Context::new(&arena, ops), &passes, eval)
}

fn show(cx: &Context<'_>, diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| diagnostic.render(cx.sources(), Style::Plain)).collect()
}

fn evaluate<'c>(cx: &Context<'c>, engines: &Engines, module: Module<'c>, inputs: &[Tensor], on: &str) -> Vec<Tensor> {
    let (engine, argument) = engines.find(on).unwrap();
    let entry = module.entry_function().unwrap();
    let result = engine.run(&Request { cx, module, entry, inputs, outputs: &[], dims: &DimSizes::default(), argument });
    result.unwrap_or_else(|error| panic!("{on}: {}", show(cx, &[error])))
}

/// What the source computes: by the evaluator, and compiled.
fn both(source: &str, inputs: &[Tensor]) -> [Vec<Tensor>; 2] {
    with_ops(|cx, passes, eval| {
        let file = cx.sources().add("case.py".to_owned(), source.to_owned());
        let module = tf_dsl::parse_file(cx, file, &tf_dsl::DslOptions::default());
        let module = module.unwrap_or_else(|errors| panic!("{}", show(cx, &errors)));
        let mut engines = Engines::default();
        engines.add(Reference::new(eval));
        tf_mlir::engine::register_engines(&mut engines);
        let pipeline = Pipeline::build(passes, cx.sources(), "<pipeline>", "lower-tir{target=cpu}").unwrap();
        let lowered = PassManager::default().run(&pipeline, cx, module);
        let lowered = lowered.unwrap_or_else(|failure| panic!("{}", show(cx, &failure.diagnostics))).module;
        [evaluate(cx, &engines, module, inputs, "reference"), evaluate(cx, &engines, lowered, inputs, "cpu-jit")]
    })
}

#[test]
fn reference_cases() {
    let text = std::fs::read_to_string(reference().join("ops/manifest.json")).unwrap();
    let manifest: Json = serde_json::from_str(&text).unwrap();
    for (op, expected) in OPS {
        let file = TensorFile::open(reference().join(format!("ops/{op}.safetensors"))).unwrap();
        let load = |entry: &Json| {
            let dtype = DType::from_name(entry["dtype"].as_str().unwrap()).unwrap();
            file.get_as(entry["tensor"].as_str().unwrap(), dtype).unwrap().unwrap()
        };
        let mut count = 0;
        for case in manifest["cases"].as_array().unwrap().iter().filter(|case| case["op"] == op) {
            let inputs: Vec<_> = case["inputs"].as_array().unwrap().iter().map(load).collect();
            let results = both(case["source"].as_str().unwrap(), &inputs);
            let output = &case["outputs"][0];
            let tolerance = Tolerance::new(output["rtol"].as_f64().unwrap(), output["atol"].as_f64().unwrap());
            for (engine, got) in ["evaluator", "cpu-jit"].into_iter().zip(&results) {
                let result = tolerance.compare(&got[0], &load(output));
                assert!(result.pass(), "{op} {} {engine}: {result}", case["case"]);
            }
            count += 1;
        }
        assert_eq!(count, expected, "cases of {op}");
    }
}

/// Limits, tails and small arguments; in f32 the two engines are as near as one formula is to the other.
#[test]
fn the_evaluator_and_compiled_code_agree_on_a_sweep() {
    let mut values: Vec<f32> = (-400..=400).map(|i| i as f32 / 20.0).collect();
    values.extend([f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e30, -1e30, 1e-30, -1e-30, 100.0, -100.0, -0.0]);
    let x = Tensor::from_f32(&[values.len()], &values).unwrap();
    let calls = [
        "tf.relu(x)",
        "tf.sigmoid(x)",
        "tf.tanh(x)",
        "tf.silu(x)",
        "tf.gelu(x)",
        "tf.gelu(x, approximate=\"none\")",
        "tf.softplus(x)",
        "tf.clamp(x, -1.5, 2.5)",
    ];
    for call in calls {
        for dtype in ["f32", "f16", "bf16"] {
            let shape = values.len();
            let source = format!(
                "from tilefoundry import func\nfrom tilefoundry.dsl import Tensor, tf\n\n\n@func\ndef f(x: \
                 Tensor[({shape},), \"{dtype}\"]):\n    return {call}\n"
            );
            let input = x.cast(DType::from_name(dtype).unwrap()).unwrap();
            let [want, got] = both(&source, &[input]);
            let (rtol, atol) = match dtype {
                "f32" => (2e-6, 5e-7),
                "f16" => (1e-3, 1e-4),
                _ => (8e-3, 1e-3),
            };
            let result = Tolerance::new(rtol, atol).compare(&got[0], &want[0]);
            assert!(result.pass(), "{call} {dtype}: {result}");
        }
    }
}

/// Where a formula would lose what torch keeps: the sign of zero, the digits of small results.
#[test]
fn small_results_keep_their_digits() {
    let values = [-0.0f32, 0.0, 1e-30, -1e-7, 3e-4, -0.01, 0.3];
    type Case<'a> = (&'a str, &'a [f32], fn(f64) -> f64);
    let cases: [Case<'_>; 2] = [
        ("tf.tanh(x)", &values, f64::tanh),
        ("tf.softplus(x)", &[-17.0, -20.0, -60.0, -87.0, 0.0, 15.0, 25.0], |x| x.exp().ln_1p()),
    ];
    for (call, values, exact) in cases {
        let count = values.len();
        let source = format!(
            "from tilefoundry import func\nfrom tilefoundry.dsl import Tensor, tf\n\n\n@func\ndef f(x: \
             Tensor[({count},), \"f32\"]):\n    return {call}\n"
        );
        let [_, compiled] = both(&source, &[Tensor::from_f32(&[count], values).unwrap()]);
        for (&x, got) in values.iter().zip(compiled[0].to_f32_vec()) {
            let want = exact(f64::from(x));
            let near = (f64::from(got) - want).abs() <= 5e-7 * want.abs();
            assert!(near && got.is_sign_negative() == want.is_sign_negative(), "{call} of {x}: {got}, not {want}");
        }
    }
}
