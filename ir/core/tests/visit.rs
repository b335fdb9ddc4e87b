//! Visitors and rewriters.

use std::sync::Arc;

use tf_core::node::{DispatchCase, FunctionData, GridRegion, PrimFunctionData, TirCallee};
use tf_core::op::OpRegistryBuilder;
use tf_core::visit::{
    BindingSubstitutionCloner, Cloning, ExprCloner, ExprFunctor, ExprVisitor, ExprWalker, StmtMutator, StmtVisitor,
    StmtWalk, Walk, clone_expr, collect_exprs, expr_operands, function_values, rewrite_prim_function, rewrite_stmt,
    rewrite_stmt_exprs, visit_expr, visit_stmt, walk_exprs, walk_prim_function,
};
use tf_core::walk::{rebuild_stmt, rebuild_stmt_exprs, stmt_children, stmt_exprs};
use tf_core::{
    Arena, Callee, Context, Diagnostic, DimVarRangePat, Expr, ExprKind, Literal, Meta, Result, Stmt, StmtKind, Target,
    TargetKind,
};
use tf_types::{DType, MeshLayout, Topology};

fn context(arena: &Arena) -> Context<'_> {
    Context::new(arena, Arc::new(OpRegistryBuilder::default().freeze().unwrap()))
}

fn int<'c>(cx: &Context<'c>, value: i64) -> Expr<'c> {
    cx.constant(Literal::Int(value), DType::I64, Meta::default())
}

fn var<'c>(cx: &Context<'c>, name: &str) -> Expr<'c> {
    cx.var(cx.symbol(name), cx.scalar(DType::I64), Meta::default())
}

/// Of one type whatever its parts are, so that deep graphs have no deep types.
fn tuple<'c>(cx: &Context<'c>, parts: &[Expr<'c>]) -> Expr<'c> {
    cx.expr(ExprKind::Tuple(cx.alloc_slice(parts)), cx.unit(), Meta::default())
}

fn grid<'c>(cx: &Context<'c>, [induction, carry, init, next]: [Expr<'c>; 4]) -> Expr<'c> {
    let region = GridRegion {
        induction,
        carries: cx.alloc_slice(&[carry]),
        inits: cx.alloc_slice(&[init]),
        yields: cx.alloc_slice(&[next]),
        body: None,
        start: cx.dim(0),
        stop: cx.dim(4),
        step: cx.dim(1),
    };
    cx.grid(region, carry.ty(), Meta::default())
}

/// Replaces the literal 1 by 2; counts literals.
struct OneToTwo(usize);
impl<'c> ExprCloner<'c> for OneToTwo {
    fn clone_constant(&mut self, constant: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        self.0 += 1;
        let is_one = constant.literal() == Some(Literal::Int(1));
        Ok(if is_one { int(clone.cx, 2) } else { constant })
    }
    fn clone_tuple(&mut self, old: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let new: Vec<_> = expr_operands(old).into_iter().map(|part| clone.get(part)).collect();
        Ok(if new == expr_operands(old) { old } else { tuple(clone.cx, &new) })
    }
}

#[test]
fn what_does_not_change_stays_and_shared_nodes_stay_shared() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let x = var(cx, "x");
    let same = tuple(cx, &[int(cx, 3), x]);
    let shared = tuple(cx, &[int(cx, 1), x]);
    let root = tuple(cx, &[shared, same, shared]);
    let mut rewriter = OneToTwo(0);
    let new = clone_expr(cx, root, &mut rewriter).unwrap();
    let parts = expr_operands(new);
    assert!(new != root && parts[0] == parts[2] && parts[0] != shared && parts[1] == same);
    assert_eq!(rewriter.0, 2, "each literal once");
    assert_eq!(expr_operands(parts[0])[0].literal(), Some(Literal::Int(2)));
    assert!(clone_expr(cx, new, &mut OneToTwo(0)).unwrap() == new);
}

#[test]
fn a_memo_serves_several_roots_until_it_is_cleared() {
    struct Size;
    impl<'c> ExprVisitor<'c, usize, usize> for Size {
        fn default_visit(&mut self, expr: Expr<'c>, walk: &mut Walk<'c, usize, usize>) -> usize {
            walk.cx += 1;
            walk.visit_operands(self, expr).iter().sum::<usize>() + 1
        }
    }
    let arena = Arena::new();
    let cx = &context(&arena);
    let shared = tuple(cx, &[int(cx, 1)]);
    let root = tuple(cx, &[shared, shared]);
    let mut walk = Walk::new(0);
    assert_eq!(walk.visit(&mut Size, shared), 2);
    assert_eq!(walk.visit(&mut Size, root), 5, "as a tree");
    assert_eq!((walk.cx, walk.get(shared)), (3, Some(&2)));
    walk.clear();
    walk.visit(&mut Size, root);
    assert_eq!(walk.cx, 6);
}

#[test]
fn only_the_root_function_is_entered_unless_told() {
    struct Nothing;
    impl<'c> ExprVisitor<'c> for Nothing {}
    let arena = Arena::new();
    let cx = &context(&arena);
    let function = |name: &str| cx.function(FunctionData::new(cx.symbol(name), &[], int(cx, 1), cx.unit()));
    let (f, g) = (function("f"), function("g"));
    let mut walk: Walk<'_> = Walk::new(());
    assert_eq!(walk.visit_function_body(&mut Nothing, f), Some(()));
    assert_eq!(walk.visit_function_body(&mut Nothing, g), None);
    walk.clear();
    assert_eq!(walk.visit_function_body(&mut Nothing, g), Some(()));
    let mut walk: Walk<'_> = Walk::new(()).with_other_functions();
    assert_eq!(walk.visit_function_body(&mut Nothing, f), Some(()));
    assert_eq!(walk.visit_function_body(&mut Nothing, g), Some(()));
}

#[test]
fn binders_are_no_operands_and_functions_give_parameters_first() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let [x, y, i, acc] = ["x", "y", "i", "acc"].map(|name| var(cx, name));
    let next = tuple(cx, &[acc, i]);
    let root = grid(cx, [i, acc, x, next]);
    assert_eq!(expr_operands(root), [x, next]);
    assert_eq!(collect_exprs(root), [x, acc, i, next, root]);
    let params = cx.alloc_slice(&[y, x]);
    let function = cx.function(FunctionData::new(cx.symbol("f"), params, root, root.ty()));
    assert_eq!(function_values(function), [y, x, acc, i, next, root]);
}

