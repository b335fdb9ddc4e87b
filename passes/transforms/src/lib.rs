//! Passes that know no target: type inference, verification, graphs as text.

mod dot;
mod infer;
mod rules;
pub mod verify;

pub use dot::EmitDot;
pub use infer::TypeInfer;
pub use rules::Rules;
pub use tf_infer::infer_function;
pub use verify::Verify;

/// Registers `typeinfer`, `verify` and `emit-dot`.
pub fn register(registry: &mut tf_framework::PassRegistry) {
    registry.function_pass(TypeInfer::new());
    registry.module_pass(Verify::new());
    registry.module_pass(EmitDot::new());
}
