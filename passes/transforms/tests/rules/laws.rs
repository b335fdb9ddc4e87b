//! Laws of type inference and elaboration, on random functions of all HIR ops.

use crate::common::context;
use tf_core::equal::structurally_equal;
use tf_core::node::{FunctionData, ModuleData};
use tf_core::special::specialize_function;
use tf_core::visit::{Cloning, ExprCloner, clone_expr};
use tf_core::walk::post_order;
use tf_core::{AnyFunction, Arena, Context, Expr, ExprKind, Function, Meta, Module};
use tf_infer::{Session, declared, infer_function};
use tf_testing::{Options, Rng, random_module};
use tf_types::{Storage, Symbol, TensorLayout, TensorType, Type};

const CASES: u64 = 600;
/// Cases of one arena.
const BATCH: u64 = 50;

/// Another type that the parameter may be bound to, mostly.
fn other<'c>(cx: &Context<'c>, rng: &mut Rng, ty: Type<'c>) -> Type<'c> {
    let Some(tensor) = ty.as_tensor().filter(|tensor| tensor.layout.is_none() && tensor.rank() > 0) else { return ty };
    let layout = match rng.below(3) {
        0 => None,
        1 => Some(TensorLayout::Plain(cx.c_order_layout(tensor.shape))),
        _ => Some(TensorLayout::Plain(cx.layout(tensor.shape, None))),
    };
    let TensorType { shape, dtype, .. } = *tensor;
    cx.tensor(shape, dtype, layout, rng.pick(&[Storage::Gmem, Storage::Smem, Storage::Rmem]))
}

fn elaborate<'c>(cx: &Context<'c>, function: Function<'c>, args: &[Type<'c>]) -> Option<Function<'c>> {
    Session::default().elaborate(cx, function, args, false).ok()
}

/// Equal up to the identity of nodes, in the functions they call too.
fn same<'c>(cx: &Context<'c>, a: Function<'c>, b: Function<'c>) -> bool {
    let module = |function: Function<'c>| {
        let functions: Vec<_> = tf_core::special::with_callees(&[function]).into_iter().map(AnyFunction::Hir).collect();
        cx.module(ModuleData { functions: cx.alloc_slice(&functions), ..ModuleData::new(cx.symbol("m")) })
    };
    structurally_equal(module(a), module(b))
}

/// Forgets what the author called values.
struct Unnamed;

impl<'c> ExprCloner<'c> for Unnamed {
    fn default_clone(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> tf_core::Result<Expr<'c>> {
        let new = clone.rebuild(expr)?;
        if let ExprKind::Var { .. } = expr.kind {
            return Ok(new);
        }
        Ok(clone.cx.expr(new.kind, new.ty(), Meta { name: None, ..new.meta }))
    }

    fn bind(&mut self, region: &tf_core::node::GridRegion<'c>, clone: &mut Cloning<'_, 'c>) -> tf_core::Result<()> {
        for &var in region.carries.iter().chain([&region.induction]) {
            let new = clone.cx.var(clone.cx.symbol("v"), var.ty(), Meta::default());
            clone.replace(var, new);
        }
        Ok(())
    }
}

fn unnamed<'c>(cx: &Context<'c>, function: Function<'c>) -> Option<Function<'c>> {
    let body = clone_expr(cx, function.body?, &mut Unnamed).ok()?;
    Some(cx.function(FunctionData { body: Some(body), ..*function }))
}

fn types<'c>(function: Function<'c>) -> Vec<Type<'c>> {
    let order = post_order(&function.body.into_iter().collect::<Vec<_>>());
    order.into_iter().filter(|expr| !matches!(expr.kind, ExprKind::Var { .. })).map(Expr::ty).collect()
}

#[derive(Default)]
struct Counts {
    elaborated: usize,
    specialised: usize,
}

