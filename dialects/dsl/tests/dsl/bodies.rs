//! Statements and expressions of bodies: what they make, and where they are refused.

use crate::common::with_source;
use tf_core::walk::post_order;
use tf_core::{AnyFunction, Function};

const HEAD: &str = "from tilefoundry import func, module\n\
    from tilefoundry.dsl import ConstTensor, DimVar, Mesh, P, Tensor, Topology, ceildiv, tf\n\
    N = DimVar(\"n\", 1, 65)\n";

fn source(params: &str, lines: &[&str]) -> String {
    let body: String = lines.iter().map(|line| format!("    {line}\n")).collect();
    format!("{HEAD}@func\ndef f({params}):\n{body}")
}

/// Names of the ops that the function runs, operands first, and its result type.
fn ops(params: &str, lines: &[&str]) -> (Vec<String>, String) {
    with_source(&source(params, lines), |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        let Some(AnyFunction::Hir(function)) = module.entry_function() else { panic!("no entry") };
        let name = |e: tf_core::Expr<'_>| e.op_call().map(|c| format!("{:?}", c.op));
        (post_order(&[function.body.unwrap()]).into_iter().filter_map(name).collect(), function.return_type.to_string())
    })
}

fn result_type(params: &str, lines: &[&str]) -> String {
    ops(params, lines).1
}

/// The messages with `line:column`, lines counted from the first of the body.
fn refusals(params: &str, lines: &[&str]) -> Vec<String> {
    with_source(&source(params, lines), |_, result| {
        let errors = result.err().unwrap_or_default();
        let place = |d: &tf_core::Diagnostic| d.span.map_or((0, 0), |s| (s.line.get() - 5, s.column - 4));
        errors.iter().map(|d| format!("{}:{} {}", place(d).0, place(d).1, d.message)).collect()
    })
}

const X: &str = "x: Tensor[(4, 6), \"f32\"]";

#[test]
fn literals_take_the_dtype_beside_them() {
    let bf16 = "x: Tensor[(4,), \"bf16\"]";
    assert_eq!(result_type(bf16, &["return 1.0 + x * 2.0 ** -3"]), "Tensor[(4,), \"bf16\"]");
    assert_eq!(refusals(bf16, &["return x + 1"]), ["1:8 `add` takes operands of one dtype, found bf16 and i64"]);
    assert_eq!(result_type("x: Tensor[(4,), \"i64\"]", &["return x // 2 % 3"]), "Tensor[(4,), \"i64\"]");
    assert_eq!(result_type("x: Tensor[(4,), \"bool\"]", &["return not x and True"]), "Tensor[(4,), \"bool\"]");
}

#[test]
fn numbers_are_values() {
    let lines = ["half, scale = 6 // 2, 2.0", "a = x[:, half - 1:-1]", "return a * scale"];
    assert_eq!(result_type(X, &lines), "Tensor[(4, 3), \"f32\"]");
    assert_eq!(refusals(X, &["return x / (3 - 3.0) + (1 // 0)"]).len(), 1);
    assert_eq!(
        refusals(X, &["y = 9223372036854775807 + 1", "return x"]),
        ["1:5 the result of `+` does not fit into 64 bits"]
    );
}

