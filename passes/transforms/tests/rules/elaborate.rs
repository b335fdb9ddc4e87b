//! Callees for the types of their arguments.

use crate::common::{add, context, function, grid, line, mesh, module, tensor, var};
use tf_core::node::{FunctionData, ModuleData};
use tf_core::tree::{Replacements, cloned, replaced};
use tf_core::{AnyFunction, Arena, Callee, Context, Expr, ExprKind, Function, Meta, Module};
use tf_hir::math::Unary;
use tf_hir::tensor::Reshape;
use tf_infer::{Mismatch, Refused, Session, infer_function};
use tf_types::kinds::UnaryKind;
use tf_types::{DType, ShardAttr, Storage, TensorLayout, Type};

fn named<'c>(cx: &Context<'c>, name: &str, function: Function<'c>) -> Function<'c> {
    cx.function(FunctionData { name: cx.symbol(name), ..*function })
}

fn call<'c>(cx: &Context<'c>, callee: Function<'c>, args: &[Expr<'c>]) -> Expr<'c> {
    let kind = ExprKind::Call { callee: Callee::Function(callee), args: cx.alloc_slice(args) };
    cx.expr(kind, callee.return_type, Meta::at(line(cx, 9)))
}

fn exp<'c>(cx: &Context<'c>, x: Expr<'c>) -> Expr<'c> {
    cx.call(Unary::new(cx, UnaryKind::Exp), &[x], Meta::at(line(cx, 5))).expect("any float")
}

/// A matrix whose rows are split over four threads.
fn split<'c>(cx: &Context<'c>, shape: &[i64], axis: u32) -> Type<'c> {
    let shape = cx.const_dims(shape);
    let shard = cx.shard_layout(cx.c_order_layout(shape), &[ShardAttr::Split(axis)], mesh(cx, "thread", 4, &[4]));
    cx.tensor(shape, DType::F32, Some(TensorLayout::Shard(shard)), Storage::Rmem)
}

fn elaborated<'c>(
    cx: &Context<'c>,
    session: &mut Session<'c>,
    callee: Function<'c>,
    args: &[Type<'c>],
) -> Function<'c> {
    let made = session.elaborate(cx, callee, args, false);
    made.unwrap_or_else(|refused| match refused {
        Refused::Arguments(mismatch) => panic!("{}", mismatch.message(callee)),
        Refused::Inside(error) => panic!("{}", error.message),
        Refused::Again => panic!("refused before"),
    })
}

fn callee_of(expr: Expr<'_>) -> Function<'_> {
    match expr.kind {
        ExprKind::Call { callee: Callee::Function(callee), .. } => callee,
        _ => panic!("{expr:?} is no call of a function"),
    }
}

#[test]
fn declared_types_give_the_callee_and_equal_types_the_same_instance() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let (ty, placed) = (tensor(cx, &[4, 8], Storage::Gmem), split(cx, &[4, 8], 0));
    let x = var(cx, "x", ty);
    let g = named(cx, "g", function(cx, &[x], exp(cx, x), ty));
    let mut session = Session::default();
    assert!(elaborated(cx, &mut session, g, &[ty]) == g);
    let instance = elaborated(cx, &mut session, g, &[placed]);
    assert!(instance != g && instance == elaborated(cx, &mut session, g, &[placed]));
    assert!(instance == elaborated(cx, &mut session, instance, &[placed]), "the types of the instance itself");
    assert!(g == elaborated(cx, &mut session, instance, &[ty]), "what it was made from");
    assert_eq!((instance.params[0].ty(), instance.return_type), (placed, placed));
    let origin = instance.origin.unwrap();
    assert!(origin.function == Some(g) && origin.dims.is_none() && instance.bound_dims_of().is_none());
    assert!(infer_function(instance, cx) == Ok(instance), "its types are right");
}

#[test]
fn prototypes_are_not_elaborated() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let ty = tensor(cx, &[4, 8], Storage::Gmem);
    let params = cx.alloc_slice(&[var(cx, "x", ty)]);
    let g = cx.function(FunctionData::prototype(cx.symbol("g"), params, ty, &[]));
    assert!(elaborated(cx, &mut Session::default(), g, &[split(cx, &[4, 8], 0)]) == g);
}

