//! Reference programs, from source to numbers: parsed, lowered for the CPU, compiled, run.
use serde_json::Value as Json;
use tf_core::{Arena, Context, Diagnostic, diag::Style};
use tf_evaluate::{DimSizes, Engines, Request};
use tf_framework::{PassManager, PassRegistry, Pipeline};
use tf_lower::LowerRules;
use tf_types::DType;
use tf_value::{DialectBuilder, Tensor, Tolerance, io::TensorFile};

use crate::support::reference;

/// Programs that this version lowers.
const PROGRAMS: [&str; 6] = ["vector_add", "square", "rms_rows", "softmax_rows", "column_mean", "tile_k_loop"];

fn lowered<'c>(cx: &Context<'c>, passes: &PassRegistry, name: &str, target: &str) -> tf_core::Module<'c> {
    let text = std::fs::read_to_string(reference().join(format!("programs/{name}.py"))).unwrap();
    let file = cx.sources().add(format!("{name}.py"), text);
    let show = |diagnostics: &[Diagnostic]| -> String {
        diagnostics.iter().map(|diagnostic| diagnostic.render(cx.sources(), Style::Plain)).collect()
    };
    let module = tf_dsl::parse_file(cx, file, &tf_dsl::DslOptions::default());
    let module = module.unwrap_or_else(|errors| panic!("{}", show(&errors)));
    let text = format!("lower-tir{{target={target}}}");
    let pipeline = Pipeline::build(passes, cx.sources(), "<pipeline>", &text).unwrap();
    let outcome = PassManager::default().run(&pipeline, cx, module);
    outcome.unwrap_or_else(|failure| panic!("{name}: {}", show(&failure.diagnostics))).module
}

fn with_program(name: &str, target: &str, check: impl for<'c> FnOnce(&Context<'c>, tf_core::Module<'c>)) {
    let mut dialects = DialectBuilder::default();
    tf_hir::register(&mut dialects);
    tf_dim::register(&mut dialects);
    tf_tir::register(&mut dialects);
    let (ops, _) = dialects.freeze().unwrap();
    let mut passes = PassRegistry::default();
    tf_lower::register(&mut passes, LowerRules::default().freeze(&ops).unwrap());
    let arena = Arena::new();
    let cx = Context::new(&arena, ops);
    let module = lowered(&cx, &passes, name, target);
    check(&cx, module);
}

fn run<'c>(cx: &Context<'c>, module: tf_core::Module<'c>, inputs: &[Tensor], on: &str) -> tf_core::Result<Vec<Tensor>> {
    let mut engines = Engines::default();
    tf_mlir::engine::register_engines(&mut engines);
    let (engine, argument) = engines.find(on).unwrap();
    let entry = module.entry_function().unwrap();
    engine.run(&Request { cx, module, entry, inputs, outputs: &[], dims: &DimSizes::default(), argument })
}

#[test]
fn programs_agree_with_the_reference() {
    let text = std::fs::read_to_string(reference().join("programs/manifest.json")).unwrap();
    let manifest: Json = serde_json::from_str(&text).unwrap();
    for name in PROGRAMS {
        let program = manifest["programs"].as_array().unwrap().iter().find(|p| p["name"] == name).unwrap();
        let file = TensorFile::open(reference().join(format!("programs/{name}.safetensors"))).unwrap();
        let load = |entry: &Json| {
            let dtype = DType::from_name(entry["dtype"].as_str().unwrap()).unwrap();
            file.get_as(entry["tensor"].as_str().unwrap(), dtype).unwrap().unwrap()
        };
        for case in program["runs"].as_array().unwrap() {
            let given = case["inputs"].as_array().unwrap().iter().chain(program["weights"].as_array().unwrap());
            let given: Vec<(&str, Tensor)> = given.map(|e| (e["name"].as_str().unwrap(), load(e))).collect();
            with_program(name, "cpu", |cx, module| {
                let params = module.entry_function().unwrap().params();
                let names = params.iter().filter_map(|param| param.var_name());
                let inputs: Vec<Tensor> = names
                    .filter_map(|name| given.iter().find(|(known, _)| *known == name.as_str()))
                    .map(|(_, tensor)| tensor.clone())
                    .collect();
                let outputs = run(cx, module, &inputs, "cpu-jit")
                    .unwrap_or_else(|error| panic!("{name}: {}", error.render(cx.sources(), Style::Plain)));
                for (got, entry) in outputs.iter().zip(case["outputs"].as_array().unwrap()) {
                    let of = |key: &str| entry[key].as_f64().unwrap();
                    let result = Tolerance::new(of("rtol"), of("atol")).compare(got, &load(entry));
                    assert!(result.pass(), "{name}: {result}");
                    println!("{name}: {result}");
                }
                assert_eq!(outputs.len(), case["outputs"].as_array().unwrap().len());
            });
        }
    }
}

#[test]
fn a_module_for_the_gpu_is_refused() {
    with_program("square", "cuda", |cx, module| {
        let error = run(cx, module, &[], "cpu-jit").unwrap_err();
        let expected = "is the host side of `@square_tile` of target nvidia.h200_sxm";
        assert!(error.message.contains(expected), "{}", error.message);
        assert_eq!(error.help.as_deref(), Some("it runs a module lowered with `lower-tir{target=cpu}`"));
        let error = run(cx, module, &[], "cpu-jit:1").unwrap_err();
        assert_eq!(error.message, "engine `cpu-jit` takes no argument, found `1`");
    });
}
