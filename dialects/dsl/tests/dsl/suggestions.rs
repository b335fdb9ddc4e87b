//! Misspelt words: the refusal names the one that was likely meant.

use crate::common::with_source;

const HEAD: &str = "from tilefoundry import func, module, prim_func\n\
    from tilefoundry.dsl import Mesh, Tensor, Topology, T, tf\n\
    from tilefoundry.dsl.tf import *\n\
    from tilefoundry.target import CudaTarget\n";

/// `line:column help` of the first error, lines counted from the one after the head.
fn help(source: &str) -> String {
    with_source(&format!("{HEAD}{source}"), |_, result| {
        let errors = result.err().unwrap_or_default();
        let Some(error) = errors.first() else { return String::new() };
        let (line, column) = error.span.map_or((0, 0), |span| (span.line.get() as i32 - 4, span.column));
        format!("{line}:{column} {}", error.help.as_deref().unwrap_or("no help"))
    })
}

/// Of a function that returns this value.
fn value(text: &str) -> String {
    help(&format!("@func\ndef f(x: Tensor[(4, 6), \"f32\"]):\n    return {text}\n"))
}

#[test]
fn keywords() {
    assert_eq!(value("reduce(x, axis=(0,))"), "3:22 did you mean `axes`?");
    assert_eq!(value("tf.cast(x, dtyp=\"f16\")"), "3:23 did you mean `dtype`?");
    assert_eq!(value("tf.softmax(x, dim=-1)"), "3:26 did you mean `axis`?");
    assert_eq!(value("tf.reduce(x, axes=(1,), keepdims=True)"), "3:36 did you mean `keepdim`?");
    assert_eq!(value("tf.transpose(x, dims=(1, 0))"), "3:28 did you mean `perm`?");
    assert_eq!(value("tf.cast(x, zzz=\"f16\")"), "3:23 no help");
    assert_eq!(help("m = Mesh((Topology(nam=\"thread\", size=4),), (4,))\n"), "1:20 did you mean `name`?");
    let launched = help(
        "@module(target=CudaTarget(\"nvidia.h200_sxm\"))\nclass M:\n    @prim_func\n    def k(x: Tensor[(4,), \"f32\"]):\n        return\n    \
         @prim_func\n    def f(x: Tensor[(4,), \"f32\"]):\n        launch(k, x, grid=(1,), blok=(1,))\n",
    );
    assert_eq!(launched, "8:33 did you mean `block`?");
}

#[test]
fn enums() {
    assert_eq!(value("reduce(x, axes=(0,), kind=\"summ\")"), "3:38 did you mean `sum`?");
    assert_eq!(value("tf.unary(x, kind=\"rsqr\")"), "3:29 did you mean `rsqrt`?");
}

#[test]
fn dtypes_and_storages() {
    assert_eq!(value("tf.cast(x, dtype=\"bf61\")"), "3:29 did you mean `bf16`?");
    assert_eq!(help("@func\ndef f(x: Tensor[(4,), \"fp16\"]):\n    return x\n"), "2:23 did you mean `f16`?");
    assert_eq!(help("@func\ndef f(x: Tensor[(4,), \"f32\", \"gmen\"]):\n    return x\n"), "2:30 did you mean `gmem`?");
    assert_eq!(value("reshard(x, layout=None, storage=\"rmemm\")"), "3:44 did you mean `rmem`?");
}

