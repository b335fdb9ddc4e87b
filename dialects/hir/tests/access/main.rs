//! Access relations of all ops: against the values (`reads`), and as the source of placement (`positions`).

mod cases;
mod draw;
mod enumerate;
mod held;
mod positions;
mod reads;

use std::sync::Arc;

use tf_core::{Arena, Context};
use tf_value::{DialectBuilder, EvalRegistry};

fn context(arena: &Arena) -> (Context<'_>, Arc<EvalRegistry>) {
    let mut builder = DialectBuilder::default();
    tf_hir::register(&mut builder);
    let (ops, eval) = builder.freeze().unwrap();
    (Context::new(arena, ops), eval)
}

/// All ops that have a relation.
fn names(cx: &Context<'_>) -> Vec<&'static str> {
    let related = cx.ops().iter().filter(|(id, _)| cx.ops().access.get(*id).is_some());
    related.map(|(_, decl)| decl.name.name).collect()
}

/// The parts that `local` makes of a value are no function of its elements: they differ by position.
#[test]
fn every_op_but_local_has_a_relation() {
    let arena = Arena::new();
    let (cx, _) = &context(&arena);
    let all: Vec<_> = cx.ops().iter().map(|(_, decl)| decl.name.name).filter(|name| *name != "local").collect();
    assert_eq!(names(cx), all);
    assert_eq!(all.len(), 42);
}
