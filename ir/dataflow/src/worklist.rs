//! The worklist framework: a lattice, a transfer function and a direction give the facts at every node.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use petgraph::Direction;
use petgraph::visit::{IntoNeighborsDirected, IntoNodeIdentifiers, NodeIndexable};

/// Where facts go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Along the edges: from what is before to what comes after.
    Forward,
    /// Against them.
    Backward,
}

/// A dataflow analysis over a graph with nodes `N`.
///
/// Facts form a lattice of finite height: [`Analysis::join`] only adds, and [`Analysis::transfer`] gives more for more.
pub trait Analysis<N> {
    /// What is known at one point.
    type Fact: Clone;
    /// Where facts go.
    const FLOW: Flow;

    /// The fact that nothing has reached yet.
    fn bottom(&self) -> Self::Fact;
    /// What enters a node from outside the graph, such as at the entry or the exit.
    fn boundary(&self, node: N) -> Option<Self::Fact>;
    /// Adds `other`; whether that changed something.
    fn join(&self, fact: &mut Self::Fact, other: &Self::Fact) -> bool;
    /// What leaves a node where `fact` enters it.
    fn transfer(&self, node: N, fact: &Self::Fact) -> Self::Fact;
}

/// The least solution: what enters each node, by its index. With [`Flow::Backward`] that is what holds after it.
///
/// Nodes are taken in the order of their indices (against it for [`Flow::Backward`]), so that a graph numbered in program
/// order needs one round and one more for each level of loops.
pub fn solve<G, A>(graph: G, analysis: &A) -> Vec<A::Fact>
where
    G: IntoNeighborsDirected + IntoNodeIdentifiers + NodeIndexable + Copy,
    A: Analysis<G::NodeId>,
{
    let count = graph.node_bound();
    let place = |index: usize| if A::FLOW == Flow::Forward { index } else { count - 1 - index };
    let next = if A::FLOW == Flow::Forward { Direction::Outgoing } else { Direction::Incoming };
    let mut facts = vec![analysis.bottom(); count];
    let mut waiting = vec![false; count];
    let mut queue = BinaryHeap::with_capacity(count);
    for node in graph.node_identifiers() {
        let index = graph.to_index(node);
        if let Some(fact) = analysis.boundary(node) {
            analysis.join(&mut facts[index], &fact);
        }
        waiting[index] = true;
        queue.push(Reverse(place(index)));
    }
    while let Some(Reverse(at)) = queue.pop() {
        let index = place(at);
        waiting[index] = false;
        let node = graph.from_index(index);
        let leaves = analysis.transfer(node, &facts[index]);
        for neighbor in graph.neighbors_directed(node, next) {
            let to = graph.to_index(neighbor);
            if analysis.join(&mut facts[to], &leaves) && !waiting[to] {
                waiting[to] = true;
                queue.push(Reverse(place(to)));
            }
        }
    }
    facts
}
