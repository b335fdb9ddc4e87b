//! Statements of TIR.

use tf_types::{Mesh, Symbol};

use crate::Span;
use crate::node::{DimVarRangePat, Expr, Intrinsic};
use crate::op::OpInstance;

tf_types::pointer_handle! {
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
    /// Runs `body` as long as `cond`, evaluated before every round, holds.
    While {
        /// Rank-0 bool.
        cond: Expr<'c>,
        /// What is repeated.
        body: Stmt<'c>,
    },
    /// Runs one of two branches.
    If {
        /// Rank-0 bool.
        cond: Expr<'c>,
        /// Where it holds.
        then_body: Stmt<'c>,
        /// Where it does not; an empty sequence if there is nothing to do.
        else_body: Stmt<'c>,
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
    /// Runs the call of the first case whose range has the subject's value.
    Dispatch {
        /// The function that the cases implement.
        callee: Symbol<'c>,
        /// An extent of a parameter.
        subject: Expr<'c>,
        /// In order: the first match wins.
        cases: &'c [DispatchCase<'c>],
        /// What runs if no case matches: an [`StmtKind::Abort`].
        fallback: Stmt<'c>,
    },
    /// Marks what is never reached: a trap on a device, a failed assertion on the host.
    Abort {
        /// What is said; may be empty.
        message: Symbol<'c>,
    },
    /// Ends the function.
    Return,
}

/// A case of [`StmtKind::Dispatch`].
#[derive(Clone, Copy)]
pub struct DispatchCase<'c> {
    /// The values it is for.
    pub pattern: DimVarRangePat<'c>,
    /// An [`StmtKind::Evaluate`] of a function.
    pub call: Stmt<'c>,
}

impl Stmt<'_> {
    /// What it is, for messages: "a `while` loop".
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self.0.kind {
            StmtKind::Sequential(_) => "a sequence",
            StmtKind::Let { .. } => "a binding",
            StmtKind::For { .. } => "a `for` loop",
            StmtKind::While { .. } => "a `while` loop",
            StmtKind::If { .. } => "an `if`",
            StmtKind::MeshScope { .. } => "a mesh scope",
            StmtKind::Evaluate { callee: TirCallee::Op(_), .. } => "an effect",
            StmtKind::Evaluate { callee: TirCallee::Symbol(_), .. } => "a call",
            StmtKind::Evaluate { callee: TirCallee::Intrinsic(_), .. } => "an intrinsic",
            StmtKind::Dispatch { .. } => "a dispatch",
            StmtKind::Abort { .. } => "an `abort`",
            StmtKind::Return => "a return",
        }
    }
}

/// What [`StmtKind::Evaluate`] runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum TirCallee<'c> {
    /// An effect op.
    Op(OpInstance<'c>),
    /// A function of the same module.
    Symbol(Symbol<'c>),
    /// A statement that an author declares.
    Intrinsic(&'c Intrinsic<'c>),
}
