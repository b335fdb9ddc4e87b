//! TIR to MLIR, through builders: device functions into one `gpu.module`, host functions as `func.func`.
mod build;
pub mod cpu;
mod gpu;
mod host;
mod module;
pub mod scalar;
mod table;
mod types;

pub use module::emit_module;

pub(crate) use build::{Builder, V};
