//! Type inference of functions.

use crate::common::{add, context, function, grid, line, mesh, tensor, var};
use tf_core::node::FunctionData;
use tf_core::{Arena, Callee, Context, ExprKind, Function, Literal, Meta};
use tf_transforms::infer_function;
use tf_types::{DType, ShardAttr, Storage, TensorLayout, Type};

fn errors<'c>(cx: &Context<'c>, function: Function<'c>) -> Vec<String> {
    let errors = infer_function(function, cx).expect_err("the function was accepted");
    errors.into_iter().map(|error| format!("{}: {}", error.span.map_or(0, |s| s.line.get()), error.message)).collect()
}

/// `x` split over a thread mesh, with or without strides.
fn placed<'c>(cx: &Context<'c>, strides: bool) -> Type<'c> {
    let shape = cx.const_dims(&[4, 8]);
    let layout = if strides { cx.c_order_layout(shape) } else { cx.layout(shape, None) };
    let shard = cx.shard_layout(layout, &[ShardAttr::Split(0)], mesh(cx, "thread", 4, &[4]));
    cx.tensor(shape, DType::F32, Some(TensorLayout::Shard(shard)), Storage::Rmem)
}

#[test]
fn right_types_stay_the_same_function() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let ty = tensor(cx, &[2, 3], Storage::Gmem);
    let x = var(cx, "x", ty);
    let carry = var(cx, "acc", ty);
    let f = function(cx, &[x], grid(cx, carry, x, add(cx, carry, x)), ty);
    assert!(infer_function(f, cx) == Ok(f));
}

#[test]
fn every_wrong_type_is_reported_at_its_place() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let ty = tensor(cx, &[2, 3], Storage::Gmem);
    let x = var(cx, "x", ty);
    let sum = add(cx, x, x);
    let wrong = |at| cx.expr(sum.kind, tensor(cx, &[3, 2], Storage::Gmem), Meta::at(line(cx, at)));
    let pair = [wrong(7), wrong(8)];
    let types = pair.map(|e| e.ty());
    let both = cx.expr(ExprKind::Tuple(cx.alloc_slice(&pair)), cx.tuple(&types), Meta::at(line(cx, 9)));
    let found = errors(cx, function(cx, &[x], both, both.ty()));
    assert_eq!(found.len(), 2);
    assert!(found[0].starts_with("7: a result of `tf.binary` is written with type "), "{}", found[0]);
    assert!(found[1].starts_with("8: "), "{}", found[1]);
}

#[test]
fn declared_returns() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let (gmem, rmem) = (tensor(cx, &[2], Storage::Gmem), tensor(cx, &[2], Storage::Rmem));
    let of = |found, declared| {
        let x = var(cx, "x", found);
        infer_function(function(cx, &[x], x, declared), cx).map(drop).map_err(|e| e[0].message.clone())
    };
    assert_eq!(of(rmem, gmem), Ok(()), "global memory is what stands there without a declaration");
    assert!(of(gmem, rmem).unwrap_err().ends_with("the storage differs"));
    assert!(of(gmem, tensor(cx, &[3], Storage::Gmem)).unwrap_err().ends_with("the shape differs"));
    let half = cx.tensor(cx.const_dims(&[2]), DType::F16, None, Storage::Gmem);
    assert!(of(gmem, half).unwrap_err().ends_with("the dtype differs"));
    assert!(of(gmem, cx.tuple(&[gmem])).unwrap_err().ends_with("the form differs"));
    assert!(of(tensor(cx, &[4, 8], Storage::Rmem), placed(cx, true)).unwrap_err().ends_with("the layout differs"));
    assert_eq!(of(placed(cx, true), placed(cx, false)), Ok(()), "strides that are not declared are free");
}

#[test]
fn a_carry_takes_the_layout_of_its_yield_once() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let open = tensor(cx, &[4, 8], Storage::Rmem);
    let (x, init) = (var(cx, "x", placed(cx, true)), var(cx, "z", open));
    let carry = var(cx, "acc", open);
    let before = function(cx, &[x, init], grid(cx, carry, init, add(cx, carry, x)), open);
    let after = infer_function(before, cx).unwrap();
    assert!(after != before);
    assert_eq!(after.body.unwrap().ty(), x.ty());
    let ExprKind::Grid(region) = after.body.unwrap().kind else { panic!("still a loop") };
    assert_eq!((region.carries[0].ty(), region.yields[0].ty()), (x.ty(), x.ty()));
    assert!(infer_function(after, cx) == Ok(after), "idempotent");
}

#[test]
fn carries_that_do_not_agree() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let ty = tensor(cx, &[2], Storage::Gmem);
    let x = var(cx, "x", ty);
    let rows = var(cx, "rows", tensor(cx, &[3], Storage::Gmem));
    let carry = var(cx, "acc", ty);
    let found = errors(cx, function(cx, &[x, rows], grid(cx, carry, x, rows), ty));
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("1: the loop carries `acc` as "), "{}", found[0]);
    let found = errors(cx, function(cx, &[x, rows], grid(cx, carry, rows, x), ty));
    assert!(found[0].contains("but starts with"), "{}", found[0]);
}

#[test]
fn calls_of_functions() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let ty = tensor(cx, &[2], Storage::Gmem);
    let x = var(cx, "x", ty);
    let callee = function(cx, &[x], x, ty);
    let callee = cx.function(FunctionData { name: cx.symbol("callee"), ..*callee });
    let rows = var(cx, "rows", tensor(cx, &[3], Storage::Gmem));
    let node = cx.expr(
        ExprKind::Call { callee: Callee::Function(callee), args: cx.alloc_slice(&[rows]) },
        ty,
        Meta::at(line(cx, 3)),
    );
    let found = errors(cx, function(cx, &[rows], node, ty));
    assert!(found[0].starts_with("3: the parameter `x` of `callee` is "), "{}", found[0]);
    let node = cx.expr(ExprKind::Call { callee: Callee::Function(callee), args: &[] }, ty, Meta::at(line(cx, 3)));
    assert_eq!(errors(cx, function(cx, &[], node, ty)), ["3: `callee` takes 1 argument, found 0"]);
}

#[test]
fn literals() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let of = |literal, dtype| {
        let body = cx.constant(literal, dtype, Meta::default());
        infer_function(function(cx, &[], body, body.ty()), cx).is_ok()
    };
    assert!(
        of(Literal::Int(1), DType::I64) && of(Literal::Float(1.0), DType::BF16) && of(Literal::Bool(true), DType::Bool)
    );
    assert!(
        !of(Literal::Int(1), DType::F32)
            && !of(Literal::Float(1.0), DType::I32)
            && !of(Literal::Bool(true), DType::I32)
    );
}

#[test]
fn long_chains_do_not_need_a_deep_stack() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let ty = tensor(cx, &[2], Storage::Gmem);
    let x = var(cx, "x", ty);
    let mut body = x;
    for _ in 0..200_000 {
        body = add(cx, body, x);
    }
    let f = function(cx, &[x], body, ty);
    assert!(infer_function(f, cx) == Ok(f));
}