/// What users of other libraries write first.
#[test]
fn habits() {
    let along = |kind: &str| format!("along an axis: `tf.reduce(x, axes=(1,), keepdim=False, kind=\"{kind}\")`");
    assert_eq!(value("tf.sum(x, axis=1)"), format!("3:12 {}", along("sum")));
    assert_eq!(value("x.mean(1)"), format!("3:12 {}", along("mean")));
    assert_eq!(value("tf.max(x, dim=1)"), format!("3:22 {}", along("max")));
    assert_eq!(value("x.exp()"), "3:12 an op is a function: `tf.exp(x, ...)`");
    assert_eq!(value("x ** 2"), "3:12 a square is `x * x`, or `tf.square(x)`");
    assert_eq!(value("x * 2"), "3:12 write `2.0`: a float literal takes the dtype of the tensor beside it");
    let slots = |slots: &str| help(&format!("@func\ndef f(x: Tensor[{slots}]):\n    return x\n"));
    assert_eq!(slots("8, 16, \"f32\""), "2:17 write `Tensor[(8, 16), ...]`");
    assert_eq!(slots("(8, 16)"), "2:17 write `Tensor[(8, 16), \"f32\"]`");
    assert_eq!(slots("(8,), \"float16\""), "2:23 did you mean `f16`?");
    let method = "@module\nclass M:\n    @func\n    def f(self, x: Tensor[(4,), \"f32\"]):\n        return x\n";
    assert_eq!(
        help(method),
        "4:11 a function of the language has no `self`: it takes tensors, and calls functions by name"
    );
}

/// What stands below its use, and what follows from what is not read, is told with its place.
#[test]
fn order_of_definitions() {
    let told = |source: &str| {
        with_source(&format!("{HEAD}{source}"), |_, result| {
            let errors = result.err().unwrap_or_default();
            let error = &errors[0];
            let labels: Vec<_> = error.labels.iter().map(|(at, text)| (at.line.get() - 4, text.as_str())).collect();
            format!("{} {labels:?} {}", error.message, error.help.as_deref().unwrap_or("no help"))
        })
    };
    let function =
        |name: &str, value: &str| format!("@func\ndef {name}(x: Tensor[(4,), \"f32\"]):\n    return {value}\n");
    assert_eq!(
        told(&format!("{}{}", function("f", "g(x)"), function("g", "x"))),
        "`g` is defined below: calls go to functions above [(5, \"defined here\")] move `g` up, before the function that calls it"
    );
    assert_eq!(
        told(&format!("{}SCALE = 2.0\n", function("f", "x * SCALE"))),
        "the name `SCALE` is not defined yet [(4, \"defined here\")] move its definition up: a file is read from its top"
    );
    assert_eq!(
        told(&format!("a = nothing\nb = a + 1\nc = b + 1\n{}", function("f", "x * c"))),
        "`c` cannot be used: the name `nothing` is not defined [(3, \"defined here\")] no help"
    );
}

/// Statements and layouts that another language would have.
#[test]
fn other_forms() {
    let body = |line: &str| help(&format!("@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    {line}\n    return x\n"));
    assert_eq!(body("print(x)"), "3:5 `tf-opt --pipeline=evaluate` gives the values of results");
    let strided = "@func\ndef f(x: Tensor[(4, 8), \"f32\", ((4, 8), (1, 4))]):\n    return x\n";
    assert_eq!(help(strided), "2:32 a layout with strides and no mesh is `Layout((4, 8), (8, 1))`");
}

/// An error in a plain function shows where that was called.
#[test]
fn calls_lead_to_errors() {
    let source = "def make(n):\n    assert n % 8 == 0, f\"{n} is no multiple of 8\"\n    return n\nA = make(16)\nB = make(12)\nC = make(12)\n\
        @func\ndef f(x: Tensor[(A,), \"f32\"]):\n    return x\n";
    with_source(&format!("{HEAD}{source}"), |_, result| {
        let errors = result.err().unwrap_or_default();
        let shown: Vec<_> = errors.iter().map(|e| (e.message.as_str(), e.span.map_or(0, |s| s.line.get()))).collect();
        assert_eq!(shown, [("the assertion `n % 8 == 0` fails: 12 is no multiple of 8", 6)]);
        assert_eq!((errors[0].labels[0].0.line.get(), errors[0].labels[0].1.as_str()), (9, "called here"));
    });
}
