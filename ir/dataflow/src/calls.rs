//! Who calls whom in a module.

use petgraph::algo::{tarjan_scc, toposort};
use petgraph::graphmap::DiGraphMap;
use rustc_hash::FxHashMap;
use tf_core::node::TirCallee;
use tf_core::walk::{post_order, walk_stmts};
use tf_core::{AnyFunction, Callee, ExprKind, Module, StmtKind};

/// Members of a module by position; edges from callee to caller.
pub type CallGraph = DiGraphMap<usize, ()>;

/// The calls between the members of a module. Names that the module does not have give no edge.
#[must_use]
pub fn call_graph(module: Module<'_>) -> CallGraph {
    let mut graph = CallGraph::new();
    for caller in 0..module.functions.len() {
        graph.add_node(caller);
    }
    // Of several members of one name, which no module that verifies has, the first counts.
    let mut positions = FxHashMap::default();
    for (at, function) in module.functions.iter().enumerate() {
        positions.entry(function.name().as_str()).or_insert(at);
    }
    for (caller, function) in module.functions.iter().enumerate() {
        let mut call = |name: &str| {
            if let Some(&callee) = positions.get(name) {
                graph.add_edge(callee, caller, ());
            }
        };
        match function {
            AnyFunction::Hir(function) => {
                let bodies: Vec<_> = function.bodies().collect();
                for expr in post_order(&bodies) {
                    if let ExprKind::Call { callee: Callee::Function(callee), .. } = expr.kind {
                        call(callee.name.as_str());
                    }
                }
            }
            AnyFunction::Tir(function) => walk_stmts(function.body, |stmt| {
                let StmtKind::Evaluate { callee, args } = stmt.kind else { return };
                if let TirCallee::Symbol(name) = callee {
                    call(name.as_str());
                }
                for arg in args {
                    if let ExprKind::SymbolRef(name) = arg.kind {
                        call(name.as_str());
                    }
                }
            }),
        }
    }
    graph
}

/// Groups of members that call each other, or themselves, by position: each sorted, and they among each other.
#[must_use]
pub fn call_cycles(calls: &CallGraph) -> Vec<Vec<usize>> {
    let mut cycles: Vec<Vec<usize>> = tarjan_scc(calls);
    cycles.retain(|cycle| cycle.len() > 1 || calls.contains_edge(cycle[0], cycle[0]));
    cycles.iter_mut().for_each(|cycle| cycle.sort_unstable());
    cycles.sort();
    cycles
}

/// The members in an order in which callees come first, or none if some call each other.
#[must_use]
pub fn callees_first(calls: &CallGraph) -> Option<Vec<usize>> {
    toposort(calls, None).ok()
}
