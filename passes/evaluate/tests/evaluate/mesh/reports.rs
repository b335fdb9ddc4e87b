//! What is said of positions, where, and of which.

use tf_core::diag::Style;
use tf_core::{Arena, Diagnostic};
use tf_evaluate::Positions;
use tf_text::parse_module;
use tf_value::Tensor;

use super::{both, positions};
use crate::common::context;

fn numbers(shape: &[usize]) -> Tensor {
    let count: usize = shape.iter().product();
    Tensor::from_f32(shape, &(0..count).map(|i| i as f32).collect::<Vec<_>>()).unwrap()
}

/// The result at all positions of a function on `x` over eight threads `m` (2, 4), or what is said.
fn run(body: &str) -> Result<Vec<usize>, String> {
    let body: String = body.lines().map(|line| format!("            {}\n", line.trim())).collect();
    let source = format!(
        "from tilefoundry import func, module\nfrom tilefoundry.dsl import Mesh, Tensor, Topology, tf\n\
         from tilefoundry.target import CudaTarget\n\n\
         @module(entry=\"f\", target=CudaTarget(\"nvidia.h200_sxm\"), topologies=(Topology(\"thread\", 8),))\n\
         class M:\n    @func\n    def f(x: Tensor[(8, 8), \"f32\"]):\n        \
         with Mesh((\"thread\",), (2, 4), (\"w\", \"l\")) as m:\n{body}"
    );
    Ok(positions(&source, &[numbers(&[8, 8])], Positions::All)?.outputs[0].shape().to_vec())
}

#[test]
fn a_window_that_leaves_its_tensor_names_the_position() {
    let error =
        run("return tf.local(tf.reshard(x[m.w * 4 + m.l * 2 : m.w * 4 + m.l * 2 + 1, :], layout=(1, 8)))").unwrap_err();
    assert!(error.contains("note: at position w=0 l=3") || error.contains("note: at position w=1 l=2"), "{error}");
}

#[test]
fn positions_differ_on_purpose_along_the_axes_of_a_window_only() {
    let rows = "rows = tf.local(tf.reshard(x[m.w : m.w + 1, :], layout=(1, 8), storage=\"rmem\"))\n";
    let window = "part = tf.local(tf.reshard(x[0:1, m.l : m.l + 2], layout=(1, 2), storage=\"rmem\"))\n";
    let split = "part = tf.local(tf.reshard(x[0:1, :], layout=(1, 8 @ m.l), storage=\"rmem\"))\n";
    let whole = "return tf.reshard(rows[:, 0:2] + part, layout=(1, 2))";
    assert_eq!(run(&format!("{rows}{window}{whole}")), Ok(vec![2, 4, 1, 2]));
    let error = run(&format!("{rows}{split}{whole}")).unwrap_err();
    assert!(error.contains("positions along `l` hold different values, where the type says Broadcast"), "{error}");
    assert!(error.contains("position w=0 l=0 holds") && error.contains("position w=0 l=1 holds"), "{error}");
}

/// What is said of a program over four threads whose functions `@act` and `@f` are these.
fn said(functions: &str) -> String {
    let source = format!(
        "#line = mesh<[thread = 4], (4):(1), [l]>
#whole = shard<(4, 6):(6, 1), [B], #line>
#term = shard<(4, 6):(6, 1), [P(\"sum\")], #line>
module @m topology(thread = 4) entry(@f) {{
{functions}
}}
"
    );
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let file = cx.sources().add("t.tfir", source);
    let show = |error: &Diagnostic| error.render(cx.sources(), Style::Plain);
    let module = parse_module(cx, file).unwrap_or_else(|errors| panic!("{}", show(&errors[0])));
    both(cx, rules, module, &[numbers(&[4, 6])], Positions::All).1.map_or_else(|error| show(&error), |_| String::new())
}

const PLACED: &str = "tensor<4x6xf32, #term>";

#[test]
fn terms_are_reported_where_they_cross_by_what_holds_them() {
    let into = "  hir.func @act(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %r = tf.unary %a {kind = \"exp\"} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    hir.return %r
  }
  hir.func @f(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %t = tf.reshard %x {layout = #term} : (tensor<4x6xf32>) -> PLACED
    %r = call @act(%t) : (PLACED) -> tensor<4x6xf32>
    hir.return %r
  }"
    .replace("PLACED", PLACED);
    let out = "  hir.func @act(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %s = tf.reshard %a {layout = #term} : (tensor<4x6xf32>) -> PLACED
    hir.return %s
  }
  hir.func @f(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %r = call @act(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    hir.return %r
  }"
    .replace("PLACED", PLACED);
    for (functions, source) in [(into, "t"), (out, "s")] {
        let said = said(&functions);
        assert!(said.contains("positions along `l` hold terms of a sum that is not completed here"), "{said}");
        assert!(said.contains(&format!("`{source}` is P(\"sum\") on `l`")), "{said}");
    }
}
