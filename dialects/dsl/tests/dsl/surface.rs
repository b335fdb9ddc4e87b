//! The grammar, form by form: what each refused form says, and where.

use crate::common::with_source;

const HEAD: &str = "from tilefoundry import func, module\n\
    from tilefoundry.dsl import B, ConstTensor, DimVar, DimVarRangePat, Mesh, P, S, Tensor, Topology, tf\n\
    N = DimVar(\"n\", 1, 65)\n\
    m = Mesh((Topology(\"thread\", 8),), (4, 2), (\"a\", \"b\"))\n";

/// `line:column message` of the first error, lines counted from the one after the head; empty where there is none.
fn first(source: &str) -> String {
    with_source(&format!("{HEAD}{source}"), |_, result| {
        let errors = result.err().unwrap_or_default();
        let place = |d: &tf_core::Diagnostic| d.span.map_or((0, 0), |s| (s.line.get() as i32 - 4, s.column));
        errors.first().map(|d| format!("{}:{} {}", place(d).0, place(d).1, d.message)).unwrap_or_default()
    })
}

/// Of a function with these lines, in which the first stands in line 3.
fn body(lines: &str) -> String {
    let lines: String = lines.lines().map(|line| format!("    {line}\n")).collect();
    first(&format!(
        "@func\ndef f(x: Tensor[(4, 6), \"f32\"], s: Tensor[(), \"i64\"], h: Tensor[(4, 6), \"f16\"]):\n{lines}"
    ))
}

