//! Statements of TIR (spec: tir §1).

use tf_types::{Mesh, Symbol};

use crate::Span;
use crate::node::{Expr, node_handle};
use crate::op::OpInstance;

node_handle! {
    /// A statement.
    Stmt => StmtData
}

/// The data of a [`Stmt`].
#[derive(Clone, Copy)]
pub struct StmtData<'c> {
    /// What it does.
    pub kind: StmtKind<'c>,
    /// Where it comes from; no part of its meaning.
    pub span: Option<Span>,
}

/// The kinds of statements.
#[derive(Clone, Copy)]
pub enum StmtKind<'c> {
    /// In order.
    Sequential(&'c [Stmt<'c>]),
    /// Binds `var` in `body`, which is the rest of the block.
    Let {
        /// A variable bound nowhere else.
        var: Expr<'c>,
        /// Its value: a call of a value op.
        value: Expr<'c>,
        /// The rest of the block.
        body: Stmt<'c>,
    },
    /// `start, start + step, …` while less than `stop`.
    For {
        /// Rank-0 integer variable.
        induction: Expr<'c>,
        /// First index.
        start: Expr<'c>,
        /// Exclusive end.
        stop: Expr<'c>,
        /// Increment.
        step: Expr<'c>,
        /// What is repeated.
        body: Stmt<'c>,
    },
    /// `mesh` is active inside `body`.
    MeshScope {
        /// The positions that run `body`.
        mesh: Mesh<'c>,
        /// Its name.
        binding: Symbol<'c>,
        /// What they run.
        body: Stmt<'c>,
    },
    /// Runs an effect op or a function of the module.
    Evaluate {
        /// What is run.
        callee: TirCallee<'c>,
        /// Operands.
        args: &'c [Expr<'c>],
    },
    /// Ends the function.
    Return,
}

/// What [`StmtKind::Evaluate`] runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum TirCallee<'c> {
    /// An effect op.
    Op(OpInstance<'c>),
    /// A function of the same module.
    Symbol(Symbol<'c>),
}
