//! The program `tf-opt` as users run it.

mod common;
mod flags;
mod output;
mod pipelines;
