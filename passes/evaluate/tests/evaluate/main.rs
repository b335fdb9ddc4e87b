//! The reference engine and the pass `evaluate`.

mod common;
mod data;
mod elaborated;
mod files;
mod generated;
mod liveness;
mod readings;
mod reference;
