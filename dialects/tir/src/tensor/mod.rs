//! Ops over whole tensors.

pub mod reduce;