#[test]
fn copies_have_binders_of_their_own() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let [x, i, acc] = ["x", "i", "acc"].map(|name| var(cx, name));
    let looped = grid(cx, [i, acc, x, acc]);
    let argument = int(cx, 7);
    let root = cx.expr(ExprKind::Tuple(cx.alloc_slice(&[looped, looped, x])), cx.unit(), Meta::default());
    let copy = |root| BindingSubstitutionCloner::new(cx, [(x, argument)]).copy(root).unwrap();
    let parts = expr_operands(copy(root));
    assert!(parts[0] == parts[1] && parts[0] != looped && parts[2] == argument);
    let ExprKind::Grid(new) = parts[0].kind else { unreachable!("a loop is copied to a loop") };
    assert!(new.induction != i && new.carries[0] != acc && new.yields == new.carries && new.inits == [argument]);
    let ExprKind::Grid(other) = expr_operands(copy(root))[0].kind else { unreachable!("a loop is copied to a loop") };
    assert!(other.induction != new.induction, "copies are independent");
    assert!(copy(i) == i);
}

#[test]
fn depth_is_no_depth_of_the_stack() {
    struct Depth {
        own_order: bool,
    }
    impl<'c> ExprVisitor<'c, usize> for Depth {
        fn enters(&mut self, _: Expr<'c>, _: &mut Walk<'c, usize>) -> bool {
            !self.own_order
        }
        fn visit_tuple(&mut self, tuple: Expr<'c>, walk: &mut Walk<'c, usize>) -> usize {
            1 + walk.visit_operands(self, tuple).into_iter().max().unwrap_or(0)
        }
    }
    let work = || {
        let arena = Arena::new();
        let cx = &context(&arena);
        let count = 100_000;
        let root = (0..count).fold(int(cx, 1), |value, _| tuple(cx, &[value, value]));
        assert_eq!(visit_expr(&mut Depth { own_order: false }, root), count);
        assert_eq!(visit_expr(&mut Depth { own_order: true }, root), count);
        assert_eq!(collect_exprs(root).len(), count + 1);
        let new = clone_expr(cx, root, &mut OneToTwo(0)).unwrap();
        assert_eq!(visit_expr(&mut Depth { own_order: false }, new), count);
    };
    std::thread::Builder::new().stack_size(512 << 10).spawn(work).unwrap().join().unwrap();
}

