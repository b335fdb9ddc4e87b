//! The authoring surface against the ops of this repository and the reference sources.

mod bodies;
mod common;
mod families;
mod hostile;
mod modules;
mod programs;
mod refusals;
mod trees;
