//! Type inference and verification of functions and modules.

mod common;
mod elaborate;
mod infer;
mod laws;
mod nodes;
mod random;
mod trees;
mod verify;
