//! Printing back: what is read, printed and read again is the same module, and prints the same text.

use std::path::{Path, PathBuf};

use tf_core::equal::structurally_equal;
use tf_core::{Arena, Context, Diagnostic, Module};
use tf_dsl::{DslOptions, PrintOptions, parse_file, print_module};
use tf_testing::{Options, random_module};

use crate::common::{reference, registry, with_module, with_source};

/// Random modules of one run.
const SEEDS: u64 = 1000;
/// Random sources of one run.
const SOURCES: u64 = 300;

/// Prints a module, reads the text and compares; what cannot be printed is returned as the refusal.
fn round_trip<'c>(name: &str, cx: &Context<'c>, module: Module<'c>) -> Result<(String, Module<'c>), Diagnostic> {
    let text = print_module(cx, module, &PrintOptions::default())?;
    let id = cx.sources().add("printed.py", text.as_str());
    let again = parse_file(cx, id, &DslOptions::default())
        .unwrap_or_else(|errors| panic!("{name} is not read again: {:?}\n{text}", shown(&errors)));
    if !structurally_equal(module, again) {
        let shown = |module| tf_text::print_module(module, &tf_text::PrintOptions::default());
        panic!("{name} is another module when it is read again:\n{text}\n{}\n{}", shown(module), shown(again));
    }
    Ok((text, again))
}

fn shown(errors: &[Diagnostic]) -> Vec<String> {
    errors.iter().map(|d| format!("{:?}: {}", d.span.map(|s| (s.line, s.column)), d.message)).collect()
}

/// Checks that a module of a source comes back.
fn comes_back(name: &str, source: &str, module: Option<&str>) {
    with_module(source, module, |cx, result| {
        let module = result.unwrap_or_else(|errors| panic!("{name} is not read: {:?}", shown(&errors)));
        let (text, again) =
            round_trip(name, cx, module).unwrap_or_else(|error| panic!("{name} is not printed: {:?}", shown(&[error])));
        let second = print_module(cx, again, &PrintOptions::default()).expect("what is printed once is printed twice");
        assert_eq!(text, second, "{name}: the second print differs");
    });
}

/// The sources in a folder of the reference values.
fn sources(folder: &str) -> Vec<String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference").join(folder);
    let files = std::fs::read_dir(dir).expect("the programs are here");
    let mut names: Vec<_> = files
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok()?.strip_suffix(".py").map(str::to_owned))
        .collect();
    names.sort();
    names
}

#[test]
fn programs_come_back() {
    for name in sources("programs") {
        comes_back(&name, &reference(&format!("programs/{name}.py")), None);
    }
}

#[test]
fn programs_of_tir_come_back() {
    for name in sources("tir") {
        comes_back(&name, &reference(&format!("tir/{name}.py")), None);
    }
}

#[test]
fn accepted_cases_come_back() {
    let cases: serde_json::Value = serde_json::from_str(&reference("accepted.json")).expect("a file of cases");
    for case in cases["cases"].as_array().expect("cases") {
        let text = |key: &str| case[key].as_str().unwrap_or_default();
        comes_back(text("id"), text("source"), None);
    }
}

/// What the rules accept beside each refusal, and a call of every op.
#[test]
fn cases_of_rules_and_ops_come_back() {
    let file: serde_json::Value = serde_json::from_str(&reference("refusals.json")).expect("a file of cases");
    let twins = file["cases"].as_array().expect("cases").iter().map(|case| (case, "accepted"));
    let manifest: serde_json::Value = serde_json::from_str(&reference("ops/manifest.json")).expect("a file of cases");
    let ops = manifest["cases"].as_array().expect("cases").iter().map(|case| (case, "source"));
    let mut count = 0;
    for (case, key) in twins.chain(ops) {
        let text = |key: &str| case[key].as_str().unwrap_or_default();
        let (name, source) = (format!("{}{}", text("id"), text("case")), text(key));
        if with_module(source, None, |_, result| result.is_ok()) {
            comes_back(&name, source, None);
            count += 1;
        }
    }
    assert!(count > 500, "only {count} cases are read");
}