#[test]
fn what_is_not_entered_is_left_out() {
    struct Vars;
    impl<'c> ExprVisitor<'c, (), Vec<Expr<'c>>> for Vars {
        fn enters(&mut self, expr: Expr<'c>, _: &mut Walk<'c, (), Vec<Expr<'c>>>) -> bool {
            !matches!(expr.kind, ExprKind::Grid(_))
        }
        fn visit_var(&mut self, var: Expr<'c>, walk: &mut Walk<'c, (), Vec<Expr<'c>>>) {
            walk.cx.push(var);
        }
    }
    let arena = Arena::new();
    let cx = &context(&arena);
    let [x, i, acc] = ["x", "i", "acc"].map(|name| var(cx, name));
    let mut walk = Walk::new(Vec::new());
    walk.visit(&mut Vars, tuple(cx, &[grid(cx, [i, acc, x, acc]), i]));
    assert_eq!(walk.cx, [i]);
}

#[test]
fn dispatch_is_by_kind_with_one_context() {
    /// The names of what it was called for.
    struct Names;
    impl<'c> ExprFunctor<'c, &'static str, usize> for Names {
        fn default_visit(&mut self, _: Expr<'c>, calls: &mut usize) -> &'static str {
            *calls += 1;
            "other"
        }
        fn visit_var(&mut self, _: Expr<'c>, calls: &mut usize) -> &'static str {
            *calls += 10;
            "var"
        }
    }
    let arena = Arena::new();
    let cx = &context(&arena);
    let x = var(cx, "x");
    let mut calls = 0;
    let root = tuple(cx, &[x]);
    assert_eq!([x, root].map(|expr| Names.visit(expr, &mut calls)), ["var", "other"]);
    assert_eq!(calls, 11, "nothing is entered");
}

#[test]
fn children_of_every_kind_of_statement() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let [x, i] = ["x", "i"].map(|name| var(cx, name));
    let [one, two, three] = [1, 2, 3].map(|value| int(cx, value));
    let (a, b, c) =
        (call(cx, "a", &[x]), call(cx, "b", &[]), cx.stmt(StmtKind::Abort { message: cx.symbol("") }, None));
    let topology = Topology { name: cx.symbol("cta"), size: Some(cx.dim(4)) };
    let mesh = cx.mesh(&[topology], MeshLayout::Plain(cx.c_order_layout(&[cx.dim(4)])), &[cx.symbol("b")]);
    let pattern = DimVarRangePat { dim: cx.symbol("S"), lo: 1, hi: 5 };
    let cases = cx.alloc_slice(&[DispatchCase { pattern, call: a }, DispatchCase { pattern, call: b }]);
    let for_kind = StmtKind::For { induction: i, start: one, stop: two, step: three, body: a };
    let rows = [
        (StmtKind::Sequential(cx.alloc_slice(&[a, b])), vec![a, b], vec![]),
        (StmtKind::Let { var: i, value: one, body: a }, vec![a], vec![one]),
        (for_kind, vec![a], vec![one, two, three]),
        (StmtKind::While { cond: x, body: a }, vec![a], vec![x]),
        (StmtKind::If { cond: x, then_body: a, else_body: b }, vec![a, b], vec![x]),
        (StmtKind::MeshScope { mesh, binding: cx.symbol("m"), body: a }, vec![a], vec![]),
        (a.kind, vec![], vec![x]),
        (StmtKind::Dispatch { callee: cx.symbol("f"), subject: x, cases, fallback: c }, vec![a, b, c], vec![x]),
        (c.kind, vec![], vec![]),
        (StmtKind::Return, vec![], vec![]),
    ];
    for (kind, children, exprs) in rows {
        let stmt = cx.stmt(kind, None);
        let (mut found, mut embedded) = (Vec::new(), Vec::new());
        stmt_children(stmt, |child| found.push(child));
        stmt_exprs(stmt, |expr| embedded.push(expr));
        assert!(found == children && embedded == exprs);
        // The rebuild tables follow the child tables.
        assert!(rebuild_stmt(cx, stmt, &children) == stmt);
        let other: Vec<_> = children.iter().map(|_| b).collect();
        let rebuilt = rebuild_stmt(cx, stmt, &other);
        let mut new = Vec::new();
        stmt_children(rebuilt, |child| new.push(child));
        assert!(new == other);
        let rebuilt = rebuild_stmt_exprs(cx, stmt, |_| Ok(three)).unwrap();
        stmt_exprs(rebuilt, |expr| assert!(expr == three));
    }
}

