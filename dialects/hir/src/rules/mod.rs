//! Rules that several ops share.

pub mod broadcast;
pub mod dtype;
pub mod layout;
pub mod operand;
pub mod partial;
pub mod place;
pub mod storage;
