//! petgraph views of the IR: its algorithms run on the nodes themselves, nothing is copied. On top, the worklist framework:
//! facts at points of a graph ([`Analysis`], [`solve`]) with [`Liveness`], facts of values ([`ValueAnalysis`], [`solve_values`])
//! with [`Constants`].
//!
//! Edges go the way data goes: from an operand to its consumer, from a callee to its caller.

mod body;
mod calls;
mod constants;
mod control;
mod liveness;
mod values;
mod worklist;

pub use body::DataflowGraph;
pub use calls::{CallGraph, call_cycles, call_graph, callees_first};
pub use constants::{Constants, Fact, Fold, Trips, known_dim, same_bits};
pub use control::ControlFlow;
pub use liveness::Liveness;
pub use values::ValueFlow;
pub use worklist::{Analysis, Flow, ValueAnalysis, solve, solve_values};
