//! Ops that are registered beside those of this repository, as a plugin does.

use std::sync::Arc;

use tf_core::equal::structurally_equal;
use tf_core::op::{OpCall, OpRegistry, RuleError, TypeRule, VerifyRule};
use tf_core::{Arena, Context, op};
use tf_dsl::{DslOptions, PrintOptions, hidden_dialects, parse_file, print_module, stubs};
use tf_types::Type;

/// `2 * x`
#[op(dialect = "tf", category = "math")]
struct Twice {
    /// The operand.
    #[input(Tensor)]
    x: (),
    /// How often.
    #[default(1)]
    times: i64,
}

impl TypeRule for Twice {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        Ok(call.x().ty())
    }
}

/// Notes that `x` is used here.
#[op(dialect = "T", category = "memory", effect)]
struct Note {
    /// What is used.
    #[input(Tensor)]
    x: (),
}

impl VerifyRule for Note {
    fn verify<'c>(_: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        Ok(())
    }
}

/// `3 * x`, of a dialect of its own.
#[op(dialect = "demo", category = "math")]
struct Thrice {
    /// The operand.
    #[input(Tensor)]
    x: (),
    /// How often.
    #[default(1)]
    times: i64,
}

impl TypeRule for Thrice {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        Ok(call.x().ty())
    }
}

/// Marks `x`.
#[op(dialect = "demo", category = "memory", effect)]
struct Mark {
    /// What is marked.
    #[input(Tensor)]
    x: (),
}

impl VerifyRule for Mark {
    fn verify<'c>(_: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        Ok(())
    }
}

/// Has the name of a type of Python.
#[op(dialect = "math", category = "math")]
struct Float {
    /// The operand.
    #[input(Tensor)]
    x: (),
    /// Has another one.
    #[default(2)]
    int: i64,
    /// A number.
    #[default(-1.5)]
    by: f64,
}

impl TypeRule for Float {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        Ok(call.x().ty())
    }
}

/// Of a dialect that no import can mean.
#[op(dialect = "shard", category = "math")]
struct Hidden {
    /// The operand.
    #[input(Tensor)]
    x: (),
}

impl TypeRule for Hidden {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        Ok(call.x().ty())
    }
}

fn ops() -> Arc<OpRegistry> {
    let mut builder = tf_value::DialectBuilder::default();
    tf_hir::register(&mut builder);
    tf_tir::register(&mut builder);
    builder.op::<Twice>().types().done();
    builder.op::<Note>().verifies().done();
    builder.op::<Thrice>().types().done();
    builder.op::<Mark>().verifies().done();
    builder.op::<Float>().types().done();
    builder.freeze().expect("the dialects register once").0
}

