//! Refusals that tell what to write instead: message and help, at their place.

use crate::common::with_source;

const HEAD: &str = "from tilefoundry import Expr, func, intrinsic, module, prim_func\n\
    from tilefoundry.dsl import ConstTensor, DimVar, DimVarRangePat, Layout, Mesh, T, Tensor, Topology, tf\n\
    N = DimVar(\"n\", 1, 65)\n";

/// `line:column message | help` of the first error, lines counted from the one after the head.
fn first(source: &str) -> String {
    with_source(&format!("{HEAD}{source}"), |_, result| {
        let errors = result.err().unwrap_or_default();
        let Some(error) = errors.first() else { return String::new() };
        let (line, column) = error.span.map_or((0, 0), |span| (span.line.get() as i32 - 3, span.column));
        format!("{line}:{column} {} | {}", error.message, error.help.as_deref().unwrap_or_default())
    })
}

/// Of a function with these lines, of which the first is line 3.
fn body(lines: &str) -> String {
    let lines: String = lines.lines().map(|line| format!("    {line}\n")).collect();
    first(&format!("@func\ndef f(x: Tensor[(4, 6), \"f32\"], y: Tensor[(4, 6), \"f32\"]):\n{lines}"))
}

fn check(refused: fn(&str) -> String, cases: &[(&str, &str)]) {
    for (source, want) in cases {
        assert_eq!(refused(source), *want, "{source}");
    }
}

#[test]
fn bodies() {
    check(
        body,
        &[
            ("...", "3:5 `...` is not part of the language | the body of a function that variants implement is `pass`"),
            (
                "T.copy(x, y)\nreturn x",
                "3:5 `T.copy` is an op of `@prim_func` bodies and unknown in a `@func` | values of a `@func` are returned, not written",
            ),
            (
                "copy(x, y)\nreturn x",
                "3:5 `copy` is an op of `@prim_func` bodies and unknown in a `@func` | values of a `@func` are returned, not written",
            ),
            (
                "launch(f, x, grid=(1,), block=(1,))\nreturn x",
                "3:5 `launch` is a statement of `@prim_func` bodies and unknown in a `@func` | values of a `@func` are returned, not written",
            ),
            (
                "return T.relu(x)",
                "3:12 the `relu` of `@prim_func` bodies is another op than that of a `@func` | write `tf.relu(...)`",
            ),
            (
                "return x[:, None, :]",
                "3:17 a subscript has an index, a slice or a tile window for every axis | an axis of extent 1 comes from `tf.reshape(x, new_shape=...)`",
            ),
            (
                "return x[..., 0]",
                "3:14 a subscript has an index, a slice or a tile window for every axis | a full axis is `:`",
            ),
            (
                "return tf.reduce(x, axes=1, kind=\"sum\")",
                "3:30 `axes` of `reduce` must be a tuple of integers, found the integer 1 | one of them is `(1,)`",
            ),
            ("relu(x)\nreturn x", "3:5 an expression statement has no effect | assign its value to a name"),
            (
                "return self.g(x)",
                "3:12 the name `self` is not defined | functions and children of the module are called by their names alone",
            ),
            (
                "parts = [x, y]\nreturn tf.concat(*parts, axis=0)",
                "4:22 `concat` cannot take an unpacked `*` argument | pass the sequence itself: `concat(parts, ...)`",
            ),
            (
                "return x[:, y : 4]",
                "3:17 a window with run-time bounds needs a size that is known at compile time | write `x[y : y + 4]`",
            ),
            (
                "for row in tile(1, 5, 2):\n    x = y\nreturn x",
                "3:16 `tile` takes one to 2 arguments, found 3 | a tile loop starts at 0; `for i in range(start, stop, step)` does not",
            ),
            (
                "for row in tile(4, 2):\n    x = y[2 * row, :]\nreturn x",
                "4:15 `2 * row` is no moved window | a tile window is moved by an integer: `row + 32`; others have both ends: `2 * row : 2 * row + 4`",
            ),
            (
                "return tf.zeros(shape=(4, 6), dtype=\"f32\")",
                "3:21 `zeros` has no parameter `shape`; it has type | write `zeros(Tensor[(4, 8), \"f32\"])`",
            ),
            (
                "y: where(layout=((_, 6), {cta @ P(\"sum\")}, {thread @ B()})) = x + x\nreturn y",
                "3:21 `layout` of `where` is a tuple of axes, or axes and bindings | write `(_, 16 @ cta)` or `((_, 16), {cta @ P(\"sum\"), thread @ B()})`",
            ),
            (
                "i = x\nfor i in range(2):\n    y = y + x\nreturn y + i",
                "6:16 the loop above took the name `i`, so that it is undefined after it | ",
            ),
            (
                "for i in range(2):\n    y = y + x\nfor i in range(2):\n    y = y + x\nreturn y * i",
                "7:16 `i` is bound inside the loop only and undefined after it | ",
            ),
        ],
    );
    let intrinsic = "@intrinsic\ndef wait(a: Expr) -> None:\n    pass\n@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    wait(x)\n    return x\n";
    assert_eq!(
        first(intrinsic),
        "6:5 `wait` is an intrinsic of `@prim_func` bodies and unknown in a `@func` | values of a `@func` are returned, not written"
    );
}

