//! Arithmetic of the `dim` dialect on integers, which wraps, and on truth values. `tir` has the same ops.

use tf_core::op::Op;
use tf_core::{Expr, Literal};
use tf_dim::{Add, FloorDiv, LogicalNot, Max, Min, Mod, Mul, Sub};
use tf_rewrite::{Patterns, RewritePattern, Rewriter, Root, rewrite};

use super::{integer, is_integer};

rewrite! {
    /// `x + 0` is `x`.
    pub ScalarAddZero = "scalar-add-zero":
    Add {}(x, 0) => |_| x;

    /// `x - 0` is `x`.
    pub ScalarSubZero = "scalar-sub-zero":
    Sub {}(x, 0) => |_| x;

    /// `x * 1` is `x`.
    pub ScalarTimesOne = "scalar-times-one":
    Mul {}(x, 1) => |_| x;

    /// `x // 1` is `x`.
    pub ScalarOverOne = "scalar-over-one":
    FloorDiv {}(x, 1) => |_| x;

    /// `x - x` is `0`.
    pub ScalarSubSelf = "scalar-sub-self":
    Sub {}(x, = x) if is_integer(x) => |rw| rw.literal(Literal::Int(0), rw.root());

    /// `x * 0` is `0`.
    pub ScalarTimesZero = "scalar-times-zero":
    Mul {}(_, 0) => |rw| rw.literal(Literal::Int(0), rw.root());

    /// `x % 1` is `0`.
    pub ScalarModOne = "scalar-mod-one":
    Mod {}(_, 1) => |rw| rw.literal(Literal::Int(0), rw.root());

    /// The lesser of `x` and `x` is `x`.
    pub ScalarMinOfSame = "scalar-min-of-same":
    Min {}(x, = x) => |_| x;

    /// The greater of `x` and `x` is `x`.
    pub ScalarMaxOfSame = "scalar-max-of-same":
    Max {}(x, = x) => |_| x;

    /// `(x + a) + b` is `x + (a + b)`.
    pub ScalarJoinLiterals = "scalar-join-literals":
    Add {}(Add {}(x, const a), const b)
        => |rw| rw.call(Add::new(rw.cx), &[x, rw.call(Add::new(rw.cx), &[a, b])?]).filter(|_| integer(a).is_some());

    /// `(x * a) * b` is `x * (a * b)`.
    pub ScalarJoinFactors = "scalar-join-factors":
    Mul {}(Mul {}(x, const a), const b)
        => |rw| rw.call(Mul::new(rw.cx), &[x, rw.call(Mul::new(rw.cx), &[a, b])?]).filter(|_| integer(a).is_some());

    /// `x - c` is `x + -c`, so that literals meet.
    pub ScalarSubLiteral = "scalar-sub-literal":
    Sub {}(x, const c) if x.literal().is_none()
        => |rw| {
            let value = integer(c).filter(|&value| value != 0 && value != i64::MIN && value != i64::from(i32::MIN))?;
            rw.call(Add::new(rw.cx), &[x, rw.literal(Literal::Int(-value), c)])
        };

    /// `not not x` is `x`.
    pub ScalarDoubleNot = "scalar-double-not":
    LogicalNot {}(LogicalNot {}(x)) => |_| x;
}

/// A literal operand of a commutative scalar op stands on the right.
#[derive(Clone, Copy, Debug)]
struct ScalarLiteralRight(&'static str, Root);

impl RewritePattern for ScalarLiteralRight {
    fn name(&self) -> &'static str {
        self.0
    }
    fn doc(&self) -> &'static str {
        "An integer literal of a commutative scalar op stands on the right."
    }
    fn root(&self) -> Root {
        self.1
    }
    fn rewrite<'c>(&self, root: Expr<'c>, rewriter: &Rewriter<'_, 'c>) -> Option<Expr<'c>> {
        let call = root.op_call()?;
        let &[constant, x] = call.args else { return None };
        integer(constant)?;
        x.literal().is_none().then(|| rewriter.call(call.op, &[x, constant])).flatten()
    }
}

pub(super) fn register(patterns: &mut Patterns) {
    patterns.add(ScalarAddZero);
    patterns.add(ScalarSubZero);
    patterns.add(ScalarTimesOne);
    patterns.add(ScalarOverOne);
    patterns.add(ScalarSubSelf);
    patterns.add(ScalarTimesZero);
    patterns.add(ScalarModOne);
    patterns.add(ScalarMinOfSame);
    patterns.add(ScalarMaxOfSame);
    patterns.add(ScalarJoinLiterals);
    patterns.add(ScalarJoinFactors);
    patterns.add(ScalarSubLiteral);
    patterns.add(ScalarDoubleNot);
    patterns.add(ScalarLiteralRight("scalar-add-literal-right", Root::Op(Add::DECL.name)));
    patterns.add(ScalarLiteralRight("scalar-mul-literal-right", Root::Op(Mul::DECL.name)));
    patterns.add(ScalarLiteralRight("scalar-min-literal-right", Root::Op(Min::DECL.name)));
    patterns.add(ScalarLiteralRight("scalar-max-literal-right", Root::Op(Max::DECL.name)));
}
