//! The rules of `verify`.

use crate::common::{add, context, function, grid, line, mesh, module, prim, tensor, topology, var};
use tf_core::node::{ModuleData, PrimFunctionData, TirCallee};
use tf_core::{AnyFunction, Arena, Context, Expr, Literal, Meta, Module, Stmt, StmtKind, Target, TargetKind};
use tf_tir::memory::alloc_tensor::AllocTensor;
use tf_tir::memory::copy::Copy;
use tf_transforms::verify;
use tf_types::mesh::MeshLayout;
use tf_types::{DType, DimVar, Storage, TensorLayout, Topology};

fn messages<'c>(cx: &Context<'c>, module: Module<'c>) -> Vec<String> {
    let mut errors = verify::module(module, cx);
    for &member in module.functions {
        errors.extend(verify::function(member, module, cx));
    }
    errors.into_iter().map(|error| error.message).collect()
}

fn sequence<'c>(cx: &Context<'c>, body: &[Stmt<'c>]) -> Stmt<'c> {
    cx.stmt(StmtKind::Sequential(cx.alloc_slice(body)), None)
}

fn copy<'c>(cx: &Context<'c>, source: Expr<'c>, target: Expr<'c>) -> Stmt<'c> {
    cx.evaluate(Copy::new(cx), &[source, target], line(cx, 3))
}

#[test]
fn module_rules() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let ty = tensor(cx, &[2], Storage::Gmem);
    let x = var(cx, "x", ty);
    let f = AnyFunction::Hir(function(cx, &[x], x, ty));
    let whole = module(cx, &[f]);
    assert!(messages(cx, whole).is_empty());
    assert_eq!(messages(cx, module(cx, &[f, f])), ["module `m` has two functions `f`"]);
    let other = cx.module(ModuleData { entry: Some(cx.symbol("h")), ..*whole });
    assert_eq!(messages(cx, other), ["module `m` has no function `h` for its entry"]);
    let of = |device: &str, levels: &[(&str, i64)]| {
        let target = Some(Target { kind: TargetKind::Cuda, device: cx.symbol(device) });
        let levels: Vec<_> = levels.iter().map(|&(name, size)| topology(cx, name, size)).collect();
        messages(cx, cx.module(ModuleData { target, topologies: Some(cx.topologies(&levels)), ..*whole }))
    };
    assert!(of("nvidia.h200_sxm", &[("cta", 100_000), ("thread", 1024)]).is_empty());
    assert_eq!(
        of("nvidia.h200_sxm", &[("thread", 2048), ("warp", 4)]),
        [
            "level `thread` has 2048 positions, but `nvidia.h200_sxm` allows at most 1024",
            "`nvidia.h200_sxm` has no level `warp`; it has `cta`, `thread`"
        ]
    );
    assert_eq!(
        of("nvidia.h200_sxm", &[("thread", 32), ("cta", 0)]),
        [
            "level `cta` stands twice or out of order: `cta` is outermost",
            "level `cta` has 0 positions, but needs at least 1"
        ]
    );
    assert!(of("nvidia.h100", &[])[0].starts_with("unknown device `nvidia.h100`; known are "));
}

#[test]
fn hir_functions() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let ty = tensor(cx, &[2], Storage::Gmem);
    let x = var(cx, "x", ty);
    let hir = |f| messages(cx, module(cx, &[AnyFunction::Hir(f)]));
    let free = var(cx, "free", ty);
    assert_eq!(hir(function(cx, &[x], add(cx, x, free), ty)), ["variable `free` is not bound here"]);
    assert_eq!(hir(function(cx, &[x, var(cx, "x", ty)], x, ty)), ["`f` has two parameters `x`"]);
    let umat = var(cx, "u", tensor(cx, &[2], Storage::Umat));
    assert_eq!(hir(function(cx, &[umat], umat, ty)), ["parameter `u` of `f` is in umat, which is no place in memory"]);
    let strided = |shape: [i64; 2], layout: &[i64]| {
        let layout = tf_types::TensorLayout::Plain(cx.c_order_layout(cx.const_dims(layout)));
        cx.tensor(cx.const_dims(&shape), DType::F32, Some(layout), Storage::Gmem)
    };
    let fits = strided([4, 8], &[4, 8]);
    let whole = var(cx, "w", fits);
    assert!(hir(function(cx, &[whole], whole, fits)).is_empty());
    let other = strided([4, 8], &[8, 4]);
    let rows = var(cx, "r", other);
    assert_eq!(hir(function(cx, &[rows], rows, other)), ["the layout (8, 4):(4, 1) does not have the shape (4, 8)"]);
    let sized = |hi| {
        let n = cx.dim_var(DimVar { name: cx.symbol("n"), lo: 1, hi });
        cx.tensor(&[n], DType::F32, None, Storage::Gmem)
    };
    let (a, b) = (var(cx, "a", sized(9)), var(cx, "b", sized(17)));
    assert_eq!(hir(function(cx, &[a, b], a, sized(9))), ["dim `n` of `f` ranges over [1, 9) and over [1, 17)"]);
    let carry = var(cx, "acc", ty);
    let inside = add(cx, carry, x);
    let escaped = add(cx, grid(cx, carry, x, inside), inside);
    assert_eq!(
        hir(function(cx, &[x], escaped, ty)),
        ["the value of `f` uses a value of a loop's body outside the loop"]
    );
    assert!(hir(function(cx, &[x], grid(cx, carry, x, inside), ty)).is_empty());
}

