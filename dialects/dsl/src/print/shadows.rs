//! Bindings of TIR functions that blocks inside hide. Names of a block are gone after it in the IR, and Python has one variable for
//! both: what is still read of the outer one is called by another name.

use rustc_hash::FxHashMap;
use tf_core::walk::{post_order, stmt_exprs};
use tf_core::{Expr, ExprKind, NodeMap, NodeSet, Stmt, StmtKind};
use tf_types::Symbol;

/// What a name stands for, in which block, and since when.
#[derive(Clone, Copy)]
struct Bound<'c> {
    var: Expr<'c>,
    depth: usize,
    since: usize,
}

enum Step<'c> {
    Enter(Stmt<'c>),
    /// A branch, or the body of a loop over a variable.
    Block(Stmt<'c>, Option<Expr<'c>>),
    /// The end of a block, with what was bound before it.
    Leave(usize),
    LeaveLoop,
}

#[derive(Default)]
struct Walk<'c> {
    /// Grows by two with each statement, so that there is a moment between two.
    now: usize,
    depth: usize,
    bound: FxHashMap<Symbol<'c>, Bound<'c>>,
    /// What names stood for before, to be restored at the end of the block.
    before: Vec<(Symbol<'c>, Option<Bound<'c>>)>,
    /// When the open loops began.
    loops: Vec<usize>,
    last_reads: NodeMap<Expr<'c>, usize>,
    /// Variables that a block hides, and from when on reads of them would read the other one.
    hidden: Vec<(Expr<'c>, usize)>,
}

/// The variables that are read while another one has their name.
pub(super) fn shadowed<'c>(params: &[Expr<'c>], body: Stmt<'c>) -> NodeSet<Expr<'c>> {
    let mut walk = Walk::default();
    params.iter().for_each(|&param| walk.bind(param, 0, 0));
    let mut stack = vec![Step::Enter(body)];
    while let Some(step) = stack.pop() {
        match step {
            Step::Enter(stmt) => walk.enter(stmt, &mut stack),
            Step::Block(body, counter) => {
                stack.extend([Step::Leave(walk.before.len()), Step::Enter(body)]);
                // The variable of a loop may have the name of one of the block around it, as far as the loop itself goes.
                counter.into_iter().for_each(|var| walk.bind(var, walk.depth, walk.now + 2));
                walk.depth += 1;
            }
            Step::Leave(mark) => {
                walk.depth -= 1;
                for (name, before) in walk.before.drain(mark..).rev() {
                    match before {
                        Some(bound) => walk.bound.insert(name, bound),
                        None => walk.bound.remove(&name),
                    };
                }
            }
            Step::LeaveLoop => drop(walk.loops.pop()),
        }
    }
    let is_read = |&(var, from): &(Expr<'c>, usize)| walk.last_reads.get(&var).is_some_and(|&last| last >= from);
    walk.hidden.iter().filter(|hidden| is_read(hidden)).map(|(var, _)| *var).collect()
}

impl<'c> Walk<'c> {
    fn hide(&mut self, name: Symbol<'c>, depth: usize) {
        let Some(outer) = self.bound.get(&name).filter(|outer| outer.depth < depth) else { return };
        // A loop around both comes to the reads before again.
        let first = self.loops.partition_point(|&begin| begin < outer.since);
        self.hidden.push((outer.var, self.loops.get(first).copied().unwrap_or(self.now)));
    }

    /// A binding in the block of that depth.
    fn bind(&mut self, var: Expr<'c>, depth: usize, since: usize) {
        let Some(name) = var.var_name() else { return };
        self.hide(name, depth);
        let before = self.bound.insert(name, Bound { var, depth, since });
        self.before.push((name, before));
    }

    fn enter(&mut self, stmt: Stmt<'c>, stack: &mut Vec<Step<'c>>) {
        self.now += 2;
        let mut roots = Vec::new();
        stmt_exprs(stmt, |expr| roots.push(expr));
        for expr in post_order(&roots) {
            match expr.kind {
                ExprKind::Var { .. } => drop(self.last_reads.insert(expr, self.now)),
                ExprKind::ShapeOf { param, .. } => drop(self.last_reads.insert(param, self.now)),
                _ => {}
            }
        }
        match stmt.kind {
            StmtKind::Sequential(body) => stack.extend(body.iter().rev().map(|&inner| Step::Enter(inner))),
            StmtKind::Let { var, body, .. } => {
                self.bind(var, self.depth, self.now);
                stack.push(Step::Enter(body));
            }
            StmtKind::For { induction, body, .. } => {
                // Its bounds are read once.
                self.loops.push(self.now + 1);
                stack.extend([Step::LeaveLoop, Step::Block(body, Some(induction))]);
            }
            StmtKind::While { body, .. } => {
                self.loops.push(self.now);
                stack.extend([Step::LeaveLoop, Step::Block(body, None)]);
            }
            StmtKind::If { then_body, else_body, .. } => {
                stack.extend([Step::Block(else_body, None), Step::Block(then_body, None)]);
            }
            StmtKind::MeshScope { binding, body, .. } => {
                self.hide(binding, usize::MAX);
                stack.push(Step::Enter(body));
            }
            StmtKind::Evaluate { .. } | StmtKind::Return | StmtKind::Dispatch { .. } | StmtKind::Abort { .. } => {}
        }
    }
}
