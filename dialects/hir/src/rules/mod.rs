//! Rules that several ops share.

pub mod axis;
pub mod broadcast;
pub mod dtype;
pub mod elementwise;
pub mod joined;
pub mod layout;
pub mod made;
pub mod operand;
pub mod partial;
pub mod place;
pub mod rows;
pub mod storage;
pub mod terms;