/// Every module of the lit suite that is read.
#[test]
fn tests_of_the_driver_come_back() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/lit")];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of tests") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "py") {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut count = 0;
    for file in files {
        let source = std::fs::read_to_string(&file).expect("a source");
        let classes = source.lines().filter_map(|line| line.strip_prefix("class ")?.strip_suffix(':'));
        for class in classes {
            if with_module(&source, Some(class), |_, result| result.is_ok()) {
                comes_back(&format!("{} {class}", file.display()), &source, Some(class));
                count += 1;
            }
        }
    }
    assert!(count > 20, "only {count} modules are read");
}

/// Forms that the programs above do not have.
#[test]
fn other_forms_come_back() {
    let head =
        "from tilefoundry import prim_func\nfrom tilefoundry.dsl import DimVar, T, Tensor\nN = DimVar(\"n\", 1, 65)\n";
    let body = "rows = x.shape[0]\n    for i in range(rows // 2):\n        T.copy(x, y)";
    let launched = "from tilefoundry import func, module, prim_func\nfrom tilefoundry.dsl import Tensor, tf\n\
                    from tilefoundry.target import CpuTarget\n@module(entry=\"host\")\nclass M:\n    @func\n    \
                    def dev(x: Tensor[(8, 4), \"f32\"]):\n        return tf.exp(x), x + 1.0\n    \
                    @prim_func(target=CpuTarget())\n    \
                    def host(x: Tensor[(8, 4), \"f32\"], y: Tensor[(8, 4), \"f32\"], z: Tensor[(8, 4), \"f32\"]):\n        \
                    \"\"\"Starts it.\"\"\"\n        launch(dev, x, y, z, grid=(1,), block=(32,))\n";
    comes_back("a launch of a function of values", launched, None);
    with_module(launched, None, |cx, result| {
        let text = print_module(cx, result.expect("it is read"), &PrintOptions::default()).expect("it is printed");
        assert!(text.contains("        \"\"\"Starts it.\"\"\"\n"), "{text}");
    });
    let params = "x: Tensor[(N, 8), \"f32\"], y: Tensor[(N, 8), \"f32\"]";
    for name in ["_", "größe"] {
        let source = format!(
            "{head}from tilefoundry import func\n@func\ndef f({name}: Tensor[(4,), \"i64\"]):\n    \
                              größe_2 = {name} + -9223372036854775808\n    return größe_2 * größe_2\n"
        );
        comes_back(name, &source, None);
    }
    comes_back("an extent with a name", &format!("{head}@prim_func\ndef f({params}):\n    {body}\n"), None);
}

/// What random modules have that no text of the DSL says.
const BEYOND: [&str; 10] = [
    "two variables of the loop are named",
    "the DSL has no nan with these bits",
    "a loop without carries has no name",
    "a loop with several carries has no name",
    "a tuple is the result of a function, and no operand",
    "a tuple is used twice",
    "from a literal on, not from a tensor",
    "a loop that carries nothing ends with a tensor",
    "is called before its definition, or from another module",
    "a loop inside carries",
];

/// Random modules come back, or are refused by name.
#[test]
fn random_modules_come_back_or_are_refused() {
    let options = Options { hir: &["tf"], tir: &["T", "dim"], odd: false, ..Options::default() };
    let mut printed = 0;
    for seed in 0..SEEDS {
        let arena = Arena::new();
        let cx = &Context::new(&arena, registry());
        let module = random_module(cx, seed, &options);
        match round_trip(&format!("seed {seed}"), cx, module) {
            Ok(_) => printed += 1,
            Err(error) => {
                let is_known = BEYOND.iter().any(|known| error.message.contains(known));
                assert!(is_known, "seed {seed} is refused for a reason that is not known: {}", error.message);
            }
        }
    }
    assert!(printed > SEEDS / 3, "only {printed} of {SEEDS} are printed");
}

