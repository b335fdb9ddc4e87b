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
