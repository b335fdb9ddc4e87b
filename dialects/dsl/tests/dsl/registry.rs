//! Ops that are registered beside those of this repository, as a plugin does.

use std::sync::Arc;

use tf_core::op::{OpCall, RuleError, TypeRule, VerifyRule};
use tf_core::{Arena, Context, op};
use tf_dsl::{DslOptions, parse_file};
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

fn message(source: &str) -> String {
    let mut builder = tf_value::DialectBuilder::default();
    tf_hir::register(&mut builder);
    tf_tir::register(&mut builder);
    builder.op::<Twice>().types().done();
    builder.op::<Note>().verifies().done();
    let arena = Arena::new();
    let cx = Context::new(&arena, Arc::clone(&builder.freeze().expect("the dialects register once").0));
    let head = "from tilefoundry import func, prim_func\nfrom tilefoundry.dsl import T, Tensor, tf\n";
    let file = cx.sources().add("test.py", format!("{head}{source}"));
    let errors = parse_file(&cx, file, &DslOptions::default()).err().unwrap_or_default();
    errors.first().map(|error| error.message.clone()).unwrap_or_default()
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
