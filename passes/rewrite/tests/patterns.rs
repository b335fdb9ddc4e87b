//! The macro's operands, and the driver.

use std::sync::Arc;

use tf_core::node::Meta;
use tf_core::visit::clone_expr;
use tf_core::{Arena, Context, Expr, Literal, Result};
use tf_hir::{Binary, Concat, Unary};
use tf_rewrite::{Greedy, Patterns, RewritePattern, rewrite};
use tf_types::kinds::{BinaryKind, UnaryKind};
use tf_types::{DType, Storage};
use tf_value::DialectBuilder;

rewrite! {
    /// `-(-x)` is `x`.
    pub DoubleNegation = "double-negation":
    Unary { kind: UnaryKind::Neg }(Unary { kind: UnaryKind::Neg }(x)) => |_| x;

    /// `x - x` is `-x + x`.
    pub OfItself = "of-itself":
    Binary { kind: BinaryKind::Sub }(x, = x)
        => |rw| rw.call(Binary::new(rw.cx, BinaryKind::Add), &[rw.call(Unary::new(rw.cx, UnaryKind::Neg), &[x])?, x]);

    /// `x + -0.0` is `x`.
    pub AddZero = "add-zero":
    Binary { kind: BinaryKind::Add }(x, -0.0) => |_| x;

    /// `c * x` is `x * c`.
    pub ConstantRight = "constant-right":
    Binary { kind: k @ (BinaryKind::Mul | BinaryKind::Add) }(const c, x) if x.literal().is_none()
        => |rw| rw.call(Binary::new(rw.cx, k), &[x, c]);

    /// One input is its concatenation.
    pub ConcatOfOne = "concat-of-one":
    Concat {}(x) => |_| x;

    /// `a - b` is `b - a`, which is wrong.
    @fast_math
    pub Swap = "swap":
    Binary { kind: BinaryKind::Sub }(a, b) => |rw| rw.call(Binary::new(rw.cx, BinaryKind::Sub), &[b, a]);
}

fn with(test: impl for<'c> Fn(&Context<'c>, &Patterns)) {
    let mut dialects = DialectBuilder::default();
    tf_hir::register(&mut dialects);
    let (ops, _) = dialects.freeze().unwrap();
    let arena = Arena::new();
    let mut patterns = Patterns::default();
    patterns.add(DoubleNegation);
    patterns.add(OfItself);
    patterns.add(AddZero);
    patterns.add(ConstantRight);
    patterns.add(ConcatOfOne);
    patterns.add(Swap);
    assert!(patterns.mistakes().is_empty() && patterns.iter().count() == 6);
    test(&Context::new(&arena, Arc::clone(&ops)), &patterns);
}

fn var<'c>(cx: &Context<'c>, name: &str) -> Expr<'c> {
    cx.var(cx.symbol(name), cx.tensor(&[cx.dim(4)], DType::F32, None, Storage::Gmem), Meta::default())
}

fn run<'c>(
    cx: &Context<'c>,
    patterns: &Patterns,
    root: Expr<'c>,
    fast_math: bool,
) -> (Result<Expr<'c>>, Vec<&'static str>) {
    let mut greedy = Greedy::new(patterns, fast_math, &|_| None);
    let new = clone_expr(cx, root, &mut greedy);
    (new, greedy.applied.iter().filter_map(|applied| applied.pattern).collect())
}

#[test]
fn operands_of_all_kinds() {
    with(|cx, patterns| {
        let x = var(cx, "x");
        let unary = |kind, x| cx.call(Unary::new(cx, kind), &[x], Meta::default()).unwrap();
        let binary = |kind, a, b| cx.call(Binary::new(cx, kind), &[a, b], Meta::default()).unwrap();
        let float = |value| cx.constant(Literal::Float(value), DType::F32, Meta::default());
        let neg = |x| unary(UnaryKind::Neg, x);
        assert_eq!(run(cx, patterns, neg(neg(neg(neg(x)))), false).0.unwrap(), x);
        // The rewritten operand of a constant moves on; what it gives is rewritten again.
        let zero = float(-0.0);
        let (new, names) = run(cx, patterns, binary(BinaryKind::Add, zero, neg(neg(x))), false);
        assert_eq!((new.unwrap(), &names[..]), (x, &["double-negation", "constant-right", "add-zero"][..]));
        let (new, names) = run(cx, patterns, binary(BinaryKind::Add, float(0.0), x), false);
        assert_eq!((new.unwrap().as_op::<Binary>().unwrap().lhs(), &names[..]), (x, &["constant-right"][..]));
        let (new, names) = run(cx, patterns, binary(BinaryKind::Sub, neg(neg(x)), x), false);
        assert_eq!((new.unwrap().as_op::<Binary>().unwrap().kind(), names.len()), (BinaryKind::Add, 2));
        let concat = |parts: &[_]| cx.call(Concat::new(cx, 0), parts, Meta::default()).unwrap();
        let one = concat(&[x]);
        assert_eq!(run(cx, patterns, concat(&[one]), false).0.unwrap(), one);
        // The layout of `x` is another one than that of the result.
        assert_eq!(run(cx, patterns, one, false).0.unwrap(), one);
        let two = concat(&[x, x]);
        assert_eq!(run(cx, patterns, two, false).0.unwrap(), two);
    });
}

#[test]
fn patterns_without_end_are_named() {
    with(|cx, patterns| {
        let (x, y) = (var(cx, "x"), var(cx, "y"));
        let root = cx.call(Binary::new(cx, BinaryKind::Sub), &[x, y], Meta::default()).unwrap();
        assert_eq!(run(cx, patterns, root, false).0.unwrap(), root);
        let error = run(cx, patterns, root, true).0.unwrap_err();
        assert_eq!(error.message, "pattern `swap` rewrites the same expression without end");
        assert!(error.help.is_some());
    });
}

#[test]
fn two_patterns_of_one_name() {
    let mut patterns = Patterns::default();
    patterns.add(AddZero);
    patterns.add(AddZero);
    assert_eq!(patterns.mistakes(), ["pattern `add-zero` is registered twice"]);
    assert_eq!(AddZero.doc(), "`x + -0.0` is `x`.");
}

#[test]
fn long_chains_are_rewritten_once() {
    with(|cx, patterns| {
        let x = var(cx, "x");
        let zero = cx.constant(Literal::Float(-0.0), DType::F32, Meta::default());
        let add = |x, _| cx.call(Binary::new(cx, BinaryKind::Add), &[zero, x], Meta::default()).unwrap();
        let (new, names) = run(cx, patterns, (0..100_000).fold(x, add), false);
        assert_eq!((new.unwrap(), names.len()), (x, 200_000));
    });
}
