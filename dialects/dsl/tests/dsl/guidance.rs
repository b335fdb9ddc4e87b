//! Refusals that tell what to write instead: message and help, at their place.

use crate::common::with_source;

const HEAD: &str = "from tilefoundry import Expr, func, intrinsic, module, prim_func\n\
    from tilefoundry.dsl import B, ConstTensor, CpuTarget, DimVar, DimVarRangePat, Layout, Mesh, P, T, Tensor, Topology, ceildiv, tf\n\
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
                "3:16 `tile` takes 1 or 2 arguments, found 3 | a tile loop starts at 0; `for i in range(start, stop, step)` starts elsewhere",
            ),
            (
                "for row in tile(4, 2):\n    x = y[2 * row, :]\nreturn x",
                "4:15 `2 * row` is no moved window | a tile window is moved by an integer: `row + 32`; others have both ends: `2 * row : 2 * row + 4`",
            ),
            (
                "return tf.zeros(shape=(4, 6), dtype=\"f32\")",
                "3:21 `zeros` has no parameter `shape`; it has type | write `zeros(Tensor[(4, 6), \"f32\"])`",
            ),
            (
                "return tf.arange(dtype=\"i32\", start=2)",
                "3:22 `arange` has no parameter `dtype`; it has type, start, step | write `arange(Tensor[shape, \"i32\"])`",
            ),
            (
                "i = tf.arange(Tensor[(2,), \"i64\"])\nreturn tf.index_select(x, i, dim=5)",
                "4:12 `tf.index_select` has no axis 5: the operand has rank 2 | axes go from -2 to 1",
            ),
            (
                "i = tf.reshape(tf.arange(Tensor[(1,), \"i32\"]), new_shape=())\nfor k in tile(2):\n    y = x[i + k * 2 : i + k * 2 + 1, :]\nreturn y",
                "5:15 an index is made of scalars of one dtype, found i32 and i64 | the variable of a loop and an extent are i64: cast the other, `tf.cast(i, dtype=\"i64\")`",
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
            (
                "for i in range(2):\n    z = x + y\nreturn z",
                "5:12 `z` is bound inside the loop only and undefined after it | a name that has a value before the loop is carried out of it",
            ),
            ("z = x + y", "3:5 the body of `f` ends without `return` | end with `return z`"),
            (
                "a, b = tf.topk(x, k=2)",
                "3:5 the body of `f` ends without `return` | a function ends with the value that it is: `return x`",
            ),
            (
                "return max(x)",
                "3:12 `max` needs `rhs` | along an axis: `tf.reduce(x, axes=(1,), keepdim=False, kind=\"max\")`",
            ),
            (
                "return min(x)",
                "3:12 `min` needs `rhs` | along an axis: `tf.neg(tf.reduce(tf.neg(x), axes=(1,), keepdim=False, kind=\"max\"))`",
            ),
            ("return sum([x, y])", "3:12 `sum` of run-time values is not part of the language | add them: `x + y`"),
            (
                "x: where(layout=(4 @ warp, _))\nreturn x",
                "3:26 nothing declares the level `warp` | there are cta, thread",
            ),
            (
                "x: where(layout=((4, _), {theard @ B()}))\nreturn x",
                "3:31 nothing declares the level `theard` | did you mean `thread`?",
            ),
            (
                "x: where(mesh=foo(3))\nreturn x",
                "3:19 `mesh` of `where` is a mesh, and no call of `foo` | name the mesh of a `with`, a slice of it, or write `Mesh(...)`",
            ),
            (
                "x: where(mesh=Mesh((Topology(\"cta\", 4),), (4,)).half())\nreturn x",
                "3:19 `mesh` of `where` is a mesh, and no call of `Mesh((Topology(\"cta\", 4),), (4,)).half` | name the mesh of a `with`, a slice of it, or write `Mesh(...)`",
            ),
            (
                "x: where(mesh=tf.relu(x))\nreturn x",
                "3:19 `mesh` of `where` is a mesh, found a run-time value of type Tensor[(4, 6), \"f32\"] | name the mesh of a `with`, a slice of it, or write `Mesh(...)`",
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
            (
                "@prim_func(target=\"AMX\")\ndef k(x: Tensor[(4,), \"f32\"]):\n    T.relu(x, x)\n",
                "1:19 `target` is a target instance, found the string \"AMX\" | write `AmxTarget()`",
            ),
            (
                "@prim_func(target=\"sm_90\")\ndef k(x: Tensor[(4,), \"f32\"]):\n    T.relu(x, x)\n",
                "1:19 `target` is a target instance, found the string \"sm_90\" | write `CudaTarget(\"nvidia.h200_sxm\")`",
            ),
        ],
    );
}

