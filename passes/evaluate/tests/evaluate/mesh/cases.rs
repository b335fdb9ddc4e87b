//! The reference cases: what every position holds, by a simulation of all participants.

use std::path::Path;

use serde_json::Value as Json;
use tf_evaluate::Positions;
use tf_types::DType;
use tf_value::io::TensorFile;
use tf_value::{Tensor, compare};

use super::positions;

fn tensor(file: &TensorFile, entry: &Json) -> Tensor {
    let dtype = DType::from_name(entry["dtype"].as_str().unwrap()).unwrap();
    file.get_as(entry["tensor"].as_str().unwrap(), dtype).unwrap().unwrap()
}

fn failure(case: &Json, file: &TensorFile) -> Option<String> {
    let inputs: Vec<Tensor> = case["inputs"].as_array().unwrap().iter().map(|input| tensor(file, input)).collect();
    let found = match positions(case["source"].as_str().unwrap(), &inputs, Positions::All) {
        Ok(found) => found,
        Err(error) => return Some(error),
    };
    let names: Vec<&str> = case["axes"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let counts: Vec<u64> = case["positions"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).collect();
    let axes: Vec<(&str, u64)> = found.axes.iter().map(|(name, count)| (name.as_str(), *count as u64)).collect();
    if axes != names.into_iter().zip(counts).collect::<Vec<_>>() {
        return Some(format!("axes {axes:?}"));
    }
    let result = compare(&found.outputs[0], &tensor(file, &case["outputs"][0]), 0.0, 0.0);
    (!result.pass()).then(|| result.to_string())
}

#[test]
fn positions_hold_what_the_reference_cases_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/ops");
    let manifest: Json =
        serde_json::from_str(&std::fs::read_to_string(folder.join("mesh_cases.json")).unwrap()).unwrap();
    let file = TensorFile::open(folder.join("mesh_cases.safetensors")).unwrap();
    let cases = manifest["cases"].as_array().unwrap();
    let failures: Vec<String> =
        cases.iter().filter_map(|case| Some(format!("{}: {}", case["case"], failure(case, &file)?))).collect();
    assert!(
        cases.len() >= 19 && failures.is_empty(),
        "{} of {} fail:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}
