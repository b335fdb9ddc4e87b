//! Evaluation: what a program computes on given tensors.
//!
//! [`Reference`] interprets HIR. Other crates add engines to [`Engines`] under names of their own (`cpu-jit`, `cuda:0`); the pass
//! [`Evaluate`] binds tensors from files to the entry's parameters and runs the engine that it is told to.

mod dims;
mod engine;
mod machine;
mod pass;
mod plan;
mod reference;
mod summary;
mod tensors;

pub use dims::{DimSizes, bind_dims};
pub use engine::{Engine, Engines, Request};
pub use pass::Evaluate;
pub use reference::Reference;

/// Registers `evaluate` over these engines.
pub fn register(registry: &mut tf_framework::PassRegistry, engines: &Engines) {
    registry.module_pass(Evaluate::new(engines.clone()));
}