#[test]
fn windows() {
    assert_eq!(result_type(X, &["return x[1:3, ::2]"]), "Tensor[(2, 3), \"f32\"]");
    assert_eq!(ops(X, &["return x[:, 0:6]"]).0.len(), 0);
    let n = "x: Tensor[(N, 8), \"f32\"], s: Tensor[(), \"i32\"]";
    assert_eq!(result_type(n, &["return x[s + 1 : s + 4, :]"]), "Tensor[(3, 8), \"f32\"]");
    assert_eq!(result_type(n, &["return x[:, 2:]"]), "Tensor[(n, 6), \"f32\"]");
    assert_eq!(
        refusals(n, &["return x[s:, :]"]),
        ["1:10 a window with run-time bounds needs a size that is known at compile time"]
    );
    let wide = "x: Tensor[(N, 8), \"f32\"], s: Tensor[(), \"i64\"]";
    for same in ["s * 2 : s * 2 + 3", "s // 2 : 3 + s // 2"] {
        assert_eq!(result_type(wide, &[&format!("return x[{same}, :]")]), "Tensor[(3, 8), \"f32\"]", "{same}");
    }
    for (window, size) in [
        ("k * 2 : k * 2 + 1", 1),
        ("2 * k : (k + 1) * 2", 2),
        ("k + k - 1 : 2 * (k + 1)", 3),
        ("4 - k : 6 - k", 2),
        ("k // 2 : k // 2 + 2", 2),
    ] {
        let lines = ["y = x[:, 0:1]", "for k in range(1, 2):", &format!("    y = x[:, {window}]"), "return y"];
        let found = refusals(X, &lines);
        let want = format!("Tensor[(4, {size}), \"f32\"]");
        assert!(if size == 1 { found.is_empty() } else { found[0].contains(&want) }, "{window}: {found:?}");
    }
    for apart in ["k : k * 2", "k * 2 : k * 3 + 2", "k // 2 : k // 3 + 2"] {
        assert_eq!(
            refusals(X, &["for k in range(1, 2):", &format!("    y = x[:, {apart}]"), "return x"]),
            ["2:14 a window with run-time bounds needs a size that is known at compile time"],
            "{apart}"
        );
    }
    assert_eq!(result_type(X, &["return x[0, :]"]), "Tensor[(6,), \"f32\"]");
    assert_eq!(refusals(X, &["return x[3:1, :]"]), ["1:10 the window starts at 3 and ends at 1"]);
    assert_eq!(result_type(n, &["return x[N - 4 : N, :]"]), "Tensor[(4, 8), \"f32\"]");
    assert_eq!(result_type(n, &["return x[N // 2, :]"]), "Tensor[(8,), \"f32\"]");
    assert_eq!(result_type(n, &["return x[s + N : s + N + 2, :]"]), "Tensor[(2, 8), \"f32\"]");
    assert_eq!(refusals(X, &["return x[-5:2, :]"]), ["1:10 index -5 is out of range for axis 0 of extent 4"]);
}

#[test]
fn dims_are_values() {
    let n = "x: Tensor[(4, N), \"i64\"], w: Tensor[(N + 1,), \"f32\"]";
    assert_eq!(result_type(n, &["return x * N + x.shape[1]"]), "Tensor[(4, n), \"i64\"]");
    let (ops, ty) = ops(n, &["return x + (N + 1), x - N"]);
    let names: Vec<_> = ops.iter().filter_map(|op| op.split(' ').next()).collect();
    assert_eq!(names, ["tf.shape_of", "tf.slice", "tf.reshape", "dim.add", "tf.binary", "tf.binary"]);
    assert_eq!(ty, "(Tensor[(4, n), \"i64\"], Tensor[(4, n), \"i64\"])");
    let other = ["k = DimVar(\"k\", 1, 9)", "return x + k"];
    assert_eq!(
        refusals(n, &other),
        ["2:12 no parameter has an axis of extent `k`, so that its value is not known here"]
    );
    assert_eq!(result_type(n, &["return tf.full_like(x, 1)[:, : x.shape[0] - 2]"]), "Tensor[(4, 2), \"i64\"]");
}

