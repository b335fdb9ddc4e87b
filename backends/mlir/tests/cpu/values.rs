//! The reference cases that are one TIR op each.
use tf_core::{Context, Expr};
use tf_tir::{
    arith::{binary::Binary, unary::Unary},
    memory::{copy::Copy, fill::Fill},
    nn::mma::Mma,
    tensor::reduce::Reduce,
};
use tf_types::DType;
use tf_types::kinds::{BinaryKind, ReduceKind, UnaryKind};
use tf_value::Tensor;

use crate::support::{Block, Case, cases, extents, int, param_like, run, with_context};

/// Adds the statements of a case; false: it has no form of one op.
type Emit = for<'c> fn(&Context<'c>, &Case, &mut Block<'c>, &[Expr<'c>]) -> bool;

fn supported(dtype: DType) -> bool {
    !matches!(dtype, DType::F8E8M0 | DType::F4E2M1)
}

fn check(op: &str, emit: Emit, least: usize) {
    let (mut failures, mut count) = (vec![], 0);
    for case in cases(op) {
        let known = case.inputs.iter().all(|(_, x)| supported(x.dtype())) && supported(case.want.dtype());
        let outcome = known.then(|| {
            with_context(|cx| {
                let mut params: Vec<_> = case.inputs.iter().map(|(name, x)| param_like(cx, name, x)).collect();
                params.push(param_like(cx, "out", &case.want));
                let mut block = Block::default();
                let inputs: Vec<Tensor> = case.inputs.iter().map(|(_, x)| x.clone()).collect();
                emit(cx, &case, &mut block, &params).then(|| run(cx, &params, 1, block, &inputs))
            })
        });
        let Some(Some(outcome)) = outcome else { continue };
        count += 1;
        match outcome {
            Ok(got) => {
                let result = case.tolerance.compare(&got[0], &case.want);
                if !result.pass() {
                    failures.push(format!("{} `{}`: {result}", case.name, case.call));
                }
            }
            Err(error) => failures.push(format!("{} `{}`: {}", case.name, case.call, error.message)),
        }
    }
    assert!(failures.is_empty(), "{} of {count} cases of {op}:\n{}", failures.len(), failures.join("\n"));
    assert!(count >= least, "only {count} cases of {op} ran");
}

/// `tf.name(a, b, …)`: the name and the positional operands.
fn function_call(call: &str) -> Option<(&str, Vec<&str>)> {
    let (name, rest) = call.strip_prefix("tf.")?.split_once('(')?;
    let operands = rest.trim_end_matches(')').split(", ").filter(|operand| !operand.contains('='));
    Some((name, operands.collect()))
}

fn kind_name<'n>(call: &'n str, function: &'n str) -> &'n str {
    let quoted = call.split_once("kind=\"").and_then(|(_, rest)| rest.split('"').next());
    quoted.unwrap_or(match function {
        "minimum" => "min",
        "maximum" => "max",
        _ => function.trim_start_matches("cmp_").trim_start_matches("logical_"),
    })
}

const OPERATORS: [(&str, BinaryKind); 14] = [
    ("+", BinaryKind::Add),
    ("-", BinaryKind::Sub),
    ("*", BinaryKind::Mul),
    ("/", BinaryKind::Div),
    ("//", BinaryKind::FloorDiv),
    ("%", BinaryKind::Mod),
    ("==", BinaryKind::Eq),
    ("!=", BinaryKind::Ne),
    ("<", BinaryKind::Lt),
    ("<=", BinaryKind::Le),
    (">", BinaryKind::Gt),
    (">=", BinaryKind::Ge),
    ("and", BinaryKind::And),
    ("or", BinaryKind::Or),
];

