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
        ("A, B = 1, 2, 3", "B", "`B` cannot be used: a tuple of 3 does not unpack to 2 names"),
        ("A = 1\nA += {}", "A", "`A` cannot be used: `+` is not defined between the integer 1 and a dict of 0"),
        ("A = {[1]: 2}", "A[0]", "`A` cannot be used: a list of 1 is no key of a dict"),
        (
            "def f(n):\n    def g(i):\n        return i * k + (g(i - 1) if i > 0 else n)\n    k = 10\n    return g(2)",
            "f(3)",
            "33",
        ),
        ("def f(n):\n    def g():\n        return n\n    return g\nG = f(3)", "G()", "3"),
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
        ("f\"{I=}\"", "I=7"),
        ("f\"{I!a}\"", "`!a` in a formatted string is not read"),
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

/// Python's own ways to make constants, each with what `V` is in the end.
#[test]
fn python_is_evaluated_where_it_is_constant() {
    let pair = "class Pair(NamedTuple):\n    a: int\n    b: int = 4\n";
    let config =
        "@dataclass(frozen=True)\nclass Config:\n    d: int = 8\n    names: list = field(default_factory=list)\n";
    let head = "import functools\nfrom collections import namedtuple\nfrom dataclasses import asdict, field, replace\nfrom enum import Enum, IntEnum\n\
        from itertools import chain, product\nfrom types import SimpleNamespace\nfrom typing import TYPE_CHECKING, NamedTuple\n";
    for (lines, want) in [
        // Statements of the file.
        ("V = 1\nwhile V < 10:\n    V *= 2", "16"),
        (
            "V = 0\nfor i in range(4):\n    if i == 1:\n        continue\n    if i == 3:\n        break\n    V += i + 1",
            "4",
        ),
        ("V = 1\nfor i in range(2):\n    pass\nelse:\n    V = 5", "5"),
        ("if TYPE_CHECKING:\n    V = 3\nelse:\n    V = 4", "4"),
        ("V = 4\nif __name__ == \"__main__\":\n    V = 5", "4"),
        ("assert 4 % 2 == 0\nprint(\"text\")\nV = 4", "4"),
        ("a, *b = (1, 3, 4)\nV = sum(b)", "7"),
        // Lists, dicts and attributes are changed in place.
        (
            "xs = [1]\nxs.append(2)\nxs.extend((3, 4))\nxs[0] = 7\nxs += range(2)\ndel xs[1]\nV = sum(xs) * 10 + len(xs)",
            "155",
        ),
        ("xs = [3, 1, 2]\nxs.sort(key=lambda x: -x)\nxs.insert(0, 9)\nV = xs.pop() + xs.pop(0) * 10", "91"),
        (
            "d = {\"a\": [1]}\nd[\"a\"].append(5)\nd[\"b\"] = 2\nd.update(c=3)\nd[\"c\"] += 1\nV = sum(d[\"a\"]) + d[\"b\"] + d.pop(\"c\")",
            "12",
        ),
        // Calls and closures.
        ("twice = lambda n, k=1: n * 2 + k\nV = twice(4)", "9"),
        ("fs = [lambda i=i: i for i in range(3)]\nV = fs[2]() * 10 + fs[0]()", "20"),
        ("def outer(n):\n    def inner(m):\n        return n + m\n    return inner\nV = outer(4)(6)", "10"),
        (
            "def f(a, *rest, k=1, **named):\n    return a + sum(rest) + k + named[\"z\"]\nV = f(*(1, 2), 3, **{\"k\": 4, \"z\": 5})",
            "15",
        ),
        ("def f():\n    xs = []\n    for i in range(3):\n        xs.append(i)\n    return xs\nV = len(f())", "3"),
        ("@functools.lru_cache(maxsize=None)\ndef f(n):\n    return 1 if n < 2 else n * f(n - 1)\nV = f(5)", "120"),
        ("V = functools.partial(lambda a, b: a - b, 9)(4) + functools.reduce(lambda a, b: a * b, (2, 3), 1)", "11"),
        // Built-in functions.
        ("V = sorted([3, 1, 2], reverse=True)[0] + list(reversed([1, 2]))[0]", "5"),
        ("V = min([(1, 3), (0, 9)], key=lambda p: p[1])[1] + max([], default=4)", "7"),
        ("V = 4 if any([False, True]) and all(x > 0 for x in (1, 2)) else 0", "4"),
        ("q, r = divmod(14, 4)\nV = q * 10 + r + pow(2, 3) + pow(2, 3, 5)", "43"),
        (
            "V = sum(map(int, \"1 2\".split())) + len(list(filter(lambda x: x > 1, [1, 2, 3]))) + next(x for x in [1, 2] if x > 1)",
            "7",
        ),
        ("V = sum(i for i, _ in enumerate(\"ab\", start=1)) + len(list(zip(range(2), range(3))))", "5"),
        ("V = len(list(product((1, 2), (3, 4, 5)))) + len(list(chain([1], (2, 3))))", "9"),
        ("V = (4 if isinstance(3, (int, float)) else 0) + (1 if isinstance(True, str) else 2)", "6"),
        ("V = (1 << 10) + (12 & 6) + (12 | 1) + (5 ^ 1) - ~0 + (9 >> 1)", "1050"),
        ("V = (4 if 0 < 3 <= 3 != 4 else 1) + (1 if (1, 2) < (1, 3) else 0) + True", "6"),
        ("V = len({i % 3 for i in range(9)}) + (4 if \"a\" in {\"a\", \"b\"} else 0)", "7"),
        ("V = len(dict(a=1, **{\"b\": 2}) | {\"c\": 3}) + ({\"a\": 1} == {\"a\": 1})", "4"),
        // Strings.
        (
            "V = len(\"-\".join([\"a\", \"b\"]).upper()) + int(\"12\") + len(\"%s_%02d\" % (\"ab\", 3)) + len(\"{}:{:.1f}\".format(1, 2.0))",
            "25",
        ),
        (
            "V = 4 if \"layer_3\".split(\"_\")[-1] == \"3\" and \"abc\"[1:] == \"bc\" and \"ab\" * 2 == \"abab\" else 0",
            "4",
        ),
        // Classes.
        (
            "class A:\n    def __init__(self, d, e=1):\n        self.d = d\n        self.e = e\n    def both(self, k):\n        return (self.d + self.e) * k\nV = A(8).both(2)",
            "18",
        ),
        (
            "class A:\n    D = 8\n    @staticmethod\n    def f(n):\n        return n * 2\nclass B(A):\n    E = 4\nV = B.D + B.f(B.E)",
            "16",
        ),
        (
            "class K(Enum):\n    A = 3\n    B = 4\nV = K.A.value + len(K.B.name) + (K.A is K.A) + (K(4) == K.A) + len(list(K))",
            "7",
        ),
        ("class K(IntEnum):\n    A = 3\nV = K.A + 1", "4"),
        ("P = namedtuple(\"P\", \"a b\")\np = P(3, b=4)\nx, y = p\nV = x + y + p.a + p[1] + len(p)", "16"),
        ("c = SimpleNamespace(d=4)\nV = c.d + getattr(c, \"e\", 5)", "9"),
    ] {
        assert_eq!(extent(&format!("{head}{lines}"), "V"), want, "{lines}");
    }
    for (class, lines, want) in [
        (pair, "V = Pair(3).b + sum(Pair(1, 2))", "7"),
        (config, "V = replace(Config(), d=9).d + len(Config().names)", "9"),
        (
            config,
            "@dataclass(frozen=True)\nclass Big(Config):\n    e: int = 4\nV = Big(d=2).e + Big().d + isinstance(Big(), Config)",
            "13",
        ),
        (config, "V = sum(1 for k in asdict(Config()))", "2"),
        (
            "",
            "@dataclass\nclass A:\n    d: int\n    e: int = 0\n    def __post_init__(self):\n        self.e = self.d * 2\n    @property\n    def all(self):\n        return self.d + self.e\nV = A(2).all",
            "6",
        ),
        (
            "",
            "@dataclass(frozen=True)\nclass A:\n    d: int\n    def __post_init__(self):\n        object.__setattr__(self, \"d\", self.d or 7)\n    @classmethod\n    def make(cls):\n        return cls(0)\nV = A.make().d",
            "7",
        ),
    ] {
        assert_eq!(extent(&format!("{head}{class}{lines}"), "V"), want, "{lines}");
    }
}

