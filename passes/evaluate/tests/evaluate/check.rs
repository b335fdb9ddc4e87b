//! `--check-each` on pairs of modules: what a pass was given and what it left.

use std::sync::Arc;

use tf_core::diag::Style;
use tf_core::{Arena, Context};
use tf_evaluate::{CheckEach, CheckInputs, Engines, Reference};
use tf_framework::{Instrumentation, Numerics, PassDecl, PassRun};
use tf_testing::TempFolder;
use tf_text::parse_module;
use tf_value::Tensor;
use tf_value::io::write_tensors;

use crate::common::context;

const DECL: &PassDecl =
    &PassDecl { name: "wrong", doc: "Wrong.", options: &[], statistics: &[], requires: &[], preserves: &[] };

/// The error of a pass that makes each of the modules from the one before, and the warnings.
fn checked(cx: &Context<'_>, inputs: &CheckInputs, numerics: Numerics, modules: &[&str]) -> (String, String) {
    let (_, rules) = context(&Arena::new());
    let mut engines = Engines::default();
    engines.add(Reference::new(Arc::clone(&rules)));
    let mut check = CheckEach::new(engines, inputs).unwrap();
    let parse = |(at, text): (usize, &&str)| {
        let file = cx.sources().add(format!("{at}.tfir"), *text);
        parse_module(cx, file).unwrap_or_else(|errors| panic!("{errors:?}"))
    };
    let parsed: Vec<_> = modules.iter().enumerate().map(parse).collect();
    let run = PassRun {
        index: 0,
        count: 1,
        decl: DECL,
        numerics,
        text: "wrong",
        path: &[],
        opens: &[],
        closes: &[],
        number: "0",
        seconds: 0.0,
        nested_seconds: 0.0,
        busy_seconds: 0.0,
        check_seconds: 0.0,
        changed: true,
        statistics: Vec::new(),
    };
    let said = parsed.windows(2).try_for_each(|pair| check.check(&run, pair[0], pair[1], cx));
    let said = said.map_or_else(|error| error.render(cx.sources(), Style::Plain), |()| String::new());
    let warned = check.into_warnings().iter().map(|warning| warning.render(cx.sources(), Style::Plain)).collect();
    (said, warned)
}

pub fn error(numerics: Numerics, before: &str, after: &str) -> String {
    let arena = Arena::new();
    let (cx, _) = context(&arena);
    checked(&cx, &CheckInputs::Generated(12), numerics, &[before, after]).0
}

/// A module whose entry `@f` on `%x` and `%y` has these lines and this result.
fn with(ty: &str, lines: &str, result: &str) -> String {
    format!(
        "module @m entry(@f) {{\n hir.func @f(%x: tensor<{ty}>, %y: tensor<{ty}>) -> tensor<{ty}> {{\n{lines}\n hir.return {result}\n }}\n}}\n"
    )
}

fn binary(name: &str, kind: &str, operands: &str, ty: &str) -> String {
    format!("%{name} = tf.binary {operands} {{kind = \"{kind}\"}} : (tensor<{ty}>, tensor<{ty}>) -> tensor<{ty}>\n")
}

#[test]
fn the_same_values_are_no_difference() {
    let (a, b) = (binary("a", "add", "%x, %y", "8xf32"), binary("a", "add", "%y, %x", "8xf32"));
    assert_eq!(error(Numerics::Exact, &with("8xf32", &a, "%a"), &with("8xf32", &b, "%a")), "");
}

#[test]
fn rounding_is_a_difference_unless_the_pass_says_so() {
    let sum = |first: &str, second: &str| {
        with("8xf32", &(binary("a", "add", first, "8xf32") + &binary("b", "add", second, "8xf32")), "%b")
    };
    let (left, right) = (sum("%x, %y", "%a, %y"), sum("%y, %y", "%x, %a"));
    let said = error(Numerics::Exact, &left, &right);
    assert!(said.contains("pass `wrong` changed what `f` computes: result 0 at ["), "{said}");
    assert!(said.contains("(tolerance of f32: none)") && said.contains("#[pass(…, rounds)]"), "{said}");
    // Infinities that meet or do not are no rounding, but real numbers all the same.
    let said = error(Numerics::Rounds, &left, &right);
    assert!(said.is_empty() || said.contains("(tolerance of f32: 1e-6 + 1e-5 of the value)"), "{said}");
    assert_eq!(error(Numerics::FastMath, &left, &right), "");
}

