//! The reference programs, lowered, emitted and run on the simulated GPU.
use serde_json::Value as Json;
use tf_core::{AnyFunction, Arena};
use tf_mlir::{Session, emit::emit_module};
use tf_types::DType;
use tf_value::{Tensor, bf16, f16, io::TensorFile};

use crate::{
    common::{assert_accepted, context, lower, reference},
    scalar::Num,
    simulate::{Memory, run},
};

fn memory(tensor: &Tensor) -> Memory {
    match tensor.dtype().is_float() {
        true => tensor.to_f32_vec().into_iter().map(Num::F).collect(),
        false => tensor.to_i64_vec().unwrap().into_iter().map(Num::I).collect(),
    }
}

fn tensor(memory: &Memory, dtype: DType, shape: &[usize]) -> Tensor {
    let floats = || memory.iter().map(Num::float);
    match dtype {
        DType::F32 => Tensor::from_vec(shape, floats().collect::<Vec<f32>>()),
        DType::BF16 => Tensor::from_vec(shape, floats().map(bf16::from_f32).collect::<Vec<_>>()),
        DType::F16 => Tensor::from_vec(shape, floats().map(f16::from_f32).collect::<Vec<_>>()),
        _ => panic!("no program gives {dtype}"),
    }
    .unwrap()
}

fn check(name: &str) {
    let manifest: Json =
        serde_json::from_str(&std::fs::read_to_string(reference("programs/manifest.json")).unwrap()).unwrap();
    let program = manifest["programs"].as_array().unwrap().iter().find(|p| p["name"] == name).unwrap();
    let source = std::fs::read_to_string(reference(&format!("programs/{name}.py"))).unwrap();
    let tensors = TensorFile::open(reference(&format!("programs/{name}.safetensors"))).unwrap();

    let arena = Arena::new();
    let cx = context(&arena);
    let file = cx.sources().add(format!("{name}.py"), source);
    let options = tf_dsl::DslOptions { module: program["module"].as_str().map(str::to_owned) };
    let hir = tf_dsl::parse_file(&cx, file, &options).unwrap();
    let module = lower(&cx, hir, "lower-tir");
    let session = Session::new();
    let mlir = emit_module(&session, module, cx.sources()).unwrap_or_else(|error| panic!("{error:#?}"));
    assert_accepted(&mlir.as_operation().to_string());

    let entry = program["entry"].as_str().unwrap();
    let Some(AnyFunction::Tir(kernel)) = module.lookup(entry) else { panic!("no kernel {entry}") };
    for run_case in program["runs"].as_array().unwrap() {
        let mut arguments: Vec<Memory> = vec![];
        let inputs = run_case["inputs"].as_array().unwrap();
        for parameter in kernel.params {
            let parameter = parameter.var_name().unwrap();
            let found =
                inputs.iter().chain(program["weights"].as_array().unwrap()).find(|i| i["name"] == parameter.as_str());
            arguments.extend(found.map(|i| {
                let dtype = DType::from_name(i["dtype"].as_str().unwrap()).unwrap();
                memory(&tensors.get_as(i["tensor"].as_str().unwrap(), dtype).unwrap().unwrap())
            }));
        }
        let outputs = run_case["outputs"].as_array().unwrap();
        let shape = |o: &Json| -> Vec<usize> {
            o["shape"].as_array().unwrap().iter().map(|e| e.as_u64().unwrap() as usize).collect()
        };
        for output in outputs {
            arguments.push(vec![Num::F(f32::NAN); shape(output).iter().product()]);
        }
        assert_eq!(arguments.len(), kernel.params.len());
        run(&mlir, entry, &mut arguments);
        let first = arguments.len() - outputs.len();
        for (output, got) in outputs.iter().zip(&arguments[first..]) {
            let dtype = DType::from_name(output["dtype"].as_str().unwrap()).unwrap();
            let want = tensors.get_as(output["tensor"].as_str().unwrap(), dtype).unwrap().unwrap();
            let got = tensor(got, dtype, &shape(output));
            let (rtol, atol) = (output["rtol"].as_f64().unwrap(), output["atol"].as_f64().unwrap());
            let comparison = tf_value::compare(&got, &want, rtol, atol);
            assert!(comparison.pass(), "{name}: {comparison}");
        }
    }
}

#[test]
fn vector_add() {
    check("vector_add");
}

#[test]
fn square() {
    check("square");
}

#[test]
fn rms_rows() {
    check("rms_rows");
}

#[test]
fn softmax_rows() {
    check("softmax_rows");
}

#[test]
fn column_mean() {
    check("column_mean");
}

#[test]
fn tile_k_loop() {
    check("tile_k_loop");
}