/// What is not evaluated is refused where it is used, and only there.
#[test]
fn python_that_is_not_evaluated() {
    for (lines, why) in [
        (
            "import numpy as np\nV = np.prod([1, 2])",
            "it comes from `numpy`, and authoring files are read, not executed",
        ),
        (
            "try:\n    V = nothing\nexcept ValueError:\n    V = 5",
            "it is bound inside `try` at file level, which is not executed",
        ),
        ("M = N\nfor _ in range(9999):\n    M = M * M + 1\nV = M", "a dim of more than 256 operations"),
        ("while True:\n    V = 4", "the constants of the file take more than 1048576 steps"),
        ("def f():\n    xs = [0]\n    while True:\n        xs = xs + xs\nV = f()", "more than 1048576 steps"),
        ("xs = [1]\nxs.append(unknown)\nV = len(xs)", "the name `unknown` is not defined"),
        (
            "xs = []\nwith open(\"f\") as f:\n    xs.append(1)\nV = len(xs)",
            "it is bound inside `with` at file level, which is not executed",
        ),
        (
            "a = [0] * 60000\nb = [a] * 60000\nc = [[0] * 60000] * 60000\nV = 4 if b == c else 5",
            "of more than 65536 values is not compared",
        ),
        ("a = (0,) * 999\nV = {a: 4}[a]", "a tuple of 999 is no key of a dict"),
        ("V = sorted([float(\"nan\"), 1.0, 2.0] * 30)[0]", "have no order"),
        ("V = 2 ** 100", "the result of `**` does not fit into 64 bits"),
        ("V = [2, 1][0] if sorted([1, \"a\"]) else 0", "the string \"a\" and the integer 1 have no order"),
        (
            "class A(Unknown):\n    d = 4\nV = A.d",
            "it is a plain Python class with the base `Unknown`, which is not read",
        ),
        ("async def f():\n    return 4\nV = f()", "`f` is an async Python function, which is not called"),
    ] {
        assert_eq!(extent(lines, "4"), "4", "{lines}");
        let message = extent(lines, "V");
        assert!(
            message.starts_with('`') && message.contains(" cannot be used: ") && message.contains(why),
            "{lines}: {message}"
        );
    }
    for (lines, why) in [
        ("assert 5 % 2 == 0, \"five is odd\"", "the assertion `5 % 2 == 0` fails: five is odd"),
        ("D = 5\nif D % 2:\n    raise ValueError(f\"{D} is odd\")", "5 is odd"),
        ("def f(a):\n    return a\nV = f()", "`f` needs `a`"),
        ("def f(n):\n    return f(n + 1)\nV = f(0)", "more than 64 calls of plain functions"),
    ] {
        assert_eq!(extent(lines, "4"), why, "{lines}");
    }
}