#[test]
fn operands_of_every_kind_of_expression() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let [x, i, acc] = ["x", "i", "acc"].map(|name| var(cx, name));
    let body = tuple(cx, &[acc]);
    let callee = cx.function(FunctionData::new(cx.symbol("f"), cx.alloc_slice(&[x]), body, body.ty()));
    let kind = ExprKind::Call { callee: Callee::Function(callee), args: cx.alloc_slice(&[x]) };
    let function_call = cx.expr(kind, body.ty(), Meta::default());
    let symbol = cx.expr(ExprKind::SymbolRef(cx.symbol("f")), cx.unit(), Meta::default());
    let tensor = cx.tensor(&[cx.dim(4)], DType::F32, None, tf_types::Storage::Gmem);
    let t = cx.var(cx.symbol("t"), tensor, Meta::default());
    let extent = cx.shape_of(t, 0, Meta::default()).unwrap();
    for (expr, want) in [
        (x, vec![]),
        (int(cx, 1), vec![]),
        (symbol, vec![]),
        (extent, vec![t]),
        (tuple(cx, &[x, i]), vec![x, i]),
        (function_call, vec![x]),
        (grid(cx, [i, acc, x, body]), vec![x, body]),
    ] {
        assert_eq!(expr_operands(expr), want);
    }
}

#[test]
fn the_body_of_a_function_is_walked_and_rewritten() {
    struct Kinds(usize);
    impl<'c> StmtVisitor<'c> for Kinds {
        fn generic_visit(&mut self, _: Stmt<'c>, _: &mut StmtWalk<'_, ()>) {
            self.0 += 1;
        }
    }
    let arena = Arena::new();
    let cx = &context(&arena);
    let target = Target { kind: TargetKind::Cpu, device: cx.symbol("") };
    let function = |body| {
        let name = cx.symbol("p");
        cx.prim_function(PrimFunctionData { name, params: &[], body, output_count: 0, target, doc: None, span: None })
    };
    let f = function(block(cx, &[call(cx, "g", &[]), call(cx, "f", &[])]));
    let mut kinds = Kinds(0);
    walk_prim_function(&mut kinds, f);
    assert_eq!(kinds.0, 3, "the body, not the function");
    let new = rewrite_prim_function(&mut WithoutF, f, cx).unwrap();
    assert!(new != f && new.name == f.name && matches!(new.body.kind, StmtKind::Sequential([_])));
    assert!(rewrite_prim_function(&mut WithoutF, new, cx).unwrap() == new);
}

#[test]
fn walkers_see_operands_first() {
    struct List;
    impl<'c> ExprWalker<'c, Vec<Expr<'c>>> for List {
        fn default_visit_leaf(&mut self, expr: Expr<'c>, seen: &mut Vec<Expr<'c>>) {
            assert!(expr_operands(expr).iter().all(|operand| seen.contains(operand)));
            seen.push(expr);
        }
    }
    let arena = Arena::new();
    let cx = &context(&arena);
    let x = var(cx, "x");
    let root = tuple(cx, &[tuple(cx, &[x]), x, int(cx, 1)]);
    assert_eq!(walk_exprs(&mut List, root, Vec::new()), collect_exprs(root));
}