#[test]
fn tile_windows_stay_on_their_axis() {
    let params = "x: Tensor[(4, 6), \"f32\"], acc: Tensor[(4, 2), \"f32\"]";
    let sum = |bounds: &str, window: &str| {
        refusals(
            params,
            &[&format!("for k in tile({bounds}):"), &format!("    acc = acc + x[:, {window}]"), "return acc"],
        )
    };
    for (bounds, window) in
        [("6, 2", "k"), ("4, 2", "k + 2"), ("4, 2", "2 + k"), ("4, 2", "k : k + 2"), ("6, 2", "k - 0")]
    {
        assert_eq!(sum(bounds, window), [""; 0], "{bounds} {window}");
    }
    assert_eq!(sum("4, 2", "k + 4"), ["2:22 the window reaches 8, but axis 1 has extent 6"]);
    assert_eq!(sum("5, 2", "k + 1"), ["2:22 the window reaches 7, but axis 1 has extent 6"]);
    assert_eq!(sum("4, 2", "k - 2"), ["2:22 the window starts at -2, before axis 1 of extent 6"]);
    for other in ["2 - k", "k * 2", "2 * k + 1", "k // 2", "-k", "k / 2"] {
        assert_eq!(sum("4, 2", other), [format!("2:22 `{other}` is no moved window")], "{other}");
    }
    assert_eq!(sum("3, 1", "2 * k : 2 * (k + 1)"), [""; 0]);
    assert_eq!(sum("4, 0", "k"), ["1:10 the step of `tile` is positive, found 0"]);
    assert_eq!(sum("N, 2", "k"), [""; 0]);
}

#[test]
fn loops() {
    let lines = [
        "acc = x",
        "for i in range(1, 4, 2):",
        "    part = tf.exp(acc)",
        "    for j in tile(3):",
        "        acc = acc + part",
        "return acc",
    ];
    assert_eq!(result_type(X, &lines), "Tensor[(4, 6), \"f32\"]");
    assert_eq!(result_type(X, &["for i in range(N):", "    y = x + x"]), "Tensor[(4, 6), \"f32\"]");
    let number = ["s = 0.0", "for i in range(2):", "    s = s + x", "return s"];
    assert!(refusals(X, &number)[0].starts_with("3:5 `s` is the float 0.0 before the loop"));
    let two = ["a, b = x, x", "for i in range(2):", "    a = a + b", "    b = b * b", "return a"];
    assert_eq!(result_type(X, &two), "Tensor[(4, 6), \"f32\"]");
    assert_eq!(
        refusals(X, &["for i, j in range(2):", "    x = x + x", "return x"]),
        ["1:5 the variable of a loop is one name"]
    );
    let after = ["for i in range(2):", "    y = x + x", "return y"];
    assert_eq!(refusals(X, &after), ["3:8 `y` is bound inside the loop only and undefined after it"]);
}

#[test]
fn every_wrong_statement_is_reported_once() {
    let lines = ["y = x + nothing", "z = y + y", "w = tf.reduce(x, axes=(7,))", "v = z * w", "return x"];
    assert_eq!(
        refusals(X, &lines),
        ["1:9 the name `nothing` is not defined", "3:5 `tf.reduce` has no axis 7: the operand has rank 2"]
    );
}

#[test]
fn names() {
    let lines = ["y = tf.exp(x, loc=\"inner\")", "z = y", "w = z + y", "return w"];
    with_source(&source(X, &lines), |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        let Some(AnyFunction::Hir(function)) = module.entry_function() else { panic!("no entry") };
        let names: Vec<_> =
            post_order(&[function.body.unwrap()]).iter().filter_map(|e| Some(e.data().meta.name?.as_str())).collect();
        assert_eq!(names, ["inner", "w"]);
    });
}

#[test]
fn functions_call_functions_above() {
    let text = format!(
        "{HEAD}@func\ndef g(a: Tensor[(4,), \"f32\"]) -> Tensor[(4,), \"f32\"]:\n    return a + a\n\
         @func\ndef f(x: Tensor[(4,), \"f32\"]):\n    y = g(x)\n    return (y, g(y))\n"
    );
    with_source(&text, |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        let names: Vec<_> = module.functions.iter().map(|f| f.name().as_str()).collect();
        assert_eq!((names, module.entry.unwrap().as_str()), (vec!["g", "f"], "f"));
        let Some(AnyFunction::Hir(function)) = module.entry_function() else { panic!("no entry") };
        let ty = |f: Function<'_>| f.return_type.to_string();
        assert_eq!(ty(function), "(Tensor[(4,), \"f32\"], Tensor[(4,), \"f32\"])");
    });
}