#[test]
fn omitted_constants_keep_their_types() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let (ty, placed) = (tensor(cx, &[4, 8], Storage::Gmem), split(cx, &[4, 8], 0));
    let x = var(cx, "x", ty);
    let w = cx.expr(ExprKind::Var { name: cx.symbol("w"), is_const: true }, ty, Meta::default());
    let g = named(cx, "g", function(cx, &[w, x], exp(cx, x), ty));
    let made = Session::default().elaborate(cx, g, &[placed], true).ok().expect("fits");
    assert_eq!([made.params[0].ty(), made.params[1].ty()], [ty, placed]);
    assert!(made.params[0].is_const_param());
    let refused = Session::default().elaborate(cx, g, &[placed], false).expect_err("one argument is missing");
    let Refused::Arguments(mismatch @ Mismatch::Count { wanted: 2, found: 1 }) = refused else { panic!("another one") };
    assert_eq!(mismatch.message(g), "`g` takes 2 arguments, found 1");
}

#[test]
fn what_does_not_bind() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let (plain, placed) = (tensor(cx, &[4, 8], Storage::Gmem), split(cx, &[4, 8], 0));
    let refusal = |parameter, argument| {
        let x = var(cx, "x", parameter);
        let g = named(cx, "g", function(cx, &[x], x, parameter));
        match Session::default().elaborate(cx, g, &[argument], false) {
            Err(Refused::Arguments(mismatch)) => mismatch.message(g),
            _ => panic!("{argument} was bound to {parameter}"),
        }
    };
    let half = cx.tensor(cx.const_dims(&[4, 8]), DType::F16, None, Storage::Gmem);
    assert!(refusal(plain, half).starts_with("the parameter `x` of `g` is "));
    refusal(plain, tensor(cx, &[8, 4], Storage::Gmem));
    // A parameter with a layout, or that is no tensor, takes its own type only.
    refusal(placed, plain);
    refusal(cx.tuple(&[plain]), cx.tuple(&[placed]));
}

#[test]
fn loops_and_callees_take_the_new_types() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let (ty, placed) = (tensor(cx, &[4, 8], Storage::Gmem), split(cx, &[4, 8], 0));
    let x = var(cx, "x", ty);
    let h = named(cx, "h", function(cx, &[x], exp(cx, x), ty));
    let (y, carry) = (var(cx, "y", ty), var(cx, "acc", ty));
    let body = grid(cx, carry, y, call(cx, h, &[carry]));
    let g = named(cx, "g", function(cx, &[y], add(cx, body, call(cx, h, &[y])), ty));
    let instance = elaborated(cx, &mut Session::default(), g, &[placed]);
    let sum = instance.body.unwrap();
    let (looped, called) = (sum.op_call().unwrap().args[0], sum.op_call().unwrap().args[1]);
    let ExprKind::Grid(region) = looped.kind else { panic!("still a loop") };
    assert_eq!([region.carries[0].ty(), region.yields[0].ty(), looped.ty()], [placed; 3]);
    assert!(region.carries[0] != carry, "an instance has variables of its own");
    let inner = callee_of(called);
    assert!(inner == callee_of(region.yields[0]) && inner.origin_of() == Some(h), "one instance for equal types");
    assert!(infer_function(instance, cx) == Ok(instance));
}

#[test]
fn a_layout_that_an_op_cannot_express_is_refused_there() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let (from, to) = (tensor(cx, &[3, 4], Storage::Gmem), tensor(cx, &[2, 6], Storage::Gmem));
    let x = var(cx, "x", from);
    let flat = cx.call(Reshape::new(cx, cx.const_dims(&[2, 6])), &[x], Meta::at(line(cx, 5))).expect("same count");
    let h = named(cx, "h", function(cx, &[x], flat, to));
    let y = var(cx, "y", from);
    let g = named(cx, "g", function(cx, &[y], call(cx, h, &[y]), to));
    let z = var(cx, "z", split(cx, &[3, 4], 1));
    let twice = cx.tuple(&[to, to]);
    let pair = [call(cx, g, &[z]), call(cx, g, &[z])];
    let body = cx.expr(ExprKind::Tuple(cx.alloc_slice(&pair)), twice, Meta::default());
    let errors = infer_function(function(cx, &[z], body, twice), cx).expect_err("3 and 4 do not split so");
    assert_eq!(errors.len(), 1, "the second call says nothing new");
    assert_eq!(errors[0].span, line(cx, 5));
    let labels: Vec<_> = errors[0].labels.iter().map(|(span, text)| (span.line.get(), text.as_str())).collect();
    assert_eq!(labels[labels.len() - 2..], [(9, "in this call of `h`"), (9, "in this call of `g`")]);
}