#[test]
fn ops_of_values_in_statements() {
    for (call, want) in [
        (
            "tf.relu(x)",
            "3:5 the `relu` of `@func` bodies is another op than that of a `@prim_func` | write `T.relu(...)`",
        ),
        (
            "T.exp(x, out)",
            "3:5 `exp` is an op of `@func` bodies and unknown in a `@prim_func` | write `T.unary(..., kind=\"exp\")`",
        ),
        ("T.softmax(x, out)", "3:5 `softmax` is an op of `@func` bodies and unknown in a `@prim_func` | "),
    ] {
        let parameters = "x: Tensor[(4,), \"f32\"], out: Tensor[(4,), \"f32\"]";
        assert_eq!(first(&format!("@prim_func\ndef f({parameters}):\n    {call}\n")), want, "{call}");
    }
}

#[test]
fn a_target_that_is_refused_binds_its_names() {
    let source = "from tilefoundry import func\nfrom tilefoundry.dsl import Tensor\n@func\n\
        def f(x: Tensor[(4,), \"f32\"]):\n    first, *rest = [x, x, x]\n    return first + rest[0]\n";
    with_source(source, |_, result| {
        let errors: Vec<_> = result.err().unwrap_or_default().into_iter().map(|error| error.message).collect();
        assert_eq!(errors, ["an unpacking target is a name"]);
    });
    assert_eq!(body("(a, (b, y)), c = x\nreturn tf.exp(a + b) + y + c"), "3:5 an unpacking target is a name | ");
}

#[test]
fn types_and_placements() {
    let mesh =
        "m = Mesh((Topology(\"thread\", 8),), (8,), (\"t\",))\nc = Mesh((Topology(\"cta\", 4),), (4,), (\"b\",))\n";
    for (slots, want) in [
        (
            "(16, 8), \"f32\", \"smem\", Layout((16, 8), (8, 1))",
            "4:33 the storage is the last slot: shape, dtype, layout, storage | ",
        ),
        ("(16, 8), \"f32\", (16 @ (), 8)", "4:34 `16 @ ()` names no mesh axis | an axis that is whole is its extent"),
        (
            "(16, 8), \"f32\", (16 @ c.b, 8 @ m.t)",
            "4:33 the placement names 2 meshes, which no `with` encloses | outside of scopes it is over one mesh of all levels",
        ),
        ("(16, 8), \"f32\", (True @ m.t, 8)", "4:34 an extent must be a static int or a dim, found the bool True | "),
    ] {
        let source = format!("{mesh}@func\ndef f(x: Tensor[{slots}]):\n    return x\n");
        assert_eq!(first(&source), want, "{slots}");
    }
    let source = format!("{mesh}@func\ndef f(x: Tensor[(16,), \"f32\"]):\n    held = (16 @ m.t,)\n    return x\n");
    assert_eq!(
        first(&source),
        "5:13 `16 @ m.t` places an axis, which only a layout does | write it in the layout of a type or an op, or name a `ShardLayout(...)`"
    );
}

