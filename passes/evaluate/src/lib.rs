//! Evaluation: what a program computes on given tensors.
//!
//! [`Reference`] interprets HIR. Other crates add engines to [`Engines`] under names of their own (`cpu-jit`, `cuda:0`); the pass
//! [`Evaluate`] binds tensors from files to the entry's parameters and runs the engine that it is told to. A [`Reading`] is a module
//! with its constants, which are read by dotted name when they are needed; [`PrepareWeights`] makes them of raw checkpoints.

mod boundary;
mod check;
mod device;
mod dims;
mod engine;
mod machine;
mod mesh;
mod method;
mod pass;
mod plan;
mod prepare;
mod progress;
mod random;
mod reach;
mod reading;
mod reference;
mod resource;
mod semantics;
mod summary;
mod tensors;
mod times;
mod tir;

pub use check::{CheckEach, CheckInputs, Zeros, generated_inputs};
pub use dims::{DimSizes, bind_dims};
pub use engine::{Engine, Engines, PositionResults, ReadingRequest, Request};
pub use mesh::Positions;
pub use pass::Evaluate;
pub use prepare::PrepareWeights;
pub use reading::{Reading, Step};
pub use reference::Reference;
pub use resource::{Found, Resource};
pub use times::Times;

/// Registers `evaluate` and `prepare-weights` over these engines.
pub fn register(registry: &mut tf_framework::PassRegistry, engines: &Engines) {
    registry.module_pass(Evaluate::new(engines.clone()));
    registry.module_pass(PrepareWeights::new(engines.clone()));
}