#[test]
fn fast_mathematics_is_no_excuse_for_other_numbers() {
    let (a, b) = (binary("a", "sub", "%x, %y", "8xf32"), binary("a", "sub", "%y, %x", "8xf32"));
    let said = error(Numerics::FastMath, &with("8xf32", &a, "%a"), &with("8xf32", &b, "%a"));
    assert!(said.contains("1 of 12: plain numbers"), "{said}");
}

#[test]
fn another_signature_is_a_difference() {
    let a = binary("a", "sub", "%x, %y", "8xf32");
    let before = with("8xf32", &a, "%a");
    // The parameters in the other order, and the body with them.
    let swapped = before.replace("(%x: tensor<8xf32>, %y: tensor<8xf32>)", "(%y: tensor<8xf32>, %x: tensor<8xf32>)");
    assert!(error(Numerics::Exact, &before, &swapped).contains("result 0 at [0]"));
    let more = before.replace("%y: tensor<8xf32>", "%y: tensor<8xf32>, %z: tensor<8xf32>");
    let said = error(Numerics::Exact, &before, &more);
    assert!(said.contains("changed what `f` computes: its parameters are others"), "{said}");
    let said = error(Numerics::Exact, &before, &before.replace("f32", "f16"));
    assert!(said.contains("its parameters are others"), "{said}");
    let cast = "%b = tf.cast %a {dtype = f16} : (tensor<8xf32>) -> tensor<8xf16>";
    let narrow = with("8xf32", &(a + cast), "%b").replace("-> tensor<8xf32> {\n", "-> tensor<8xf16> {\n");
    let said = error(Numerics::Rounds, &before, &narrow);
    assert!(said.contains("result 0 is f16 of shape (8,), it was f32 of shape (8,)"), "{said}");
}

#[test]
fn functions_that_are_gone_are_a_difference() {
    let a = binary("a", "sub", "%x, %y", "8xf32");
    let before = with("8xf32", &a, "%a");
    let said = error(Numerics::Exact, &before, &before.replace(" entry(@f)", ""));
    assert!(said.contains("pass `wrong` left no entry in the place of `f`"), "{said}");
    let library = before.replace(" entry(@f)", "");
    let said = error(Numerics::Exact, &library, &library.replace("@f", "@g"));
    assert!(said.contains("pass `wrong` removed `f`"), "{said}");
}

#[test]
fn a_program_without_values_is_said() {
    let arena = Arena::new();
    let (cx, _) = context(&arena);
    let zero = "%z = constant 0 : i32\n%a = tf.binary %x, %z {kind = \"div\"} : (tensor<8xi32>, i32) -> tensor<8xi32>";
    let modules = [with("8xi32", zero, "%a"), with("8xi32", zero, "%x")];
    let modules: Vec<&str> = modules.iter().map(String::as_str).collect();
    let (said, warned) = checked(&cx, &CheckInputs::Generated(6), Numerics::Exact, &modules);
    assert!(said.is_empty() && warned.contains("`--check-each` finds no inputs on which `f` has a value"), "{warned}");
}

#[test]
fn divisors_are_drawn_without_zeros() {
    let arena = Arena::new();
    let (cx, _) = context(&arena);
    let of = |operands: &str| with("64xi32", &binary("a", "div", operands, "64xi32"), "%a");
    let modules = [of("%x, %y"), of("%y, %x")];
    let modules: Vec<&str> = modules.iter().map(String::as_str).collect();
    let (said, warned) = checked(&cx, &CheckInputs::Generated(6), Numerics::Exact, &modules);
    assert!(said.contains("on generated inputs 1 of 6: plain numbers, integers without 0"), "{said}");
    assert!(warned.is_empty(), "{warned}");
    // Every set of 64 numbers has a zero, and none is left out of a pass that is right; the next pass has them too.
    let same = [of("%x, %y"), of("%x, %y").replace("%a", "%b"), of("%x, %y")];
    let same: Vec<&str> = same.iter().map(String::as_str).collect();
    let found = checked(&cx, &CheckInputs::Generated(6), Numerics::Exact, &same);
    assert_eq!(found, (String::new(), String::new()));
}

#[test]
fn sets_that_are_left_out_are_counted() {
    let arena = Arena::new();
    let (cx, _) = context(&arena);
    let of = |name: &str| {
        format!(
            "module @m entry(@f) {{
  hir.func @f(%x: tensor<8x4xf32>, %i: tensor<3xi64>) -> tensor<3x4xf32> {{
    {name} = tf.index_select %x, %i {{dim = 0}} : (tensor<8x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
    hir.return {name}
  }}
}}
"
        )
    };
    let modules = [of("%a"), of("%b")];
    let modules: Vec<&str> = modules.iter().map(String::as_str).collect();
    let (said, warned) = checked(&cx, &CheckInputs::Generated(6), Numerics::Exact, &modules);
    assert!(said.is_empty(), "{said}");
    assert!(warned.contains("of 6 sets of inputs, on which `f` has no value: "), "{warned}");
    assert!(warned.contains("note: on generated inputs 3 of 6: extremes"), "{warned}");
}

