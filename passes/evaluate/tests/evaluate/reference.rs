//! What the interpreter computes.

use tf_core::node::ModuleData;
use tf_core::{AnyFunction, Arena, Callee, Context, Expr, ExprKind, Function, Meta};
use tf_evaluate::{Engine, Reference, Request, bind_dims};
use tf_types::DType;
use tf_types::kinds::BinaryKind;
use tf_value::{EvalRegistry, Tensor};

use crate::common::{add, binary, cast, context, dim, function, grid, int, line, tensor, var};

type Rules = std::sync::Arc<EvalRegistry>;

/// Outputs as numbers, or the line and message of the error.
fn run<'c>(cx: &Context<'c>, rules: &Rules, f: Function<'c>, inputs: &[Tensor]) -> Result<Vec<Vec<f64>>, String> {
    let entry = AnyFunction::Hir(f);
    let module = cx.module(ModuleData {
        functions: cx.alloc_slice(&[entry]),
        entry: Some(f.name),
        ..ModuleData::new(cx.symbol("m"))
    });
    let result = bind_dims(f.params, inputs, f.span).and_then(|dims| {
        let request = Request { cx, module, entry, inputs, outputs: &[], dims: &dims, argument: None };
        Reference::new(std::sync::Arc::clone(rules)).run(&request)
    });
    match result {
        Ok(outputs) => Ok(outputs.iter().map(Tensor::to_f64_vec).collect()),
        Err(error) => Err(format!("{}: {}", error.span.map_or(0, |span| span.line.get()), error.message)),
    }
}

fn f32s(values: &[f32]) -> Tensor {
    Tensor::from_f32(&[values.len()], values).unwrap()
}

fn call<'c>(cx: &Context<'c>, callee: Function<'c>, args: &[Expr<'c>]) -> Expr<'c> {
    let kind = ExprKind::Call { callee: Callee::Function(callee), args: cx.alloc_slice(args) };
    cx.expr(kind, callee.body.unwrap().ty(), Meta::at(line(cx, 3)))
}

#[test]
fn loops_carry_in_step_and_see_their_index() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let scalar = cx.scalar(DType::I64);
    let (a, b, i) = (var(cx, "a", scalar), var(cx, "b", scalar), var(cx, "i", scalar));
    // Fibonacci: both phis change together.
    let body = grid(cx, i, cx.dim(10), &[(a, int(cx, 0), b), (b, int(cx, 1), add(cx, a, b))], None);
    assert_eq!(run(cx, rules, function(cx, "f", &[], body), &[]), Ok(vec![vec![55.0], vec![89.0]]));
    let total = var(cx, "t", scalar);
    let body = grid(cx, i, cx.dim(5), &[(total, int(cx, 0), add(cx, total, i))], None);
    assert_eq!(run(cx, rules, function(cx, "f", &[], body), &[]), Ok(vec![vec![10.0]]));
    // Without a carry: the last body value.
    let body = grid(cx, i, cx.dim(5), &[], Some(add(cx, i, int(cx, 100))));
    assert_eq!(run(cx, rules, function(cx, "f", &[], body), &[]), Ok(vec![vec![104.0]]));
}

#[test]
fn nested_loops_use_values_of_outer_ones() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let scalar = cx.scalar(DType::I64);
    let [i, j, outer, inner] = ["i", "j", "outer", "inner"].map(|name| var(cx, name, scalar));
    let twice = add(cx, i, i);
    let step = add(cx, inner, binary(cx, BinaryKind::Mul, twice, j));
    let rows = grid(cx, j, cx.dim(4), &[(inner, outer, step)], None);
    // `twice` is used again after the inner loop, and is yielded's operand.
    let body = grid(cx, i, cx.dim(3), &[(outer, int(cx, 0), add(cx, rows, twice))], None);
    let want: i64 = (0..3).map(|i| (0..4).map(|j| 2 * i * j).sum::<i64>() + 2 * i).sum();
    assert_eq!(run(cx, rules, function(cx, "f", &[], body), &[]), Ok(vec![vec![want as f64]]));
}

#[test]
fn a_yield_that_is_used_in_the_iteration_too() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let scalar = cx.scalar(DType::I64);
    let [i, a, b] = ["i", "a", "b"].map(|name| var(cx, name, scalar));
    let next = add(cx, a, i);
    let body = grid(cx, i, cx.dim(4), &[(a, int(cx, 0), next), (b, int(cx, 0), add(cx, b, next))], None);
    assert_eq!(run(cx, rules, function(cx, "f", &[], body), &[]), Ok(vec![vec![6.0], vec![10.0]]));
}