#[test]
fn annotations() {
    let ty = |annotation: &str| result_type(&format!("x: {annotation}"), &["return x"]);
    assert_eq!(ty("Tensor[(N, ceildiv(N, 8)), \"f32\"]"), "Tensor[(n, ((n - 1) // 8) + 1), \"f32\"]");
    assert_eq!(ty("ConstTensor[(), \"i32\", \"smem\"]"), "Tensor[(), \"i32\", \"smem\"]");
    assert_eq!(ty("Tensor[(4,), \"f32\", None, \"host\"]"), "Tensor[(4,), \"f32\", \"host\"]");
    let open = "from tilefoundry.dsl import Layout, Tensor\nfrom tilefoundry import func\n@func\ndef f(x: Tensor[(4, 8), \"f32\", Layout((4, 8))]):\n    return x\n";
    with_source(open, |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        let ty = module.functions[0].params()[0].ty().to_string();
        assert_eq!(ty, "Tensor[(4, 8), \"f32\", (4, 8):(8, 1)]");
    });
    let mesh = "Mesh((Topology(\"thread\", 8),), (8,), (\"t\",))";
    let text = |slots: &str| format!("{HEAD}m = {mesh}\n@func\ndef f(x: Tensor[{slots}]):\n    return x\n");
    for slots in ["(16 @ m.t, 2), \"f32\", \"smem\"", "(16, 2), \"f32\", (16 @ m, 2), \"smem\""] {
        with_source(&text(slots), |_, result| {
            let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
            let ty = module.functions[0].params()[0].ty().to_string();
            assert_eq!(ty, "Tensor[(16, 2), \"f32\", (8 @ t, 2, 2), \"smem\"]");
        });
    }
}

#[test]
fn unread_file_level_names_are_refused_where_they_are_used() {
    let text = |used: &str| {
        format!(
            "import numpy as np\n{HEAD}W = np.ones(4)\nwhile True:\n    V = 3\n@func\ndef f(x: Tensor[({used},), \"f32\"]):\n    return x\n"
        )
    };
    with_source(&text("4"), |_, result| assert!(result.is_ok()));
    for (name, line) in [("W", 5), ("V", 6)] {
        with_source(&text(name), |_, result| {
            let errors = result.err().unwrap_or_default();
            assert!(errors[0].message.starts_with(&format!("`{name}` cannot be used: ")), "{}", errors[0].message);
            assert_eq!((errors[0].span.unwrap().line.get(), errors[0].labels[0].0.line.get()), (9, line));
        });
    }
}

#[test]
fn unpacked_names_are_carried() {
    for (lines, carries) in [
        (&["c = x", "d = x", "for i in range(4):", "    c = c + d", "    (d,) = (c,)", "return c"][..], 2),
        (&["a, b, c = x, x * 2.0, x", "for i in range(4):", "    a, b = b, a", "    c = c + a", "return c"], 3),
        (&["a, b = x, x * 2.0", "for i in range(4):", "    [a, b] = b, a", "return a"], 2),
        (
            &[
                "c, d = x, x",
                "for i in range(2):",
                "    for j in range(2):",
                "        c = c + d",
                "    d, e = c, d",
                "return c",
            ],
            2,
        ),
    ] {
        let found = with_source(&source(X, lines), |_, result| {
            let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
            let Some(AnyFunction::Hir(function)) = module.entry_function() else { panic!("no entry") };
            let grids = post_order(&[function.body.unwrap()]).into_iter().filter_map(|e| match e.kind {
                tf_core::ExprKind::Grid(region) => Some(region.carries.len()),
                _ => None,
            });
            grids.collect::<Vec<_>>()
        });
        assert_eq!(found.last(), Some(&carries), "{lines:?}");
    }
    let lines = ["a, c = 1.0, x", "for i in range(4):", "    c, a = c + a, 2.0", "return c"];
    let want = "3:5 `a` is the float 1.0 before the loop, so an assignment in the loop cannot carry it";
    assert_eq!(refusals(X, &lines), [want]);
}

