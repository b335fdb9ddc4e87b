//! Elementwise arithmetic.

pub mod binary;
pub mod unary;
