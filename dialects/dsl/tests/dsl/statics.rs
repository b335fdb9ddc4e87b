//! What a file states before and beside its functions: constants, strings, layouts, extents.

use crate::common::with_source;

const HEAD: &str = "import math\nfrom dataclasses import dataclass\nfrom tilefoundry import func, module, prim_func\n\
    from tilefoundry.dsl import B, ComposedLayout, DimVar, Layout, Mesh, S, ShardLayout, T, Tensor, Topology, ceildiv, tf\n\
    N = DimVar(\"n\", 1, 65)\n";

/// The type of the parameter under these file-level lines, or the first message.
fn annotated(lines: &str, annotation: &str) -> String {
    let source = format!("{HEAD}{lines}\n@func\ndef f(x: {annotation}):\n    return x\n");
    with_source(&source, |_, result| match result {
        Ok(module) => module.functions[0].params()[0].ty().to_string(),
        Err(errors) => errors[0].message.clone(),
    })
}

/// The extent that an expression of the file has as a value.
fn extent(lines: &str, value: &str) -> String {
    let shown = annotated(lines, &format!("Tensor[({value},), \"f32\"]"));
    shown.strip_prefix("Tensor[(").and_then(|rest| rest.split(',').next()).map_or(shown.clone(), str::to_owned)
}

#[test]
fn numbers_and_sequences_are_those_of_python() {
    for (value, want) in [
        ("-7 // 2 + 8", "4"),
        ("-7 % 4", "1"),
        ("2 ** 5", "32"),
        ("int(7.9) + round(2.5) + abs(-3)", "12"),
        ("len((1, 2, 3)[1:]) + len([4, 5, 6, 7][::-2]) + (1, 2, 3)[-1]", "7"),
        ("(9, 8, 7, 6)[2:0:-1][0] + [1, 2][-9:1][0]", "8"),
        ("sum([i * i for i in range(4) if i % 2 == 1])", "10"),
        ("sum(a * b for a, b in zip((1, 2, 9), [3, 4])) + sum(i for i, _ in enumerate(\"\" or (7, 7)))", "12"),
        ("{1: 5, True: 6, 1.0: 7}[1] + len({(1, 2): 0, (1.0, 2): 0})", "8"),
        ("max(min(9, 4), 3) + math.gcd(12, 18) + math.prod((2, 3))", "16"),
        ("{\"a\": 5, **{\"b\": 6}}[\"b\"]", "6"),
        ("4 if 3 in (1, 2, 3) and not False else 9", "4"),
        ("ceildiv(N, 8) * 8", "(8 * ((n - 1) // 8)) + 8"),
        ("min(N, 8)", "min(n"),
    ] {
        assert_eq!(extent("", value), want, "{value}");
    }
}

#[test]
fn statements_bind_constants() {
    for (lines, value, want) in [
        ("A = B = 3\nB += A * 2", "A * 10 + B", "39"),
        ("(A, [B, C]), D = (1, (2, 3)), 4", "A + B + C + D", "10"),
        ("(A, B), C = (1, 2, 3), 4", "C", "4"),
        ("A, B = 1, 2, 3", "B", "`B` cannot be used: its value does not unpack to these names"),
        ("A = 1\nA += {}", "A", "`A` cannot be used: `+` is not defined between the integer 1 and a dict of 0"),
        ("A = {[1]: 2}", "A[0]", "`A` cannot be used: a list of 1 is no key of a dict"),
        (
            "def f(n):\n    def g(i):\n        return i * k + (g(i - 1) if i > 0 else n)\n    k = 10\n    return g(2)",
            "f(3)",
            "33",
        ),
        (
            "def f(n):\n    def g():\n        return n\n    return g\nG = f(3)",
            "G()",
            "`g` is called after the function around it has returned",
        ),
    ] {
        assert_eq!(extent(lines, value), want, "{lines}");
    }
    let many: Vec<String> = (0..100_000).map(|i| format!("{i}: {i}")).collect();
    let lines = format!("D = {{{}}}\nS = sum(D[i] for i in range(60_000))", many.join(", "));
    assert_eq!(extent(&lines, "S - 1_799_970_000 + len(D)"), "100000");
}

