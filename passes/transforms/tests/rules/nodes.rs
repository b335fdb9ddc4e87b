//! The rules of variants, of modules below others, and of statements that choose.

use tf_core::node::{Child, DispatchCase, FunctionData, ModuleData, PrimFunctionData, TirCallee};
use tf_core::tree::in_context;
use tf_core::{
    AnyFunction, Arena, Context, DimVarRangePat, Expr, Function, Literal, Meta, Module, PrimFunction, Stmt, StmtKind,
};
use tf_transforms::verify;
use tf_types::{DType, DimVar, Storage, Type};

use crate::common::{context, function, line, module, prim, topology, var};

fn messages<'c>(cx: &Context<'c>, module: Module<'c>) -> Vec<String> {
    let mut errors = verify::module(module, cx);
    for owner in in_context(module, cx) {
        for member in owner.all_functions() {
            errors.extend(verify::function(member, owner, cx));
        }
    }
    errors.into_iter().map(|error| error.message).collect()
}

/// `[S]`, with `S` in 1..9.
fn rows<'c>(cx: &Context<'c>) -> Type<'c> {
    let s = cx.dim_var(DimVar { name: cx.symbol("S"), lo: 1, hi: 9 });
    cx.tensor(&[s], DType::F32, None, Storage::Gmem)
}

fn variant<'c>(cx: &Context<'c>, lo: i64, hi: i64, body: Option<Expr<'c>>) -> Function<'c> {
    let x = var(cx, "x", rows(cx));
    let range = DimVarRangePat { dim: cx.symbol("S"), lo, hi };
    let data = *function(cx, &[x], body.unwrap_or(x), rows(cx));
    cx.function(FunctionData { specializations: cx.alloc_slice(&[range]), ..data })
}

fn prototype<'c>(cx: &Context<'c>, variants: &[Function<'c>]) -> Module<'c> {
    let params = cx.alloc_slice(&[var(cx, "x", rows(cx))]);
    let data = FunctionData::prototype(cx.symbol("f"), params, rows(cx), cx.alloc_slice(variants));
    module(cx, &[AnyFunction::Hir(cx.function(FunctionData { span: line(cx, 1), ..data }))])
}

#[test]
fn variants() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let whole = [variant(cx, 1, 5, None), variant(cx, 5, 9, None)];
    assert!(messages(cx, prototype(cx, &whole)).is_empty());
    let gap = [variant(cx, 1, 5, None)];
    assert_eq!(messages(cx, prototype(cx, &gap)), ["no variant of `f` is for `S` in [5, 9)"]);
    // The body of a variant is checked as any other.
    let stray = [variant(cx, 1, 9, Some(var(cx, "y", rows(cx))))];
    assert_eq!(messages(cx, prototype(cx, &stray)), ["variable `y` is not bound here"]);
    let lone = module(cx, &[AnyFunction::Hir(whole[0])]);
    assert_eq!(messages(cx, lone), ["`f` is a variant: it belongs to its prototype and is no member of a module"]);
}

#[test]
fn modules_below() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let bad = function(cx, &[var(cx, "x", rows(cx))], var(cx, "y", rows(cx)), rows(cx));
    let child = cx.module(ModuleData {
        name: cx.symbol("c"),
        topologies: Some(cx.topologies(&[topology(cx, "warp", 4)])),
        ..*module(cx, &[AnyFunction::Hir(bad)])
    });
    let root = cx.module(ModuleData { children: cx.alloc_slice(&[Child::One(child)]), ..*module(cx, &[]) });
    let found = messages(cx, root);
    assert!(found[0].contains("has no level `warp`"), "{found:?}");
    assert_eq!(found[1..], ["variable `y` is not bound here"]);
}

fn int<'c>(cx: &Context<'c>, value: i64) -> Expr<'c> {
    cx.constant(Literal::Int(value), DType::I64, Meta::at(line(cx, 2)))
}

fn kernel<'c>(cx: &Context<'c>, name: &str, body: impl FnOnce(Expr<'c>) -> StmtKind<'c>) -> PrimFunction<'c> {
    let x = var(cx, "x", rows(cx));
    let function = prim(cx, &[x], cx.stmt(body(x), line(cx, 2)));
    cx.prim_function(PrimFunctionData { name: cx.symbol(name), ..*function })
}

fn checked<'c>(cx: &Context<'c>, body: impl FnOnce(Expr<'c>) -> StmtKind<'c>) -> Vec<String> {
    let callee = kernel(cx, "callee", |_| StmtKind::Return);
    messages(cx, module(cx, &[AnyFunction::Tir(callee), AnyFunction::Tir(kernel(cx, "g", body))]))
}

#[test]
fn conditions_are_truth_values() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let end = cx.stmt(StmtKind::Return, None);
    let truth = cx.constant(Literal::Bool(true), DType::Bool, Meta::default());
    assert!(checked(cx, |_| StmtKind::While { cond: truth, body: end }).is_empty());
    let message = |what| format!("the condition of a `{what}` is a rank-0 bool, found Tensor[(), \"i64\", \"umat\"]");
    assert_eq!(checked(cx, |_| StmtKind::While { cond: int(cx, 1), body: end }), [message("while")]);
    let either = |cond| StmtKind::If { cond, then_body: end, else_body: end };
    assert!(checked(cx, |_| either(truth)).is_empty());
    assert_eq!(checked(cx, |_| either(int(cx, 1))), [message("if")]);
}

/// A dispatch over `subject` with one case.
fn dispatch<'c>(cx: &Context<'c>, subject: Expr<'c>, call: Stmt<'c>, fallback: Stmt<'c>) -> StmtKind<'c> {
    let pattern = DimVarRangePat { dim: cx.symbol("S"), lo: 1, hi: 9 };
    let cases = cx.alloc_slice(&[DispatchCase { pattern, call }]);
    StmtKind::Dispatch { callee: cx.symbol("f"), subject, cases, fallback }
}

#[test]
fn dispatches() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let abort = cx.stmt(StmtKind::Abort { message: cx.symbol("") }, None);
    let end = cx.stmt(StmtKind::Return, None);
    let extent = |x| cx.shape_of(x, 0, Meta::default()).unwrap();
    let call = |x| {
        let kind = StmtKind::Evaluate { callee: TirCallee::Symbol(cx.symbol("callee")), args: cx.alloc_slice(&[x]) };
        cx.stmt(kind, None)
    };
    assert!(checked(cx, |x| dispatch(cx, extent(x), call(x), abort)).is_empty());
    let found = checked(cx, |x| dispatch(cx, int(cx, 1), call(x), abort));
    assert_eq!(found, ["a dispatch is over an extent of a parameter, found 1"]);
    let found = checked(cx, |x| dispatch(cx, extent(x), end, abort));
    assert_eq!(found, ["a case of a dispatch calls a function, found a return"]);
    let found = checked(cx, |x| dispatch(cx, extent(x), call(x), end));
    assert_eq!(found, ["the fallback of a dispatch aborts, found a return"]);
    let empty = |x| StmtKind::Dispatch { callee: cx.symbol("f"), subject: extent(x), cases: &[], fallback: abort };
    assert_eq!(checked(cx, empty), ["a dispatch has no cases"]);
}
