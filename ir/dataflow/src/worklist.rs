//! The worklist framework: a lattice, a transfer function and a direction give the facts at every node.

use petgraph::Direction;
use petgraph::visit::{IntoNeighborsDirected, IntoNodeIdentifiers, NodeIndexable};

use crate::values::ValueFlow;

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

/// An analysis of values: the fact of a node follows from the facts of its inputs, each by itself.
///
/// As for [`Analysis`], facts form a lattice of finite height, and more of the inputs gives more of the node.
pub trait ValueAnalysis {
    /// What is known of one value.
    type Fact: Clone;

    /// The fact of a value that nothing has reached yet.
    fn bottom(&self) -> Self::Fact;
    /// Adds `other`; whether that changed something.
    fn join(&self, fact: &mut Self::Fact, other: &Self::Fact) -> bool;
    /// The fact of a node, from the facts of all nodes so far.
    fn transfer(&self, node: usize, facts: &[Self::Fact]) -> Self::Fact;
}

/// Nodes that wait, by their place. The lowest comes first; walking on from the last one makes a sweep linear.
struct Worklist {
    words: Vec<u64>,
    /// No word before this one has a bit.
    at: usize,
}

impl Worklist {
    /// All of `count` nodes wait.
    fn full(count: usize) -> Self {
        let mut words = vec![u64::MAX; count.div_ceil(64)];
        if let (Some(last), rest @ 1..) = (words.last_mut(), count % 64) {
            *last = (1 << rest) - 1;
        }
        Self { words, at: 0 }
    }

    fn insert(&mut self, place: usize) {
        self.words[place / 64] |= 1 << (place % 64);
        self.at = self.at.min(place / 64);
    }

    fn pop(&mut self) -> Option<usize> {
        while let Some(word) = self.words.get_mut(self.at) {
            if *word != 0 {
                let bit = word.trailing_zeros() as usize;
                *word &= *word - 1;
                return Some(self.at * 64 + bit);
            }
            self.at += 1;
        }
        None
    }
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
    for node in graph.node_identifiers() {
        if let Some(fact) = analysis.boundary(node) {
            analysis.join(&mut facts[graph.to_index(node)], &fact);
        }
    }
    let mut waiting = Worklist::full(count);
    while let Some(at) = waiting.pop() {
        let index = place(at);
        let node = graph.from_index(index);
        let leaves = analysis.transfer(node, &facts[index]);
        for neighbor in graph.neighbors_directed(node, next) {
            let to = graph.to_index(neighbor);
            if analysis.join(&mut facts[to], &leaves) {
                waiting.insert(place(to));
            }
        }
    }
    facts
}

/// The least solution of an analysis of values: the fact of each node, by its index. In a graph numbered with inputs first every
/// node is looked at once, and again for what a loop brings round.
pub fn solve_values<A: ValueAnalysis>(graph: &ValueFlow<'_>, analysis: &A) -> Vec<A::Fact> {
    let mut facts = vec![analysis.bottom(); graph.len()];
    let mut waiting = Worklist::full(graph.len());
    while let Some(node) = waiting.pop() {
        let fact = analysis.transfer(node, &facts);
        if analysis.join(&mut facts[node], &fact) {
            graph.users(node).iter().for_each(|&user| waiting.insert(user as usize));
        }
    }
    facts
}
