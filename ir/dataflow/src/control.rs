//! Control flow of TIR functions.

use petgraph::Direction;
use petgraph::visit::{
    GraphBase, IntoNeighbors, IntoNeighborsDirected, IntoNodeIdentifiers, NodeCount, NodeIndexable, Visitable,
};
use rustc_hash::FxHashSet;
use tf_core::{PrimFunction, Stmt, StmtKind};

/// Basic blocks of a function in program order; node identifiers are their numbers. The first is the entry, the last, which is
/// empty, the exit. A loop, branch or dispatch ends the block that decides; `Let` binds and goes on.
pub struct ControlFlow<'c> {
    blocks: Vec<Block<'c>>,
}

#[derive(Default)]
struct Block<'c> {
    stmts: Vec<Stmt<'c>>,
    next: Vec<usize>,
    previous: Vec<usize>,
}

enum Step<'c> {
    Enter(Stmt<'c>),
    /// Ends a loop's body.
    Repeat {
        head: usize,
    },
    /// Starts the next branch, or after the last one what follows; `ends` are the blocks that lead there.
    Branch {
        from: usize,
        rest: Vec<Stmt<'c>>,
        ends: Vec<usize>,
    },
}

impl<'c> ControlFlow<'c> {
    /// The control flow of a function's body.
    #[must_use]
    pub fn new(function: PrimFunction<'c>) -> Self {
        let mut flow = Self { blocks: vec![Block::default()] };
        let mut returns = Vec::new();
        let mut stack = vec![Step::Enter(function.body)];
        while let Some(step) = stack.pop() {
            let current = flow.blocks.len() - 1;
            match step {
                Step::Enter(stmt) => flow.enter(stmt, &mut stack, &mut returns),
                Step::Repeat { head } => {
                    flow.edge(current, head);
                    flow.start(&[head]);
                }
                Step::Branch { from, mut rest, mut ends } => {
                    ends.push(current);
                    match rest.pop() {
                        Some(branch) => {
                            flow.start(&[from]);
                            stack.extend([Step::Branch { from, rest, ends }, Step::Enter(branch)]);
                        }
                        None => {
                            flow.start(&ends);
                        }
                    }
                }
            }
        }
        returns.push(flow.blocks.len() - 1);
        flow.start(&returns);
        flow
    }

    fn enter(&mut self, stmt: Stmt<'c>, stack: &mut Vec<Step<'c>>, returns: &mut Vec<usize>) {
        let current = self.blocks.len() - 1;
        match stmt.kind {
            StmtKind::Sequential(body) => return stack.extend(body.iter().rev().map(|&s| Step::Enter(s))),
            StmtKind::Let { body, .. } | StmtKind::MeshScope { body, .. } => stack.push(Step::Enter(body)),
            StmtKind::For { body, .. } | StmtKind::While { body, .. } => {
                let head = self.start(&[current]);
                self.blocks[head].stmts.push(stmt);
                self.start(&[head]);
                return stack.extend([Step::Repeat { head }, Step::Enter(body)]);
            }
            StmtKind::If { then_body, else_body, .. } => self.branch(stack, [then_body, else_body].to_vec()),
            StmtKind::Dispatch { cases, fallback, .. } => {
                self.branch(stack, cases.iter().map(|case| case.call).chain([fallback]).collect());
            }
            StmtKind::Evaluate { .. } => {}
            StmtKind::Abort { .. } | StmtKind::Return => {
                self.blocks[current].stmts.push(stmt);
                if matches!(stmt.kind, StmtKind::Return) {
                    returns.push(current);
                }
                // What follows is not reached.
                self.start(&[]);
                return;
            }
        }
        self.blocks[current].stmts.push(stmt);
    }

    /// The branches are entered from the current block.
    fn branch(&mut self, stack: &mut Vec<Step<'c>>, mut branches: Vec<Stmt<'c>>) {
        let from = self.blocks.len() - 1;
        branches.reverse();
        let first = branches.pop();
        self.start(&[from]);
        stack.push(Step::Branch { from, rest: branches, ends: Vec::new() });
        stack.extend(first.map(Step::Enter));
    }

    /// A new block after these.
    fn start(&mut self, after: &[usize]) -> usize {
        let new = self.blocks.len();
        self.blocks.push(Block::default());
        after.iter().for_each(|&from| self.edge(from, new));
        new
    }

    fn edge(&mut self, from: usize, to: usize) {
        self.blocks[from].next.push(to);
        self.blocks[to].previous.push(from);
    }

    /// Where a function starts.
    #[must_use]
    pub fn entry(&self) -> usize {
        0
    }

    /// Where it ends, unless it aborts.
    #[must_use]
    pub fn exit(&self) -> usize {
        self.blocks.len() - 1
    }

    /// The statements of a block in order, without those inside them.
    #[must_use]
    pub fn stmts(&self, block: usize) -> &[Stmt<'c>] {
        &self.blocks[block].stmts
    }
}

impl GraphBase for ControlFlow<'_> {
    type EdgeId = (usize, usize);
    type NodeId = usize;
}

impl Visitable for ControlFlow<'_> {
    type Map = FxHashSet<usize>;
    fn visit_map(&self) -> Self::Map {
        FxHashSet::default()
    }
    fn reset_map(&self, map: &mut Self::Map) {
        map.clear();
    }
}

impl NodeCount for ControlFlow<'_> {
    fn node_count(&self) -> usize {
        self.blocks.len()
    }
}

impl NodeIndexable for ControlFlow<'_> {
    fn node_bound(&self) -> usize {
        self.blocks.len()
    }
    fn to_index(&self, block: usize) -> usize {
        block
    }
    fn from_index(&self, index: usize) -> usize {
        index
    }
}

impl IntoNodeIdentifiers for &ControlFlow<'_> {
    type NodeIdentifiers = std::ops::Range<usize>;
    fn node_identifiers(self) -> Self::NodeIdentifiers {
        0..self.blocks.len()
    }
}

impl<'a> IntoNeighbors for &'a ControlFlow<'_> {
    type Neighbors = std::iter::Copied<std::slice::Iter<'a, usize>>;
    fn neighbors(self, block: usize) -> Self::Neighbors {
        self.blocks[block].next.iter().copied()
    }
}

impl<'a> IntoNeighborsDirected for &'a ControlFlow<'_> {
    type NeighborsDirected = std::iter::Copied<std::slice::Iter<'a, usize>>;
    fn neighbors_directed(self, block: usize, direction: Direction) -> Self::NeighborsDirected {
        match direction {
            Direction::Outgoing => self.blocks[block].next.iter().copied(),
            Direction::Incoming => self.blocks[block].previous.iter().copied(),
        }
    }
}