/// Of a convolution, what is written for one of both extents.
#[test]
fn windows_of_convolutions() {
    let cases = [
        (
            "(3, 2, 1, 1)",
            "(2,)",
            "`tf.conv2d` takes two numbers of 1 or more as `stride` (height, width), found [2] | one number for both is `stride=(2, 2)`",
        ),
        (
            "(3, 2, 1, 1)",
            "(1, 2, 3)",
            "`tf.conv2d` takes two numbers of 1 or more as `stride` (height, width), found [1, 2, 3] | the first number is for the height, the second for the width",
        ),
        (
            "(3, 2, 1)",
            "(1, 1)",
            "`tf.conv2d` takes `weight` of rank 4, (O, C / groups, KH, KW), found rank 3 | `tf.reshape` adds axes of extent 1",
        ),
        (
            "(3, 2, 1, 1, 1)",
            "(1, 1)",
            "`tf.conv2d` takes `weight` of rank 4, (O, C / groups, KH, KW), found rank 5 | `tf.reshape` joins axes",
        ),
    ];
    for (weight, stride, want) in cases {
        let source = format!(
            "@func\ndef f(x: Tensor[(1, 2, 8, 8), \"f32\"], w: Tensor[{weight}, \"f32\"], b: Tensor[(3,), \"f32\"]):\n    \
             return tf.conv2d(x, w, b, stride={stride}, padding=(0, 0), dilation=(1, 1), groups=1)\n"
        );
        assert_eq!(first(&source), format!("3:12 {want}"));
    }
    let empty = "@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return tf.concat(axis=0)\n";
    let want = "3:12 `tf.concat` takes at least one input, found none | inputs stand before the keywords: `tf.concat(x, y, axis=0)`";
    assert_eq!(first(empty), want);
}

/// A rule that refuses what an attribute says points at it.
#[test]
fn refused_attributes_are_pointed_at() {
    let calls = [
        ("tf.argmax(x, axis=@)", "7"),
        ("tf.concat(x, x, axis=@)", "7"),
        ("tf.index_add(x, i, x, dim=@)", "7"),
        ("tf.index_copy(x, i, x, dim=@)", "7"),
        ("tf.index_select(x, i, dim=@)", "7"),
        ("tf.reduce(x, axes=@, keepdim=False, kind=\"sum\")", "(7,)"),
        ("tf.repeat_interleave(x, repeats=2, axis=@)", "7"),
        ("tf.repeat_interleave(x, repeats=@, axis=0)", "-1"),
        ("tf.reshape(x, new_shape=@)", "(5,)"),
        ("tf.softmax(x, axis=@)", "7"),
        ("tf.split(x, num_splits=2, axis=@)", "7"),
        ("tf.split(x, num_splits=@, axis=0)", "3"),
        ("tf.stack(x, x, axis=@)", "7"),
        ("tf.topk(x, k=2, axis=@)", "7"),
        ("tf.topk(x, k=@, axis=0)", "5"),
        ("tf.transpose(x, perm=@)", "(0, 0)"),
    ];
    for (call, value) in calls {
        let line = format!("    return {}", call.replace('@', value));
        let parameters = "x: Tensor[(4, 6), \"f32\"], i: Tensor[(4,), \"i64\"]";
        with_source(&format!("{HEAD}@func\ndef f({parameters}):\n{line}\n"), |_, result| {
            let errors = result.err().unwrap_or_default();
            let labels = errors.iter().flat_map(|error| error.labels.iter().map(|(span, _)| span.column as usize));
            let column = "    return ".len() + call.find('@').unwrap_or_default() + 1;
            assert!(labels.clone().any(|label| label == column), "{line}: {errors:?}");
        });
    }
}

