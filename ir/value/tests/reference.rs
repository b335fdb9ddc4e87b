//! The reference cases of the ops that are one tensor operation each: `binary`, `unary`, `cast`, `reduce`, `matmul`, `slice`.
//!
//! A case's `call` is read by a small reader of just these forms; whole programs are the business of the evaluator's own tests.

use std::path::PathBuf;

use serde_json::Value as Json;
use tf_types::DType;
use tf_types::kinds::{BinaryKind, ReduceKind, UnaryKind};
use tf_value::io::TensorFile;
use tf_value::{Tensor, Tolerance, ValueError};

fn reference() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference")
}

struct Case {
    call: String,
    inputs: Vec<(String, Tensor)>,
    attributes: Json,
}

impl Case {
    fn input(&self, name: &str) -> Tensor {
        let found = self.inputs.iter().find(|(input, _)| input == name);
        found.unwrap_or_else(|| panic!("`{}` has no input `{name}`", self.call)).1.clone()
    }

    /// An input, or a literal: a float takes the dtype of the other operand, an integer is i64.
    fn operand(&self, text: &str) -> Tensor {
        if let Ok(integer) = text.parse::<i64>() {
            return Tensor::scalar(integer);
        }
        match text.parse::<f64>() {
            Ok(float) => Tensor::scalar_from_f64(float, self.inputs[0].1.dtype()).unwrap(),
            Err(_) => self.input(text),
        }
    }

    fn kind(&self, function: &str) -> String {
        let quoted = self.call.split_once("kind=\"").map(|(_, rest)| rest.split('"').next().unwrap());
        let alias = match function {
            "minimum" => "min",
            "maximum" => "max",
            _ => function.trim_start_matches("cmp_").trim_start_matches("logical_"),
        };
        quoted.unwrap_or(alias).to_owned()
    }
}

/// `tf.name(a, b, …)`: the name and the positional operands.
fn function_call(call: &str) -> Option<(&str, Vec<&str>)> {
    let (name, rest) = call.strip_prefix("tf.")?.split_once('(')?;
    let operands = rest.trim_end_matches(')').split(", ").filter(|operand| !operand.contains('='));
    Some((name, operands.collect()))
}

fn binary(case: &Case) -> Result<Tensor, ValueError> {
    if let Some((name, operands)) = function_call(&case.call) {
        let kind = BinaryKind::from_name(&case.kind(name)).unwrap();
        return case.operand(operands[0]).binary(case.operand(operands[1]), kind);
    }
    let parts: Vec<&str> = case.call.split(' ').collect();
    let kind = match parts[1] {
        "+" => BinaryKind::Add,
        "-" => BinaryKind::Sub,
        "*" => BinaryKind::Mul,
        "/" => BinaryKind::Div,
        "//" => BinaryKind::FloorDiv,
        "%" => BinaryKind::Mod,
        "==" => BinaryKind::Eq,
        "!=" => BinaryKind::Ne,
        "<" => BinaryKind::Lt,
        "<=" => BinaryKind::Le,
        ">" => BinaryKind::Gt,
        ">=" => BinaryKind::Ge,
        "and" => BinaryKind::And,
        "or" => BinaryKind::Or,
        other => panic!("operator {other}"),
    };
    case.operand(parts[0]).binary(case.operand(parts[2]), kind)
}

fn unary(case: &Case) -> Result<Tensor, ValueError> {
    let name = match case.call.as_str() {
        "-x" => "neg",
        "not x" => "not",
        call => function_call(call).unwrap().0,
    };
    case.input("x").unary(UnaryKind::from_name(&case.kind(name)).unwrap())
}

fn reduce(case: &Case) -> Result<Tensor, ValueError> {
    let axes: Vec<i64> =
        case.attributes["axes"].as_array().unwrap().iter().map(|axis| axis.as_i64().unwrap()).collect();
    let keepdim = case.attributes["keepdim"].as_bool().unwrap_or(true);
    let kind = ReduceKind::from_name(case.attributes["kind"].as_str().unwrap_or("mean")).unwrap();
    case.input("x").reduce(&axes, keepdim, kind)
}

