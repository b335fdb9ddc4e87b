//! The reference engine and the pass `evaluate`.

mod common;
mod files;
mod reference;
