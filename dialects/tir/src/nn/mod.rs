//! Matrix products.

pub mod mma;
