//! The reference cases of every op, through real calls: the case's own source is read by a small reader of assignments, calls
//! and operators, each op is built from its schema, typed and evaluated, and every value is compared with its inferred type.
//!
//! A case is skipped where its source needs more than that reader knows (meshes, subscripts of tensors): those run through the front end.

mod attribute;
mod expression;
mod run;
mod tokens;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value as Json;
use tf_types::DType;
use tf_value::io::TensorFile;
use tf_value::{Tensor, Tolerance};

use run::{Case, Stop};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/ops")
}

fn tensor(file: &TensorFile, entry: &Json) -> Tensor {
    let dtype = DType::from_name(entry["dtype"].as_str().unwrap()).unwrap();
    file.get_as(entry["tensor"].as_str().unwrap(), dtype).unwrap().unwrap()
}

/// The shape as declared: integers, or names of dims.
fn declared(entry: &Json) -> Option<Vec<String>> {
    let extents = entry["declared_shape"].as_array()?;
    Some(extents.iter().map(|extent| extent.as_str().map_or_else(|| extent.to_string(), str::to_owned)).collect())
}

fn case(entry: &Json, file: &TensorFile) -> Case {
    let name = |input: &Json| input["name"].as_str().unwrap().to_owned();
    let inputs = entry["inputs"].as_array().unwrap();
    let sizes = entry["dims"].as_object().into_iter().flatten();
    Case {
        source: entry["source"].as_str().unwrap().to_owned(),
        inputs: inputs.iter().map(|input| (name(input), tensor(file, input), declared(input))).collect(),
        sizes: sizes.map(|(dim, size)| (dim.clone(), size.as_i64().unwrap())).collect(),
    }
}

/// What differs from the stored outputs.
fn complaint(outputs: &[Json], file: &TensorFile, got: &[Tensor]) -> Option<String> {
    if got.len() != outputs.len() {
        return Some(format!("{} outputs, not {}", got.len(), outputs.len()));
    }
    outputs.iter().zip(got).enumerate().find_map(|(at, (output, got))| {
        let tolerance = Tolerance {
            rtol: output["rtol"].as_f64().unwrap(),
            atol: output["atol"].as_f64().unwrap(),
            signed_zero: output["signed_zero"].as_bool().unwrap_or(false),
        };
        let result = tolerance.compare(got, &tensor(file, output));
        (!result.pass()).then(|| format!("out{at}: {result}"))
    })
}

/// Cases that the reader skips, by op: they need meshes or subscripts of tensors.
const SKIPPED: &[(&str, usize)] = &[("local", 3), ("reshard", 4), ("slice", 8)];

#[test]
fn all_cases() {
    let manifest: Json =
        serde_json::from_str(&std::fs::read_to_string(folder().join("manifest.json")).unwrap()).unwrap();
    let (mut skipped, mut failures) = (BTreeMap::<&str, Vec<String>>::new(), Vec::new());
    let mut files: BTreeMap<&str, TensorFile> = BTreeMap::new();
    for entry in manifest["cases"].as_array().unwrap() {
        let op = entry["op"].as_str().unwrap();
        let name = format!("{op} {}", entry["case"].as_str().unwrap());
        let file =
            files.entry(op).or_insert_with(|| TensorFile::open(folder().join(format!("{op}.safetensors"))).unwrap());
        match case(entry, file).run() {
            Ok(got) => {
                let complaint = complaint(entry["outputs"].as_array().unwrap(), file, &got);
                failures.extend(complaint.map(|complaint| format!("{name}: {complaint}")));
            }
            Err(Stop::Skip(why)) => skipped.entry(op).or_default().push(format!("{name}: {why}")),
            Err(Stop::Wrong(why)) => failures.push(format!("{name}: {why}")),
        }
    }
    assert!(failures.is_empty(), "{} cases fail:\n{}", failures.len(), failures.join("\n"));
    let counts: Vec<_> = skipped.iter().map(|(op, cases)| (*op, cases.len())).collect();
    assert_eq!(counts, SKIPPED, "{skipped:#?}");
}
