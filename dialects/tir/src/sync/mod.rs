//! Barriers.

pub mod barrier;
