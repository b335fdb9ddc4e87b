//! Calls, dispatches and what ends a run.

use tf_core::{AnyFunction, Arena};
use tf_evaluate::{Engine, Reference, Request, bind_dims};

use super::{IMPORTS, host, kernel, numbers, run};
use crate::common::context;

fn message(source: &str) -> String {
    let error = run(source, &[numbers(&[4])]).unwrap_err();
    error.lines().next().unwrap().trim_start_matches("error: ").to_owned()
}

/// The result of the entry of a text on numbers, or the message of the error.
fn of_text(text: &str, count: usize) -> Result<Vec<f32>, String> {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let module =
        tf_text::parse_module(cx, cx.sources().add("t.tfir", text)).unwrap_or_else(|errors| panic!("{errors:?}"));
    let entry = module.entry_function().unwrap();
    let AnyFunction::Tir(function) = entry else { panic!() };
    let inputs = [numbers(&[count])];
    let dims = bind_dims(&function.inputs_and_outputs().0, &inputs, None).unwrap();
    let request = Request { cx, module, entry, inputs: &inputs, outputs: &[], dims: &dims, argument: None };
    let outputs = Reference::new(std::sync::Arc::clone(rules)).run(&request);
    outputs.map(|outputs| outputs[0].to_f32_vec()).map_err(|error| error.message)
}

#[test]
fn functions_that_call_themselves_are_refused() {
    let text = r#"
module @m entry(@f) {
  tir.func @f(%x: tensor<4xf32>, %out: tensor<4xf32>) target("cpu") outputs(1) {
    tir.call @g(%x, %out) : (tensor<4xf32>, tensor<4xf32>)
  }
  tir.func @g(%x: tensor<4xf32>, %out: tensor<4xf32>) target("cpu") outputs(1) {
    tir.call @f(%x, %out) : (tensor<4xf32>, tensor<4xf32>)
  }
}
"#;
    assert_eq!(of_text(text, 4), Err("`f` calls itself".to_owned()));
}

#[test]
fn endless_loops_end() {
    let params = "x: Tensor[(4,), \"f32\"], out: Tensor[(4,), \"f32\"]";
    let lines = "T.copy(x, out)\nleft = T.alloc_tensor(TensorType((), \"i64\", None, \"rmem\"))\nT.fill(left, 1)\n\
                 while left > 0:\n    T.fill(left, 1)";
    let found = message(&host(params, lines));
    assert_eq!(found, "a `while` loop does not end: more than 262144 rounds were run");
}

#[test]
fn rounds_are_counted_from_the_entry_of_a_loop() {
    // 4096 times 65 rounds, which are more than one loop may take.
    let params = "x: Tensor[(4,), \"f32\"], out: Tensor[(4,), \"f32\"]";
    let lines = "T.copy(x, out)\nleft = T.alloc_tensor(TensorType((), \"i64\", None, \"rmem\"))\n\
                 for i in range(4096):\n    T.fill(left, 65)\n    while left > 0:\n        T.fill(left, left - 1)";
    assert_eq!(run(&host(params, lines), &[numbers(&[4])]).unwrap()[0].to_f32_vec(), numbers(&[4]).to_f32_vec());
}

#[test]
fn what_is_too_large_is_refused_by_name() {
    let of = |source: &str| {
        let error = run(source, &[]).unwrap_err();
        error.lines().next().unwrap().trim_start_matches("error: ").to_owned()
    };
    let out = "out: Tensor[(35184372088832,), \"f32\"]";
    let found = of(&host(out, "T.fill(out, 1.0)"));
    assert_eq!(found, "a position accesses 35184372088832 elements at once, and at most 67108864 are evaluated");
    assert_eq!(of(&host(out, "if 1 > 2:\n    return")), "`out` is too large to be evaluated");
    let grid = "with Mesh((Topology(\"cta\", 1048576),), Layout((1048576,), (1,)), names=(\"c\",)) as g:\n    \
                with Mesh((Topology(\"thread\", 1024),), Layout((1024,), (1,)), names=(\"t\",)) as m:\n        T.sync(g)";
    let found = of(&kernel("out: Tensor[(4,), \"f32\"]", grid));
    assert_eq!(found, "a barrier of the grid of 1048576 CTAs of 1024 threads is not evaluated");
}