/// What a `with` of the file binds is bound behind it too, and its statements are those of the file.
#[test]
fn meshes_of_the_file_stay_bound() {
    let lines = "with Mesh((Topology(\"thread\", 8),), (8,), (\"w\",)) as m:\n    K = 16\n    @func\n    \
        def inner(x: Tensor[(K @ m.w,), \"f32\"]):\n        return x";
    assert_eq!(annotated(lines, "Tensor[(K @ m.w,), \"f32\"]"), "Tensor[(16,), \"f32\", (8 @ w, 2)]");
}

/// Bodies use what the file made, and see an enum of integers as integers.
#[test]
fn bodies_use_objects_of_the_file() {
    let lines = "from enum import IntEnum\nclass K(IntEnum):\n    A = 4\nSHAPES = {\"x\": [K.A, 8]}\nSHAPES[\"x\"].append(2)\n\
        ROUNDS = range(3)\n@func\ndef g(x: Tensor[(K.A, 8, 2), \"f32\"]):\n    \
        parts = [x * 2.0 for i in ROUNDS]\n    return parts[K.A - 2]\n";
    let source = format!("{HEAD}{lines}@func\ndef f(x: Tensor[SHAPES[\"x\"], \"f32\"]):\n    return g(x)\n");
    with_source(&source, |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        assert_eq!(module.functions[0].params()[0].ty().to_string(), "Tensor[(4, 8, 2), \"f32\"]");
    });
    let unknown = "XS = [1, 2]\nT = (XS, 3)\nundefined(T)\n";
    for (used, why) in [
        ("[x for i in XS]", "the name `undefined` is not defined"),
        ("[x for i in T[0]]", "the name `undefined` is not defined"),
    ] {
        let source = format!("{HEAD}{unknown}@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return {used}\n");
        with_source(&source, |_, result| {
            let errors = result.err().unwrap_or_default();
            assert_eq!((errors[0].message.as_str(), errors[0].labels[0].1.as_str()), (why, "changed here"));
        });
    }
}
