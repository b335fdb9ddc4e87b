//! Failures of ops name the op, what its result is bound to, and where it stands.

use std::sync::Arc;

use tf_core::op::{OpCall, RuleError, TypeRule};
use tf_core::{Arena, Context, Diagnostic, Meta, op};
use tf_evaluate::{DimSizes, Engine, Positions, Reading, ReadingRequest, Reference, Resource};
use tf_types::{DType, Type};
use tf_value::{DialectBuilder, Tensor};

use crate::common::{dim, function, line, tensor, var};
use crate::data::evaluate;

/// Parameters, an expression of them, the op that fails, and words of why.
type Case = (&'static str, &'static str, &'static str, &'static str);

const CASES: &[Case] = &[
    ("i: Tensor[(N,), \"i32\"], z: Tensor[(N,), \"i32\"]", "i // z", "tf.binary", "`floor_div` of i32 divides by zero"),
    ("i: Tensor[(N,), \"i64\"], z: Tensor[(N,), \"i64\"]", "tf.mod(i, z)", "tf.binary", "`mod` of i64 divides by zero"),
    ("i: Tensor[(N,), \"i64\"], z: Tensor[(), \"i64\"]", "i / z", "tf.binary", "the divisor at [] is 0"),
    ("x: Tensor[(N,), \"f32\"]", "tf.cast(tf.neg(x), dtype=\"f8e8m0\")", "tf.cast", "f8e8m0 holds no negative values"),
    ("e: Tensor[(N,), \"f8e8m0\"]", "tf.neg(e)", "tf.unary", "f8e8m0 holds no negative values"),
    ("e: Tensor[(N,), \"f8e8m0\"]", "tf.clamp(e, -2.0, -1.0)", "tf.clamp", "f8e8m0 holds no negative values"),
    ("x: Tensor[(Z, 4), \"f32\"]", "tf.argmax(x, axis=0)", "tf.argmax", "the empty axis 0 of shape (0, 4)"),
    ("x: Tensor[(N,), \"f32\"]", "tf.topk(x, k=M)[0]", "tf.topk", "topk of 9 exceeds axis 0 of extent 3"),
    (
        "x: Tensor[(N, 4), \"f32\"]",
        "tf.split(x, axis=0, num_splits=2)[1]",
        "tf.split",
        "axis 0 of extent 3 into 2 equal parts",
    ),
    ("x: Tensor[(N, 4), \"f32\"]", "tf.reshape(x, new_shape=(8,))", "tf.reshape", "12 elements cannot become 8"),
    (
        "x: Tensor[(N,), \"f32\"], p: Tensor[(), \"i64\"]",
        "x[p : p + 2]",
        "tf.slice",
        "slice of size 2 from 9 leaves axis 0 of extent 3",
    ),
    (
        "x: Tensor[(N,), \"f32\"]",
        "tf.slice(x, (0,), sizes=(M,), strides=(1,))",
        "tf.slice",
        "slice of size 9 from 0 leaves",
    ),
    (
        "x: Tensor[(N,), \"f32\"], p: Tensor[(), \"i32\"]",
        "tf.insert_slice(x, x, p)",
        "tf.insert_slice",
        "insert window [9, 12) leaves axis 0",
    ),
    (
        "x: Tensor[(N, 4), \"f32\"], j: Tensor[(2,), \"i64\"]",
        "tf.index_select(x, j)",
        "tf.index_select",
        "index 9 (number 0) leaves axis 0 of extent 3",
    ),
    (
        "x: Tensor[(4,), \"f32\"], j: Tensor[(4,), \"i64\"]",
        "tf.index_add(x, j, x)",
        "tf.index_add",
        "index 9 (number 0) leaves axis 0 of extent 4",
    ),
    (
        "x: Tensor[(4,), \"f32\"], j: Tensor[(4,), \"i64\"]",
        "tf.index_copy(x, j, x)",
        "tf.index_copy",
        "index 9 (number 0) leaves axis 0 of extent 4",
    ),
    (
        "c: Tensor[(1, 4, 1, 2), \"f32\"], p: Tensor[(), \"i32\"], s: Tensor[(), \"i32\"]",
        "tf.cache_update(c, p, s, c)",
        "tf.cache_update",
        "cache_update writes s = 9 rows of 4 new ones",
    ),
    (
        "q: Tensor[(2, 1, 4), \"f32\"], t: Tensor[(5, 4), \"f32\"], j: Tensor[(2,), \"i64\"]",
        "tf.rope(q, q, t, t, j)[0]",
        "tf.rope",
        "rope position 9 is outside the caches of 5 positions",
    ),
    (
        "x: Tensor[(2, N), \"f32\"]",
        "tf.quant(x, group=2)[0]",
        "tf.quant",
        "quant groups of 2 do not divide the last axis of shape (2, 3)",
    ),
    (
        "g: Tensor[(1, 1, N, 4), \"f32\"], w: Tensor[(1, 1, 4, 1), \"f32\"], b: Tensor[(1,), \"f32\"]",
        "tf.conv2d(g, w, b, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1)",
        "tf.conv2d",
        "no window of (4, 1) on an image of (3, 4)",
    ),
    (
        "x: Tensor[(N,), \"f32\"]",
        "tf.zeros(type=Tensor[(N - M,), \"f32\"])",
        "tf.zeros",
        "no negative extent, found -6",
    ),
    (
        "x: Tensor[(N,), \"f32\"]",
        "tf.arange(type=Tensor[(N - M,), \"i64\"])",
        "tf.arange",
        "no negative extent, found -6",
    ),
];