/// Of a placement the axis that is wrong is pointed at.
#[test]
fn axes_of_placements() {
    let placed = |layout: &str| {
        format!(
            "W = Mesh((Topology(\"thread\", 8),), (4, 2), (\"w\", \"t\"))\n@func\ndef f(x: Tensor[(16, 18), \"f32\", {layout}]):\n    return x\n"
        )
    };
    let cases = [
        ("(16 @ W.w, 18 @ W.w)", "3:45 mesh axis `w` is bound twice in one placement"),
        (
            "((16 @ W.w, 18 @ W.w), (18, 1))",
            "3:46 axis 1 of extent 18 is not divisible by 4, the extent of mesh axis `w`",
        ),
        ("(16 @ W.t, 18 @ W.w)", "3:45 axis 1 of extent 18 is not divisible by 4, the extent of mesh axis `w`"),
        ("(16 @ W.t, 9)", "3:34 placement (2, 8, 9) has 144 elements, but the value (16, 18) has 288"),
        ("((16 @ W.w, 18), {W.w @ P(\"sum\")})", "3:34 mesh axis `w` is bound twice in one placement"),
    ];
    for (layout, want) in cases {
        let found = first(&placed(layout));
        assert_eq!(found.split(" | ").next(), Some(want), "{layout}");
    }
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

/// Names that stand for something elsewhere.
#[test]
fn names_of_other_things() {
    let part = "@func\ndef f(x: Tensor[(N,), \"f32\"]) -> Tensor[(N,), \"f32\"]:\n    pass\n\
        @f.specialize(DimVarRangePat(\"n\", 1, 65))\ndef few(x: Tensor[(N,), \"f32\"]) -> Tensor[(N,), \"f32\"]:\n    return x\n";
    check(
        first,
        &[
            (
                &format!("{part}@func\ndef g(x: Tensor[(N,), \"f32\"]):\n    return few(x)\n"),
                "9:12 `few` is the label of a variant of `f`, and no function that is called | `f(...)` runs the variant for the size at hand",
            ),
            (
                "@module\nclass A:\n    @func\n    def f(x: Tensor[(N,), \"f32\"]) -> Tensor[(N,), \"f32\"]:\n        pass\n\
                 \x20   @f.specialize(DimVarRangePat(\"n\", 1, 65))\n    def few(x: Tensor[(N,), \"f32\"]) -> Tensor[(N,), \"f32\"]:\n        return x\n\
                 @module\nclass B:\n    @func\n    def g(x: Tensor[(N,), \"f32\"]):\n        return few(x)\n",
                "13:16 `few` is the label of a variant of `f`, and no function that is called | ",
            ),
            (
                &format!("{part}g = few\n@func\ndef h(x: Tensor[(N,), \"f32\"]):\n    return g(x)\n"),
                "7:5 `few` is the label of a variant of `f`, and no function that is called | `f(...)` runs the variant for the size at hand",
            ),
            (
                "@func\ndef f(x: Tensor[(4,), \"f32\"], w: ConstTensor[(4,), \"f32\"]):\n    return x\n@f.converter(\"w\")\n\
                 def raw(x: Tensor[(4,), \"f32\"]):\n    return x\n@func\ndef g(x: Tensor[(4,), \"f32\"]):\n    return raw(x)\n",
                "9:12 `raw` is the label of a converter of `f`, and no function that is called | `f` gets its weights converted",
            ),
            (
                "@module\nclass A:\n    @func\n    def f(x: Tensor[(4,), \"f32\"]):\n        return x\n    \
                 @func\n    def g(x: Tensor[(4,), \"f32\"]):\n        return A.f(x)\n",
                "8:16 the module `A` is not complete here | its functions are called by their names alone",
            ),
            (
                "import demo\n@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return demo.softsign(x)\n",
                "4:12 `demo` cannot be used: it comes from `demo`, and authoring files are read, not executed \
                 | ops of a plugin come from `from tilefoundry.dsl import demo`, with `--load-pass-plugin=LIB`",
            ),
            (
                "import numpy as np\n@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return np.exp(x)\n",
                "4:12 `np` cannot be used: it comes from `numpy`, and authoring files are read, not executed | the op is `tf.exp(...)`",
            ),
            (
                "from tilefoundry.dsl import demo\n@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return demo.softsign(x)\n",
                "4:12 `demo` cannot be used: no loaded plugin has a dialect `demo` \
                 | ops of a plugin come from `from tilefoundry.dsl import demo`, with `--load-pass-plugin=LIB`",
            ),
            (
                "@func\ndef f(x: Tensor[(N,), \"f32\"]) -> Tensor[(N,), \"f32\"]:\n    pass\n@f.specialize(\"n\", 1, 65)\n\
                 def g(x: Tensor[(N,), \"f32\"]) -> Tensor[(N,), \"f32\"]:\n    return x\n",
                "4:20 a variant of `f` is for one range | write `@f.specialize(DimVarRangePat(\"n\", 1, 65))`",
            ),
        ],
    );
}

#[test]
fn launches_of_other_languages() {
    let host = |call: &str| {
        first(&format!(
            "@prim_func\ndef k(x: Tensor[(4,), \"f32\"]):\n    return\n\
             @prim_func(target=CpuTarget())\ndef h(x: Tensor[(4,), \"f32\"]):\n    {call}\n"
        ))
    };
    assert_eq!(
        host("k[(1,), (32,)](x)"),
        "6:5 `k` is the `@prim_func` `k` and has no subscript | a kernel is started by `launch(k, ..., grid=(...), block=(...))`"
    );
    let parameters = "it has grid, block, cluster, dynamic_smem, stream, attrs";
    for (keyword, own) in [("threads", "block"), ("num_blocks", "grid"), ("smem", "dynamic_smem")] {
        assert_eq!(
            host(&format!("launch(k, x, grid=(1,), {keyword}=(32,))")),
            format!("6:29 `launch` has no parameter `{keyword}`; {parameters} | did you mean `{own}`?")
        );
    }
    assert_eq!(host("a = T.rocm.mma"), "6:9 there is no `T.rocm` | the platform below `T` is `T.cuda`");
}

#[test]
fn divisors_of_dims() {
    for (extent, span, found) in [
        ("N // -2", "2:18", "-2"),
        ("N % 0", "2:18", "0"),
        ("4 // (N - 65)", "2:18", "n - 65"),
        ("ceildiv(N, -1)", "2:29", "-1"),
        ("ceildiv(8, 0)", "2:29", "0"),
    ] {
        let source = format!("@func\ndef f(x: Tensor[({extent},), \"f32\"]):\n    return x\n");
        let refused = format!(
            "{span} `{found}` divides a dim, but is below 1 | dims are divided by positive integers and extents"
        );
        assert_eq!(first(&source), refused, "{extent}");
    }
}

/// Each wrong line of syntax has an error of its own, and lines that are right have none.
#[test]
fn syntax() {
    let errors = |lines: &str| {
        let lines: String = lines.lines().map(|line| format!("    {line}\n")).collect();
        let source = format!("def f(x):\n{lines}    return x\n");
        with_source(&source, |_, result| {
            let errors = result.err().unwrap_or_default();
            errors.iter().filter_map(|error| Some(error.span?.line.get())).collect::<Vec<_>>()
        })
    };
    for (lines, want) in [
        ("a = x +\nb = y *\nc = x\nd = = 3", &[2, 3, 5][..]),
        ("a = tf.add(x, y\nb = y * 2.0\nc = x", &[3]),
        ("a = tf.add(x, y\nb = y * 2.0\nc = )", &[3, 4]),
        ("for i in range(4)\n    a = x\n    b = )\nc = x", &[2, 4]),
        ("if x = 3:\n    a = x\nelse:\n    b = x\nc = 1 1", &[2, 6]),
        ("a = 'x\nb = x\nc = \"y\nd = x", &[2, 4]),
        ("a = (x,\n     y,\n     z z)\nb = 1 1", &[4, 5]),
        ("a = x\n  b = x\nc = x", &[3]),
        ("a = 1 1\n\n# a comment\nb = 2 2", &[2, 5]),
        ("a = 1 1\nb = é é\nc = 3", &[2, 3]),
    ] {
        assert_eq!(errors(lines), want, "{lines}");
    }
    let many: String = (0..40).map(|_| "a = 1 1\n").collect();
    assert_eq!(errors(&many).len(), 10);
}
