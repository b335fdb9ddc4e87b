//! The normal form of dims: the worked examples and its laws.

use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};
use proptest::{prop_assert, prop_assert_eq};
use tf_types::{Arena, Dim, DimKind, DimOp, DimVar, TypeContext};

fn var<'c>(cx: &TypeContext<'c>, name: &str) -> Dim<'c> {
    let hi = if name == "T" { 9 } else { 1025 };
    cx.dim_var(DimVar { name: cx.symbol(name), lo: 1, hi })
}

/// Builds expressions without folding.
#[derive(Clone, Copy)]
struct Raw<'a, 'c>(&'a TypeContext<'c>);

impl<'c> Raw<'_, 'c> {
    fn int(self, value: i64) -> Dim<'c> {
        self.0.dim(value)
    }
    fn add(self, a: Dim<'c>, b: Dim<'c>) -> Dim<'c> {
        self.0.dim_op(DimOp::Add, a, b)
    }
    fn sub(self, a: Dim<'c>, b: Dim<'c>) -> Dim<'c> {
        self.0.dim_op(DimOp::Sub, a, b)
    }
    fn mul(self, a: Dim<'c>, b: Dim<'c>) -> Dim<'c> {
        self.0.dim_op(DimOp::Mul, a, b)
    }
    fn div(self, a: Dim<'c>, b: Dim<'c>) -> Dim<'c> {
        self.0.dim_op(DimOp::FloorDiv, a, b)
    }
    fn rem(self, a: Dim<'c>, b: Dim<'c>) -> Dim<'c> {
        self.0.dim_op(DimOp::Mod, a, b)
    }
    fn min(self, a: Dim<'c>, b: Dim<'c>) -> Dim<'c> {
        self.0.dim_op(DimOp::Min, a, b)
    }
    fn max(self, a: Dim<'c>, b: Dim<'c>) -> Dim<'c> {
        self.0.dim_op(DimOp::Max, a, b)
    }
}

#[test]
fn worked_examples() {
    let arena = Arena::new();
    let cx = &TypeContext::new(&arena);
    let (r, s, t) = (Raw(cx), var(cx, "S"), var(cx, "T"));
    let n = |value| r.int(value);
    for (row, input, want) in [
        (1, r.add(r.sub(s, n(1)), n(1)), "S"),
        (2, r.add(n(8), s), "S + 8"),
        (3, r.mul(r.mul(s, n(4)), n(2)), "8 * S"),
        (4, r.div(r.sub(r.add(s, n(8)), n(1)), n(8)), "((S - 1) // 8) + 1"),
        (5, r.rem(s, n(4)), "S - (4 * (S // 4))"),
        (6, r.div(r.div(s, n(2)), n(3)), "S // 6"),
        (7, r.add(r.mul(r.div(s, n(8)), n(8)), r.rem(s, n(8))), "S"),
        (8, r.div(r.mul(n(9), s), n(8)), "S + (S // 8)"),
        (9, r.div(r.mul(n(5), s), n(8)), "S + ((-3 * S) // 8)"),
        (10, r.div(r.add(r.mul(n(4), s), n(2)), n(8)), "((2 * S) + 1) // 4"),
        (11, r.rem(r.mul(s, n(8)), n(8)), "0"),
        (12, r.sub(n(5), s), "(0 - S) + 5"),
        (13, r.mul(r.mul(s, t), n(2)), "2 * (S * T)"),
        (14, r.min(n(512), r.div(s, n(4))), "min(512, S // 4)"),
        (15, r.max(s, r.sub(s, n(3))), "S"),
        (16, r.div(s, t), "S // T"),
        (17, r.div(r.rem(s, n(8)), n(2)), "(S // 2) - (4 * (S // 8))"),
        (18, r.div(r.add(s, n(5)), n(8)), "((S - 3) // 8) + 1"),
        (18, r.div(r.add(s, n(4)), n(8)), "(S + 4) // 8"),
        (19, r.div(r.sub(s, n(4)), n(8)), "((S + 4) // 8) - 1"),
        (20, r.add(r.div(s, n(4)), r.div(s, n(2))), "(S // 2) + (S // 4)"),
        (20, r.add(r.mul(n(3), r.div(s, n(4))), t), "T + (3 * (S // 4))"),
    ] {
        let normal = cx.simplify(input);
        assert_eq!(normal.to_string(), want, "row {row}");
        assert_eq!(cx.simplify(normal), normal, "row {row}");
    }
    assert_eq!(cx.ceildiv(s, n(8)).to_string(), "((S - 1) // 8) + 1");
}

