//! Matrix products, activations, norms.

pub mod mma;
pub mod relu;
pub mod rms_norm;
