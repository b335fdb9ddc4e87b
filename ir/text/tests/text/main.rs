//! Tests of printing and parsing.

mod common;
mod errors;
mod hostile;
mod random;
mod round_trip;
