//! Reading takes memory and comparisons with the length of the file, whatever there is much of.

use crate::common::with_source;

const HEAD: &str = "from tilefoundry import func, module, prim_func\n\
    from tilefoundry.dsl import ConstTensor, DimVar, DimVarRangePat, T, Tensor, tf\n";
const X: &str = "x: Tensor[(4,), \"f32\"]";
const XY: &str = "x: Tensor[(4,), \"f32\"], y: Tensor[(4,), \"f32\"]";

/// A file with `count` of something.
type Program = fn(usize) -> String;

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (1..count).map(line).collect()
}

/// Every function calls the one before.
fn chain_of_functions(count: usize) -> String {
    let rest = lines(count, |i| format!("@func\ndef f{i}({X}):\n    return f{}(x)\n", i - 1));
    format!("@func\ndef f0({X}):\n    return x + x\n{rest}")
}

fn chain_of_prims(count: usize) -> String {
    let rest = lines(count, |i| format!("@prim_func\ndef f{i}({XY}):\n    f{}(x, y)\n", i - 1));
    format!("@prim_func\ndef f0({XY}):\n    T.copy(x, y)\n{rest}")
}

fn chain_of_members(count: usize) -> String {
    let rest = lines(count, |i| format!("    @func\n    def f{i}({X}):\n        return f{}(x)\n", i - 1));
    format!("@module(entry=\"f0\")\nclass M:\n    @func\n    def f0({X}):\n        return x + x\n{rest}")
}

fn classes(count: usize) -> String {
    lines(count, |i| format!("@module\nclass M{i}:\n    @func\n    def f({X}):\n        return x + x\n"))
}

fn children(count: usize) -> String {
    let child = |i| {
        format!(
            "    @module(entry=\"f\")\n    class M{i}:\n        @func\n        def f({X}):\n            return x + x\n"
        )
    };
    let calls = lines(count, |i| format!("        x = M{i}(x)\n"));
    format!("@module\nclass R:\n{}    @func\n    def f({X}):\n{calls}        return x\n", lines(count, child))
}

fn variants(count: usize) -> String {
    variants_between(count, |_| String::new())
}

const N: &str = "x: Tensor[(N,), \"f32\"]";

/// Variants of one function with something below each.
fn variants_between(count: usize, other: impl Fn(usize) -> String) -> String {
    let signature = format!("{N}) -> Tensor[(N,), \"f32\"]:");
    let part = |i| {
        let range = format!("DimVarRangePat(\"n\", {i}, {})", i + 1);
        format!("@f.specialize({range})\ndef v{i}({signature}\n    return x + x\n{}", other(i))
    };
    format!("N = DimVar(\"n\", 1, {count})\n@func\ndef f({signature}\n    pass\n{}", lines(count, part))
}

/// Each variant has a caller of the function below it.
fn scattered_variants(count: usize) -> String {
    let caller = |i| format!("@func\ndef g{i}({N}):\n    return f(x)\n");
    let last = format!("@func\ndef g({N}):\n    return f(x)\n");
    variants_between(count, caller) + &last
}

fn converters(count: usize) -> String {
    let params = lines(count, |i| format!("w{i}: ConstTensor[(4,), \"f32\"], "));
    let converter = |i| format!("@f.converter(\"w{i}\")\ndef _({X}):\n    return x + x\n");
    format!("@func\ndef f({X}, {params}):\n    return x\n{}", lines(count, converter))
}

/// Every parameter has an extent of its own, which is a value.
fn extents(count: usize) -> String {
    let dims = lines(count, |i| format!("N{i} = DimVar(\"n{i}\", 1, 9)\n"));
    let params = lines(count, |i| format!("x{i}: Tensor[(N{i},), \"f32\"], "));
    let uses = lines(count, |i| format!("    i = i + N{i}\n"));
    format!("{dims}@func\ndef f(i: Tensor[(), \"i64\"], {params}):\n{uses}    return i\n")
}

fn hidden_extents(count: usize) -> String {
    let dims = lines(count, |i| format!("N{i} = DimVar(\"n{i}\", 1, 9)\n"));
    let params = lines(count, |i| format!("x{i}: Tensor[(N{i},), \"f32\"], "));
    let uses = lines(count, |i| format!("    T.copy(x{i}, x{i})\n"));
    format!("{dims}@prim_func\ndef f({params}):\n{uses}")
}

