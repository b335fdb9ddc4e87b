//! Passes that know no target: type inference, verification, simplification, graphs and authoring text.

mod constprop;
mod dot;
mod dsl;
mod fixed_point;
mod fold;
mod infer;
mod loops;
mod rules;
pub mod verify;

use std::sync::Arc;

pub use constprop::ConstProp;
pub use dot::EmitDot;
pub use dsl::EmitDsl;
pub use fixed_point::FixedPoint;
pub use fold::Folder;
pub use infer::TypeInfer;
pub use rules::Rules;
pub use tf_infer::infer_function;
use tf_value::EvalRegistry;
pub use verify::Verify;

/// Registers the passes of this crate; those that fold do so by these evaluation rules.
pub fn register(registry: &mut tf_framework::PassRegistry, rules: &Arc<EvalRegistry>) {
    registry.function_pass(TypeInfer::new());
    registry.module_pass(Verify::new());
    registry.module_pass(EmitDot::new());
    registry.module_pass(EmitDsl::new());
    registry.module_pass(FixedPoint::new());
    registry.any_function_pass(ConstProp::new(Arc::clone(rules)));
}