/// Whatever is read is printed, and comes back.
#[test]
fn random_sources_come_back() {
    let mut read = 0;
    for seed in 0..SOURCES {
        let source = crate::sources::source(seed);
        if with_source(&source, |_, result| result.is_err()) {
            continue;
        }
        comes_back(&format!("source {seed}:\n{source}"), &source, None);
        read += 1;
    }
    assert!(read > SOURCES / 2, "only {read} of {SOURCES} are read");
}

/// Names of a block that hide others: what is read of those is called by another name.
#[test]
fn hidden_names_come_back() {
    let head = "from tilefoundry import TensorType, module, prim_func\nfrom tilefoundry.dsl import T, Tensor\n@module()\nclass M:\n    \
        @prim_func\n    def f(a: Tensor[(4,), \"f32\"], b: Tensor[(4,), \"f32\"]):\n";
    let alloc = "Tensor((4,), \"f32\", None, \"smem\")";
    let printed = |body: &str| {
        let source = format!("{head}{body}");
        comes_back(body, &source, None);
        with_module(&source, None, |cx, module| {
            print_module(cx, module.expect("it is read"), &PrintOptions::default()).expect("it is printed")
        })
    };
    // Nothing is read of the outer one afterwards, in this round or the next.
    let alone = printed(&format!(
        "        for i in range(4):\n            c = {alloc}\n            T.copy(b, c)\n            if b.shape[0] == 4:\n                \
         c = {alloc}\n                T.copy(b, c)\n"
    ));
    assert!(!alone.contains("c_2"), "{alone}");
    let read = printed(&format!(
        "        for i in range(4):\n            T.copy(a, b)\n            if b.shape[0] == 4:\n                \
         c = {alloc}\n                for i in range(2):\n                    d = {alloc}\n                    T.copy(c, d)\n"
    ));
    assert!(!read.contains("_2"), "{read}");
    let other = printed(&format!(
        "        keep = a\n        for i in range(4):\n            T.copy(keep, b)\n            for j in range(4):\n                \
         a = {alloc}\n                T.copy(b, a)\n"
    ));
    assert!(other.contains("        a_2 = a\n        for i in range(4):\n            T.copy(a_2, b)\n"), "{other}");
}

/// `min` and `max` of extents are bounds of loops, those of indices indices.
#[test]
fn extrema_in_functions_come_back() {
    let source = "from tilefoundry import func\nfrom tilefoundry.dsl import DimVar, Tensor, tf\nN = DimVar(\"n\", 8, 65)\n@func\n\
        def f(x: Tensor[(N, 8), \"f32\"], y: Tensor[(8, 8), \"f32\"]):\n    for i in range(min(N, 32)):\n        \
        at = min(i, 4)\n        from_ = max(at, 2)\n        y = y + x[from_ : from_ + 1, 0:8] + max(y, 0.5)\n    return y\n";
    comes_back("extrema", source, None);
    with_module(source, None, |cx, module| {
        let text = print_module(cx, module.expect("it is read"), &PrintOptions::default()).expect("it is printed");
        for part in ["for i in range(min(n, 32)):", " = min(i, 4)\n", " = max(at, 2)\n", "maximum(y, "] {
            assert!(text.contains(part), "{part}: {text}");
        }
    });
}

