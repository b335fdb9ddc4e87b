//! Functions for given values of dims.

use tf_core::node::{FunctionData, GridRegion};
use tf_core::special::{specialize_concretely, specialize_function};
use tf_core::{Context, DimVarRangePat, Expr, ExprKind, Function, Meta};
use tf_types::{DType, Storage, TensorLayout};

use crate::common::{Shaped, call, dim, identity, made, rows, tensor, var, with_context};

/// `g(x) = x`, `f(x) = loop over S { shaped(g(x)) }` over `[S, 8]`, with `S` in attributes and bounds and `T` in an attribute.
fn program<'c>(cx: &Context<'c>) -> Function<'c> {
    let g = made(cx, "g", rows(cx), |x| x);
    let s = dim(cx, "S", 1, 9);
    let body = |x: Expr<'c>| {
        let layout = TensorLayout::Plain(cx.c_order_layout(&[s, dim(cx, "T", 1, 3)]));
        let op = Shaped::new(cx, cx.dims(&[cx.dim_mul(s, cx.dim(2))]), rows(cx), Some(layout));
        let value = cx.call(op, &[call(cx, g, &[x])], Meta::default()).unwrap();
        let induction = var(cx, "i", cx.scalar(DType::I64));
        let (start, stop, step) = (cx.dim(0), s, cx.dim(1));
        let region =
            GridRegion { induction, carries: &[], inits: &[], yields: &[], body: Some(value), start, stop, step };
        cx.grid(region, value.ty(), Meta::default())
    };
    made(cx, "f", rows(cx), body)
}

#[test]
fn values_reach_types_attributes_bounds_and_callees() {
    with_context(|cx| {
        let f = program(cx);
        let names = |f: Function<'_>| f.residual_dims().iter().map(|n| n.to_string()).collect::<Vec<_>>();
        assert_eq!(names(f), ["S", "T"]);
        let (s, t) = (cx.symbol("S"), cx.symbol("T"));
        let new = specialize_function(cx, f, &[(s, 4)]).unwrap();
        assert_eq!(names(new), ["T"]);
        assert!(!new.is_concrete() && new.origin_of() == Some(f));
        assert_eq!(new.bound_dims_of(), Some(&[(s, 4)][..]));
        let four = tensor(cx, &[cx.dim(4), cx.dim(8)]);
        assert_eq!((new.params[0].ty(), new.return_type), (four, tensor(cx, &[cx.dim(8)])));
        let ExprKind::Grid(region) = new.body.unwrap().kind else { panic!("a loop stays one") };
        assert_eq!(region.stop, cx.dim(4));
        let value = region.body.unwrap().as_op::<Shaped>().unwrap();
        assert_eq!((value.shape(), value.ty()), (&[cx.dim(8)][..], four));
        let g = new.callees()[0];
        assert_eq!((g.params[0].ty(), g.bound_dims_of()), (four, Some(&[(s, 4)][..])));
        let both = specialize_concretely(cx, f, &[(t, 2), (s, 4)]).unwrap();
        assert!(both.is_concrete());
        assert_eq!(both.bound_dims_of(), Some(&[(s, 4), (t, 2)][..]));
        let error = specialize_concretely(cx, f, &[(s, 4)]).unwrap_err();
        assert_eq!(error.message, "`f` still has the dims `T`");
        assert!(f.origin_of().is_none() && f.bound_dims_of().is_none());
    });
}

#[test]
fn refusals() {
    with_context(|cx| {
        let f = program(cx);
        let (s, u) = (cx.symbol("S"), cx.symbol("U"));
        let refuse = |dims: &[_]| specialize_function(cx, f, dims).unwrap_err();
        assert_eq!(refuse(&[]).message, "`f` is specialised for no values");
        assert_eq!(refuse(&[(u, 1)]).message, "`f` has no dim `U`");
        assert_eq!(refuse(&[(u, 1)]).help.as_deref(), Some("it has `S`, `T`"));
        assert_eq!(refuse(&[(s, 1), (s, 2)]).message, "dim `S` is given twice");
        assert_eq!(refuse(&[(s, 9)]).message, "`S` cannot be 9; its range is [1, 9)");
    });
}

#[test]
fn a_prototype_gives_its_variant_and_none_may_be_called() {
    with_context(|cx| {
        let s = cx.symbol("S");
        let range = |lo, hi| DimVarRangePat::new(s, lo, hi).unwrap();
        let variant = |lo, hi| {
            let data = *identity(cx, "f", &[var(cx, "x", rows(cx))]);
            let label = Some(cx.symbol("small"));
            cx.function(FunctionData { specializations: cx.alloc_slice(&[range(lo, hi)]), label, ..data })
        };
        let variants = cx.alloc_slice(&[variant(1, 5), variant(5, 9)]);
        let params = cx.alloc_slice(&[var(cx, "x", rows(cx))]);
        let f = cx.function(FunctionData::prototype(s, params, rows(cx), variants));
        let new = specialize_concretely(cx, f, &[(s, 7)]).unwrap();
        assert!(new.specializations.is_empty() && new.label.is_none() && new.origin_of() == Some(f));
        assert!(new.body == Some(new.params[0]));
        let caller = made(cx, "h", rows(cx), |x| call(cx, f, &[x]));
        let error = specialize_function(cx, caller, &[(s, 7)]).unwrap_err();
        assert_eq!(error.message, "`h` calls the dispatch prototype `S`");
        let plain = made(cx, "p", cx.tensor(&[], DType::F32, None, Storage::Gmem), |x| x);
        assert!(specialize_concretely(cx, plain, &[]).unwrap() == plain);
    });
}