fn laws<'c>(cx: &Context<'c>, function: Function<'c>, rng: &mut Rng, counts: &mut Counts) {
    let declared: Vec<_> = function.params.iter().map(|param| param.ty()).collect();
    assert!(elaborate(cx, function, &declared) == Some(function), "declared types give the callee");
    assert!(infer_function(function, cx) == Ok(function), "right types stay");
    let args: Vec<_> = declared.iter().map(|&ty| other(cx, rng, ty)).collect();
    let made = elaborate(cx, function, &args);
    if function.is_prototype() {
        assert!(made == Some(function), "a prototype is never elaborated");
        return;
    }
    let again = elaborate(cx, function, &args);
    assert_eq!(made.is_some(), again.is_some());
    let (Some(made), Some(again)) = (made, again) else { return };
    counts.elaborated += usize::from(made != function);
    assert!(same(cx, made, again), "inference is deterministic");
    assert!(infer_function(made, cx) == Ok(made), "inference is idempotent");
    if made != function {
        assert_eq!(made.params.iter().map(|param| param.ty()).collect::<Vec<_>>(), args);
    }
    let plain = unnamed(cx, function).and_then(|plain| elaborate(cx, plain, &args)).expect("names do not matter");
    assert!(types(plain) == types(made) && plain.return_type == made.return_type, "names do not matter");
    specialised(cx, function, made, &args, rng, counts);
}

/// Specialise then infer is infer then specialise.
fn specialised<'c>(
    cx: &Context<'c>,
    function: Function<'c>,
    made: Function<'c>,
    args: &[Type<'c>],
    rng: &mut Rng,
    counts: &mut Counts,
) {
    if function.body.is_some_and(|body| body.calls_functions) {
        // Parameters are declared: strides that a caller knows at these sizes may not be those of its callee.
        return;
    }
    let vars = function.dim_vars_reached();
    let dims: Vec<(Symbol<'c>, i64)> = vars
        .iter()
        .map(|var| (var.name, var.lo + rng.below(usize::try_from(var.hi - var.lo).unwrap()) as i64))
        .collect();
    let Ok(first) = specialize_function(cx, function, &dims) else { return };
    // Strides and layouts that symbolic extents leave open stand there where the extents are numbers.
    let agree = |(a, b): (&Type<'c>, &Type<'c>)| declared(*a, *b).is_ok() || declared(*b, *a).is_ok();
    let all_agree = |a: Function<'c>, b: Function<'c>| {
        let (a, b) = (types(a), types(b));
        a.len() == b.len() && a.iter().zip(&b).all(agree)
    };
    let inferred = infer_function(first, cx).expect("a specialised function is well typed");
    assert!(all_agree(inferred, first), "a specialised function has the types that inference gives");
    let values: Vec<_> = dims.iter().map(|&(name, value)| (name, cx.dim(value))).collect();
    let args: Result<Vec<_>, _> = args.iter().map(|&ty| cx.substitute_type(ty, &values)).collect();
    let first = elaborate(cx, first, &args.expect("sizes are in range")).expect("fewer dims are no less typed");
    let second = specialize_function(cx, made, &dims).expect("the instance has the same dims");
    assert!(all_agree(first, second), "the order of both does not matter");
    counts.specialised += 1;
}

fn functions(module: Module<'_>) -> Vec<Function<'_>> {
    let all = module.tree().into_iter().flat_map(|module| module.data().functions.iter().copied());
    all.filter_map(|function| match function {
        AnyFunction::Hir(function) => Some(function),
        AnyFunction::Tir(_) => None,
    })
    .collect()
}

#[test]
fn of_inference() {
    let mut counts = Counts::default();
    for first in (0..CASES).step_by(BATCH as usize) {
        let arena = Arena::new();
        let cx = &context(&arena);
        for seed in first..first + BATCH {
            let options = Options { tir_functions: 0, ..Options::default() };
            let module = random_module(cx, seed, &options);
            let mut rng = Rng::new(seed);
            for function in functions(module) {
                laws(cx, function, &mut rng, &mut counts);
            }
        }
    }
    let Counts { elaborated, specialised } = counts;
    assert!(elaborated > 200 && specialised > 100, "{elaborated} were elaborated, {specialised} specialised");
}
