//! Matrix products, activations, norms.

pub mod mma;
mod product;
pub mod relu;
pub mod rms_norm;