/// `tf.slice(x, (1, 2), …)` with sizes and strides as attributes, or a subscript.
fn slice(case: &Case) -> Result<Tensor, ValueError> {
    let x = case.input("x");
    if let Some((_, rest)) = case.call.split_once("slice(x, (") {
        let starts: Vec<i64> =
            rest.split(')').next().unwrap().split(", ").map(|start| start.parse().unwrap()).collect();
        let of = |name: &str| -> Vec<usize> {
            case.attributes[name].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect()
        };
        return x.slice(&starts, &of("sizes"), &of("strides"));
    }
    let subscript = case.call.trim_start_matches("x[").trim_end_matches(']');
    let mut axes: Vec<&str> = subscript.split(", ").collect();
    axes.resize(x.rank(), ":");
    let number = |text: &str, default: i64, extent: i64| -> i64 {
        let sum = text.split('+').map(str::trim).filter(|term| !term.is_empty());
        let value =
            sum.map(|term| term.parse().unwrap_or_else(|_| case.input(term).to_index().unwrap())).reduce(|a, b| a + b);
        value.map_or(default, |value: i64| if value < 0 { value + extent } else { value })
    };
    let (mut starts, mut sizes, mut strides, mut kept) = (vec![], vec![], vec![], vec![]);
    for (&axis, &extent) in axes.iter().zip(x.shape()) {
        let extent = extent as i64;
        let parts: Vec<&str> = axis.split(':').collect();
        let start = number(parts[0], 0, extent);
        let stop = if parts.len() == 1 { start + 1 } else { number(parts[1], extent, extent) };
        let stride = number(parts.get(2).unwrap_or(&""), 1, extent);
        let size = ((stop - start + stride - 1) / stride) as usize;
        starts.push(start);
        sizes.push(size);
        strides.push(stride as usize);
        kept.extend((parts.len() > 1).then_some(size));
    }
    x.slice(&starts, &sizes, &strides)?.reshape(&kept)
}

fn evaluate(op: &str, case: &Case) -> Result<Tensor, ValueError> {
    match op {
        "binary" => binary(case),
        "unary" => unary(case),
        "cast" => case.input("x").cast(DType::from_name(case.attributes["dtype"].as_str().unwrap()).unwrap()),
        "reduce" => reduce(case),
        "matmul" => case.input("a").matmul(&case.input("b")),
        "slice" => slice(case),
        other => panic!("op {other}"),
    }
}

/// Runs every case of an op; returns what failed.
fn run(op: &str, expected_cases: usize) {
    let manifest: Json =
        serde_json::from_str(&std::fs::read_to_string(reference().join("ops/manifest.json")).unwrap()).unwrap();
    let file = TensorFile::open(reference().join(format!("ops/{op}.safetensors"))).unwrap();
    let load = |entry: &Json| {
        let dtype = DType::from_name(entry["dtype"].as_str().unwrap()).unwrap();
        file.get_as(entry["tensor"].as_str().unwrap(), dtype).unwrap().unwrap()
    };
    let (mut failures, mut count) = (vec![], 0);
    for entry in manifest["cases"].as_array().unwrap().iter().filter(|case| case["op"] == op) {
        count += 1;
        let inputs = entry["inputs"].as_array().unwrap();
        let case = Case {
            call: entry["call"].as_str().unwrap().to_owned(),
            inputs: inputs.iter().map(|input| (input["name"].as_str().unwrap().to_owned(), load(input))).collect(),
            attributes: entry["attributes"].clone(),
        };
        let output = &entry["outputs"][0];
        let tolerance = Tolerance {
            rtol: output["rtol"].as_f64().unwrap(),
            atol: output["atol"].as_f64().unwrap(),
            signed_zero: entry["signed_zero"].as_bool().unwrap_or(false),
        };
        match evaluate(op, &case) {
            Ok(got) => {
                let result = tolerance.compare(&got, &load(output));
                if !result.pass() {
                    failures.push(format!("{} `{}`: {result}", entry["case"], case.call));
                }
            }
            Err(error) => failures.push(format!("{} `{}`: {error}", entry["case"], case.call)),
        }
    }
    assert_eq!(count, expected_cases, "cases of {op}");
    assert!(failures.is_empty(), "{} of {count} cases of {op}:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn binary_cases() {
    run("binary", 43);
}

#[test]
fn unary_cases() {
    run("unary", 30);
}

#[test]
fn cast_cases() {
    run("cast", 32);
}

#[test]
fn reduce_cases() {
    run("reduce", 25);
}

#[test]
fn matmul_cases() {
    run("matmul", 12);
}

#[test]
fn slice_cases() {
    run("slice", 11);
}