/// `min` and `max` of scalars that are known at run time.
#[test]
fn extrema_at_run_time_come_back() {
    let source = "from tilefoundry import module, prim_func\nfrom tilefoundry.dsl import Tensor, T\n\
        from tilefoundry.ir.types.dim import DimVar\nN = DimVar(\"n\", 1, 9)\n@module()\nclass M:\n    @prim_func\n    \
        def f(x: Tensor[(N, 4), \"f32\"], s: Tensor[(), \"f32\"], y: Tensor[(N, 4), \"f32\"]):\n        \
        for i in range(min(N, 4)):\n            low = max(i - 1, 0, i - 3)\n            \
        for j in range(low, x.shape[0]):\n                \
        if max(s, 0.5) > 1.0 and min(low, j) + 1 < 4:\n                    T.copy(x, y)\n";
    comes_back("extrema", source, None);
    with_module(source, None, |cx, module| {
        let text = print_module(cx, module.expect("it is read"), &PrintOptions::default()).expect("it is printed");
        for part in [
            "range(min(x.shape[0], 4))",
            "low = max(max(i - 1, 0), i - 3)",
            "if max(s, 0.5) > 1.0 and min(low, j) + 1 < 4",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    });
}

/// Extrema of extents are values like others.
#[test]
fn extrema_of_extents_come_back() {
    let source = "from tilefoundry import func\nfrom tilefoundry.dsl import DimVar, Tensor, tf\nN = DimVar(\"n\", 1, 65)\n\
        K = min(N, 4)\n@func\ndef f(x: Tensor[(N, 8), \"i64\"], i: Tensor[(), \"i64\"]):\n    \
        return x[i + max(K, N - 8) : i + max(K, N - 8) + 2, :], x * K, x * min(N + 1, 9)\n";
    comes_back("extents", source, None);
}

/// Starts that are no indices, moved by extents.
#[test]
fn windows_from_run_time_scalars_come_back() {
    for dtype in ["i64", "i32"] {
        let source = format!(
            "from tilefoundry import func\nfrom tilefoundry.dsl import DimVar, Tensor, tf\nN = DimVar(\"n\", 1, 65)\n\
             @func\ndef f(x: Tensor[(N, 8), \"f32\"], s: Tensor[(), \"{dtype}\"]):\n    \
             return x[s + N : s + N + 2, :], x[s - 2 * N : s - 2 * N + 3, :], x[s + min(N, 4) : s + min(N, 4) + 2, :]\n"
        );
        comes_back("windows", &source, None);
    }
}

/// The type of a slice of a placed tensor has an offset before its placement.
#[test]
fn slices_of_placed_tensors_come_back() {
    let source = "from tilefoundry import func\nfrom tilefoundry.dsl import Mesh, Tensor, Topology\n\
        W = Mesh((Topology(\"thread\", 4),), (4,), (\"w\",))\n\
        @func\ndef f(x: Tensor[(16, 128), \"f32\", (16 @ W.w, 128), \"rmem\"]):\n    return x[:, 32:64]\n";
    comes_back("slice of a placed tensor", source, None);
}

/// Blocks that four columns each would push beyond what is read.
#[test]
fn deep_blocks_come_back() {
    let mut source = "from tilefoundry import prim_func\nfrom tilefoundry.dsl import Tensor\n@prim_func\n\
        def f(x: Tensor[(4,), \"f32\"]):\n"
        .to_owned();
    for depth in 1..=300 {
        source.push_str(&format!("{}while True:\n", " ".repeat(depth)));
    }
    source.push_str(&format!("{}pass\n", " ".repeat(301)));
    comes_back("deep blocks", &source, None);
}

/// A loop in a loop whose carry starts with a value from outside both keeps it out of the outer one's carries.
#[test]
fn carries_that_start_outside_come_back() {
    let head = "from tilefoundry import func\nfrom tilefoundry.dsl import Tensor, tf\n@func\n\
        def f(a: Tensor[(32, 64), \"f32\"], b: Tensor[(64, 32), \"f32\"], z: Tensor[(32, 32), \"f32\"]):\n    out = z\n";
    let start = "tf.full_like(a[0:16, 0:16], value=0.0) @ tf.full_like(b[0:16, 0:32], value=0.0)";
    for (first, second) in [(start, start), (start, "z[0:16, :]"), ("z[0:16, :]", start)] {
        let inner = |name: &str, value: &str| {
            format!(
                "{name} = {value}\n        for k in tile(64, 16):\n            {name} = {name} + a[m, k] @ b[k, :]\n"
            )
        };
        let (acc, other) = (inner("acc", first), inner("other", second));
        let source = format!(
            "{head}    for m in tile(32, 16):\n        {acc}        {other}        \
             out = tf.insert_slice(out, acc + other, (m, 0))\n    return out\n"
        );
        comes_back(&source, &source, None);
    }
}

#[test]
fn ownership_at_run_time_comes_back() {
    let source = "from tilefoundry import Dynamic, func\nfrom tilefoundry.dsl import Mesh, Tensor, Topology\n\
        from tilefoundry.ir.types.shard import Layout, ShardLayout\n\
        L = ShardLayout(Layout((8, 4), (4, 1)), (Dynamic(),), Mesh((Topology(\"thread\", 4),), (4,), (\"t\",)))\n\
        @func\ndef f(x: Tensor[(8, 4), \"f32\", L, \"smem\"]):\n    return x\n";
    comes_back("an owner at run time", source, None);
}

/// An extent of a launch that a name stands for is stated in the launch.
#[test]
fn launches_state_extents_with_names() {
    let source = "from tilefoundry import prim_func\nfrom tilefoundry.dsl import DimVar, Tensor, ceildiv\n\
        from tilefoundry.target import CpuTarget\nN = DimVar(\"n\", 1, 65)\n\
        @prim_func\ndef k(x: Tensor[(N,), \"f32\"]):\n    return\n\
        @prim_func(target=CpuTarget())\ndef h(x: Tensor[(N,), \"f32\"]):\n    rows = x.shape[0] + 1\n    \
        blocks = ceildiv(rows, 2) * rows\n    launch(k, x, grid=(blocks,), block=(rows, 1))\n";
    comes_back("a launch", source, None);
    with_source(source, |cx, result| {
        let text = print_module(cx, result.expect("it is read"), &PrintOptions::default()).expect("it is printed");
        let stated = "grid=((x.shape[0] + 1 + 2 - 1) // 2 * (x.shape[0] + 1), 1, 1), block=(x.shape[0] + 1, 1, 1)";
        assert!(text.replace([' ', '\n'], "").contains(&stated.replace(' ', "")), "{text}");
    });
}

/// Functions that a plain function makes have one name: each is printed under its own.
#[test]
fn functions_of_one_name_come_back() {
    let text = r#"
from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf

def make(factor):
    @func
    def f(x: Tensor[(4,), "f32"]) -> Tensor[(4,), "f32"]:
        return x * factor
    return f

def twice(g):
    @func
    def f(x: Tensor[(4,), "f32"]) -> Tensor[(4,), "f32"]:
        return g(g(x)) + 1.0
    return f

a, b = make(2.0), make(3.0)
c = twice(a)

@func
def f_1(x: Tensor[(4,), "f32"]) -> Tensor[(4,), "f32"]:
    return b(x)

@func
def top(x: Tensor[(4,), "f32"]) -> Tensor[(4,), "f32"]:
    return a(x) + b(x) + c(x) + f_1(x)

@module(entry="top")
class M:
    @func
    def top(x: Tensor[(4,), "f32"]) -> Tensor[(4,), "f32"]:
        return a(x) + b(x) + c(x)
"#;
    for module in ["M", "c", "f_1"] {
        comes_back(module, text, Some(module));
    }
    let lone = text.split("@module").next().unwrap_or_default();
    comes_back("top", lone, Some("top"));
    with_module(lone, Some("top"), |_, result| {
        let module = result.expect("names are told apart");
        let names: Vec<_> = module.functions.iter().map(|function| function.name().to_string()).collect();
        assert_eq!(names, ["f", "f_2", "f_3", "f_1", "top"]);
    });
}
