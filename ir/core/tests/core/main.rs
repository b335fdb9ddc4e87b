//! Nodes, modules, variants and their rules.

mod common;
mod declarations;
mod hidden;
mod meta;
mod modules;
mod ops;
mod special;
mod trees;
mod variants;
