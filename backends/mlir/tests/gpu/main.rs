//! Emission of device functions: the modules verify, MLIR accepts their text, and, run on a simulated GPU, they give
//! the right numbers.
mod common;
mod indices;
mod kernels;
mod programs;
mod reductions;
mod refusals;
mod scalar;
mod simulate;
mod tir;
