//! Tests of printing and parsing.

mod common;
mod errors;
mod features;
mod generated;
mod hostile;
mod mutations;
mod random;
mod round_trip;