#[test]
fn rules() {
    let arena = Arena::new();
    let cx = &TypeContext::new(&arena);
    let (r, s, t) = (Raw(cx), var(cx, "S"), var(cx, "T"));
    let n = |value| r.int(value);
    let text = |dim| cx.simplify(dim).to_string();
    // Division rounds down
    assert_eq!(text(r.div(n(-7), n(2))), "-4");
    assert_eq!(text(r.rem(n(-7), n(2))), "1");
    assert_eq!(text(r.div(n(7), n(-2))), "-4");
    // Operands have one order
    assert_eq!(text(r.add(t, s)), "T + S");
    // Like terms are collected
    assert_eq!(text(r.sub(s, s)), "0");
    assert_eq!(text(r.sub(r.sub(n(0), r.mul(s, n(3))), n(2))), "(-3 * S) - 2");
    // Whole parts leave a floor
    assert_eq!(text(r.div(r.add(r.mul(n(4), s), n(3)), n(8))), "((4 * S) + 3) // 8");
    assert_eq!(text(r.div(r.add(r.mul(n(2), r.div(s, n(2))), n(1)), n(4))), "((2 * (S // 2)) + 1) // 4");
    assert_eq!(text(r.div(r.add(s, r.mul(n(4), r.div(s, n(3)))), n(2))), "(S // 2) + (2 * (S // 3))");
    assert_eq!(text(r.div(r.add(r.mul(n(8), s), n(5)), n(8))), "S");
    // Decided for all integers, also through floors
    assert_eq!(text(r.min(s, r.mul(n(4), r.div(s, n(4))))), "4 * (S // 4)");
    assert_eq!(text(r.max(r.div(r.add(s, n(3)), n(4)), r.div(s, n(4)))), "((S - 1) // 4) + 1");
    // The whole expression stays, as the same object
    for whole in [
        r.add(r.add(r.min(s, t), n(1)), n(1)),
        r.add(r.add(r.div(s, t), n(1)), n(1)),
        r.add(r.rem(s, n(0)), n(0)),
        r.add(s, cx.dim_var(DimVar { name: cx.symbol("S"), lo: 1, hi: 9 })),
    ] {
        assert_eq!(cx.simplify(whole), whole);
    }
    // A remainder is a difference
    assert_eq!(text(r.rem(s, n(2048))), "S - (2048 * (S // 2048))");
    // Linear factors merge around an opaque product
    let st = r.mul(s, t);
    assert_eq!(text(r.sub(r.add(r.mul(n(3), st), n(1)), st)), "(2 * (S * T)) + 1");
    // Beyond 64 bits: unchanged
    let huge = r.mul(n(i64::MAX), n(2));
    assert_eq!(cx.simplify(huge), huge);
}

#[test]
fn extreme_constants_do_not_overflow() {
    let arena = Arena::new();
    let cx = &TypeContext::new(&arena);
    let (r, s) = (Raw(cx), var(cx, "S"));
    let mut dim = r.mul(s, r.int(i64::MIN));
    for _ in 0..4 {
        for next in [r.mul(dim, r.int(i64::MIN)), r.div(dim, r.int(i64::MAX)), r.rem(dim, r.int(i64::MAX))] {
            assert_eq!(cx.simplify(cx.simplify(next)), cx.simplify(next));
            cx.dim_range(next);
        }
        dim = r.mul(r.mul(dim, r.int(i64::MIN)), r.int(2));
        assert_eq!(cx.simplify(dim), dim);
    }
    let mut nested = s;
    for d in 0..60 {
        let modulus = r.int(3 + 2 * (d % 5));
        nested = r.add(r.rem(nested, modulus), r.div(nested, r.int(2)));
        cx.dim_range(nested);
    }
    assert_eq!(cx.simplify(r.sub(nested, nested)).as_const(), Some(0));
}

#[test]
fn shared_nodes_are_visited_once() {
    let arena = Arena::new();
    let cx = &TypeContext::new(&arena);
    let mut dim = var(cx, "S");
    for _ in 0..40 {
        dim = cx.dim_op(DimOp::Add, dim, dim);
    }
    assert_eq!(cx.simplify(dim).to_string(), "1099511627776 * S");
    assert_eq!(cx.dim_range(dim), Some((1 << 40, 1024 * (1 << 40) + 1)));
}

