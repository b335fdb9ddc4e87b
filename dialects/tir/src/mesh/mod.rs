//! What a position knows of itself.

pub mod coordinate;
pub mod positions;
