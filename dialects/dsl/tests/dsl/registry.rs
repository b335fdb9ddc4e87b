//! Ops that are registered beside those of this repository, as a plugin does.

use std::sync::Arc;

use tf_core::equal::structurally_equal;
use tf_core::op::{OpCall, OpRegistry, RuleError, TypeRule, VerifyRule};
use tf_core::{Arena, Context, op};
use tf_dsl::{DslOptions, PrintOptions, parse_file, print_module, stubs};
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

fn ops() -> Arc<OpRegistry> {
    let mut builder = tf_value::DialectBuilder::default();
    tf_hir::register(&mut builder);
    tf_tir::register(&mut builder);
    builder.op::<Twice>().types().done();
    builder.op::<Note>().verifies().done();
    builder.op::<Thrice>().types().done();
    builder.op::<Mark>().verifies().done();
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