fn check(refused: fn(&str) -> String, cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|(source, want)| (source, want, refused(source)))
        .filter(|(_, want, found)| found != *want)
        .map(|(source, want, found)| format!("{source}\n  wanted: {want}\n  found:  {found}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn statements_of_a_body() {
    check(
        body,
        &[
            ("assert x\nreturn x", "3:5 `assert` is not part of a `@func` body"),
            ("raise x", "3:5 `raise` is not part of a `@func` body"),
            ("del x\nreturn x", "3:5 `del` is not part of a `@func` body"),
            ("global x\nreturn x", "3:5 `global` is not part of a `@func` body"),
            ("import math\nreturn x", "3:5 `import` is not part of a `@func` body"),
            ("match x:\n    case 1:\n        pass\nreturn x", "3:5 `match` is not part of a `@func` body"),
            ("class A:\n    pass\nreturn x", "3:5 `class` is not part of a `@func` body"),
            ("y: Tensor = x\nreturn x", "3:8 an assignment has no annotation but `where(...)`"),
            ("x[0] = x\nreturn x", "3:5 the target of an assignment is a name, not `x[0]`"),
            ("a, (b, c) = x, x\nreturn x", "3:8 an unpacking target is a name"),
            ("with m as (a, b):\n    return x", "3:15 the alias of a mesh is one name"),
            ("with m as g, x as h:\n    return x", "3:5 `with` opens a mesh, not `x`"),
            ("for i in range(2):\n    break\nreturn x", "4:9 `break` is not part of a `@func` body"),
            (
                "for i in range(2):\n    x = x + x\nelse:\n    x = x\nreturn x",
                "6:9 `else` of a loop is not part of the language",
            ),
            (
                "for i in [1, 2]:\n    x = x + x\nreturn x",
                "3:14 a loop runs over `tile(...)` or `range(...)`, not `[1, 2]`",
            ),
            ("for i in tile():\n    x = x + x\nreturn x", "3:14 `tile` takes 1 or 2 arguments, found 0"),
            (
                "for i in tile(4, step=2):\n    x = x + x\nreturn x",
                "3:22 arguments of `tile` are positional, found `step` by keyword",
            ),
            ("return x\ny = x", "4:5 the statement stands after `return`"),
        ],
    );
}

#[test]
fn expressions_of_a_body() {
    check(
        body,
        &[
            ("return (y := x)", "3:13 an assignment expression `:=` is not part of the language"),
            ("return x if s else x", "3:12 a conditional expression `if … else` is not part of the language"),
            ("return {1: x}", "3:12 a dict is not part of the language"),
            ("return {x}", "3:12 a set outside layout sugar is not part of the language"),
            ("return {i for i in (1, 2)}", "3:12 a set comprehension is not part of the language"),
            ("return {i: x for i in (1, 2)}", "3:12 a dict comprehension is not part of the language"),
            ("return sum(i for i in (x, x))", "3:12 `sum` of run-time values is not part of the language"),
            ("return b\"x\"", "3:12 a bytes literal is not part of the language"),
            ("return x + 1j", "3:16 complex numbers are no values of the language"),
            ("return tf.exp(*x)", "3:19 `exp` cannot take an unpacked `*` argument"),
            ("return tf.exp(**x)", "3:19 `exp` cannot take `**` arguments"),
            ("return x[..., 0]", "3:14 a subscript has an index, a slice or a tile window for every axis"),
            ("return x ^ x", "3:12 the operator `^` is not part of the language"),
            ("return ~x", "3:12 the operator `~` is not part of the language"),
            ("return x is x", "3:12 the operator `is` is not part of the language"),
            ("return x + h", "3:12 `add` takes operands of one dtype, found f32 and f16"),
            ("return tf.add(x, tf.add(h, 0.5))", "3:12 `add` takes operands of one dtype, found f32 and f16"),
            ("return tf.where(x, 0.5, h)", "3:12 `tf.where` takes a bool condition, found f32"),
            ("return x(x)", "3:12 `x` is a run-time value of type Tensor[(4, 6), \"f32\"] and cannot be called"),
            ("return x.T", "3:12 `x` is a run-time value of type Tensor[(4, 6), \"f32\"] and has no attribute `T`"),
            ("return tf.reshape(x, (4 @ m.a, 6))", "3:27 `4 @ m.a` places an axis, which only a layout does"),
            ("return tf.exp(x, loc=3)", "3:26 `loc` is a string, found the integer 3"),
            ("return [i for i in 3]", "3:24 a comprehension walks a sequence, found the integer 3"),
            (
                "return [i for i in range(s)]",
                "3:30 the bound `s` of a loop must be a static int or a dim, found a run-time value of type Tensor[(), \"i64\"]",
            ),
        ],
    );
}

#[test]
fn placements() {
    let param = |slot: &str| first(&format!("@func\ndef f(x: Tensor[(16, 6), \"f32\", {slot}]):\n    return x\n"));
    let cases = [
        ("(16 @ m.a, 6)", ""),
        ("((16 @ m.a, 6), (6, 1))", ""),
        ("((16 @ m.a, 6), {m.b @ P(\"sum\")})", ""),
        ("((16 @ m.a, 6), (6, 1), {m.b @ P(\"max\")})", ""),
        ("(16 @ (m.a, m.b), 6)", ""),
        ("(16, 6)", "2:33 a placement needs an enclosing mesh"),
        ("(16 @ m.a @ m.b, 6)", "2:34 one `@` an axis"),
        ("(16 @ m.a, {m.b @ P(\"sum\")})", "2:44 value states stand beside the tuple of axes"),
        ("((16 @ m.a, 6), {m.b})", "2:50 a value state is `m.a @ P(\"sum\")`"),
        ("((16 @ m.a, 6), {m.b @ B()})", "2:50 a mesh axis that is not named is Broadcast; leave it out"),
        ("((16 @ m.a, 6), {m.b @ 3})", "2:56 a value state is `m.a @ P(\"sum\")`, found the integer 3"),
        ("((16 @ m.a, 6), 3)", "2:49 after the axes of a placement come strides `(…)` and value states `{…}`"),
        ("((16 @ m.a, 6), {m.b @ P(\"mean\")})", "2:58 unknown reduction `mean`; expected one of sum, max, min"),
        ("(-16 @ m.a, 6)", "2:34 the extent -16 is negative"),
        ("(16 @ 3, 6)", "2:39 expected a mesh axis such as `m.a`, found the integer 3"),
        ("3", "2:33 expected a layout or a storage, found the integer 3"),
        ("\"smem\", \"gmem\"", "2:33 the storage is the last slot: shape, dtype, layout, storage"),
    ];
    let wrong: Vec<_> =
        cases.iter().map(|(slot, want)| (slot, want, param(slot))).filter(|(_, want, found)| found != *want).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn constraints() {
    check(
        body,
        &[
            ("x: where(storage=\"smem\")\nreturn x", ""),
            ("y: where(layout=((4 @ thread, _), {cta @ B()})) = x * 2.0\nreturn y", ""),
            ("a, b = tf.topk(x, k=2)\na: where(storage=\"rmem\")\nreturn a, b", ""),
            ("x: where(mesh=3)\nreturn x", "3:19 `mesh` of `where` is a mesh, found the integer 3"),
            ("x: where(storage=3)\nreturn x", "3:22 `storage` of `where` is a storage, found the integer 3"),
            ("x: where(layout=4)\nreturn x", "3:21 `layout` of `where` is a tuple of axes, or axes and bindings"),
            (
                "x: where(layout=((4, 6), {cta}))\nreturn x",
                "3:31 a binding is `topology @ B()` or `topology @ P(\"sum\")`",
            ),
            (
                "x: where(layout=((4, 6), {cta @ S(0)}))\nreturn x",
                "3:37 a binding is `B()` or `P(\"sum\")`, found a shard attribute",
            ),
            ("x: where(layout=(4 @ m.a, 6))\nreturn x", "3:26 a constraint binds a topology by its name, not `m.a`"),
            (
                "x: where(layout=(s, 6))\nreturn x",
                "3:22 an axis of a constraint must be a static int or a dim, found a run-time value of type Tensor[(), \"i64\"]",
            ),
            ("x[0]: where(storage=\"smem\")\nreturn x", "3:5 the subject of a constraint is a name, not `x[0]`"),
            ("y: where(storage=\"smem\")\nreturn x", "3:5 the name `y` is not defined"),
            (
                "for i in range(2):\n    i: where(storage=\"smem\")\n    x = x + x\nreturn x",
                "4:9 a constraint is for a tensor, but `i` is a run-time value of type Tensor[(), \"i64\", \"umat\"]",
            ),
            ("k: where(storage=\"smem\") = 3\nreturn x", "3:5 a constraint is for a tensor, but `k` is the integer 3"),
        ],
    );
}

#[test]
fn functions_and_parameters() {
    check(
        first,
        &[
            (
                "@func(specializations=(3,))\ndef f(x: Tensor[(4,), \"f32\"]):\n    return x\n",
                "1:7 `func` has no parameter `specializations`; it has target, topologies",
            ),
            ("@func\nasync def f(x: Tensor[(4,), \"f32\"]):\n    return x\n", "2:11 async is not part of the language"),
            (
                "@func\ndef f[A](x: Tensor[(4,), \"f32\"]):\n    return x\n",
                "2:6 type parameters are not part of the language",
            ),
            (
                "@func\ndef f(*x: Tensor[(4,), \"f32\"]):\n    return x\n",
                "2:7 the parameter `x` stands for any number of arguments",
            ),
            (
                "@func\ndef f(x: Tensor[(4,), \"f32\"] = 3):\n    return x\n",
                "2:32 the parameter `x` cannot have a default",
            ),
            ("@func\ndef f(x: \"Tensor[(4,), 'f32']\"):\n    return x\n", "2:10 an annotation is not quoted"),
            ("@func\ndef f(x: 4):\n    return x\n", "2:10 expected `Tensor[shape, dtype]`, found the integer 4"),
            ("@func\ndef f(x: Tensor((4,), \"f32\")):\n    return x\n", "2:10 `Tensor` is an annotation"),
            ("@func\ndef f(x: Tensor[(4,), f32]):\n    return x\n", "2:23 a dtype is a quoted name, found `f32`"),
            (
                "@func\ndef f(x: Tensor[4, \"f32\"]):\n    return x\n",
                "2:17 the shape is a tuple of extents, found the integer 4",
            ),
            ("@func\ndef f(x: Tensor[(-4,), \"f32\"]):\n    return x\n", "2:17 the shape has the negative extent -4"),
            ("@func\ndef f(x: Tensor[(DimVar(\"k\", 1, 9),), \"f32\"]):\n    return x\n", ""),
            (
                "@func\ndef f(x: Tensor[(DimVar(\"n\", 1, 9),), \"f32\"]):\n    return x\n",
                "2:18 the dim `n` has the range [1, 9) here and [1, 65) above",
            ),
            ("@func\ndef f() -> Tensor[(), \"f32\"]:\n    return 0.5\n", ""),
            (
                "@func\n@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return x\n",
                "2:1 a function under `@func` has no other decorator, found `@func`",
            ),
            (
                "@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return f(x)\n",
                "3:12 `f` calls itself, and functions of the language do not recurse",
            ),
            ("SHAPE = (2, 3)\n@func\ndef f(x: Tensor[(*SHAPE, 4), \"f32\"]):\n    return x[0, 0, :]\n", ""),
            ("Shape = tuple[int, ...]\n@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return x\n", ""),
            (
                "@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    y = x\n    for i in range(8, 0, -1):\n        y = y + x\n    return y\n",
                "4:14 the step of a loop is positive, found -1",
            ),
            (
                "import app\n@app.command()\ndef main():\n    pass\n@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return x\n",
                "",
            ),
            (
                "def g(n):\n    return n\n@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return x * g(0.5)\n",
                "5:16 `g` cannot be used: it is a plain Python function, and bodies call none",
            ),
        ],
    );
}

#[test]
fn members() {
    fn class(members: &str) -> String {
        let members: String = members.lines().map(|line| format!("    {line}\n")).collect();
        first(&format!("@module\nclass M:\n{members}"))
    }
    const F: &str = "@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return x\n";
    let with_f = |rest: &str| class(&format!("{F}{rest}"));
    let level =
        "@func\ndef f(x: Tensor[(8,), \"f32\"]):\n    with Mesh((\"cta\",), (2,), (\"c\",)) as g:\n        return x\n";
    let declared = "topologies = (Topology(\"cta\", 2),)\n";
    assert_eq!(class(&format!("{declared}{level}")), "");
    assert_eq!(class(&format!("{level}{declared}")), "5:20 the level `cta` is not declared by the module");
    assert_eq!(with_f("topologies = ()\ntopologies = ()\n"), "7:5 `topologies` is declared twice");
    assert_eq!(with_f("topologies = (3,)\n"), "6:19 `topologies` is a tuple of `Topology`, and holds the integer 3");
    assert_eq!(class("def forward(self, x):\n    return x\n"), "");
    assert_eq!(
        with_f("@func\n@func\ndef g(x: Tensor[(4,), \"f32\"]):\n    return x\n"),
        "7:5 a function has one decorator"
    );
    assert_eq!(with_f("@property\ndef g(self):\n    return 3\n"), "6:5 `@property` decorates no member of a module");
    assert_eq!(with_f("@module\nclass N:\n    pass\n"), "7:11 the module `N` has no members");
    assert_eq!(
        with_f(
            "@func(topologies=(Topology(\"cta\", 2),), target=CpuTarget())\ndef g(x: Tensor[(4,), \"f32\"]):\n    return x\n"
        ),
        "6:52 `CpuTarget` is not imported"
    );
    assert_eq!(class("3\n"), "3:5 `3` is no member of a module");
    assert_eq!(class("a, b = 1, 2\n"), "3:5 `a, b` is no member of a module");
    assert_eq!(class("def g(*a):\n    pass\n"), "3:9 the method `g` has no parameter for its module");
    assert_eq!(class("def g():\n    pass\n"), "3:9 the method `g` has no parameter for its module");
}

#[test]
fn sealed_functions() {
    const BASE: &str = "@func\ndef f(x: Tensor[(N,), \"f32\"]) -> Tensor[(N,), \"f32\"]:\n    return x\n";
    let variant = |base: &str| {
        format!(
            "@{base}.specialize(DimVarRangePat(\"n\", 1, 65))\ndef _(x: Tensor[(N,), \"f32\"]) -> Tensor[(N,), \"f32\"]:\n    return x\n"
        )
    };
    let class: String = format!("topologies = ()\n{BASE}").lines().map(|line| format!("    {line}\n")).collect();
    let source = format!("@module\nclass M:\n{class}{}", variant("M.f"));
    assert_eq!(first(&source), "7:1 the functions of the module `M` are complete: they take no variants or converters");
    let own = format!("{}{}", BASE.replace("@func", "@func(topologies=())"), variant("f"));
    assert_eq!(first(&own), "4:1 the functions of the module `f` are complete: they take no variants or converters");
}