/// An expression without a context.
#[derive(Clone, Debug)]
enum Tree {
    Int(i64),
    Var(u8),
    Op(DimOp, Box<Tree>, Box<Tree>),
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![(-20i64..20).prop_map(Tree::Int), (0u8..3).prop_map(Tree::Var)];
    leaf.prop_recursive(5, 24, 2, |inner| {
        let positive = (1i64..9).prop_map(Tree::Int).boxed();
        let any_op = prop_oneof![Just(DimOp::Add), Just(DimOp::Sub), Just(DimOp::Add)];
        let division = prop_oneof![Just(DimOp::FloorDiv), Just(DimOp::Mod)];
        let rare = prop_oneof![Just(DimOp::Min), Just(DimOp::Max), Just(DimOp::Mul)];
        let node = |op, a, b| Tree::Op(op, Box::new(a), Box::new(b));
        prop_oneof![
            4 => (any_op, inner.clone(), inner.clone()).prop_map(move |(op, a, b)| node(op, a, b)),
            4 => (division, inner.clone(), positive.clone()).prop_map(move |(op, a, b)| node(op, a, b)),
            2 => (inner.clone(), positive).prop_map(move |(a, b)| node(DimOp::Mul, a, b)),
            1 => (rare, inner.clone(), inner).prop_map(move |(op, a, b)| node(op, a, b)),
        ]
    })
}

const NAMES: [&str; 3] = ["S", "T", "U"];

fn build<'c>(cx: &TypeContext<'c>, tree: &Tree) -> Dim<'c> {
    match tree {
        Tree::Int(value) => cx.dim(*value),
        Tree::Var(index) => var(cx, NAMES[usize::from(*index)]),
        Tree::Op(op, a, b) => cx.dim_op(*op, build(cx, a), build(cx, b)),
    }
}

fn evaluate(dim: Dim<'_>, point: [i64; 3]) -> i128 {
    match *dim.data() {
        DimKind::Const(value) => value.into(),
        DimKind::Var(var) => point[NAMES.iter().position(|&n| n == var.name.as_str()).unwrap()].into(),
        DimKind::Op(op, a, b) => {
            let (a, b) = (evaluate(a, point), evaluate(b, point));
            match op {
                DimOp::Add => a + b,
                DimOp::Sub => a - b,
                DimOp::Mul => a * b,
                DimOp::FloorDiv => a.div_euclid(b),
                DimOp::Mod => a.rem_euclid(b),
                DimOp::Min => a.min(b),
                DimOp::Max => a.max(b),
            }
        }
    }
}

fn points() -> impl Strategy<Value = Vec<[i64; 3]>> {
    prop::collection::vec([1i64..1025, 1i64..9, 1i64..1025], 200)
}

proptest! {
    #[test]
    fn normal_form_is_idempotent_and_equal_everywhere(tree in tree(), points in points(), offset in any::<i16>()) {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let dim = build(cx, &tree);
        let normal = cx.simplify(dim);
        prop_assert_eq!(cx.simplify(normal), normal);
        for point in points {
            prop_assert_eq!(evaluate(dim, point), evaluate(normal, point));
            // Not only in the bounds of the variables.
            let shifted = point.map(|v| v + i64::from(offset));
            prop_assert_eq!(evaluate(dim, shifted), evaluate(normal, shifted));
        }
    }

    #[test]
    fn range_contains_every_value(tree in tree(), points in points()) {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let dim = build(cx, &tree);
        if let Some((lo, hi)) = cx.dim_range(dim) {
            for point in points {
                let value = evaluate(dim, point);
                prop_assert!((i128::from(lo)..i128::from(hi)).contains(&value), "{} not in [{}, {})", value, lo, hi);
            }
        }
    }

    #[test]
    fn range_is_exact_for_one_floor_form(a in -9i64..9, c in -9i64..9, k in -20i64..20, d in 1i64..12, m in 1i64..12) {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let (r, s) = (Raw(cx), var(cx, "S"));
        let floor = r.div(r.add(r.mul(r.int(a), s), r.int(k)), r.int(d));
        let dim = r.add(floor, r.mul(r.int(c), r.rem(s, r.int(m))));
        let values = (1..1025).map(|v| evaluate(dim, [v, 1, 1]));
        let want = (values.clone().min().unwrap(), values.max().unwrap() + 1);
        let have = cx.dim_range(dim).map(|(lo, hi)| (i128::from(lo), i128::from(hi)));
        prop_assert_eq!(have, Some(want));
    }

    #[test]
    fn substitution_agrees_with_evaluation(tree in tree(), point in [1i64..1025, 1i64..9, 1i64..1025]) {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let dim = build(cx, &tree);
        let bindings: Vec<_> = NAMES.iter().zip(point).map(|(name, v)| (cx.symbol(name), cx.dim(v))).collect();
        let value = cx.substitute_dim(dim, &bindings).unwrap();
        prop_assert_eq!(value.as_const().map(i128::from), Some(evaluate(dim, point)));
    }
}
