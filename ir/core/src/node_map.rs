//! Maps and sets keyed by the identity of nodes.
//!
//! A hash table of a million nodes is far larger than the caches, and a walk is little more than look-ups. Here the place
//! in the arena says the place in the table: of every page of the arena that holds a node of the map there is an array with
//! one cell for every [`UNIT`] bytes. A set takes 1/512 of the arena's memory, a map 1/16 and its values.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Index;

use rustc_hash::FxHashMap;

use crate::node::{Expr, ExprData, Function, FunctionData, Module, ModuleData, Stmt, StmtData};

/// Bytes of the arena of which one cell knows; no two nodes begin in the same.
const UNIT: usize = 64;
const CELLS: usize = 512;

/// A handle of a node that maps can have as their key.
pub trait Node: Copy {
    /// Where the node is.
    fn address(self) -> usize;
}

macro_rules! nodes {
    ($($handle:ident $data:ident),*) => {$(
        impl Node for $handle<'_> {
            fn address(self) -> usize {
                const { assert!(size_of::<$data<'static>>() >= UNIT) };
                std::ptr::from_ref(self.data()).addr()
            }
        }
    )*};
}
nodes!(Expr ExprData, Stmt StmtData, Function FunctionData, Module ModuleData);

/// The arrays of the pages that have been met.
#[derive(Clone, Debug)]
struct Pages<T> {
    /// By the number of the page.
    arrays: FxHashMap<usize, usize>,
    cells: Vec<T>,
    /// Cells of one array.
    length: usize,
}

impl<T: Copy + Default> Pages<T> {
    fn new(length: usize) -> Self {
        Self { arrays: FxHashMap::default(), cells: Vec::new(), length }
    }

    /// The first cell of the node's page, if there is one, and the place of the node in the page.
    fn find(&self, address: usize) -> (Option<usize>, usize) {
        let unit = address / UNIT;
        (self.arrays.get(&(unit / CELLS)).copied(), unit % CELLS)
    }

    /// As [`Pages::find`]; the page gets its cells now if it has none.
    fn find_or_make(&mut self, address: usize) -> (usize, usize) {
        let unit = address / UNIT;
        let first = *self.arrays.entry(unit / CELLS).or_insert_with(|| {
            let first = self.cells.len();
            self.cells.resize(first + self.length, T::default());
            first
        });
        (first, unit % CELLS)
    }

    fn clear(&mut self) {
        self.arrays.clear();
        self.cells.clear();
    }
}

/// A set of node handles.
#[derive(Clone)]
pub struct NodeSet<N> {
    /// One bit a node.
    pages: Pages<u64>,
    length: usize,
    of: PhantomData<N>,
}

impl<N> Default for NodeSet<N> {
    fn default() -> Self {
        Self { pages: Pages::new(CELLS / 64), length: 0, of: PhantomData }
    }
}

impl<N: Node> NodeSet<N> {
    /// Adds a node; whether it is new.
    pub fn insert(&mut self, node: N) -> bool {
        let (first, at) = self.pages.find_or_make(node.address());
        let (word, bit) = (&mut self.pages.cells[first + at / 64], 1 << (at % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        self.length += usize::from(is_new);
        is_new
    }

    /// Whether a node is in it.
    #[must_use]
    pub fn contains(&self, node: &N) -> bool {
        let (first, at) = self.pages.find(node.address());
        first.is_some_and(|first| self.pages.cells[first + at / 64] & (1 << (at % 64)) != 0)
    }

    /// How many nodes are in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether no node is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

impl<N: Node> Extend<N> for NodeSet<N> {
    fn extend<I: IntoIterator<Item = N>>(&mut self, nodes: I) {
        nodes.into_iter().for_each(|node| {
            self.insert(node);
        });
    }
}

impl<N: Node> FromIterator<N> for NodeSet<N> {
    fn from_iter<I: IntoIterator<Item = N>>(nodes: I) -> Self {
        let mut set = Self::default();
        set.extend(nodes);
        set
    }
}

impl<N> fmt::Debug for NodeSet<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeSet of {}", self.length)
    }
}

/// A map keyed by a node handle.
#[derive(Clone)]
pub struct NodeMap<N, V> {
    /// One more than the place in `values`; 0: none.
    pages: Pages<u32>,
    values: Vec<V>,
    length: usize,
    of: PhantomData<N>,
}

impl<N, V> Default for NodeMap<N, V> {
    fn default() -> Self {
        Self { pages: Pages::new(CELLS), values: Vec::new(), length: 0, of: PhantomData }
    }
}

impl<N: Node, V> NodeMap<N, V> {
    fn place(&self, node: N) -> Option<usize> {
        let (first, at) = self.pages.find(node.address());
        (self.pages.cells[first? + at] as usize).checked_sub(1)
    }

    /// The value of a node.
    #[must_use]
    pub fn get(&self, node: &N) -> Option<&V> {
        self.place(*node).map(|place| &self.values[place])
    }

    /// The value of a node, to change it.
    pub fn get_mut(&mut self, node: &N) -> Option<&mut V> {
        self.place(*node).map(|place| &mut self.values[place])
    }

    /// Whether a node has a value.
    #[must_use]
    pub fn contains_key(&self, node: &N) -> bool {
        self.place(*node).is_some()
    }

    /// The value of a node, which is `value()` if it had none.
    pub fn or_insert_with(&mut self, node: N, value: impl FnOnce() -> V) -> &mut V {
        let (first, at) = self.pages.find_or_make(node.address());
        let cell = &mut self.pages.cells[first + at];
        if *cell == 0 {
            self.values.push(value());
            self.length += 1;
            *cell = u32::try_from(self.values.len()).expect("fewer than 2^32 nodes");
        }
        &mut self.values[*cell as usize - 1]
    }

    /// Gives a node a value; the one that it had.
    pub fn insert(&mut self, node: N, value: V) -> Option<V> {
        let mut value = Some(value);
        let place = self.or_insert_with(node, || value.take().expect("called once"));
        value.map(|value| std::mem::replace(place, value))
    }

    /// Takes a node out; the memory of its value is not used again.
    pub fn remove(&mut self, node: &N) {
        if let (Some(first), at) = self.pages.find(node.address()) {
            let cell = std::mem::take(&mut self.pages.cells[first + at]);
            self.length -= usize::from(cell != 0);
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.pages.clear();
        self.values.clear();
        self.length = 0;
    }

    /// Makes room for the values of that many nodes more.
    pub fn reserve(&mut self, nodes: usize) {
        self.values.reserve(nodes);
    }

    /// How many nodes have a value.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether no node has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

impl<N: Node, V> Index<&N> for NodeMap<N, V> {
    type Output = V;

    fn index(&self, node: &N) -> &V {
        self.get(node).expect("the node has a value")
    }
}

impl<N: Node, V> Extend<(N, V)> for NodeMap<N, V> {
    fn extend<I: IntoIterator<Item = (N, V)>>(&mut self, entries: I) {
        entries.into_iter().for_each(|(node, value)| drop(self.insert(node, value)));
    }
}

impl<N: Node, V> FromIterator<(N, V)> for NodeMap<N, V> {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(entries: I) -> Self {
        let mut map = Self::default();
        map.extend(entries);
        map
    }
}

impl<N, V: fmt::Debug> fmt::Debug for NodeMap<N, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NodeMap of ")?;
        self.values.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tf_types::{Arena, DType};

    use super::{NodeMap, NodeSet};
    use crate::node::Meta;
    use crate::op::OpRegistryBuilder;
    use crate::{Context, Expr};

    #[test]
    fn neighbours_in_the_arena_are_told_apart() {
        let arena = Arena::new();
        let cx = &Context::new(&arena, Arc::new(OpRegistryBuilder::default().freeze().expect("empty registry")));
        let nodes: Vec<Expr<'_>> =
            (0..10_000).map(|_| cx.var(cx.symbol("x"), cx.scalar(DType::F32), Meta::default())).collect();
        let mut set: NodeSet<_> = nodes.iter().step_by(2).copied().collect();
        assert!(nodes.iter().enumerate().all(|(at, node)| set.contains(node) == at.is_multiple_of(2)));
        assert!(!set.insert(nodes[0]) && set.insert(nodes[1]));
        assert_eq!(set.len(), 5001);
        let mut map: NodeMap<_, _> = nodes.iter().copied().zip(0..).collect();
        assert!(nodes.iter().zip(0..).all(|(node, at)| map[node] == at));
        assert_eq!((map.insert(nodes[7], 70), map[&nodes[7]]), (Some(7), 70));
        map.remove(&nodes[7]);
        assert!(!map.contains_key(&nodes[7]) && map.get(&nodes[8]) == Some(&8) && map.len() == 9999);
        *map.or_insert_with(nodes[7], || 1) += 1;
        assert_eq!(map.get_mut(&nodes[7]), Some(&mut 2));
        map.clear();
        assert!(map.is_empty() && map.get(&nodes[0]).is_none());
    }
}