/// What is wrong with a source; one that is right comes back.
fn message(source: &str) -> String {
    let arena = Arena::new();
    let cx = Context::new(&arena, ops());
    let head = "from tilefoundry import func, prim_func\nfrom tilefoundry.dsl import T, Tensor, demo, tf\n\
                from tilefoundry.dsl.demo import thrice\n";
    let read = |text: &str| parse_file(&cx, cx.sources().add("test.py", text), &DslOptions::default());
    match read(&format!("{head}{source}")) {
        Ok(module) => {
            let text = print_module(&cx, module, &PrintOptions::default()).expect("it is printed");
            let again = read(&text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
            assert!(structurally_equal(module, again), "{text}");
            String::new()
        }
        Err(errors) => errors[0].message.clone(),
    }
}

#[test]
fn late_ops_are_visible_in_their_dialect() {
    let in_hir = |body: &str| message(&format!("@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return {body}\n"));
    let in_tir = |body: &str| message(&format!("@prim_func\ndef f(x: Tensor[(4,), \"f32\"]):\n    {body}\n"));
    for call in ["tf.twice(x)", "twice(x, times=3)", "twice(x, 3)"] {
        assert_eq!(in_hir(call), "", "{call}");
    }
    for call in ["T.note(x)", "note(x)", "note_(x)"] {
        assert_eq!(in_tir(call), "", "{call}");
    }
    assert_eq!(in_hir("note(x)"), "`note` is an op of `@prim_func` bodies and unknown in a `@func`");
    assert_eq!(in_hir("T.note(x)"), "`note` is an op of `@prim_func` bodies and unknown in a `@func`");
    assert_eq!(in_tir("tf.twice(x)"), "`twice` is an op of `@func` bodies and unknown in a `@prim_func`");
    assert_eq!(in_hir("twice(x, often=3)"), "`twice` has no parameter `often`; it has x, times");
    assert_eq!(in_hir("twise(x)"), "unknown op `twise`");
}

#[test]
fn dialects_of_plugins_are_namespaces() {
    let in_hir = |body: &str| message(&format!("@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return {body}\n"));
    let in_tir = |body: &str| message(&format!("@prim_func\ndef f(x: Tensor[(4,), \"f32\"]):\n    {body}\n"));
    for call in ["demo.thrice(x)", "thrice(x, times=3)", "tf.relu(demo.thrice(x))"] {
        assert_eq!(in_hir(call), "", "{call}");
    }
    assert_eq!(in_tir("demo.mark(x)"), "");
    assert_eq!(in_tir("y = demo.thrice(x)\n    demo.mark(y)"), "");
    assert_eq!(in_hir("demo.mark(x)"), "`mark` is an op of `@prim_func` bodies and unknown in a `@func`");
    assert_eq!(in_hir("demo.thrise(x)"), "the dialect `demo` has no op `thrise`");
    assert_eq!(in_hir("mark(x)"), "unknown op `mark`");
    let stubs = stubs(&ops());
    let of_demo = stubs.iter().find(|stub| stub.path == "tilefoundry/dsl/demo/__init__.pyi").expect("a stub");
    for part in ["def thrice(x: Expr | float, times: int = 1, *, loc: str = ...) -> Expr:", "def mark(x: Expr"] {
        assert!(of_demo.text.contains(part), "{}", of_demo.text);
    }
    assert!(!of_demo.text.contains("mark_("), "{}", of_demo.text);
}

#[test]
fn dialects_that_are_not_there_are_those_of_plugins() {
    let with = |import: &str, call: &str| {
        message(&format!("{import}\n\n@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return {call}\n"))
    };
    let absent = |name: &str, why: &str| format!("`{name}` cannot be used: {why}");
    let why = "no loaded plugin has a dialect `other`";
    assert_eq!(with("from tilefoundry.dsl import other", "other.op(x)"), absent("other", why));
    assert_eq!(with("from tilefoundry.dsl.other import op", "op(x)"), absent("op", why));
    assert_eq!(
        with("from tilefoundry.dsl.storage import other", "other(x)"),
        absent("other", "`tilefoundry.dsl.storage` has no name `other` that is supported")
    );
}

#[test]
fn dialects_of_plugins_are_imported_in_every_way() {
    let with = |import: &str, call: &str| {
        message(&format!("{import}\n\n@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return {call}\n"))
    };
    for (import, call) in [
        ("from tilefoundry.dsl import demo as d", "d.thrice(x)"),
        ("import tilefoundry.dsl.demo", "tilefoundry.dsl.demo.thrice(x)"),
        ("import tilefoundry.dsl.demo as d", "d.thrice(x)"),
        ("import tilefoundry.dsl as dsl", "dsl.demo.thrice(x)"),
        ("from tilefoundry import dsl", "dsl.demo.thrice(x)"),
        ("from tilefoundry.dsl.demo import thrice as t", "t(x)"),
        ("from tilefoundry.dsl.math import *", "float(x)"),
        ("from tilefoundry.dsl import *", "math.float(x)"),
    ] {
        assert_eq!(with(import, call), "", "{import}");
    }
}

#[test]
fn a_dialect_has_no_name_of_the_language() {
    assert!(hidden_dialects(&ops()).is_empty());
    let mut builder = tf_value::DialectBuilder::default();
    builder.op::<Hidden>().types().done();
    let ops = builder.freeze().expect("it registers").0;
    let found: Vec<_> = hidden_dialects(&ops).into_iter().map(|error| error.0).collect();
    assert_eq!(found, ["no dialect can be called `shard`, which is a word of the language"]);
}

#[test]
fn ops_hide_no_types_in_stubs() {
    let stubs = stubs(&ops());
    let text = |path| &stubs.iter().find(|stub| stub.path == path).expect("a stub").text;
    let of_math = text("tilefoundry/dsl/math/__init__.pyi");
    let signature = "def float(x: Expr | _float, int: int = 2, by: _float = -1.5, *, loc: str = ...) -> Expr:";
    assert!(of_math.contains(signature) && of_math.contains("from builtins import float as _float\n"), "{of_math}");
    assert!(!text("tilefoundry/dsl/demo/__init__.pyi").contains("builtins"));
}

/// A file that has `math` for its intrinsics has the dialect of that name under another.
#[test]
fn a_dialect_gives_way_to_a_module_of_python() {
    let source = "import math\nfrom tilefoundry import Expr, VerifyError, intrinsic\nfrom tilefoundry.dsl import math as m\n\n\n\
        @intrinsic\ndef even(x: Expr) -> None:\n    if math.prod(x.shape) % 2:\n        raise VerifyError(\"odd\")\n\n\n\
        @prim_func\ndef f(x: Tensor[(4,), \"f32\"]):\n    y = m.float(x)\n    even(y)\n";
    assert_eq!(message(source), "");
}