#[test]
fn depth_of_calls_is_no_depth_of_the_stack() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let (ty, placed) = (tensor(cx, &[4, 8], Storage::Gmem), split(cx, &[4, 8], 0));
    let mut last: Option<Function<'_>> = None;
    for at in 0..15_000 {
        let x = var(cx, "x", ty);
        let body = last.map_or(x, |callee| call(cx, callee, &[x]));
        last = Some(named(cx, &format!("f{at}"), function(cx, &[x], body, ty)));
    }
    let f = elaborated(cx, &mut Session::default(), last.unwrap(), &[placed]);
    assert_eq!(f.return_type, placed);
}

#[test]
fn too_many_instances_are_refused() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let ty = tensor(cx, &[4, 8], Storage::Gmem);
    let mut last: Option<Function<'_>> = None;
    for at in 0..20_100 {
        let x = var(cx, "x", ty);
        let body = last.map_or(x, |callee| call(cx, callee, &[x]));
        last = Some(named(cx, &format!("f{at}"), function(cx, &[x], body, ty)));
    }
    let made = Session::default().elaborate(cx, last.unwrap(), &[split(cx, &[4, 8], 0)], false);
    let Err(Refused::Inside(error)) = made else { panic!("it was made") };
    assert!(error.message.starts_with("calls need more than 20000 instances"), "{}", error.message);
}

/// A module `m` with `g`, and `f` that calls it on a placed parameter, after inference.
fn elaborating<'c>(cx: &Context<'c>) -> (Function<'c>, Module<'c>) {
    let (ty, placed) = (tensor(cx, &[4, 8], Storage::Gmem), split(cx, &[4, 8], 0));
    let x = var(cx, "x", ty);
    let g = named(cx, "g", function(cx, &[x], exp(cx, x), ty));
    let y = var(cx, "y", placed);
    let f = function(cx, &[y], call(cx, g, &[y]), ty);
    let whole = module(cx, &[AnyFunction::Hir(f), AnyFunction::Hir(g)]);
    let typed = infer_function(f, cx).expect("well typed");
    let new = Replacements::from_iter([(AnyFunction::Hir(f), AnyFunction::Hir(typed))]);
    (g, replaced(cx, whole, &new, &Function::callees).expect("well typed"))
}

#[test]
fn an_instance_belongs_to_the_module_of_its_origin() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let (g, whole) = elaborating(cx);
    let [instance] = whole.instances else { panic!("one instance") };
    assert_eq!(instance.name.as_str(), "g$1");
    let AnyFunction::Hir(f) = whole.functions[0] else { panic!("HIR") };
    assert!(callee_of(f.body.unwrap()) == *instance && instance.origin_of() == Some(g));
    // A second look finds nothing to do; a second caller finds the instance.
    assert!(replaced(cx, whole, &Replacements::default(), &Function::callees) == Ok(whole));
    let y = var(cx, "y", f.params[0].ty());
    let h = function(cx, &[y], call(cx, g, &[y]), g.return_type);
    let h = named(cx, "h", infer_function(h, cx).expect("well typed"));
    let functions = [whole.functions, &[AnyFunction::Hir(h)]].concat();
    let more = cx.module(ModuleData { functions: cx.alloc_slice(&functions), ..*whole });
    let more = replaced(cx, more, &Replacements::default(), &Function::callees).expect("well typed");
    let AnyFunction::Hir(h) = more.functions[2] else { panic!("HIR") };
    assert!(more.instances == [*instance] && callee_of(h.body.unwrap()) == *instance);
}

#[test]
fn a_copy_has_instances_of_its_own_functions() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let (_, whole) = elaborating(cx);
    let copy = cloned(cx, whole).expect("well formed");
    let AnyFunction::Hir(g) = copy.functions[1] else { panic!("HIR") };
    assert!(copy.instances[0] != whole.instances[0] && copy.instances[0].origin_of() == Some(g));
}