fn call<'c>(cx: &Context<'c>, name: &str, args: &[Expr<'c>]) -> Stmt<'c> {
    let kind = StmtKind::Evaluate { callee: TirCallee::Symbol(cx.symbol(name)), args: cx.alloc_slice(args) };
    cx.stmt(kind, None)
}

fn block<'c>(cx: &Context<'c>, body: &[Stmt<'c>]) -> Stmt<'c> {
    cx.stmt(StmtKind::Sequential(cx.alloc_slice(body)), None)
}

fn repeat<'c>(cx: &Context<'c>, stop: i64, body: Stmt<'c>) -> Stmt<'c> {
    let (start, stop, step) = (int(cx, 0), int(cx, stop), int(cx, 1));
    cx.stmt(StmtKind::For { induction: var(cx, "i"), start, stop, step, body }, None)
}

/// Removes calls of `f`, refuses those of `bad`.
struct WithoutF;
impl<'c> StmtMutator<'c> for WithoutF {
    fn mutate_evaluate(&mut self, stmt: Stmt<'c>, cx: &Context<'c>) -> Result<Stmt<'c>> {
        match stmt.kind {
            StmtKind::Evaluate { callee: TirCallee::Symbol(name), .. } if name.as_str() == "f" => Ok(block(cx, &[])),
            StmtKind::Evaluate { callee: TirCallee::Symbol(name), .. } if name.as_str() == "bad" => {
                Err(Diagnostic::error("refused"))
            }
            _ => Ok(stmt),
        }
    }
}
impl<'c> ExprCloner<'c> for WithoutF {
    fn clone_constant(&mut self, constant: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        OneToTwo(0).clone_constant(constant, clone)
    }
}

#[test]
fn statements_are_rewritten_children_first() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let untouched = repeat(cx, 3, call(cx, "g", &[int(cx, 1)]));
    let root = block(cx, &[untouched, repeat(cx, 3, block(cx, &[call(cx, "f", &[])]))]);
    let new = rewrite_stmt(&mut WithoutF, root, cx).unwrap();
    let StmtKind::Sequential([first, second]) = new.kind else { unreachable!("a block of two") };
    let StmtKind::For { body, .. } = second.kind else { unreachable!("a loop") };
    assert!(*first == untouched && matches!(body.kind, StmtKind::Sequential([])));
    assert!(rewrite_stmt(&mut WithoutF, untouched, cx).unwrap() == untouched);
    let refused = rewrite_stmt(&mut WithoutF, call(cx, "bad", &[]), cx).err();
    assert_eq!(refused.map(|error| error.message).as_deref(), Some("refused"));
}

#[test]
fn expressions_of_statements_are_rewritten_but_not_binders() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let one = int(cx, 1);
    let root = repeat(cx, 1, block(cx, &[call(cx, "g", &[one, one]), call(cx, "f", &[])]));
    let StmtKind::For { induction, .. } = root.kind else { unreachable!("a loop") };
    let new = rewrite_stmt_exprs(&mut WithoutF, root, cx).unwrap();
    let StmtKind::For { induction: same, start, stop, step, body } = new.kind else { unreachable!("a loop") };
    assert!(same == induction);
    assert_eq!([start, stop, step].map(|e| e.literal()), [0, 2, 2].map(|n| Some(Literal::Int(n))));
    let StmtKind::Sequential([inner]) = body.kind else { unreachable!("a block of one") };
    let StmtKind::Evaluate { args: [a, b], .. } = inner.kind else { unreachable!("a call") };
    assert!(a == b && a.literal() == Some(Literal::Int(2)));
    let unchanged = call(cx, "g", &[int(cx, 3)]);
    assert!(rewrite_stmt_exprs(&mut WithoutF, unchanged, cx).unwrap() == unchanged);
}

#[test]
fn results_of_statements_come_from_their_children() {
    /// How deep loops nest, without those that run zero times; the kinds of statements in the order of entering.
    #[derive(Default)]
    struct Nesting(Vec<&'static str>);
    impl<'c> StmtVisitor<'c, usize> for Nesting {
        fn enters(&mut self, stmt: Stmt<'c>) -> bool {
            self.0.push(match stmt.kind {
                StmtKind::For { .. } => "for",
                StmtKind::Sequential(_) => "block",
                _ => "other",
            });
            !matches!(stmt.kind, StmtKind::For { stop, .. } if stop.literal() == Some(Literal::Int(0)))
        }
        fn generic_visit(&mut self, _: Stmt<'c>, walk: &mut StmtWalk<'_, usize>) -> usize {
            walk.children.iter().copied().max().unwrap_or(0)
        }
        fn visit_for(&mut self, stmt: Stmt<'c>, walk: &mut StmtWalk<'_, usize>) -> usize {
            1 + self.generic_visit(stmt, walk)
        }
    }
    let arena = Arena::new();
    let cx = &context(&arena);
    let skipped = repeat(cx, 0, repeat(cx, 9, call(cx, "f", &[])));
    let root = block(cx, &[repeat(cx, 2, repeat(cx, 2, call(cx, "f", &[]))), skipped]);
    let mut visitor = Nesting::default();
    assert_eq!(visit_stmt(&mut visitor, root), 2);
    assert_eq!(visitor.0, ["block", "for", "for", "other", "for"]);
}
