//! Tests of printing and parsing.

mod common;
mod errors;
mod features;
mod generated;
mod hostile;
mod random;
mod round_trip;
