//! The reference engine and the pass `evaluate`.

mod check;
mod common;
mod data;
mod elaborated;
mod failures;
mod files;
mod generated;
mod liveness;
mod mesh;
mod prepare;
mod readings;
mod reference;
mod statements;
