//! What the tests of reductions share.

use std::ops::Range;
use std::sync::Arc;

use tf_core::op::OpRegistry;
use tf_framework::text::PipelineText;
use tf_value::DialectBuilder;

use crate::{Case, Inputs, Reduction, parsed, text, well_formed};

/// All ops.
pub fn ops() -> Arc<OpRegistry> {
    let mut dialects = DialectBuilder::default();
    tf_hir::register(&mut dialects);
    tf_tir::register(&mut dialects);
    tf_dim::register(&mut dialects);
    dialects.freeze().expect("the dialects fit together").0
}

/// A case that is only a module.
pub fn case(module: &str) -> Case {
    let ops = ops();
    let printed = parsed(module, &ops, |cx, module| Some(text(well_formed(cx, module).expect("well-formed"))));
    let module = printed.expect("a module").into();
    Case { module, pipeline: PipelineText::default(), after: Vec::new(), inputs: Inputs::None }
}

/// How many places a reduction has, and the module with these reduced.
pub fn reduced(reduction: &dyn Reduction, module: &str, places: Range<usize>) -> (usize, Option<String>) {
    let (case, ops) = (case(module), ops());
    let count = reduction.places(&case, &ops);
    (count, reduction.apply(&case, &ops, places).map(|case| case.module.to_string()))
}

/// Asserts what a reduction of a function `@f` makes of it. Texts are compared in their printed form.
#[track_caller]
pub fn check(reduction: &dyn Reduction, module: &str, places: Range<usize>, count: usize, after: &str) {
    let found = reduced(reduction, module, places);
    let wanted = case(after).module.to_string();
    assert_eq!(found.0, count, "places");
    assert_eq!(found.1.as_deref(), Some(wanted.as_str()));
}
