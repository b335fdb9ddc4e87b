//! The rules of calls, weights and placements in trees of modules.

use crate::common::{context, function, grid, line, mesh, module, prim, tensor, topology, var};
use tf_core::node::constraint::{AxisConstraint, ConstraintData, LayoutConstraint};
use tf_core::node::{Child, FunctionData, GridRegion, ModuleData, PrimFunctionData};
use tf_core::tree::in_context;
use tf_core::{AnyFunction, Arena, Callee, Context, ExprKind, Function, Meta, Module, StmtKind, Target, TargetKind};
use tf_hir::tensor::Zeros;
use tf_transforms::verify;
use tf_types::{DType, DimVar, ShardAttr, Storage, TensorLayout, Topology};

/// All violations, as `line: message`.
fn errors<'c>(cx: &Context<'c>, root: Module<'c>) -> Vec<String> {
    let mut errors = verify::module(root, cx);
    for owner in in_context(root, cx) {
        errors.extend(owner.all_functions().flat_map(|member| verify::function(member, owner, cx)));
    }
    errors.into_iter().map(|error| format!("{}: {}", error.span.map_or(0, |s| s.line.get()), error.message)).collect()
}

/// `x` and a weight `w` to `x`.
fn weighted<'c>(cx: &Context<'c>, name: &str, weight: i64) -> Function<'c> {
    let ty = tensor(cx, &[4], Storage::Gmem);
    let x = var(cx, "x", ty);
    let kind = ExprKind::Var { name: cx.symbol("w"), is_const: true };
    let w = cx.expr(kind, tensor(cx, &[weight], Storage::Gmem), Meta::at(line(cx, 2)));
    cx.function(FunctionData { name: cx.symbol(name), ..*function(cx, &[x, w], x, ty) })
}

/// `f`, which calls a function on its first parameters.
fn caller<'c>(cx: &Context<'c>, callee: Function<'c>, count: usize) -> AnyFunction<'c> {
    let params: Vec<_> =
        callee.params.iter().map(|param| var(cx, param.var_name().unwrap().as_str(), param.ty())).collect();
    let kind = ExprKind::Call { callee: Callee::Function(callee), args: cx.alloc_slice(&params[..count]) };
    let call = cx.expr(kind, callee.return_type, Meta::at(line(cx, 9)));
    AnyFunction::Hir(function(cx, &params, call, callee.return_type))
}

fn child<'c>(cx: &Context<'c>, function: Function<'c>, levels: Option<&[Topology<'c>]>) -> Module<'c> {
    let topologies = levels.map(|levels| cx.topologies(levels));
    let data = ModuleData { name: cx.symbol("c"), topologies, ..*module(cx, &[AnyFunction::Hir(function)]) };
    cx.module(data)
}

fn with_child<'c>(cx: &Context<'c>, functions: &[AnyFunction<'c>], below: Module<'c>) -> Module<'c> {
    let children = cx.alloc_slice(&[Child::One(below)]);
    cx.module(ModuleData { children, ..*module(cx, functions) })
}

#[test]
fn constants_are_left_out_for_direct_children_only() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let g = weighted(cx, "g", 4);
    let below = child(cx, g, None);
    assert!(errors(cx, with_child(cx, &[caller(cx, g, 1)], below)).is_empty());
    assert_eq!(errors(cx, with_child(cx, &[caller(cx, g, 2)], below)), ["9: `g` of `c` takes 1 arguments, found 2"]);
    let own = |count| errors(cx, module(cx, &[AnyFunction::Hir(g), caller(cx, g, count)]));
    assert!(own(2).is_empty());
    assert_eq!(own(1), ["9: `g` of `m` takes 2 arguments, found 1"]);
}

