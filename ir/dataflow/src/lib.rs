//! petgraph views of the IR: its algorithms run on the nodes themselves, nothing is copied.
//!
//! Edges go the way data goes: from an operand to its consumer, from a callee to its caller.

mod body;
mod calls;

pub use body::DataflowGraph;
pub use calls::{CallGraph, call_graph};
