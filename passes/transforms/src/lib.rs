//! Passes that know no target: type inference, verification, simplification, graphs and authoring text.

mod canonicalize;
mod constprop;
mod cse;
mod dce;
mod dot;
mod dsl;
mod fixed_point;
mod fold;
mod infer;
mod inline;
mod liveness;
mod loops;
pub mod patterns;
mod rules;
mod specialize;
mod strip_debug;
mod symbol_dce;
pub mod verify;

use std::sync::Arc;

pub use canonicalize::Canonicalize;
pub use constprop::ConstProp;
pub use cse::CommonSubexpressions;
pub use dce::DeadCode;
pub use dot::EmitDot;
pub use dsl::EmitDsl;
pub use fixed_point::FixedPoint;
pub use infer::TypeInfer;
pub use inline::Inline;
pub use liveness::BufferLiveness;
pub use rules::Rules;
pub use specialize::Specialize;
pub use strip_debug::StripDebug;
pub use symbol_dce::SymbolDce;
use tf_framework::PassRegistry;
pub use tf_infer::infer_function;
use tf_rewrite::{Patterns, RewritePattern};
use tf_value::EvalRegistry;
pub use verify::Verify;

/// The name of a pattern, with the option that it needs, and what it does.
fn pattern_help(pattern: &dyn RewritePattern) -> (String, &'static str) {
    let option = if pattern.fast_math() { " (fast-math)" } else { "" };
    (format!("{}{option}", pattern.name()), pattern.doc())
}

/// Registers the passes of this crate; those that fold do so by these evaluation rules, and `canonicalize` has these patterns.
pub fn register(registry: &mut PassRegistry, rules: &Arc<EvalRegistry>, patterns: Patterns) {
    registry.function_pass(TypeInfer::new());
    registry.module_pass(Verify::new());
    registry.module_pass(EmitDot::new());
    registry.module_pass(EmitDsl::new());
    registry.module_pass(FixedPoint::new());
    registry.any_function_pass(ConstProp::new(Arc::clone(rules)));
    registry.any_function_pass(CommonSubexpressions::new());
    registry.any_function_pass(DeadCode::new());
    let help: Vec<_> = patterns.iter().map(pattern_help).collect();
    registry.any_function_pass(Canonicalize::new(Arc::clone(rules), patterns));
    registry.applies("canonicalize", help);
    registry.function_pass(Inline::new());
    registry.module_pass(Specialize::new());
    registry.module_pass(SymbolDce::new());
    registry.any_function_pass(StripDebug::new());
}
