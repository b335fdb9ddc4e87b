//! Liveness of the buffers of a TIR function.

use tf_core::walk::{post_order, stmt_exprs};
use tf_core::{Expr, ExprKind, NodeMap, NodeSet, PrimFunction, Stmt, StmtKind};

use crate::control::ControlFlow;
use crate::worklist::{Analysis, Flow, solve};

/// A set of buffers by number.
#[derive(Clone, PartialEq, Eq)]
struct Live(Vec<u64>);

impl Live {
    fn contains(&self, buffer: usize) -> bool {
        self.0[buffer / 64] >> (buffer % 64) & 1 == 1
    }
    fn insert(&mut self, buffer: usize) {
        self.0[buffer / 64] |= 1 << (buffer % 64);
    }
    fn remove(&mut self, buffer: usize) {
        self.0[buffer / 64] &= !(1 << (buffer % 64));
    }
    fn union(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            changed |= *more & !*word != 0;
            *word |= more;
        }
        changed
    }
}

/// Which buffers are read later. A statement that only writes what nobody reads does not read its operands either.
///
/// A buffer is a tensor parameter or what a `let` makes without a tensor operand; other tensors bound by a `let` are views. Writing
/// a buffer does not end the life of what it held: one position may write a part. Parameters are live at the end.
pub struct Liveness<'c> {
    unread: NodeSet<Expr<'c>>,
    dead_writes: NodeSet<Stmt<'c>>,
}

struct Problem<'a, 'c, F> {
    flow: &'a ControlFlow<'c>,
    overwritten: F,
    /// The buffers behind a tensor variable.
    buffers: NodeMap<Expr<'c>, Vec<usize>>,
    /// Those variables, in order.
    bound: Vec<Expr<'c>>,
    allocated: Vec<Expr<'c>>,
    /// Parameters have the first numbers.
    params: usize,
}

fn is_tensor(expr: Expr<'_>) -> bool {
    expr.ty().as_tensor().is_some()
}

impl<'c, F: Fn(Stmt<'c>) -> Option<Expr<'c>>> Problem<'_, 'c, F> {
    fn allocate(&mut self, var: Expr<'c>) {
        self.buffers.insert(var, vec![self.allocated.len()]);
        self.bound.push(var);
        self.allocated.push(var);
    }

    /// The buffers that an expression mentions, with repetitions.
    fn behind(&self, expr: Expr<'c>) -> Vec<usize> {
        if let Some(buffers) = self.buffers.get(&expr) {
            return buffers.clone();
        }
        match expr.kind {
            ExprKind::Var { .. } | ExprKind::Constant(_) | ExprKind::SymbolRef(_) => Vec::new(),
            _ => post_order(&[expr]).iter().filter_map(|e| self.buffers.get(e)).flatten().copied().collect(),
        }
    }

    fn bind(&mut self, stmt: Stmt<'c>) {
        let StmtKind::Let { var, value, .. } = stmt.kind else { return };
        if !is_tensor(var) || self.buffers.contains_key(&var) {
            return;
        }
        let behind = self.behind(value);
        if behind.is_empty() {
            self.allocate(var);
        } else {
            self.buffers.insert(var, behind);
            self.bound.push(var);
        }
    }

    fn is_live(&self, expr: Expr<'c>, live: &Live) -> bool {
        self.behind(expr).into_iter().any(|buffer| live.contains(buffer))
    }

    /// From what is live after a statement to what is before; whether the statement has an effect.
    fn step(&self, stmt: Stmt<'c>, live: &mut Live) -> bool {
        let mut written = None;
        match stmt.kind {
            StmtKind::Let { var, .. } if is_tensor(var) => {
                let behind = self.behind(var);
                if let [buffer] = behind[..]
                    && self.allocated[buffer] == var
                {
                    live.remove(buffer);
                }
                return true;
            }
            StmtKind::Evaluate { .. } => {
                written = (self.overwritten)(stmt);
                let reaches = |buffer: Expr<'c>| !self.behind(buffer).is_empty();
                if written.is_some_and(|buffer| reaches(buffer) && !self.is_live(buffer, live)) {
                    return false;
                }
            }
            _ => {}
        }
        stmt_exprs(stmt, |expr| {
            if Some(expr) != written {
                self.behind(expr).into_iter().for_each(|buffer| live.insert(buffer));
            }
        });
        true
    }
}

impl<'c, F: Fn(Stmt<'c>) -> Option<Expr<'c>>> Analysis<usize> for Problem<'_, 'c, F> {
    type Fact = Live;
    const FLOW: Flow = Flow::Backward;

    fn bottom(&self) -> Live {
        Live(vec![0; self.allocated.len().div_ceil(64)])
    }

    fn boundary(&self, block: usize) -> Option<Live> {
        (block == self.flow.exit()).then(|| {
            let mut live = self.bottom();
            (0..self.params).for_each(|param| live.insert(param));
            live
        })
    }

    fn join(&self, fact: &mut Live, other: &Live) -> bool {
        fact.union(other)
    }

    fn transfer(&self, block: usize, after: &Live) -> Live {
        let mut live = after.clone();
        for &stmt in self.flow.stmts(block).iter().rev() {
            self.step(stmt, &mut live);
        }
        live
    }
}

impl<'c> Liveness<'c> {
    /// Analyses a function. `overwritten` gives the operand that an effect sets without reading it, if that is all it does;
    /// of other effects every operand counts as read.
    #[must_use]
    pub fn new(function: PrimFunction<'c>, overwritten: impl Fn(Stmt<'c>) -> Option<Expr<'c>>) -> Self {
        let flow = &ControlFlow::new(function);
        let (buffers, bound) = (NodeMap::default(), Vec::new());
        let mut problem = Problem { flow, overwritten, buffers, bound, allocated: Vec::new(), params: 0 };
        function.params.iter().filter(|&&param| is_tensor(param)).for_each(|&param| problem.allocate(param));
        problem.params = problem.allocated.len();
        for block in 0..=flow.exit() {
            flow.stmts(block).iter().for_each(|&stmt| problem.bind(stmt));
        }
        let mut ever = problem.bottom();
        let (mut dead, mut effective) = (Vec::new(), NodeSet::default());
        for (block, mut live) in solve(flow, &problem).into_iter().enumerate() {
            ever.union(&live);
            for &stmt in flow.stmts(block).iter().rev() {
                if problem.step(stmt, &mut live) {
                    effective.insert(stmt);
                } else {
                    dead.push(stmt);
                }
                ever.union(&live);
            }
        }
        // A statement may stand in several places.
        let dead_writes = dead.into_iter().filter(|stmt| !effective.contains(stmt)).collect();
        let is_unread = |var: &Expr<'c>| {
            !problem.buffers[var].iter().any(|&buffer| ever.contains(buffer) || buffer < problem.params)
        };
        Self { unread: problem.bound.iter().copied().filter(is_unread).collect(), dead_writes }
    }

    /// Whether no statement with an effect reads a buffer, or a view of one.
    #[must_use]
    pub fn is_unread(&self, var: Expr<'c>) -> bool {
        self.unread.contains(&var)
    }

    /// Whether a statement only writes what nobody reads.
    #[must_use]
    pub fn is_dead(&self, stmt: Stmt<'c>) -> bool {
        self.dead_writes.contains(&stmt)
    }

    /// Whether there is nothing to remove.
    #[must_use]
    pub fn is_tight(&self) -> bool {
        self.unread.is_empty() && self.dead_writes.is_empty()
    }
}