/// Twice as many take at most a little more than twice the memory.
#[test]
fn memory_grows_with_the_file() {
    let programs: [(&str, Program); 10] = [
        ("functions", chain_of_functions),
        ("TIR functions", chain_of_prims),
        ("members", chain_of_members),
        ("classes", classes),
        ("children", children),
        ("variants", variants),
        ("scattered variants", scattered_variants),
        ("converters", converters),
        ("extents", extents),
        ("hidden extents", hidden_extents),
    ];
    for (name, program) in programs {
        let bytes = |count| {
            with_source(&format!("{HEAD}{}", program(count)), |cx, result| {
                if let Err(errors) = result {
                    panic!("{name}: {}", errors[0].message);
                }
                cx.arena_bytes()
            })
        };
        let (once, twice) = (bytes(400), bytes(800));
        assert!(twice * 10 < once * 23, "{name}: {once} bytes for 400, {twice} for 800");
    }
}

/// Callers of a function whose variants stand below them get it as it is in the end.
#[test]
fn callers_between_variants_call_the_complete_function() {
    with_source(&format!("{HEAD}{}", scattered_variants(20)), |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{}", errors[0].message));
        let callee = module.function("f").expect("it is called");
        let tf_core::AnyFunction::Hir(callee) = callee else { panic!("it is a `@func`") };
        assert_eq!(callee.variants.len(), 19);
    });
}

/// Variants between classes, which may call their function, make it anew, up to a limit.
#[test]
fn variants_between_classes_are_refused_beyond_a_limit() {
    let class = |i| format!("@module\nclass M{i}:\n    @func\n    def g({N}):\n        return f(x)\n");
    let messages = |count: usize| {
        let source = format!("{HEAD}{}", variants_between(count, class));
        with_source(&source, |_, result| {
            result.err().unwrap_or_default().into_iter().map(|error| error.message).collect::<Vec<_>>()
        })
    };
    assert_eq!(messages(20), [""; 0]);
    assert_eq!(messages(3_000)[0], "the parts of `f` stand between too many classes and calls of plain functions");
}

/// Each wrong name is compared with all that are known, as far as the limit goes.
#[test]
fn suggestions_are_bounded() {
    let source = |count: usize| {
        let names = lines(count, |i| format!("    name{i} = x + x\n"));
        let errors = lines(count, |i| format!("    y{i} = nane{i}\n"));
        format!("{HEAD}@func\ndef f({X}):\n{names}{errors}    return x\n")
    };
    let helped = |count: usize| {
        with_source(&source(count), |_, result| {
            let errors = result.err().unwrap_or_default();
            (errors.len(), errors.iter().filter(|error| error.help.is_some()).count())
        })
    };
    assert_eq!(helped(100), (99, 99));
    let (errors, with_help) = helped(3_000);
    assert!(errors == 2_999 && with_help * 3_000 < 2 << 20 && with_help > 0, "{errors} errors, {with_help} with help");
}

#[test]
fn limits_are_stated() {
    let refusal = |source: &str| {
        with_source(&format!("{HEAD}{source}"), |_, result| result.err().unwrap_or_default()[0].message.clone())
    };
    let nested = |depth: usize| {
        let open: String = (0..depth).map(|i| format!("{0}@module\n{0}class M{i}:\n", " ".repeat(i))).collect();
        format!("{open}{0}@func\n{0}def f({X}):\n{0} return x\n", " ".repeat(depth))
    };
    with_source(&format!("{HEAD}{}", nested(64)), |_, result| assert!(result.is_ok()));
    assert_eq!(refusal(&nested(65)), "modules are nested more than 64 deep");
    let attached = |depth: usize| {
        let rest = lines(depth, |i| format!("@module\nclass M{i}:\n    child = M{}\n", i - 1));
        format!("@module\nclass M0:\n    @func\n    def f({X}):\n        return x\n{rest}")
    };
    assert_eq!(refusal(&attached(66)), "modules are nested more than 64 deep");
    let levels = lines(66, |i| format!("Topology(\"l{i}\", 1), "));
    let head = "from tilefoundry.dsl import Mesh, Topology\n";
    assert_eq!(
        refusal(&format!(
            "{head}@module(topologies=({levels}))\nclass M:\n    @func\n    def f({X}):\n        return x\n"
        )),
        "a module has at most 64 levels, found 65"
    );
    assert_eq!(
        refusal(&format!(
            "{head}m = Mesh((Topology(\"thread\", 1),), ({}))\n@func\ndef f({X}):\n    return x\n",
            "1, ".repeat(65)
        )),
        "a mesh has at most 64 axes, found 65"
    );
    let scopes = "m, ".repeat(601);
    assert_eq!(
        refusal(&format!(
            "{head}m = Mesh((Topology(\"thread\", 1),), (1,))\n@func\ndef f({X}):\n    with {}:\n        return x\n",
            scopes.trim_end_matches(", ")
        )),
        "meshes are nested more than 600 deep"
    );
}