#[test]
fn callees_have_a_module_and_the_levels_of_the_caller() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let g = weighted(cx, "g", 4);
    assert_eq!(errors(cx, module(cx, &[caller(cx, g, 2)])), ["9: `f` calls `g`, which no module of `m` has"]);
    let own = [topology(cx, "cta", 2), topology(cx, "thread", 64)];
    let root = |levels: usize, below| {
        let root = with_child(cx, &[caller(cx, g, 1)], child(cx, g, below));
        errors(cx, cx.module(ModuleData { topologies: Some(cx.topologies(&own[levels..])), ..*root }))
    };
    assert!(root(0, None).is_empty() && root(0, Some(&own)).is_empty());
    assert_eq!(
        root(0, Some(&own[1..])),
        ["9: `f` of `m`, whose levels are cta 2 x thread 64, calls `g` of `c`, whose levels are thread 64"]
    );
    assert!(root(2, Some(&own))[0].starts_with("9: `f` of `m`, whose levels are none, calls "));
}

#[test]
fn a_function_of_a_child_may_have_the_callers_name() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let f = weighted(cx, "f", 4);
    assert!(errors(cx, with_child(cx, &[caller(cx, f, 1)], child(cx, f, None))).is_empty());
}

#[test]
fn a_weight_has_one_type() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let (g, h) = (AnyFunction::Hir(weighted(cx, "g", 4)), AnyFunction::Hir(weighted(cx, "h", 8)));
    let found = errors(cx, module(cx, &[g, h]));
    assert_eq!(found, ["2: the weight `w` of `m` is Tensor[(4,), \"f32\"] and Tensor[(8,), \"f32\"]"]);
}

#[test]
fn meshes_share_out_declared_levels() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let of = |levels: &[(&str, i64)], size: i64, extents: &[i64]| {
        let shape = cx.const_dims(&[8]);
        let mesh = mesh(cx, "thread", size, extents);
        let attrs = vec![ShardAttr::Broadcast; extents.len()];
        let shard = cx.shard_layout(cx.c_order_layout(shape), &attrs, mesh);
        let ty = cx.tensor(shape, DType::F32, Some(TensorLayout::Shard(shard)), Storage::Rmem);
        let x = var(cx, "x", ty);
        let levels: Vec<_> = levels.iter().map(|&(name, size)| topology(cx, name, size)).collect();
        let whole = module(cx, &[AnyFunction::Hir(function(cx, &[x], x, ty))]);
        errors(cx, cx.module(ModuleData { topologies: Some(cx.topologies(&levels)), ..*whole }))
    };
    assert!(of(&[("cta", 1), ("thread", 64)], 64, &[2, 32]).is_empty());
    assert_eq!(
        of(&[("thread", 64)], 64, &[2, 16]),
        ["1: mesh extents (2, 16) multiply to 32 positions, but thread 64 has 64"]
    );
    assert_eq!(
        of(&[("thread", 128)], 64, &[2, 32]),
        ["1: the mesh is over the level thread 64, but the module declares thread 128"]
    );
    assert_eq!(of(&[("cta", 2)], 64, &[64]), ["1: the level `thread` of the mesh is not declared by the module"]);
}

#[test]
fn loop_bounds_come_from_the_parameters() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let n = cx.dim_var(DimVar { name: cx.symbol("n"), lo: 1, hi: 9 });
    let of = |extent| {
        let ty = cx.tensor(&[extent], DType::F32, None, Storage::Gmem);
        let (x, carry) = (var(cx, "x", ty), var(cx, "acc", ty));
        let four = grid(cx, carry, x, carry);
        let ExprKind::Grid(region) = four.kind else { panic!("a loop") };
        let looped = cx.grid(GridRegion { stop: n, ..*region }, ty, four.meta);
        errors(cx, module(cx, &[AnyFunction::Hir(function(cx, &[x], looped, ty))]))
    };
    assert!(of(n).is_empty());
    assert_eq!(of(cx.dim(4)), ["4: dim `n` bounds the loop, but no parameter of `f` has it"]);
}

