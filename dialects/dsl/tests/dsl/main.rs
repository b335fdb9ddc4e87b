//! The authoring surface against the ops of this repository and the reference sources.

mod bodies;
mod common;
mod environment;
mod families;
mod files;
mod guidance;
mod hostile;
mod imports;
mod modules;
mod mutations;
mod prims;
mod print;
mod programs;
mod refusals;
mod registry;
mod scaling;
mod sources;
mod statics;
mod suggestions;
mod surface;
mod table;
mod trees;
