//! The reference engine and the pass `evaluate`.

mod common;
mod data;
mod files;
mod readings;
mod reference;
