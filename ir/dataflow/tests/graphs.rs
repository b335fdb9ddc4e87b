//! petgraph's algorithms on our nodes.

use std::sync::Arc;

use petgraph::algo::{has_path_connecting, is_cyclic_directed, toposort};
use petgraph::visit::{Dfs, NodeCount, Reversed};
use tf_core::node::{FunctionData, ModuleData};
use tf_core::op::OpRegistryBuilder;
use tf_core::{AnyFunction, Arena, Callee, Context, Expr, ExprKind, Meta};
use tf_dataflow::{DataflowGraph, call_graph};
use tf_types::DType;

fn context(arena: &Arena) -> Context<'_> {
    Context::new(arena, Arc::new(OpRegistryBuilder::default().freeze().unwrap()))
}

fn pair<'c>(cx: &Context<'c>, a: Expr<'c>, b: Expr<'c>) -> Expr<'c> {
    cx.expr(ExprKind::Tuple(cx.alloc_slice(&[a, b])), cx.tuple(&[a.ty(), b.ty()]), Meta::default())
}

#[test]
fn algorithms_run_on_a_body() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let x = cx.var(cx.symbol("x"), cx.scalar(DType::F32), Meta::default());
    let y = cx.var(cx.symbol("y"), cx.scalar(DType::F32), Meta::default());
    let shared = pair(cx, x, x);
    let left = pair(cx, shared, y);
    let root = pair(cx, left, shared);
    let graph = DataflowGraph::new(&[root]);
    assert_eq!(graph.node_count(), 5);
    assert_eq!(graph.users(x), [shared, shared]);
    assert_eq!(graph.order().last(), Some(&root));
    let order = toposort(&graph, None).ok().unwrap();
    let at = |expr| order.iter().position(|&e| e == expr).unwrap();
    assert!(at(x) < at(shared) && at(shared) < at(left) && at(left) < at(root));
    assert!(!is_cyclic_directed(&graph));
    assert!(has_path_connecting(&graph, x, root, None) && !has_path_connecting(&graph, y, shared, None));
    let reversed = Reversed(&graph);
    let mut search = Dfs::new(reversed, left);
    let mut count = 0;
    while search.next(reversed).is_some() {
        count += 1;
    }
    assert_eq!(count, 4);
}

#[test]
fn callees_come_before_callers() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let ty = cx.scalar(DType::F32);
    let x = cx.var(cx.symbol("x"), ty, Meta::default());
    let params = cx.alloc_slice(&[x]);
    let function = |name: &str, body| cx.function(FunctionData::new(cx.symbol(name), params, body, ty));
    let f = function("f", x);
    let call = cx.expr(ExprKind::Call { callee: Callee::Function(f), args: params }, ty, Meta::default());
    let g = function("g", call);
    let module = cx.module(ModuleData {
        functions: cx.alloc_slice(&[AnyFunction::Hir(g), AnyFunction::Hir(f)]),
        ..ModuleData::new(cx.symbol("m"))
    });
    let order = toposort(&call_graph(module), None).ok().unwrap();
    assert_eq!(order, [1, 0]);
}
