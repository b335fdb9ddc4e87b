//! Ops over whole tensors.

pub mod plan;
pub mod reduce;
mod reduction;