#[test]
fn formatted_strings_name_things() {
    let level = |text: &str| {
        let lines = format!("I, X, NAME = 7, 0.5, \"w\"\nm = Mesh((Topology({text}, 8),), (8,), (\"a\",))");
        annotated(&lines, "Tensor[(16 @ m.a,), \"f32\"]")
    };
    assert_eq!(level("f\"t{I}\""), "Tensor[(16,), \"f32\", (8 @ a, 2)]");
    for (text, want) in [
        ("f\"{I:03d}{NAME:>3}{I:x}\"", "007  w7"),
        ("f\"{X:.2f}{{}}{I!s}{I:{I}d}\"", "0.50{}7      7"),
        ("f\"{X:q}\"", "the format `q` of the float 0.5 is not read"),
        ("f\"{I=}\"", "`=`, `!r` and `!a` in a formatted string are not read"),
        ("f\"{N}\"", "a formatted string of the dim n is not read"),
    ] {
        let source = format!(
            "{HEAD}I, X, NAME = 7, 0.5, \"w\"\n@module(topologies=(Topology({text}, 8),))\nclass M:\n    @func\n    def f(x: Tensor[(4,), \"f32\"]):\n        return x\n"
        );
        let got = with_source(&source, |_, result| match result {
            Ok(module) => module.topologies.unwrap()[0].name.to_string(),
            Err(errors) => errors[0].message.clone(),
        });
        assert_eq!(got, want, "{text}");
    }
}

#[test]
fn layouts_of_every_kind() {
    let ty = |layout: &str| annotated("", &format!("Tensor[(4, 8), \"f32\", {layout}]"));
    assert_eq!(ty("Layout((4, 8), (8, 1))"), "Tensor[(4, 8), \"f32\", (4, 8):(8, 1)]");
    assert_eq!(
        ty("ComposedLayout(inner=Layout((64,), (1,)), offset=16, outer=Layout((4, 8), (8, 1)))"),
        "Tensor[(4, 8), \"f32\", (64,):(1,) . (4, 8):(8, 1) + 16]"
    );
    assert_eq!(ty("ComposedLayout(None, 0, None)"), "a `ComposedLayout` needs `inner` or `outer`");
    assert_eq!(
        ty("ComposedLayout(outer=Layout((8, 4), (4, 1)))"),
        "the layout (8, 4):(4, 1) + 0 does not have the shape (4, 8)"
    );
    assert_eq!(
        ty("ComposedLayout(inner=B(), outer=None)"),
        "`inner` of a `ComposedLayout` is a `Layout` or None, found a shard attribute"
    );
    assert_eq!(ty("Layout((4, 8), (4, 1))"), "the layout (4, 8):(4, 1) puts two elements in one place");
    assert_eq!(ty("Layout((4, 8), (1,))"), "a `Layout` of 2 axes has 1 strides");
}

#[test]
fn targets() {
    let target = |text: &str| {
        let imports = "from tilefoundry.target import AmxTarget, CpuTarget, CudaTarget\n";
        let source = format!(
            "{HEAD}{imports}@module(target={text})\nclass M:\n    @func\n    def f(x: Tensor[(4,), \"f32\"]):\n        return x\n"
        );
        with_source(&source, |_, result| match result {
            Ok(module) => module.target.map(|t| format!("{:?} {}", t.kind, t.device)).unwrap_or_default(),
            Err(errors) => errors[0].message.clone(),
        })
    };
    assert_eq!(target("CudaTarget(\"nvidia.b200_sxm\")"), "Cuda nvidia.b200_sxm");
    assert_eq!(
        target("CudaTarget(\"nvidia.h200_sxm\", arch=\"nvidia.sm90\", architecture=None)"),
        "Cuda nvidia.h200_sxm"
    );
    assert_eq!(target("AmxTarget()"), "Amx apple.m2_pro");
    assert_eq!(target("CpuTarget()"), "Cpu ");
    assert_eq!(target("CudaTarget()"), "`CudaTarget` needs `device`");
    assert_eq!(target("CpuTarget(3)"), "`CpuTarget` takes 0 arguments, found 1");
    assert_eq!(target("\"cuda\""), "`target` is a target instance, found the string \"cuda\"");
    assert_eq!(
        target("CudaTarget(\"nvidia.h200_sxm\", \"nvidia.sm100\")"),
        "the device `nvidia.h200_sxm` has the architecture `nvidia.sm90`, not `nvidia.sm100`"
    );
}
