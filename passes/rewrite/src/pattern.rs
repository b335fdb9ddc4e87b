//! What a pattern is, and what it works with.

use tf_core::op::{OpInstance, OpName};
use tf_core::{Context, Expr, ExprKind, Literal};

/// What stands at the root of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// A call of that op.
    Op(OpName),
    /// A tuple.
    Tuple,
    /// A loop.
    Grid,
}

/// A rewrite of one kind of expression.
pub trait RewritePattern: Send + Sync {
    /// Its name in messages and statistics, such as `double-negation`.
    fn name(&self) -> &'static str;

    /// What it does.
    fn doc(&self) -> &'static str;

    /// What it looks at.
    fn root(&self) -> Root;

    /// Whether it changes bits of floats.
    fn fast_math(&self) -> bool {
        false
    }

    /// What may stand in the place of `root`, whose operands have been rewritten; `None` if the pattern does not fit. A value of another
    /// type than `root` has is not used.
    fn rewrite<'c>(&self, root: Expr<'c>, rewriter: &Rewriter<'_, 'c>) -> Option<Expr<'c>>;
}

/// Makes the expressions of a rewrite. They have position and name of the expression they replace.
pub struct Rewriter<'a, 'c> {
    /// For anything else.
    pub cx: &'a Context<'c>,
    root: Expr<'c>,
}

impl<'a, 'c> Rewriter<'a, 'c> {
    pub(crate) fn new(cx: &'a Context<'c>, root: Expr<'c>) -> Self {
        Self { cx, root }
    }

    /// The expression that is replaced.
    #[must_use]
    pub fn root(&self) -> Expr<'c> {
        self.root
    }

    /// A call of a value op; `None` if its operands do not fit.
    #[must_use]
    pub fn call(&self, op: OpInstance<'c>, args: &[Expr<'c>]) -> Option<Expr<'c>> {
        self.cx.call(op, args, self.root.source_metadata()).ok()
    }

    /// A literal of the same type as another one.
    #[must_use]
    pub fn literal(&self, value: Literal, like: Expr<'c>) -> Expr<'c> {
        self.cx.expr(ExprKind::Constant(value), like.ty(), self.root.source_metadata())
    }
}

/// A number in a pattern: an integer fits literals of integers, a float those of floats bit for bit, so that `-0.0` is not `0.0`.
pub trait Number: Copy {
    /// Whether a literal is this number.
    fn is(self, literal: Literal) -> bool;
}

impl Number for i64 {
    fn is(self, literal: Literal) -> bool {
        literal == Literal::Int(self)
    }
}

impl Number for f64 {
    fn is(self, literal: Literal) -> bool {
        literal == Literal::Float(self)
    }
}

impl Number for bool {
    fn is(self, literal: Literal) -> bool {
        literal == Literal::Bool(self)
    }
}
