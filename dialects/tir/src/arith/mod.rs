//! Elementwise arithmetic.

pub mod binary;
pub mod clamp;
pub mod unary;