#[test]
fn functions_must_not_call_each_other_in_circles() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let ty = tensor(cx, &[2], Storage::Gmem);
    let x = var(cx, "x", ty);
    let args = cx.alloc_slice(&[x]);
    let calling = |name: &str, callee: &str| {
        let callee = TirCallee::Symbol(cx.symbol(callee));
        let body = cx.stmt(StmtKind::Evaluate { callee, args }, line(cx, 2));
        let function = prim(cx, &[x], body);
        AnyFunction::Tir(cx.prim_function(PrimFunctionData { name: cx.symbol(name), ..*function }))
    };
    assert_eq!(messages(cx, module(cx, &[calling("a", "a")])), ["`a` calls itself"]);
    assert_eq!(messages(cx, module(cx, &[calling("a", "b"), calling("b", "a")])), ["`a`, `b` call each other"]);
    assert_eq!(messages(cx, module(cx, &[calling("a", "b")])), ["there is no TIR function `b`"]);
}

#[test]
fn several_errors_of_one_tir_function() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let ty = tensor(cx, &[4], Storage::Gmem);
    let (x, y) = (var(cx, "x", ty), var(cx, "y", ty));
    let stray = var(cx, "stray", ty);
    let zero = cx.constant(Literal::Int(0), DType::I64, Meta::default());
    let float = cx.constant(Literal::Float(0.5), DType::F32, Meta::default());
    let i = var(cx, "i", cx.scalar(DType::I64));
    let looped = |step, body| cx.stmt(StmtKind::For { induction: i, start: zero, stop: zero, step, body }, line(cx, 4));
    let inner = looped(float, copy(cx, x, stray));
    let body = sequence(cx, &[looped(zero, copy(cx, x, y)), inner]);
    let found = messages(cx, module(cx, &[AnyFunction::Tir(prim(cx, &[x, y], body))]));
    assert_eq!(found.len(), 4, "{found:#?}");
    assert_eq!(found[0], "the step of a loop is 0");
    assert!(found[1].starts_with("the step of a loop is a rank-0 integer, found "), "{}", found[1]);
    assert_eq!(found[2], "variable `i` is bound twice");
    assert_eq!(found[3], "variable `stray` is not bound here");
}

