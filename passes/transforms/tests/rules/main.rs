//! Type inference and verification of functions and modules.

mod common;
mod infer;
mod nodes;
mod random;
mod verify;
