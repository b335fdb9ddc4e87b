//! Barriers.

pub mod barrier;
pub mod participants;
