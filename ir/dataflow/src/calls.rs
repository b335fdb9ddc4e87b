//! Who calls whom in a module.

use petgraph::algo::{tarjan_scc, toposort};
use petgraph::graphmap::DiGraphMap;
use rustc_hash::FxHashMap;
use tf_core::node::TirCallee;
use tf_core::walk::walk_stmts;
use tf_core::{AnyFunction, ExprKind, Module, StmtKind};

/// Members of a module by position; edges from callee to caller.
pub type CallGraph = DiGraphMap<usize, ()>;

/// The calls between the members of a module. Names that the module does not have give no edge.
#[must_use]
pub fn call_graph(module: Module<'_>) -> CallGraph {
    let mut graph = CallGraph::new();
    for caller in 0..module.functions.len() {
        graph.add_node(caller);
    }
    let members = || module.functions.iter().copied().enumerate();
    // HIR calls functions, which may be those of another module; TIR calls names.
    let functions: FxHashMap<_, _> = members().map(|(at, function)| (function, at)).collect();
    let names: FxHashMap<_, _> = members().rev().map(|(at, function)| (function.name(), at)).collect();
    for (caller, function) in members() {
        let mut call = |callee: Option<&usize>| {
            if let Some(&callee) = callee {
                graph.add_edge(callee, caller, ());
            }
        };
        match function {
            AnyFunction::Hir(function) => {
                function.callees().into_iter().for_each(|callee| call(functions.get(&AnyFunction::Hir(callee))));
            }
            AnyFunction::Tir(function) => walk_stmts(function.body, |stmt| {
                let StmtKind::Evaluate { callee, args } = stmt.kind else { return };
                if let TirCallee::Symbol(name) = callee {
                    call(names.get(&name));
                }
                for arg in args {
                    if let ExprKind::SymbolRef(name) = arg.kind {
                        call(names.get(&name));
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
