//! Control flow, the worklist framework and liveness on TIR.

use std::sync::Arc;

use petgraph::algo::dominators::simple_fast;
use petgraph::visit::NodeCount;
use tf_core::node::{PrimFunctionData, TirCallee};
use tf_core::op::OpRegistryBuilder;
use tf_core::{Arena, Context, Expr, ExprKind, Literal, Meta, PrimFunction, Stmt, StmtKind, Target, TargetKind};
use tf_dataflow::{Analysis, ControlFlow, Flow, Liveness, solve};
use tf_types::{DType, Storage};

struct Builder<'a, 'c>(&'a Context<'c>);

impl<'c> Builder<'_, 'c> {
    fn buffer(&self, name: &str) -> Expr<'c> {
        let ty = self.0.tensor(&[self.0.dim(4)], DType::F32, None, Storage::Rmem);
        self.0.var(self.0.symbol(name), ty, Meta::default())
    }
    fn int(&self, value: i64) -> Expr<'c> {
        self.0.constant(Literal::Int(value), DType::I64, Meta::default())
    }
    fn block(&self, stmts: &[Stmt<'c>]) -> Stmt<'c> {
        self.0.stmt(StmtKind::Sequential(self.0.alloc_slice(stmts)), None)
    }
    /// `name(args)`; `set` writes its last operand and reads the others.
    fn run(&self, name: &str, args: &[Expr<'c>]) -> Stmt<'c> {
        let callee = TirCallee::Symbol(self.0.symbol(name));
        self.0.stmt(StmtKind::Evaluate { callee, args: self.0.alloc_slice(args) }, None)
    }
    /// Makes `var` from `parts`: a buffer of its own if there are none.
    fn bind(&self, var: Expr<'c>, parts: &[Expr<'c>], rest: &[Stmt<'c>]) -> Stmt<'c> {
        let value = self.0.expr(ExprKind::Tuple(self.0.alloc_slice(parts)), var.ty(), Meta::default());
        self.0.stmt(StmtKind::Let { var, value, body: self.block(rest) }, None)
    }
    fn repeat(&self, body: Stmt<'c>) -> Stmt<'c> {
        let induction = self.0.var(self.0.symbol("i"), self.0.scalar(DType::I64), Meta::default());
        let [start, stop, step] = [0, 4, 1].map(|n| self.int(n));
        self.0.stmt(StmtKind::For { induction, start, stop, step, body }, None)
    }
    fn choose(&self, then_body: Stmt<'c>, else_body: Stmt<'c>) -> Stmt<'c> {
        let cond = self.0.constant(Literal::Bool(true), DType::Bool, Meta::default());
        self.0.stmt(StmtKind::If { cond, then_body, else_body }, None)
    }
    fn function(&self, params: &[Expr<'c>], body: Stmt<'c>) -> PrimFunction<'c> {
        self.0.prim_function(PrimFunctionData {
            name: self.0.symbol("f"),
            params: self.0.alloc_slice(params),
            body,
            output_count: 1,
            target: Target { kind: TargetKind::Cpu, device: self.0.symbol("") },
            doc: None,
            span: None,
        })
    }
}

fn with(test: impl for<'c> Fn(Builder<'_, 'c>)) {
    let arena = Arena::new();
    let registry = OpRegistryBuilder::default().freeze().unwrap();
    test(Builder(&Context::new(&arena, Arc::new(registry))));
}

fn set<'c>(stmt: Stmt<'c>) -> Option<Expr<'c>> {
    match stmt.kind {
        StmtKind::Evaluate { callee: TirCallee::Symbol(name), args } if name.as_str() == "set" => args.last().copied(),
        _ => None,
    }
}

#[test]
fn loops_and_branches_make_blocks() {
    with(|b| {
        let stmts = [b.run("a", &[]), b.repeat(b.choose(b.run("b", &[]), b.run("c", &[]))), b.run("d", &[])];
        let flow = ControlFlow::new(b.function(&[], b.block(&stmts)));
        // Before the loop, its head, its body up to the `if`, two branches, their join, after the loop, the exit.
        assert_eq!(flow.node_count(), 8);
        assert!(flow.stmts(flow.exit()).is_empty() && flow.stmts(1)[..] == [stmts[1]]);
        let dominators = simple_fast(&flow, flow.entry());
        assert_eq!(dominators.immediate_dominator(5), Some(2), "the join of the branches");
        assert_eq!(dominators.immediate_dominator(6), Some(1), "what follows the loop");
    });
}

#[test]
fn what_follows_a_return_is_not_reached() {
    with(|b| {
        let end = |kind| b.0.stmt(kind, None);
        let stmts = [end(StmtKind::Return), b.run("a", &[])];
        let flow = ControlFlow::new(b.function(&[], b.block(&stmts)));
        let dominators = simple_fast(&flow, flow.entry());
        assert!(dominators.dominators(1).is_none() && dominators.dominators(flow.exit()).is_some());
    });
}

#[test]
fn facts_flow_forward_until_nothing_changes() {
    /// The longest way from the entry to a block, cut at 5.
    struct Longest;
    impl Analysis<usize> for Longest {
        type Fact = u32;
        const FLOW: Flow = Flow::Forward;
        fn bottom(&self) -> u32 {
            0
        }
        fn boundary(&self, _: usize) -> Option<u32> {
            None
        }
        fn join(&self, fact: &mut u32, other: &u32) -> bool {
            let changed = other > fact;
            *fact = (*fact).max(*other);
            changed
        }
        fn transfer(&self, _: usize, fact: &u32) -> u32 {
            (fact + 1).min(5)
        }
    }
    with(|b| {
        let flow = ControlFlow::new(b.function(&[], b.repeat(b.run("a", &[]))));
        assert_eq!(solve(&flow, &Longest), [0, 5, 5, 5, 5]);
    });
}

#[test]
fn buffers_that_only_feed_unread_ones_are_unread() {
    with(|b| {
        let [x, out, a, c, view, used] = ["x", "out", "a", "c", "view", "used"].map(|name| b.buffer(name));
        let to_view = b.run("set", &[a, view]);
        let feeds = b.run("set", &[x, a]);
        let stores = [b.run("set", &[x, used]), b.run("set", &[used, out])];
        let inner = b.bind(used, &[], &[feeds, to_view, stores[0], stores[1]]);
        let body = b.bind(a, &[], &[b.bind(c, &[], &[b.bind(view, &[c], &[inner])])]);
        let live = Liveness::new(b.function(&[x, out], body), set);
        assert!([a, c, view].into_iter().all(|v| live.is_unread(v)) && !live.is_unread(used) && !live.is_unread(out));
        assert!(live.is_dead(feeds) && live.is_dead(to_view) && !stores.into_iter().any(|s| live.is_dead(s)));
    });
}

#[test]
fn a_write_after_the_last_read_is_dead_but_not_in_a_loop() {
    with(|b| {
        let [x, out, a] = ["x", "out", "a"].map(|name| b.buffer(name));
        let round = || [b.run("set", &[a, out]), b.run("set", &[x, a])];
        let straight = round();
        let live = Liveness::new(b.function(&[x, out], b.bind(a, &[], &straight)), set);
        assert!(live.is_dead(straight[1]) && !live.is_dead(straight[0]) && !live.is_unread(a));
        let repeated = round();
        let body = b.bind(a, &[], &[b.repeat(b.block(&repeated))]);
        assert!(Liveness::new(b.function(&[x, out], body), set).is_tight());
    });
}

#[test]
fn reads_in_one_branch_count_and_unknown_effects_read_everything() {
    with(|b| {
        let [x, out, a] = ["x", "out", "a"].map(|name| b.buffer(name));
        let read = b.choose(b.run("set", &[a, out]), b.block(&[]));
        let body = b.bind(a, &[], &[b.run("set", &[x, a]), read]);
        assert!(Liveness::new(b.function(&[x, out], body), set).is_tight());
        let body = b.bind(a, &[], &[b.run("set", &[x, a]), b.run("other", &[a])]);
        assert!(Liveness::new(b.function(&[x, out], body), set).is_tight());
    });
}
