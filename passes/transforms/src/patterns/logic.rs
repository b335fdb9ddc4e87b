//! Truth values, comparisons and selection.

use tf_hir::{Binary, Unary, Where};
use tf_rewrite::rewrite;
use tf_types::kinds::{BinaryKind, UnaryKind};

use super::{catalogue, is_integer, zeros};

/// The comparison that holds where this one does not; of floats only for equality, since nan is in no order.
fn negated(kind: BinaryKind, ordered: bool) -> Option<BinaryKind> {
    Some(match kind {
        BinaryKind::Eq => BinaryKind::Ne,
        BinaryKind::Ne => BinaryKind::Eq,
        BinaryKind::Lt if ordered => BinaryKind::Ge,
        BinaryKind::Ge if ordered => BinaryKind::Lt,
        BinaryKind::Gt if ordered => BinaryKind::Le,
        BinaryKind::Le if ordered => BinaryKind::Gt,
        _ => return None,
    })
}

rewrite! {
    /// `not not x` is `x`.
    pub DoubleNot = "double-not":
    Unary { kind: UnaryKind::Not }(Unary { kind: UnaryKind::Not }(x)) => |_| x;

    /// `not (a < b)` is `a >= b`, of integers; `not (a == b)` is `a != b`.
    pub NotOfComparison = "not-of-comparison":
    Unary { kind: UnaryKind::Not }(Binary { kind: kind }(a, b))
        => |rw| rw.call(Binary::new(rw.cx, negated(kind, is_integer(a))?), &[a, b]);

    /// `x and x` and `x or x` are `x`.
    pub LogicOfSame = "logic-of-same":
    Binary { kind: BinaryKind::And | BinaryKind::Or }(x, = x) => |_| x;

    /// `x and true` is `x`.
    pub AndTrue = "and-true":
    Binary { kind: BinaryKind::And }(x, true) => |_| x;

    /// `x or false` is `x`.
    pub OrFalse = "or-false":
    Binary { kind: BinaryKind::Or }(x, false) => |_| x;

    /// `x and false` is `false`.
    pub AndFalse = "and-false":
    Binary { kind: BinaryKind::And }(x, false) => |rw| zeros(rw, x.ty());

    /// No integer is less or greater than itself, or different from it.
    pub CompareWithSelf = "compare-with-self":
    Binary { kind: BinaryKind::Lt | BinaryKind::Gt | BinaryKind::Ne }(x, = x) if is_integer(x)
        => |rw| zeros(rw, rw.root().ty());

    /// `where(true, a, b)` is `a`.
    pub WhereTrue = "where-true":
    Where {}(true, a, _) => |_| a;

    /// `where(false, a, b)` is `b`.
    pub WhereFalse = "where-false":
    Where {}(false, _, b) => |_| b;

    /// `where(c, a, a)` is `a`.
    pub WhereSame = "where-same":
    Where {}(_, a, = a) => |_| a;

    /// `where(not c, a, b)` is `where(c, b, a)`.
    pub WhereNot = "where-not":
    Where {}(Unary { kind: UnaryKind::Not }(c), a, b) => |rw| rw.call(Where::new(rw.cx), &[c, b, a]);
}

catalogue! {
    DoubleNot, NotOfComparison, LogicOfSame, AndTrue, OrFalse, AndFalse, CompareWithSelf, WhereTrue, WhereFalse, WhereSame,
    WhereNot,
}