#[test]
fn invariants_fail_only_if_an_iteration_runs() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let ty = tensor(cx, &[dim(cx, "n", 0, 9)], DType::I32);
    let (x, i, j) = (var(cx, "x", ty), var(cx, "i", cx.scalar(DType::I64)), var(cx, "j", cx.scalar(DType::I64)));
    let carry = var(cx, "acc", ty);
    let failing = binary(cx, BinaryKind::Div, x, x);
    let loops = |outer: i64, inner: i64| {
        let again = var(cx, "again", ty);
        let step = grid(cx, j, cx.dim(inner), &[(again, carry, add(cx, again, failing))], None);
        function(cx, "f", &[x], grid(cx, i, cx.dim(outer), &[(carry, x, step)], None))
    };
    let zeros = Tensor::zeros(&[2], DType::I32).unwrap();
    let run = |outer, inner| run(cx, rules, loops(outer, inner), std::slice::from_ref(&zeros));
    assert_eq!(run(0, 1), Ok(vec![vec![0.0, 0.0]]));
    assert_eq!(run(1, 0), Ok(vec![vec![0.0, 0.0]]));
    let message = run(1, 1).unwrap_err();
    assert!(message.starts_with("5: `y` = `tf.binary`: `div` of i32 divides by zero"), "{message}");
}

#[test]
fn a_loop_that_fails_inside_one_that_does_not_run() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let ty = tensor(cx, &[cx.dim(2)], DType::I32);
    let (x, i, j) = (var(cx, "x", ty), var(cx, "i", cx.scalar(DType::I64)), var(cx, "j", cx.scalar(DType::I64)));
    let (acc, inner) = (var(cx, "acc", ty), var(cx, "inner", ty));
    // The inner loop does not depend on the outer one, so it is evaluated before it.
    let failing = grid(cx, j, cx.dim(3), &[(inner, x, binary(cx, BinaryKind::Div, inner, x))], None);
    let callee_x = var(cx, "x", ty);
    let callee = function(cx, "g", &[callee_x], binary(cx, BinaryKind::Div, callee_x, callee_x));
    let called = call(cx, callee, &[failing]);
    let f = |stop| function(cx, "f", &[x], grid(cx, i, cx.dim(stop), &[(acc, x, add(cx, acc, called))], None));
    let zeros = Tensor::zeros(&[2], DType::I32).unwrap();
    assert_eq!(run(cx, rules, f(0), std::slice::from_ref(&zeros)), Ok(vec![vec![0.0, 0.0]]));
    assert!(run(cx, rules, f(1), &[zeros]).unwrap_err().contains("divides by zero"));
}

#[test]
fn loops_that_cannot_run() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let n = dim(cx, "n", 0, 9);
    let x = var(cx, "x", tensor(cx, &[n], DType::F32));
    let i = var(cx, "i", cx.scalar(DType::I64));
    let f = function(cx, "f", &[x], grid(cx, i, n, &[], Some(add(cx, i, int(cx, 1)))));
    let message = run(cx, rules, f, &[f32s(&[])]).unwrap_err();
    assert_eq!(message, "4: the loop over 0..0 has no iteration, and nothing is carried through it");
    assert_eq!(run(cx, rules, f, &[f32s(&[1.0, 2.0])]), Ok(vec![vec![2.0]]));
    let ExprKind::Grid(region) = f.body.unwrap().kind else { panic!() };
    let back =
        cx.grid(tf_core::node::GridRegion { step: cx.dim(-1), ..*region }, f.body.unwrap().ty(), f.body.unwrap().meta);
    let message = run(cx, rules, function(cx, "f", &[x], back), &[f32s(&[1.0])]).unwrap_err();
    assert_eq!(message, "4: the step of a loop is at least 1, found -1");
    let early =
        cx.grid(tf_core::node::GridRegion { start: cx.dim(-1), ..*region }, f.body.unwrap().ty(), f.body.unwrap().meta);
    let message = run(cx, rules, function(cx, "f", &[x], early), &[f32s(&[1.0])]).unwrap_err();
    assert_eq!(message, "4: the bounds of a loop are at least 0, found -1 and 1");
    let early =
        cx.grid(tf_core::node::GridRegion { stop: cx.dim(-1), ..*region }, f.body.unwrap().ty(), f.body.unwrap().meta);
    let message = run(cx, rules, function(cx, "f", &[x], early), &[f32s(&[1.0])]).unwrap_err();
    assert_eq!(message, "4: the bounds of a loop are at least 0, found 0 and -1");
}

