//! Arithmetic of integers, which wraps.

use tf_core::Literal;
use tf_hir::{Binary, Unary};
use tf_rewrite::rewrite;
use tf_types::kinds::{BinaryKind, UnaryKind};

use super::{catalogue, is_integer, zeros};

/// Whether `(x kind a) kind b` is `x kind (a kind b)`.
fn associates(kind: BinaryKind) -> bool {
    matches!(
        kind,
        BinaryKind::Add | BinaryKind::Mul | BinaryKind::Min | BinaryKind::Max | BinaryKind::And | BinaryKind::Or
    )
}

rewrite! {
    /// `x + 0` and `x - 0` are `x`.
    pub AddIntegerZero = "add-integer-zero":
    Binary { kind: BinaryKind::Add | BinaryKind::Sub }(x, 0) => |_| x;

    /// `x * 1`, `x / 1` and `x // 1` are `x`.
    pub TimesIntegerOne = "times-integer-one":
    Binary { kind: BinaryKind::Mul | BinaryKind::Div | BinaryKind::FloorDiv }(x, 1) => |_| x;

    /// `x * 0` is `0`.
    pub TimesIntegerZero = "times-integer-zero":
    Binary { kind: BinaryKind::Mul }(x, 0) => |rw| zeros(rw, x.ty());

    /// `x % 1` is `0`.
    pub ModOne = "mod-one":
    Binary { kind: BinaryKind::Mod }(x, 1) => |rw| zeros(rw, x.ty());

    /// `x - x` is `0`.
    pub SubIntegerSelf = "sub-integer-self":
    Binary { kind: BinaryKind::Sub }(x, = x) if is_integer(x) => |rw| zeros(rw, x.ty());

    /// `0 - x` is `-x`.
    pub ZeroMinus = "zero-minus":
    Binary { kind: BinaryKind::Sub }(0, x) => |rw| rw.call(Unary::new(rw.cx, UnaryKind::Neg), &[x]);

    /// `(x + a) + b` is `x + (a + b)`, and so for other associative kinds.
    pub JoinLiterals = "join-literals":
    Binary { kind: outer }(Binary { kind: inner }(x, const a), const b)
        if outer == inner && associates(outer) && !matches!(a.literal(), Some(Literal::Float(_)))
        => |rw| rw.call(Binary::new(rw.cx, outer), &[x, rw.call(Binary::new(rw.cx, outer), &[a, b])?]);

    /// `x - c` is `x + -c`, so that literals meet.
    pub SubLiteral = "sub-literal":
    Binary { kind: BinaryKind::Sub }(x, const c) if x.literal().is_none() && is_integer(c)
        => |rw| match c.literal()? {
            Literal::Int(value @ ..=-1) | Literal::Int(value @ 1..) if value != i64::MIN && value != i64::from(i32::MIN) => {
                rw.call(Binary::new(rw.cx, BinaryKind::Add), &[x, rw.literal(Literal::Int(-value), c)])
            }
            _ => None,
        };

    /// `square(-x)` and `square(abs(x))` are `square(x)`.
    pub SquareOfIntegerSign = "square-of-integer-sign":
    Unary { kind: UnaryKind::Square }(Unary { kind: UnaryKind::Neg | UnaryKind::Abs }(x)) if is_integer(x)
        => |rw| rw.call(Unary::new(rw.cx, UnaryKind::Square), &[x]);
}

catalogue! {
    AddIntegerZero, TimesIntegerOne, TimesIntegerZero, ModOne, SubIntegerSelf, ZeroMinus, JoinLiterals, SubLiteral,
    SquareOfIntegerSign,
}
