//! petgraph views of the IR: its algorithms run on the nodes themselves, nothing is copied. On top, the worklist framework
//! ([`Analysis`], [`solve`]) and what is built with it ([`Liveness`]).
//!
//! Edges go the way data goes: from an operand to its consumer, from a callee to its caller.

mod body;
mod calls;
mod control;
mod liveness;
mod worklist;

pub use body::DataflowGraph;
pub use calls::{CallGraph, call_cycles, call_graph, callees_first};
pub use control::ControlFlow;
pub use liveness::Liveness;
pub use worklist::{Analysis, Flow, solve};