#[test]
fn the_smallest_integer_is_a_literal() {
    let lines = ["return x + -9223372036854775808"];
    assert_eq!(result_type("x: Tensor[(4,), \"i64\"]", &lines), "Tensor[(4,), \"i64\"]");
    assert_eq!(refusals(X, &["return x + -9223372036854775809"]).len(), 1);
}

#[test]
fn extrema_of_compile_time_values_are_values() {
    let n = "x: Tensor[(N, 8), \"f32\"]";
    assert_eq!(result_type(n, &["k = min(5, 3)", "return x[:, : max(k, 2)]"]), "Tensor[(n, 3), \"f32\"]");
    assert_eq!(
        result_type(n, &["return tf.zeros(type=Tensor[(min(N, 8),), \"f32\"])"]),
        "Tensor[(min(n, 8),), \"f32\"]"
    );
    let sum = ["for i in range(min(N, 4)):", "    x = x * max(1.0, 0.5)", "return x"];
    assert_eq!(result_type(n, &sum), "Tensor[(n, 8), \"f32\"]");
    let (made, _) = ops(n, &["return min(x, 1.0), tf.min(1.0, 2.0)"]);
    assert_eq!(made.iter().filter(|op| op.starts_with("tf.binary")).count(), 2, "{made:?}");
    let lines = ["return min(x)"];
    assert_eq!(refusals(n, &lines), ["1:8 `min` needs `rhs`"]);
}

/// Extrema have no normal form with others: what both bounds have goes away before the size is made.
#[test]
fn windows_up_to_an_extremum_have_its_size() {
    let n = "x: Tensor[(N, 8), \"f32\"]";
    let cases = [
        (": min(N, 4)", "min(n, 4)"),
        ("1 : 1 + min(N - 1, 4)", "min(n - 1, 4)"),
        ("N - min(N, 4) :", "min(n, 4)"),
        ("min(N, 4) - 1 : min(N, 4)", "1"),
        (": N // 2", "n // 2"),
        ("1 :", "n - 1"),
        (": min(N, 4) * 2", "min(n, 4) * 2"),
        ("2 : min(N, 4) + 1", "min(n, 4) - 1"),
        ("1 : 1 + 2 * min(N, 4)", "2 * min(n, 4)"),
        ("1 : 3 + 2 * min(N, 4)", "(2 * min(n, 4)) + 2"),
        ("min(N, 4) : 4", "4 - min(n, 4)"),
        ("min(N, 4) : N + 4", "(n - min(n, 4)) + 4"),
        ("min(N, 4) - 1 : 2 * min(N, 4)", "min(n, 4) + 1"),
    ];
    for (window, size) in cases {
        let lines = [format!("return x[{window}, :]")];
        assert_eq!(result_type(n, &lines.each_ref().map(String::as_str)), format!("Tensor[({size}, 8), \"f32\"]"));
    }
}

#[test]
fn properties_of_a_config_are_attributes() {
    let config = "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Config:\n    width: int = 8\n    heads: int = 2\n\
        \x20   @property\n    def head(self):\n        return self.width // self.heads\nC = Config()\n";
    let text = format!(
        "{HEAD}{config}@func\ndef f(x: Tensor[(3, C.width), \"f32\"]):\n    return tf.reshape(x, new_shape=(3, C.heads, C.head)) * C.head ** -0.5\n"
    );
    with_source(&text, |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        let Some(AnyFunction::Hir(function)) = module.entry_function() else { panic!("no entry") };
        assert_eq!(function.return_type.to_string(), "Tensor[(3, 2, 4), \"f32\"]");
    });
}