#[test]
fn bindings_and_scopes_of_tir() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let ty = tensor(cx, &[4], Storage::Gmem);
    let (x, y) = (var(cx, "x", ty), var(cx, "y", ty));
    let held = tensor(cx, &[4], Storage::Rmem);
    let alloc = cx.call(AllocTensor::new(cx, held), &[], Meta::at(line(cx, 6))).unwrap();
    let tir = |body| messages(cx, module(cx, &[AnyFunction::Tir(prim(cx, &[x, y], body))]));
    let bind = |var, value, body| cx.stmt(StmtKind::Let { var, value, body }, line(cx, 6));
    let v = var(cx, "v", held);
    let whole = bind(v, alloc, sequence(cx, &[copy(cx, x, v), copy(cx, v, y)]));
    assert!(tir(whole).is_empty(), "{:#?}", tir(whole));
    assert_eq!(tir(copy(cx, x, alloc)), ["`T.alloc_tensor` may only be the value of a binding"]);
    let wrong = bind(var(cx, "w", ty), alloc, sequence(cx, &[]));
    assert!(tir(wrong)[0].starts_with("`w` is "), "{:?}", tir(wrong));
    let after = sequence(cx, &[whole, copy(cx, v, y)]);
    assert_eq!(tir(after), ["variable `v` is not bound here"]);
    assert_eq!(tir(copy(cx, add(cx, x, x), y)), ["`tf.binary` is a HIR op and cannot stand in a TIR function"]);
    let scope = |level, size, extents: &[i64]| {
        let mesh = mesh(cx, level, size, extents);
        tir(cx.stmt(StmtKind::MeshScope { mesh, binding: cx.symbol("m"), body: sequence(cx, &[]) }, line(cx, 2)))
    };
    assert!(scope("thread", 192, &[6, 32]).is_empty());
    assert_eq!(
        scope("thread", 192, &[4, 32]),
        ["mesh extents (4, 32) multiply to 128 positions, but thread 192 has 192"]
    );
    let found = scope("thread", 2048, &[2048]);
    assert_eq!(found, ["level `thread` has 2048 positions, but `nvidia.h200_sxm` allows at most 1024"]);
}

#[test]
fn dims_of_buffers_come_from_parameters_and_levels() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let dim = |name| cx.dim_var(DimVar { name: cx.symbol(name), lo: 1, hi: 9 });
    let (n, m) = (dim("n"), dim("m"));
    let of = |extent, is_level: bool| {
        let x = var(cx, "x", cx.tensor(&[n], DType::F32, None, Storage::Gmem));
        let held = cx.tensor(&[extent], DType::F32, None, Storage::Gmem);
        let value = cx.call(AllocTensor::new(cx, held), &[], Meta::at(line(cx, 6))).unwrap();
        let buffer = StmtKind::Let { var: var(cx, "v", held), value, body: sequence(cx, &[]) };
        let mut body = cx.stmt(buffer, line(cx, 6));
        if is_level {
            let level = Topology { name: cx.symbol("cta"), size: Some(extent) };
            let mesh = cx.mesh(&[level], MeshLayout::Plain(cx.c_order_layout(&[extent])), &[]);
            body = cx.stmt(StmtKind::MeshScope { mesh, binding: cx.symbol("m"), body }, line(cx, 2));
        }
        messages(cx, module(cx, &[AnyFunction::Tir(prim(cx, &[x], body))]))
    };
    assert!(of(n, false).is_empty() && of(m, true).is_empty(), "{:?}", of(m, true));
    assert_eq!(of(m, false), ["dim `m` is in the shape of the buffer, but no parameter of `g` has it"]);
}

#[test]
fn hidden_extents_come_last() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let n = cx.dim_var(DimVar { name: cx.symbol("n"), lo: 1, hi: 9 });
    let x = var(cx, "x", cx.tensor(&[n], DType::F32, None, Storage::Gmem));
    let extent = tf_core::hidden::shape_scalar(cx, x, 0);
    let out = var(cx, "out", x.ty());
    let tir = |params: [_; 3]| {
        let function = AnyFunction::Tir(prim(cx, &params, sequence(cx, &[])));
        verify::function(function, module(cx, &[function]), cx)
    };
    assert!(tir([x, out, extent]).is_empty());
    let errors = tir([x, extent, out]);
    assert_eq!(errors[0].message, "`x_shape_0` is a hidden extent, and an ordinary parameter follows it");
    assert_eq!(errors[0].span, x.span().or(line(cx, 1)));
    assert_eq!(errors[0].help.as_deref(), Some("hidden extents come after all inputs and outputs"));
}

#[test]
fn dims_of_layouts_have_one_range_too() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let n = |hi| cx.dim_var(DimVar { name: cx.symbol("n"), lo: 1, hi });
    let layout = TensorLayout::Plain(cx.layout(&[cx.dim(4)], Some(&[n(17)])));
    let strided = var(cx, "x", cx.tensor(&[cx.dim(4)], DType::F32, Some(layout), Storage::Gmem));
    let sized = var(cx, "y", cx.tensor(&[n(9)], DType::F32, None, Storage::Gmem));
    let f = AnyFunction::Hir(function(cx, &[strided, sized], strided, strided.ty()));
    assert_eq!(messages(cx, module(cx, &[f])), ["dim `n` of `f` ranges over [1, 17) and over [1, 9)"]);
}
