//! Constant propagation: the lattice, loops, statements.

use std::sync::Arc;

use tf_core::node::{GridRegion, PrimFunctionData};
use tf_core::op::{OpRegistryBuilder, OpView};
use tf_core::{Arena, Context, Expr, ExprKind, Literal, Meta, StmtKind, Target, TargetKind};
use tf_dataflow::{Constants, Fact, Fold, Trips, ValueFlow};
use tf_types::{DType, Storage, Type};

/// No op folds: these programs have none.
struct Nothing;

impl<'c> Fold<'c> for Nothing {
    fn fold(&self, _: OpView<'c>, _: Type<'c>, _: &[Fact]) -> Fact {
        Fact::Varying
    }
}

fn with(test: impl for<'c> Fn(&Context<'c>)) {
    let arena = Arena::new();
    test(&Context::new(&arena, Arc::new(OpRegistryBuilder::default().freeze().unwrap())));
}

fn int<'c>(cx: &Context<'c>, value: i64) -> Expr<'c> {
    cx.constant(Literal::Int(value), DType::I64, Meta::default())
}

fn var<'c>(cx: &Context<'c>, name: &str) -> Expr<'c> {
    cx.var(cx.symbol(name), cx.scalar(DType::I64), Meta::default())
}

/// `for i in range(0, stop)` over carries with initial and next values.
fn grid<'c>(cx: &Context<'c>, induction: Expr<'c>, stop: i64, carries: &[(Expr<'c>, Expr<'c>, Expr<'c>)]) -> Expr<'c> {
    let list =
        |f: fn(&(Expr<'c>, Expr<'c>, Expr<'c>)) -> Expr<'c>| cx.alloc_slice(&carries.iter().map(f).collect::<Vec<_>>());
    let (stop, step) = (cx.dim(stop), cx.dim(1));
    let (inits, yields) = (list(|c| c.1), list(|c| c.2));
    let region =
        GridRegion { induction, carries: list(|c| c.0), inits, yields, body: None, start: cx.dim(0), stop, step };
    let types: Vec<_> = carries.iter().map(|c| c.0.ty()).collect();
    cx.grid(region, cx.tuple(&types), Meta::default())
}

fn integers(fact: &Fact) -> Vec<Option<i64>> {
    match fact {
        Fact::Fields(fields) => fields.iter().map(Fact::integer).collect(),
        other => vec![other.integer()],
    }
}

#[test]
fn carries_reach_a_fixed_point() {
    with(|cx| {
        let [a, b, c, i] = ["a", "b", "c", "i"].map(|name| var(cx, name));
        // `a` stays 5; `b` takes the value of `a`, which is the same; `c` takes that of `b` but starts elsewhere.
        let body = grid(cx, i, 4, &[(a, int(cx, 5), a), (b, int(cx, 5), a), (c, int(cx, 6), b)]);
        let constants = Constants::of_values(cx, &[body], &Nothing);
        assert_eq!([a, b, c, i].map(|v| constants.fact(v).integer()), [Some(5), Some(5), None, None]);
        assert_eq!(integers(constants.fact(body)), [Some(5), Some(5), Some(5)]);
    });
}

#[test]
fn loops_that_run_once_or_never() {
    with(|cx| {
        for (stop, index, values) in
            [(0, None, [Some(1), Some(2)]), (1, Some(0), [Some(2), Some(0)]), (2, None, [None, None])]
        {
            let [a, b, i] = ["a", "b", "i"].map(|name| var(cx, name));
            let body = grid(cx, i, stop, &[(a, int(cx, 1), b), (b, int(cx, 2), i)]);
            let constants = Constants::of_values(cx, &[body], &Nothing);
            // A variable that nothing reaches has no fact of its own.
            assert_eq!(constants.fact(i).integer(), index, "{stop}");
            assert_eq!(integers(constants.fact(body)), values, "{stop}");
        }
        assert_eq!(Trips::of(Some(0), Some(9), Some(5)), Trips::Several);
        assert_eq!(Trips::of(Some(4), Some(9), Some(5)), Trips::One(4));
        assert_eq!(Trips::of(Some(i64::MAX - 1), Some(i64::MAX), Some(5)), Trips::One(i64::MAX - 1));
        for bounds in [(-1, 9, 1), (0, -1, 1), (0, 9, 0)] {
            assert_eq!(Trips::of(Some(bounds.0), Some(bounds.1), Some(bounds.2)), Trips::Unknown);
        }
    });
}

#[test]
fn bindings_and_extents_of_statements() {
    with(|cx| {
        let stmt = |kind| cx.stmt(kind, None);
        let ty = cx.tensor(
            &[cx.dim(7), cx.new_dim_var("S", 1, 9).unwrap(), cx.new_dim_var("K", 3, 4).unwrap()],
            DType::F32,
            None,
            Storage::Gmem,
        );
        let param = cx.var(cx.symbol("x"), ty, Meta::default());
        let [seven, symbolic, three] = [0, 1, 2].map(|axis| cx.shape_of(param, axis, Meta::default()).unwrap());
        let [bound, other, once, twice] = ["bound", "other", "once", "twice"].map(|name| var(cx, name));
        let mut body = stmt(StmtKind::Return);
        for (induction, stop) in [(once, seven), (twice, int(cx, 8))] {
            body = stmt(StmtKind::For { induction, start: int(cx, 6), stop, step: int(cx, 1), body });
        }
        for (var, value) in [(bound, seven), (other, symbolic), (var(cx, "three"), three)] {
            body = stmt(StmtKind::Let { var, value, body });
        }
        let function = cx.prim_function(PrimFunctionData {
            name: cx.symbol("f"),
            params: cx.alloc_slice(&[param]),
            body,
            output_count: 0,
            target: Target { kind: TargetKind::Cpu, device: cx.symbol("") },
            doc: None,
            span: None,
        });
        let constants = Constants::of_statements(cx, function, &Nothing);
        let known = [bound, other, once, twice, three].map(|expr| constants.fact(expr).integer());
        assert_eq!(known, [Some(7), None, Some(6), None, Some(3)]);
    });
}

#[test]
fn inputs_come_first() {
    with(|cx| {
        let [a, i] = ["a", "i"].map(|name| var(cx, name));
        let next = cx.expr(ExprKind::Tuple(cx.alloc_slice(&[a, i])), a.ty(), Meta::default());
        let flow = ValueFlow::of_values(&[grid(cx, i, 4, &[(a, int(cx, 1), next)])]);
        for node in 0..flow.len() {
            let later = flow.inputs(node).iter().any(|&input| input as usize > node);
            assert_eq!(later, flow.expr(node) == a);
            assert!(flow.users(node).iter().all(|&user| flow.inputs(user as usize).contains(&(node as u32))));
        }
    });
}