fn binary<'c>(cx: &Context<'c>, case: &Case, block: &mut Block<'c>, params: &[Expr<'c>]) -> bool {
    let (kind, names) = match function_call(&case.call) {
        Some((name, operands)) => (BinaryKind::from_name(kind_name(&case.call, name)).unwrap(), operands),
        None => {
            let parts: Vec<&str> = case.call.split(' ').collect();
            let (_, kind) = OPERATORS.iter().find(|(operator, _)| *operator == parts[1]).unwrap();
            (*kind, vec![parts[0], parts[2]])
        }
    };
    let mut operands = Vec::new();
    for name in names {
        operands.push(match case.inputs.iter().position(|(input, _)| input == name) {
            Some(at) => params[at],
            None => {
                let dtype = case.inputs[0].1.dtype();
                let literal = match name.parse::<i64>() {
                    Ok(value) => tf_core::Literal::Int(value),
                    Err(_) => tf_core::Literal::Float(name.parse().unwrap()),
                };
                let scalar = block.alloc(cx, dtype, &[]);
                let value = cx.constant(literal, dtype, tf_core::Meta::default());
                block.run(cx, Fill::new(cx), &[scalar, value]);
                scalar
            }
        });
    }
    block.run(cx, Binary::new(cx, kind), &[operands[0], operands[1], params[params.len() - 1]]);
    true
}

fn unary<'c>(cx: &Context<'c>, case: &Case, block: &mut Block<'c>, params: &[Expr<'c>]) -> bool {
    let name = match case.call.as_str() {
        "-x" => "neg",
        "not x" => "not",
        call => kind_name(call, function_call(call).unwrap().0),
    };
    block.run(cx, Unary::new(cx, UnaryKind::from_name(name).unwrap()), params);
    true
}

fn cast<'c>(cx: &Context<'c>, _: &Case, block: &mut Block<'c>, params: &[Expr<'c>]) -> bool {
    block.run(cx, Unary::new(cx, UnaryKind::Cast), params);
    true
}

fn reduce<'c>(cx: &Context<'c>, case: &Case, block: &mut Block<'c>, params: &[Expr<'c>]) -> bool {
    let rank = case.inputs[0].1.rank() as i64;
    let axes = case.attributes["axes"].as_array().unwrap().iter().map(|axis| axis.as_i64().unwrap());
    let axes: Vec<i64> = axes.map(|axis| axis.rem_euclid(rank)).collect();
    let kind = ReduceKind::from_name(case.attributes["kind"].as_str().unwrap_or("mean")).unwrap();
    block.run(cx, Reduce::new(cx, cx.alloc_slice(&axes), kind), params);
    true
}

fn matmul<'c>(cx: &Context<'c>, case: &Case, block: &mut Block<'c>, params: &[Expr<'c>]) -> bool {
    if case.inputs.iter().any(|(_, x)| x.rank() != 2) {
        return false;
    }
    let zero = match case.want.dtype().is_float() {
        true => tf_core::Literal::Float(0.0),
        false => tf_core::Literal::Int(0),
    };
    let zero = cx.constant(zero, case.want.dtype(), tf_core::Meta::default());
    block.run(cx, Fill::new(cx), &[params[2], zero]);
    block.run(cx, Mma::new(cx, None), &[params[2], params[0], params[1]]);
    true
}

/// A window as a strided view; subscripts that drop axes are left to whoever lowers them.
fn slice<'c>(cx: &Context<'c>, case: &Case, block: &mut Block<'c>, params: &[Expr<'c>]) -> bool {
    let Some((_, rest)) = case.call.split_once("slice(x, (") else { return false };
    let starts = rest.split(')').next().unwrap().split(", ").map(|start| start.trim_end_matches(','));
    let starts: Vec<_> = starts.map(|start| int(cx, start.parse().unwrap())).collect();
    let of = |name: &str| -> Vec<i64> {
        case.attributes[name].as_array().unwrap().iter().map(|n| n.as_i64().unwrap()).collect()
    };
    let shape = extents(&case.inputs[0].1);
    let strides: Vec<i64> = of("strides")
        .iter()
        .enumerate()
        .map(|(axis, stride)| stride * shape[axis + 1..].iter().product::<i64>())
        .collect();
    let window = block.view(cx, params[0], &starts, &of("sizes"), &strides);
    block.run(cx, Copy::new(cx), &[window, params[1]]);
    true
}

#[test]
fn binary_cases() {
    check("binary", binary, 40);
}

#[test]
fn unary_cases() {
    check("unary", unary, 30);
}

#[test]
fn cast_cases() {
    check("cast", cast, 24);
}

#[test]
fn reduce_cases() {
    check("reduce", reduce, 25);
}

#[test]
fn matmul_cases() {
    check("matmul", matmul, 6);
}

#[test]
fn slice_cases() {
    check("slice", slice, 1);
}
