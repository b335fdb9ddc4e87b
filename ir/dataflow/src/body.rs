//! The expressions of a function body as a graph.

use petgraph::Direction;
use petgraph::visit::{
    GraphBase, IntoNeighbors, IntoNeighborsDirected, IntoNodeIdentifiers, NodeCount, NodeIndexable, VisitMap, Visitable,
};
use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::Expr;
use tf_core::walk::{operands, post_order};

/// What some roots reach. Node identifiers are the expressions; incoming neighbours are the operands in order (an operand used twice
/// occurs twice), outgoing ones the users.
pub struct DataflowGraph<'c> {
    order: Vec<Expr<'c>>,
    index: FxHashMap<Expr<'c>, usize>,
    users: Vec<Vec<Expr<'c>>>,
}

impl<'c> DataflowGraph<'c> {
    /// The graph of all expressions that the roots reach.
    #[must_use]
    pub fn new(roots: &[Expr<'c>]) -> Self {
        let order = post_order(roots);
        let index: FxHashMap<_, _> = order.iter().enumerate().map(|(i, &expr)| (expr, i)).collect();
        let mut users = vec![Vec::new(); order.len()];
        for &expr in &order {
            operands(expr, |operand| users[index[&operand]].push(expr));
        }
        Self { order, index, users }
    }

    /// All expressions, operands first: a topological order.
    #[must_use]
    pub fn order(&self) -> &[Expr<'c>] {
        &self.order
    }

    /// The place of an expression in [`DataflowGraph::order`].
    #[must_use]
    pub fn position(&self, expr: Expr<'c>) -> Option<usize> {
        self.index.get(&expr).copied()
    }

    /// The expressions that use this one as an operand, once for each use.
    #[must_use]
    pub fn users(&self, expr: Expr<'c>) -> &[Expr<'c>] {
        self.index.get(&expr).map_or(&[], |&at| self.users[at].as_slice())
    }
}

impl<'c> GraphBase for DataflowGraph<'c> {
    type EdgeId = (Expr<'c>, Expr<'c>);
    type NodeId = Expr<'c>;
}

/// The expressions that a traversal has seen.
#[derive(Default)]
pub struct Seen<'c>(FxHashSet<Expr<'c>>);

impl<'c> VisitMap<Expr<'c>> for Seen<'c> {
    fn visit(&mut self, expr: Expr<'c>) -> bool {
        self.0.insert(expr)
    }
    fn is_visited(&self, expr: &Expr<'c>) -> bool {
        self.0.contains(expr)
    }
    fn unvisit(&mut self, expr: Expr<'c>) -> bool {
        self.0.remove(&expr)
    }
}

impl<'c> Visitable for DataflowGraph<'c> {
    type Map = Seen<'c>;
    fn visit_map(&self) -> Seen<'c> {
        Seen::default()
    }
    fn reset_map(&self, map: &mut Seen<'c>) {
        map.0.clear();
    }
}

impl<'a, 'c> IntoNodeIdentifiers for &'a DataflowGraph<'c> {
    type NodeIdentifiers = std::iter::Copied<std::slice::Iter<'a, Expr<'c>>>;
    fn node_identifiers(self) -> Self::NodeIdentifiers {
        self.order.iter().copied()
    }
}

impl NodeCount for DataflowGraph<'_> {
    fn node_count(&self) -> usize {
        self.order.len()
    }
}

impl NodeIndexable for DataflowGraph<'_> {
    fn node_bound(&self) -> usize {
        self.order.len()
    }
    fn to_index(&self, expr: Self::NodeId) -> usize {
        self.index[&expr]
    }
    fn from_index(&self, index: usize) -> Self::NodeId {
        self.order[index]
    }
}

impl<'c> IntoNeighbors for &DataflowGraph<'c> {
    type Neighbors = std::vec::IntoIter<Expr<'c>>;
    fn neighbors(self, expr: Expr<'c>) -> Self::Neighbors {
        self.neighbors_directed(expr, Direction::Outgoing)
    }
}

impl<'c> IntoNeighborsDirected for &DataflowGraph<'c> {
    type NeighborsDirected = std::vec::IntoIter<Expr<'c>>;
    fn neighbors_directed(self, expr: Expr<'c>, direction: Direction) -> Self::NeighborsDirected {
        let mut neighbors = Vec::new();
        match direction {
            Direction::Outgoing => neighbors.extend(self.users(expr)),
            Direction::Incoming => operands(expr, |operand| neighbors.push(operand)),
        }
        neighbors.into_iter()
    }
}
