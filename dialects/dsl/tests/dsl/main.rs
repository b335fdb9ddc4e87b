//! The authoring surface against the ops of this repository and the reference sources.

mod bodies;
mod common;
mod hostile;
mod modules;
mod programs;
mod refusals;