#[test]
fn functions_call_functions() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let fixed = tensor(cx, &[cx.dim(2)], DType::F32);
    let free = tensor(cx, &[dim(cx, "m", 1, 9)], DType::F32);
    let inner_x = var(cx, "x", free);
    let inner = function(cx, "inner", &[inner_x], add(cx, inner_x, inner_x));
    let x = var(cx, "x", fixed);
    let twice = call(cx, inner, &[call(cx, inner, &[x])]);
    let f = function(cx, "f", &[x], cast(cx, twice, DType::I32));
    assert_eq!(run(cx, rules, f, &[f32s(&[1.0, 2.0])]), Ok(vec![vec![4.0, 8.0]]));
    let half = var(cx, "h", tensor(cx, &[cx.dim(2)], DType::F16));
    let wrong = function(cx, "f", &[half], call(cx, inner, &[half]));
    let message = run(cx, rules, wrong, &[Tensor::zeros(&[2], DType::F16).unwrap()]).unwrap_err();
    assert_eq!(message, "3: `x` of `inner` is Tensor[(m,), \"f32\"], the argument is Tensor[(2,), \"f16\"]");
    let square = var(cx, "s", tensor(cx, &[cx.dim(2), cx.dim(2)], DType::F32));
    let wrong = function(cx, "f", &[square], call(cx, inner, &[square]));
    let message = run(cx, rules, wrong, &[Tensor::zeros(&[2, 2], DType::F32).unwrap()]).unwrap_err();
    assert_eq!(message, "3: `x` of `inner` is Tensor[(m,), \"f32\"], the argument is Tensor[(2, 2), \"f32\"]");
}

#[test]
fn dims_bind_once() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let n = dim(cx, "n", 1, 5);
    let (x, y) = (var(cx, "x", tensor(cx, &[n], DType::F32)), var(cx, "y", tensor(cx, &[n], DType::F32)));
    let f = function(cx, "f", &[x, y], add(cx, x, y));
    let of = |a: usize, b: usize| run(cx, rules, f, &[f32s(&vec![1.0; a]), f32s(&vec![1.0; b])]).unwrap_err();
    assert_eq!(of(3, 4), "1: dim `n` is 3 in `x` and 4 in `y`");
    assert_eq!(of(4, 3), "1: dim `n` is 4 in `x` and 3 in `y`");
    assert_eq!(of(5, 5), "1: dim `n` is 5 in `x`, outside its range [1, 5)");
    assert_eq!(of(0, 0), "1: dim `n` is 0 in `x`, outside its range [1, 5)");
    let double = var(cx, "z", tensor(cx, &[cx.dim_mul(n, cx.dim(2))], DType::F32));
    let f = function(cx, "f", &[double, x], x);
    let message = run(cx, rules, f, &[f32s(&[0.0; 5]), f32s(&[0.0; 3])]).unwrap_err();
    assert!(message.starts_with("1: axis 0 of `z` is `") && message.ends_with("` = 6, found 5"), "{message}");
    let fixed = var(cx, "w", tensor(cx, &[cx.dim(2)], DType::F32));
    let f = function(cx, "f", &[fixed], fixed);
    assert_eq!(run(cx, rules, f, &[f32s(&[0.0; 3])]).unwrap_err(), "1: axis 0 of `w` is 2, found 3");
    let message = run(cx, rules, f, &[Tensor::scalar(1.0f32)]).unwrap_err();
    assert!(message.ends_with("found a tensor of shape ()"), "{message}");
}

#[test]
fn shared_values_are_computed_once_and_long_chains_need_no_stack() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let x = var(cx, "x", tensor(cx, &[cx.dim(1)], DType::I64));
    let mut body = x;
    for _ in 0..50 {
        body = add(cx, body, body);
    }
    for _ in 0..200_000 {
        body = add(cx, body, x);
    }
    let input = Tensor::from_vec(&[1], vec![1i64]).unwrap();
    let f = function(cx, "f", &[x], body);
    assert_eq!(run(cx, rules, f, &[input]), Ok(vec![vec![(1u64 << 50) as f64 + 200_000.0]]));
}

#[test]
fn a_plain_module_takes_one_argument_for_each_parameter() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let ty = tensor(cx, &[cx.dim(1)], DType::F32);
    let w = cx.expr(ExprKind::Var { name: cx.symbol("w"), is_const: true }, ty, Meta::default());
    let x = var(cx, "x", ty);
    let f = function(cx, "f", &[x, w], add(cx, x, w));
    let entry = AnyFunction::Hir(f);
    let module = cx.module(ModuleData { functions: cx.alloc_slice(&[entry]), ..ModuleData::new(cx.symbol("m")) });
    let of = |count: usize| {
        let (inputs, dims) = (vec![f32s(&[1.0]); count], tf_evaluate::DimSizes::default());
        let request = Request { cx, module, entry, inputs: &inputs, outputs: &[], dims: &dims, argument: None };
        let result = Reference::new(std::sync::Arc::clone(rules)).run(&request);
        result.map(|_| ()).map_err(|error| (error.span.map(|span| span.line.get()), error.message, error.help))
    };
    assert_eq!(of(2), Ok(()));
    let message = |found| format!("`f` takes one argument for each of its 2 parameters, found {found}");
    assert_eq!(of(3), Err((Some(1), message(3), None)));
    let help = "activations alone are the list of a reading; here `w` are arguments too".to_owned();
    assert_eq!(of(1), Err((Some(1), message(1), Some(help))));
}