#[test]
fn dims_of_values_come_from_the_parameters() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let dim = |name| cx.dim_var(DimVar { name: cx.symbol(name), lo: 1, hi: 9 });
    let (n, m) = (dim("n"), dim("m"));
    let of = |extent, constrained: bool| {
        let ty = |extent| cx.tensor(&[extent], DType::F32, None, Storage::Gmem);
        let layout = LayoutConstraint { axes: cx.alloc_slice(&[AxisConstraint::Extent(extent)]), bindings: &[] };
        let constraint = cx.constraint(ConstraintData { layout: Some(layout), mesh: None, storage: None }).unwrap();
        let x = var(cx, "x", ty(cx.dim_mul(n, cx.dim(2))));
        let x = if constrained { x.replace_metadata(cx, constraint) } else { x };
        let zeros = cx.call(Zeros::new(cx, ty(cx.simplify(extent))), &[], Meta::at(line(cx, 7))).unwrap();
        let value = if constrained { x } else { zeros };
        errors(cx, module(cx, &[AnyFunction::Hir(function(cx, &[x], value, value.ty()))]))
    };
    assert!(of(cx.dim_add(n, n), false).is_empty() && of(n, true).is_empty());
    assert_eq!(of(m, false), ["7: dim `m` is in the shape of the value, but no parameter of `f` has it"]);
    assert_eq!(of(m, true), ["1: dim `m` is required by `where(...)`, but no parameter of `f` has it"]);
}

/// The levels of a constraint are those of the module, or where it declares none those of the target.
#[test]
fn constraints_name_declared_levels() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let of = |levels: Option<usize>, level: &str| {
        let ty = tensor(cx, &[4], Storage::Gmem);
        let split = AxisConstraint::Split(None, cx.symbol(level));
        let layout = LayoutConstraint { axes: cx.alloc_slice(&[split]), bindings: &[] };
        let constraint = cx.constraint(ConstraintData { layout: Some(layout), mesh: None, storage: None }).unwrap();
        let x = var(cx, "x", ty).replace_metadata(cx, constraint);
        let whole = module(cx, &[AnyFunction::Hir(function(cx, &[x], x, ty))]);
        let topologies = levels.map(|count| cx.topologies(&[topology(cx, "cta", 4)][..count]));
        errors(cx, cx.module(ModuleData { topologies, ..*whole }))
    };
    let unknown = |level| [format!("1: the constraint names the level `{level}`, which nothing declares")];
    assert!(of(Some(1), "cta").is_empty() && of(None, "thread").is_empty());
    assert_eq!(of(Some(1), "thread"), unknown("thread"));
    assert_eq!(of(Some(0), "cta"), unknown("cta"));
    assert_eq!(of(None, "warp"), unknown("warp"));
}

#[test]
fn constraints_are_for_tensors() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let ty = tensor(cx, &[4], Storage::Gmem);
    let data = ConstraintData { layout: None, mesh: None, storage: Some(Storage::Smem) };
    let constraint = cx.constraint(data).expect("one field");
    let x = var(cx, "x", ty).replace_metadata(cx, constraint);
    let pair = cx.expr(ExprKind::Tuple(cx.alloc_slice(&[x])), cx.tuple(&[ty]), Meta::at(line(cx, 6)));
    let pair = pair.replace_metadata(cx, constraint);
    let [right, wrong] =
        [x, pair].map(|body| errors(cx, module(cx, &[AnyFunction::Hir(function(cx, &[x], body, body.ty()))])));
    assert!(right.is_empty(), "{right:?}");
    assert!(
        wrong.len() == 1 && wrong[0].starts_with("6: a constraint is for a tensor, but the value is "),
        "{wrong:?}"
    );
}

#[test]
fn tir_functions_run_on_known_devices() {
    let arena = Arena::new();
    let cx = &context(&arena);
    let p = prim(cx, &[], cx.stmt(StmtKind::Return, None));
    let target = Target { kind: TargetKind::Cuda, device: cx.symbol("nvidia.h300") };
    let p = cx.prim_function(PrimFunctionData { target, output_count: 0, ..*p });
    let found = errors(cx, module(cx, &[AnyFunction::Tir(p)]));
    assert!(found[0].starts_with("1: unknown device `nvidia.h300`"), "{found:?}");
}
