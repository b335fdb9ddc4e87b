//! `--check-each` on passes that are wrong about placement only: logical values do not tell.

use tf_framework::Numerics;

use crate::check::error;

/// A module whose function `@f` of four threads has these lines, and returns `%r` of that type.
fn module(lines: &str, result: &str) -> String {
    format!(
        r#"
#line = mesh<[thread = 4], (4):(1), [l]>
#square = mesh<[thread = 4], (2, 2):(2, 1), [w, l]>
#whole = shard<(4, 6):(6, 1), [B], #line>
#term = shard<(4, 6):(6, 1), [P("sum")], #line>
#left = shard<(4, 4, 2):(2, 0, 1), [S(1)], #line>
#right = shard<(4, 2, 6):(0, 6, 1), [S(0)], #line>
#wl = shard<(4, 2, 2, 2):(2, 0, 0, 1), [S(1), S(2)], #square>
#lw = shard<(4, 2, 2, 2):(2, 0, 0, 1), [S(2), S(1)], #square>
!own = tensor<4x6xf32, layout<(4, 6):(6, 1)>, rmem>
!part = tensor<4x2xf32, layout<(4, 2):(2, 1)>, rmem>
module @m topology(thread = 4) entry(@f) {{
  hir.func @f(%x: tensor<4x8xf32>, %y: tensor<8x6xf32>) -> {result} {{
{lines}
    hir.return %r
  }}
}}
"#
    )
}

const PRODUCT: &str = "
    %a = tf.reshard %x {layout = #left, storage = rmem} : (tensor<4x8xf32>) -> tensor<4x8xf32, #left, rmem>
    %b = tf.reshard %y {layout = #right, storage = rmem} : (tensor<8x6xf32>) -> tensor<8x6xf32, #right, rmem>
    %t = tf.matmul %a, %b : (tensor<4x8xf32, #left, rmem>, tensor<8x6xf32, #right, rmem>) -> tensor<4x6xf32, #term, rmem>";

#[test]
fn terms_that_are_lost() {
    let result = "tensor<4x6xf32, #whole, rmem>";
    let completed = format!(
        "{PRODUCT}
    %r = tf.reshard %t {{layout = #whole}} : (tensor<4x6xf32, #term, rmem>) -> tensor<4x6xf32, #whole, rmem>"
    );
    let lost = format!(
        "{PRODUCT}
    %o = tf.local %t : (tensor<4x6xf32, #term, rmem>) -> !own
    %r = tf.reshard %o {{layout = #whole}} : (!own) -> tensor<4x6xf32, #whole, rmem>"
    );
    let said = error(Numerics::Exact, &module(&completed, result), &module(&lost, result));
    assert!(
        said.contains("pass `wrong` changed what `f` computes: position by position, its evaluation fails"),
        "{said}"
    );
    assert!(said.contains("positions along `l` hold different values, where the type says Broadcast"), "{said}");
    assert_eq!(error(Numerics::Exact, &module(&completed, result), &module(&completed, result)), "");
}

#[test]
fn parts_of_other_positions() {
    let part = |layout: &str| {
        format!(
            "
    %a = tf.reshard %x {{layout = {layout}, storage = rmem}} : (tensor<4x8xf32>) -> tensor<4x8xf32, {layout}, rmem>
    %r = tf.local %a : (tensor<4x8xf32, {layout}, rmem>) -> !part"
        )
    };
    let said = error(Numerics::Exact, &module(&part("#wl"), "!part"), &module(&part("#lw"), "!part"));
    assert!(said.contains("position by position, result 0 at [0, 1, 0, 0] is "), "{said}");
    let axes = "; the first 2 axes of the result are the position along `w`, `l`\n";
    assert!(said.contains(axes), "{said}");
}

#[test]
fn a_placement_that_comes_or_goes() {
    let plain = "    %r = tf.unary %x {kind = \"exp\"} : (tensor<4x8xf32>) -> tensor<4x8xf32>";
    let placed = "
    %a = tf.reshard %x {layout = #left} : (tensor<4x8xf32>) -> tensor<4x8xf32, #left>
    %r = tf.unary %a {kind = \"exp\"} : (tensor<4x8xf32, #left>) -> tensor<4x8xf32, #left>";
    let placed = placed.replace("#left", "shard<(4, 4, 2):(8, 2, 1), [S(1)], #line>");
    let (plain, placed) = (
        module(plain, "tensor<4x8xf32>"),
        module(&placed, "tensor<4x8xf32, shard<(4, 4, 2):(8, 2, 1), [S(1)], #line>>"),
    );
    assert_eq!(error(Numerics::Exact, &plain, &placed), "");
    assert_eq!(error(Numerics::Exact, &placed, &plain), "");
}
