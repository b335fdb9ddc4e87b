//! Arithmetic of floats and of anything.

use tf_core::{Expr, Literal};
use tf_hir::{Binary, Clamp, Relu, Unary};
use tf_rewrite::rewrite;
use tf_types::DType;
use tf_types::kinds::{BinaryKind, UnaryKind};

use super::{catalogue, dtype, is_integer, zeros};

/// Whether `c kind x` is `x kind c` bit for bit: of two nans the first one wins, and of two zeros the second in min and max.
fn commutes(kind: BinaryKind, constant: Expr<'_>) -> bool {
    let (nan, zero) = match constant.literal() {
        Some(Literal::Float(value)) => (value.is_nan(), value == 0.0),
        _ => (false, false),
    };
    match kind {
        BinaryKind::Add | BinaryKind::Mul => !nan,
        BinaryKind::Min | BinaryKind::Max => !nan && !zero,
        BinaryKind::Eq | BinaryKind::Ne | BinaryKind::And | BinaryKind::Or => true,
        _ => false,
    }
}

/// The comparison with its operands exchanged.
fn mirrored(kind: BinaryKind) -> Option<BinaryKind> {
    match kind {
        BinaryKind::Lt => Some(BinaryKind::Gt),
        BinaryKind::Le => Some(BinaryKind::Ge),
        BinaryKind::Gt => Some(BinaryKind::Lt),
        BinaryKind::Ge => Some(BinaryKind::Le),
        _ => None,
    }
}

/// Whether applying the kind again changes nothing.
fn is_idempotent(kind: UnaryKind) -> bool {
    matches!(kind, UnaryKind::Abs | UnaryKind::Relu | UnaryKind::Ceil | UnaryKind::Round)
}

rewrite! {
    /// A literal operand of a commutative op stands on the right.
    pub LiteralRight = "literal-right":
    Binary { kind: kind }(const c, x) if x.literal().is_none() && commutes(kind, c)
        => |rw| rw.call(Binary::new(rw.cx, kind), &[x, c]);

    /// `c < x` is `x > c`.
    pub LiteralRightOfComparison = "literal-right-of-comparison":
    Binary { kind: kind }(const c, x) if x.literal().is_none()
        => |rw| rw.call(Binary::new(rw.cx, mirrored(kind)?), &[x, c]);

    /// `x + -0.0` is `x`; `x + 0.0` is not, where `x` is `-0.0`.
    pub AddNegativeZero = "add-negative-zero":
    Binary { kind: BinaryKind::Add }(x, -0.0) => |_| x;

    /// `x - 0.0` is `x`.
    pub SubZero = "sub-zero":
    Binary { kind: BinaryKind::Sub }(x, 0.0) => |_| x;

    /// `x * 1.0` and `x / 1.0` are `x`.
    pub TimesOne = "times-one":
    Binary { kind: BinaryKind::Mul | BinaryKind::Div }(x, 1.0) => |_| x;

    /// The greater or lesser of `x` and `x` is `x`.
    pub ExtremeOfSame = "extreme-of-same":
    Binary { kind: BinaryKind::Min | BinaryKind::Max }(x, = x) => |_| x;

    /// `-(-x)` is `x`.
    pub DoubleNegation = "double-negation":
    Unary { kind: UnaryKind::Neg }(Unary { kind: UnaryKind::Neg }(x)) => |_| x;

    /// `x + -y` is `x - y`, of floats but for the sign of a nan.
    pub AddNegation = "add-negation":
    Binary { kind: BinaryKind::Add }(x, Unary { kind: UnaryKind::Neg }(y)) if is_integer(y)
        => |rw| rw.call(Binary::new(rw.cx, BinaryKind::Sub), &[x, y]);

    /// `abs(-x)` is `abs(x)`.
    pub AbsOfNegation = "abs-of-negation":
    Unary { kind: UnaryKind::Abs }(Unary { kind: UnaryKind::Neg }(x))
        => |rw| rw.call(Unary::new(rw.cx, UnaryKind::Abs), &[x]);

    /// `abs`, `relu`, `ceil` and `round` change nothing the second time.
    pub RepeatedUnary = "repeated-unary":
    Unary { kind: outer }(x @ Unary { kind: inner }(_)) if outer == inner && is_idempotent(outer) => |_| x;

    /// What `ceil` gives is whole: `round` leaves it, and the other way round.
    pub RoundOfWhole = "round-of-whole":
    Unary { kind: UnaryKind::Ceil | UnaryKind::Round }(x @ Unary { kind: UnaryKind::Ceil | UnaryKind::Round }(_)) => |_| x;

    /// `ceil` and `round` of integers are the identity.
    pub RoundOfInteger = "round-of-integer":
    Unary { kind: UnaryKind::Ceil | UnaryKind::Round }(x) if is_integer(x) => |_| x;

    /// `relu(relu(x))` is `relu(x)`.
    pub RepeatedRelu = "repeated-relu":
    Relu {}(x @ Relu {}(_)) => |_| x;

    /// Clamping again to the same bounds changes nothing.
    pub RepeatedClamp = "repeated-clamp":
    Clamp { min_val: low, max_val: high }(x @ Clamp { min_val: l, max_val: h }(_))
        if (low.to_bits(), high.to_bits()) == (l.to_bits(), h.to_bits()) && low <= high => |_| x;

    /// `x + 0.0` is `x`, but for `-0.0`.
    @fast_math
    pub AddZero = "add-zero":
    Binary { kind: BinaryKind::Add }(x, 0.0) => |_| x;

    /// `x * 0.0` is `0.0`, but for infinity, nan and the sign.
    @fast_math
    pub TimesZero = "times-zero":
    Binary { kind: BinaryKind::Mul }(x, 0.0) => |rw| zeros(rw, x.ty());

    /// `x - x` is `0.0`, but for infinity and nan.
    @fast_math
    pub SubSelf = "sub-self":
    Binary { kind: BinaryKind::Sub }(x, = x) if dtype(x).is_some_and(DType::is_float) => |rw| zeros(rw, x.ty());

    /// `(x + a) + b` is `x + (a + b)`, and so for products: rounding differs.
    @fast_math
    pub JoinFloatLiterals = "join-float-literals":
    Binary { kind: outer @ (BinaryKind::Add | BinaryKind::Mul) }(Binary { kind: inner }(x, const a), const b) if outer == inner
        => |rw| rw.call(Binary::new(rw.cx, outer), &[x, rw.call(Binary::new(rw.cx, outer), &[a, b])?]);

    /// `square(-x)` and `square(abs(x))` are `square(x)`, but for the sign of a nan.
    @fast_math
    pub SquareOfSign = "square-of-sign":
    Unary { kind: UnaryKind::Square }(Unary { kind: UnaryKind::Neg | UnaryKind::Abs }(x))
        => |rw| rw.call(Unary::new(rw.cx, UnaryKind::Square), &[x]);
}

catalogue! {
    LiteralRight, LiteralRightOfComparison, AddNegativeZero, SubZero, TimesOne, ExtremeOfSame, DoubleNegation, AddNegation,
    AbsOfNegation, RepeatedUnary, RoundOfWhole, RoundOfInteger, RepeatedRelu, RepeatedClamp, AddZero, TimesZero, SubSelf,
    JoinFloatLiterals, SquareOfSign,
}