#[test]
fn declarations() {
    check(
        first,
        &[
            (
                "@module(entry=f)\nclass M:\n    @func\n    def f(x: Tensor[(4,), \"f32\"]):\n        return x\n",
                "1:15 `entry` is the quoted name of a function, found `f` | write `entry=\"f\"`",
            ),
            (
                "@func\ndef f(x: Tensor[(N,), \"f32\"], w: ConstTensor[(N,), \"f32\"]) -> Tensor[(N,), \"f32\"]:\n    pass\n\
                 @f.specialize(DimVarRangePat(\"n\", 1, 65))\n\
                 def g(x: Tensor[(N,), \"f32\"], w: Tensor[(N,), \"f32\"]) -> Tensor[(N,), \"f32\"]:\n    return x\n",
                "5:31 the variant `g` takes `w` as Tensor[(n,), \"f32\"], but `f` takes ConstTensor[(n,), \"f32\"] | ",
            ),
            (
                "@func\ndef f(x: Tensor[(N,), \"f32\"]) -> Tensor[(N,), \"f32\"]:\n    pass\n\
                 @f.specialise(DimVarRangePat(\"n\", 1, 65))\n\
                 def g(x: Tensor[(N,), \"f32\"]) -> Tensor[(N,), \"f32\"]:\n    return x\n",
                "4:4 the function `f` has no decorator `specialise` | did you mean `specialize`?",
            ),
            (
                "@func\ndef f(x: Tensor[(N,), \"f32\"]) -> Tensor[(N,), \"f32\"]:\n    pass\n\
                 @f.specialize(DimVarRangePat(\"n\", 1, 65))\n\
                 def all(x: Tensor[(N,), \"f32\"]) -> Tensor[(N,), \"f32\"]:\n    return x\n\
                 @func\ndef g(x: Tensor[(N,), \"f32\"]):\n    return all(x)\n",
                "9:12 `all` is the label of a variant of `f`, and no function that is called | `f(...)` runs the variant for the size at hand",
            ),
            (
                "@func\ndef g(x: Tensor[(4,), \"f32\"], w: Tensor[(4,), \"f32\"], b: Tensor[(4,), \"f32\"]):\n    return x\n\
                 @func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return g(x)\n",
                "6:12 `g` takes 3 arguments, found 1 | there is nothing for `w`, `b`",
            ),
            (
                "@module(entry=\"k\")\nclass Leaf:\n    @prim_func\n    def k(x: Tensor[(4,), \"f32\"]):\n        T.relu(x, x)\n\
                 @module\nclass M:\n    leaf = Leaf\n    @func\n    def f(x: Tensor[(4,), \"f32\"]):\n        return leaf(x)\n",
                "11:16 the entry `k` of the child `leaf` is a `@prim_func` | a `@func` calls entries that are a `@func`",
            ),
            (
                "@module(entry=\"g\")\nclass Leaf:\n    @func\n    def g(x: Tensor[(4,), \"f32\"], w: ConstTensor[(4,), \"f32\"]):\n        return x * w\n\
                 @module\nclass M:\n    leaf = Leaf\n    @func\n    def f(x: Tensor[(4,), \"f32\"]):\n        return leaf(x, x)\n",
                "11:16 `g` takes 1 argument, found 2 | the weights of a child come with it: `w`",
            ),
            (
                "@module\nclass M:\n    @prim_func\n    def k(x: Tensor[(4,), \"f32\"]):\n        k(x)\n",
                "5:9 `k` calls itself, and functions of the language do not recurse | write a loop, or call another function above",
            ),
            (
                "@module\nclass Leaf:\n    @func\n    def g(x: Tensor[(4,), \"f32\"]):\n        return x\n\
                 @module\nclass M:\n    leaf = Leaf\n    @func\n    def f(x: Tensor[(4,), \"f32\"]):\n        return leaf.g(x)\n",
                "11:16 `leaf.g`, a member of a module, is not used here | only the entry of a module is called; declare it: `@module(entry=\"g\")`",
            ),
            (
                "@func(topologies=(Topology(\"cta\", 4),))\ndef g(x: Tensor[(4,), \"f32\"]):\n    return x\n\
                 @func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return g(x)\n",
                "6:12 `g` is no child of the module that calls it | attach it in the `@module` class of the caller: `name = g`, and call `name`",
            ),
            (
                "@module(entry=\"g\")\nclass M:\n    @func(topologies=(Topology(\"cta\", 4),))\n    def g(x: Tensor[(4,), \"f32\"]):\n        return x\n",
                "1:15 `entry` names no function of the module: `g` | it is a child module, as a `@func` with a target or levels of its own is: declare those at the class",
            ),
            (
                "@module(entry=\"f\")\nclass M:\n    @func\n    def g(x: Tensor[(4,), \"f32\"]):\n        return x\n",
                "1:15 `entry` names no function of the module: `f` | the module has g",
            ),
            (
                "@prim_func(target=\"cpu\")\ndef k(x: Tensor[(4,), \"f32\"]):\n    T.relu(x, x)\n",
                "1:19 `target` is a target instance, found the string \"cpu\" | write `CpuTarget()`",
            ),
        ],
    );
}

/// What a call lacks is named at once, with what it is.
#[test]
fn missing_parameters_are_described() {
    check(
        body,
        &[
            (
                "return tf.softmax(x)",
                "3:12 `softmax` needs `axis` | `axis`: The axis whose elements sum to 1; a negative one counts from the end",
            ),
            (
                "return tf.clamp(x)",
                "3:12 `clamp` needs `min_val` and `max_val` | `min_val`: The lower bound; `max_val`: The upper bound",
            ),
        ],
    );
}

/// What is said of an attribute stands at its value, also where the call has several lines.
#[test]
fn attributes_are_pointed_at() {
    let source =
        "@func\ndef f(x: Tensor[(4, 6), \"f32\"]):\n    return tf.reduce(\n        x,\n        axes=(1, 3),\n    )\n";
    with_source(&format!("{HEAD}{source}"), |_, result| {
        let errors = result.err().unwrap();
        let at = |span: tf_core::Span| (span.line.get() - 3, span.column);
        assert_eq!(errors[0].message, "`tf.reduce` has no axis 3: the operand has rank 2");
        assert_eq!(errors[0].span.map(at), Some((3, 12)));
        assert_eq!(errors[0].labels.iter().map(|label| at(label.0)).collect::<Vec<_>>(), [(5, 14), (2, 7)]);
    });
}