#[test]
fn files_give_tensors_sizes_and_have_prefixes() {
    let folder = TempFolder::new("check-each");
    let path = folder.join("cases.safetensors");
    let ones = Tensor::from_f32(&[5], &[1.0; 5]).unwrap();
    let huge = Tensor::from_f32(&[3], &[1e38; 3]).unwrap();
    write_tensors(&path, [("x", &ones), ("case2.x", &huge)]).unwrap();
    let arena = Arena::new();
    let (cx, _) = context(&arena);
    // Only a number that overflows tells; `%y` is made up in the size of `%x`.
    let body = |kind: &str| {
        let lines = binary("a", kind, "%x, %x", "[#n]xf32");
        "#n = dim<\"n\", 1, 9>\n".to_owned()
            + &with("[#n]xf32", &(lines + &binary("b", "sub", "%a, %y", "[#n]xf32")), "%b")
    };
    let (before, after) = (body("add"), body("mul"));
    let said = |prefix: &str, after: &str| {
        let inputs = CheckInputs::File { path: path.display().to_string(), prefix: prefix.to_owned() };
        checked(&cx, &inputs, Numerics::Exact, &[&before, after])
    };
    assert!(said("", &after).0.contains(&format!("on the inputs of `{}`", path.display())));
    let (with_prefix, warned) = said("case2.", &after);
    assert!(with_prefix.contains("is inf, it was 2e38") && warned.is_empty(), "{with_prefix}{warned}");
    let other = before.replace("%x", "%q");
    let (_, warned) = checked(
        &cx,
        &CheckInputs::File { path: path.display().to_string(), prefix: String::new() },
        Numerics::Exact,
        &[&other, &after.replace("%x", "%q").replace("mul", "add")],
    );
    assert!(warned.contains("has no tensor for a parameter of `f`"), "{warned}");
}

/// A kernel whose threads exchange elements through shared memory.
const EXCHANGE: &str = r#"#mesh0 = mesh<[thread = 64], (8, 8):(8, 1), [p, q]>
#layout0 = shard<(8, 8):(8, 1), [S(0), S(1)], #mesh0>
#layout1 = shard<(8, 8):(1, 8), [S(0), S(1)], #mesh0>
module @M target("nvidia.h200_sxm") topology(thread = 64) entry(@f) {
  tir.func @f(%x: tensor<64xf32>, %out: tensor<64xf32>) target("nvidia.h200_sxm") outputs(1) {
    tir.mesh m = #mesh0 {
      let %mine = T.tensor_view %x {layout = #layout0} : (tensor<64xf32>) -> tensor<64xf32, #layout0>
      let %result = T.tensor_view %out {layout = #layout0} : (tensor<64xf32>) -> tensor<64xf32, #layout0>
      let %box = T.alloc_tensor {tensor_type = tensor<64xf32, smem>} : () -> tensor<64xf32, smem>
      let %own = T.tensor_view %box {layout = #layout0} : (tensor<64xf32, smem>) -> tensor<64xf32, #layout0, smem>
      let %turned = T.tensor_view %box {layout = #layout1} : (tensor<64xf32, smem>) -> tensor<64xf32, #layout1, smem>
      T.copy %mine, %own : (tensor<64xf32, #layout0>, tensor<64xf32, #layout0, smem>)
      T.sync {mesh = #mesh0} : ()
      T.copy %turned, %result : (tensor<64xf32, #layout1, smem>, tensor<64xf32, #layout0>)
    }
  }
}
"#;

#[test]
fn a_barrier_that_goes_is_missed() {
    let without: String =
        EXCHANGE.lines().filter(|line| !line.contains("T.sync")).map(|line| format!("{line}\n")).collect();
    assert_eq!(error(Numerics::Exact, &without, EXCHANGE), "", "what failed before is not compared");
    let found = error(Numerics::Exact, EXCHANGE, &without);
    let said = "error: pass `wrong` changed what `f` computes: its evaluation fails, as it did not before: \
                thread 1 of block 0 reads element [8] of `box`, which thread 8 of block 0 writes with no barrier between";
    assert!(found.starts_with(said), "{found}");
    assert!(found.contains("it fails here"), "{found}");
}