#[test]
fn a_loop_ends_with_the_integers() {
    let params = "x: Tensor[(4,), \"f32\"], out: Tensor[(4,), \"f32\"]";
    let lines = "for i in range(9223372036854775806, 9223372036854775807, 5):\n    T.copy(x, out)";
    assert_eq!(run(&host(params, lines), &[numbers(&[4])]).unwrap()[0].to_f32_vec(), numbers(&[4]).to_f32_vec());
}

const DISPATCH: &str = r#"
#n = dim<"n", 1, 20>
module @m entry(@f) {
  tir.func @few(%x: tensor<[#n]xf32>, %out: tensor<[#n]xf32>) target("cpu") outputs(1) {
    T.copy %x, %out : (tensor<[#n]xf32>, tensor<[#n]xf32>)
  }
  tir.func @many(%x: tensor<[#n]xf32>, %out: tensor<[#n]xf32>, %x_shape_0: tensor<i32, rmem>) target("cpu") outputs(1) {
    T.fill %out, 1.0 : (tensor<[#n]xf32>, f32)
    %c = dim.cmp_eq %x_shape_0, 7 : (tensor<i32, rmem>, i64) -> tensor<bool, layout<():()>, umat>
    tir.if %c : tensor<bool, layout<():()>, umat> {
      T.binary %x, %x, %out {kind = "add"} : (tensor<[#n]xf32>, tensor<[#n]xf32>, tensor<[#n]xf32>)
    }
  }
  tir.func @f(%x: tensor<[#n]xf32>, %out: tensor<[#n]xf32>) target("cpu") outputs(1) {
    %0 = shape_of %x[0] : tensor<i32, rmem>
    tir.dispatch @f on %0 : tensor<i32, rmem> {
      tir.case n = 1 to 5
      tir.call @few(%x, %out) : (tensor<[#n]xf32>, tensor<[#n]xf32>)
      tir.case n = 5 to 9
      tir.call @many(%x, %out, %0) : (tensor<[#n]xf32>, tensor<[#n]xf32>, tensor<i32, rmem>)
      tir.abort "no variant"
    }
  }
}
"#;

fn dispatched(count: usize) -> Result<Vec<f32>, String> {
    of_text(DISPATCH, count)
}

#[test]
fn dispatches_go_to_the_first_case() {
    assert_eq!(dispatched(3), Ok(numbers(&[3]).to_f32_vec()));
    assert_eq!(dispatched(6), Ok(vec![1.0; 6]));
    let twice: Vec<_> = numbers(&[7]).to_f32_vec().iter().map(|x| x + x).collect();
    assert_eq!(dispatched(7), Ok(twice));
    assert_eq!(dispatched(12), Err("the host reaches an abort: no variant".to_owned()));
}

#[test]
fn what_cannot_be_evaluated_is_refused_by_name() {
    let source = format!(
        "{IMPORTS}from tilefoundry import Expr, intrinsic\n\n@intrinsic\ndef fetch(a: Expr) -> None:\n    pass\n\n\
         @module(entry=\"f\", target=CpuTarget())\nclass M:\n    @prim_func(target=CpuTarget())\n    \
         def f(x: Tensor[(4,), \"f32\"], out: Tensor[(4,), \"f32\"]):\n        fetch(out)\n"
    );
    assert_eq!(message(&source), "the intrinsic `fetch` has no rule by which it is evaluated");
}

#[test]
fn launches_start_the_entries_of_child_modules() {
    let params = "x: Tensor[(4,), \"f32\"], out: Tensor[(4,), \"f32\"]";
    let child = |name: &str, value: f32| {
        format!(
            "    @module(entry=\"kernel\")\n    class {name}:\n        @prim_func\n        def body({params}):\n            \
             T.fill(out, {value:?})\n\n        @prim_func\n        def kernel({params}):\n            body(x, out)\n\n"
        )
    };
    let of = |started: &str| {
        let source = format!(
            "{IMPORTS}\n@module(entry=\"host\", target=CpuTarget())\nclass Host:\n{}{}    \
             @prim_func(target=CpuTarget())\n    def host({params}):\n        \
             launch({started}, x, out, grid=(1,), block=(1,))\n",
            child("First", 1.0),
            child("Second", 2.0),
        );
        run(&source, &[numbers(&[4])]).unwrap_or_else(|error| panic!("{error}"))[0].to_f32_vec()
    };
    assert_eq!(of("First"), [1.0; 4]);
    assert_eq!(of("Second"), [2.0; 4], "its kernel calls the functions of its own module");
}