/// Integers of 9, zeros in `z`; numbers of 1. `N` is 3, `M` 9, `Z` 0.
fn inputs(params: &str) -> Vec<Tensor> {
    let input = |param: &str| {
        let (name, rest) = param.split_once(": Tensor[(").unwrap();
        let (extents, rest) = rest.split_once("), \"").unwrap();
        let extents = extents.split(',').map(str::trim).filter(|extent| !extent.is_empty());
        let shape: Vec<usize> = extents
            .map(|extent| match extent {
                "N" => 3,
                "Z" => 0,
                number => number.parse().unwrap(),
            })
            .collect();
        let dtype = DType::from_name(rest.trim_end_matches("\"]")).unwrap();
        let value = if name == "z" {
            0.0
        } else if dtype.is_integer() {
            9.0
        } else {
            1.0
        };
        Tensor::full(&shape, value as f32).unwrap().cast(dtype).unwrap()
    };
    let mut parts: Vec<String> = Vec::new();
    for part in params.split(", ") {
        match parts.last_mut() {
            Some(last) if !last.ends_with(']') => *last = format!("{last}, {part}"),
            _ => parts.push(part.to_owned()),
        }
    }
    parts.iter().map(|param| input(param)).collect()
}

fn refused(source: &str, inputs: &[Tensor], form: Option<Positions>) -> Result<Diagnostic, String> {
    match evaluate(source, (None, "f"), Resource::default(), inputs, form) {
        Ok(_) => Err("it is not refused".to_owned()),
        Err(mut errors) => Ok(errors.remove(0)),
    }
}

#[test]
fn ops_bindings_and_places() {
    const HEAD: &str = "from tilefoundry import func\nfrom tilefoundry.dsl import DimVar, Tensor, tf\n\
        N = DimVar(\"n\", 1, 99)\nM = DimVar(\"m\", 1, 99)\nZ = DimVar(\"z\", 0, 99)\n@func\n";
    let mut wrong = Vec::new();
    for &(params, expression, op, words) in CASES {
        let mut given = inputs(params);
        given.push(Tensor::full(&[9], 1.0f32).unwrap());
        let params = format!("{params}, other: Tensor[(M,), \"f32\"]");
        let bound = format!("{HEAD}def f({params}):\n    y = {expression}\n    return y\n");
        let looped = format!("{HEAD}def f({params}):\n    for step in range(2):\n        y = {expression}\n");
        let direct = format!("{HEAD}def f({params}):\n    return {expression}\n");
        let (plain, named) = (format!("`{op}`: "), format!("`y` = `{op}`: "));
        // Where a field is taken out of a tuple, it has the name, and the op that fails has none.
        let named = if expression.ends_with(']') && op != "tf.slice" { &plain } else { &named };
        for (source, prefix, line) in [(bound, named, 8), (looped, named, 9), (direct, &plain, 8)] {
            for form in [None, Some(Positions::All)] {
                let error = match refused(&source, &given, form) {
                    Ok(error) => error,
                    Err(message) => {
                        wrong.push(format!("{expression}, {form:?}: {message}"));
                        continue;
                    }
                };
                let at = error.span.map(|span| span.line.get());
                if !error.message.starts_with(prefix) || !error.message.contains(words) || at != Some(line) {
                    wrong.push(format!("{expression}, {form:?}, line {at:?}: {}", error.message));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), CASES.len() * 6, wrong.join("\n"));
}

/// An op that nobody has given a value.
#[op(dialect = "t", category = "test")]
pub struct Valueless {
    /// An operand.
    #[input(Tensor)]
    x: (),
}

impl TypeRule for Valueless {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        Ok(call.x().ty())
    }
}

#[test]
fn an_op_without_an_evaluation_rule_is_named() {
    let arena = Arena::new();
    let mut builder = DialectBuilder::default();
    builder.op::<Valueless>().types().done();
    let (ops, rules) = builder.freeze().unwrap();
    let cx = &Context::new(&arena, ops);
    let x = var(cx, "x", tensor(cx, &[dim(cx, "n", 1, 9)], DType::F32));
    let call = cx.call(Valueless::new(cx), &[x], Meta::at(line(cx, 7)).named(cx.symbol("y"))).unwrap();
    let f = function(cx, "f", &[x], call);
    let module = cx.module(tf_core::node::ModuleData {
        functions: cx.alloc_slice(&[tf_core::AnyFunction::Hir(f)]),
        ..tf_core::node::ModuleData::new(cx.symbol("m"))
    });
    let step = Reading::load(module, Resource::default()).step("f").unwrap();
    let inputs = [Tensor::from_f32(&[1], &[1.0]).unwrap()];
    let request = ReadingRequest { step, inputs: &inputs, dims: &DimSizes::default(), times: None };
    let error = Reference::new(Arc::clone(&rules)).run_reading(&request).unwrap().unwrap_err();
    assert_eq!(error.message, "`y` = `t.valueless`: it has no evaluation rule");
    assert_eq!(error.span.map(|span| span.line.get()), Some(7));
}
