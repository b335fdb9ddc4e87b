//! Dispatch prototypes, variants, converters.

use tf_core::node::{Converter, FunctionData};
use tf_core::{Context, DimVarRangePat, Function};
use tf_types::Type;

use crate::common::{dim, identity, messages, rows, tensor, var, weight, with_context};

fn variant<'c>(cx: &Context<'c>, ty: Type<'c>, dim: &str, lo: i64, hi: i64) -> Function<'c> {
    let range = DimVarRangePat::new(cx.symbol(dim), lo, hi).unwrap();
    let data = *identity(cx, "f", &[var(cx, "x", ty)]);
    cx.function(FunctionData { specializations: cx.alloc_slice(&[range]), ..data })
}

fn prototype<'c>(cx: &Context<'c>, variants: &[Function<'c>]) -> Function<'c> {
    let params = cx.alloc_slice(&[var(cx, "x", rows(cx))]);
    cx.function(FunctionData::prototype(cx.symbol("f"), params, rows(cx), cx.alloc_slice(variants)))
}

fn errors(function: Function<'_>) -> String {
    messages(&function.check_parts()).join("; ")
}

fn check<'c>(cx: &Context<'c>, variant: FunctionData<'c>, message: &str) {
    assert_eq!(errors(prototype(cx, &[cx.function(variant)])), message);
}

#[test]
fn ranges_partition_the_range_of_the_dim() {
    with_context(|cx| {
        let check = |ranges: &[(i64, i64)]| {
            let variants: Vec<_> = ranges.iter().map(|&(lo, hi)| variant(cx, rows(cx), "S", lo, hi)).collect();
            let errors = prototype(cx, &variants).check_parts();
            messages(&errors).join("; ")
        };
        assert_eq!(check(&[(5, 9), (1, 5)]), "");
        assert_eq!(check(&[(1, 9)]), "");
        assert_eq!(check(&[(1, 4), (5, 9)]), "no variant of `f` is for `S` in [4, 5)");
        assert_eq!(check(&[(2, 9)]), "no variant of `f` is for `S` in [1, 2)");
        assert_eq!(check(&[(1, 8)]), "no variant of `f` is for `S` in [8, 9)");
        assert_eq!(check(&[(1, 6), (5, 9)]), "two variants of `f` are for `S` in [5, 6)");
        assert_eq!(check(&[(1, 10)]), "the range [1, 10) of a variant of `f` leaves [1, 9), that of `S`");
        assert_eq!(check(&[(0, 9)]), "the range [0, 9) of a variant of `f` leaves [1, 9), that of `S`");
        assert_eq!(check(&[(1, 9), (1, 9)]).split("; ").next(), Some("`f` has two variants for S$1_9"));
    });
}

#[test]
fn all_variants_dispatch_on_one_reachable_dim() {
    with_context(|cx| {
        let on = |dim: &str, lo, hi| variant(cx, rows(cx), dim, lo, hi);
        assert_eq!(
            errors(prototype(cx, &[on("S", 1, 5), on("T", 5, 9)])),
            "the variants of `f` dispatch on `S` and on `T`"
        );
        assert_eq!(
            errors(prototype(cx, &[on("T", 1, 9)])),
            "the variants of `f` dispatch on `T`, which no parameter's shape has"
        );
    });
}

#[test]
fn shapes_of_functions() {
    with_context(|cx| {
        let whole = variant(cx, rows(cx), "S", 1, 9);
        let plain = identity(cx, "f", &[var(cx, "x", rows(cx))]);
        assert_eq!(errors(plain), "");
        assert_eq!(errors(prototype(cx, &[])), "`f` has neither a body nor variants");
        let both = cx.function(FunctionData { variants: cx.alloc_slice(&[whole]), ..*plain });
        assert_eq!(errors(both), "`f` has a body and variants: a dispatch prototype has no body");
        assert_eq!(errors(whole), "`f` is a variant: it belongs to its prototype and is no member of a module");
    });
}

#[test]
fn variants_are_like_their_prototype() {
    with_context(|cx| {
        let whole = *variant(cx, rows(cx), "S", 1, 9);
        check(cx, FunctionData { body: None, ..whole }, "variant S$1_9 of `f` has no body");
        let label = Some(cx.symbol("small"));
        check(cx, FunctionData { body: None, label, ..whole }, "variant small of `f` has no body");
        let label = Some(cx.symbol("_"));
        check(cx, FunctionData { body: None, label, ..whole }, "variant S$1_9 of `f` has no body");
        let nested = cx.alloc_slice(&[cx.function(whole)]);
        check(
            cx,
            FunctionData { variants: nested, ..whole },
            "variant S$1_9 of `f` has variants or converters of its own",
        );
        check(cx, FunctionData { specializations: &[], ..whole }, "a variant of `f` has one range, found 0");
        check(cx, FunctionData { name: cx.symbol("g"), ..whole }, "variant S$1_9 of `f` is named `g`");
        let other = tensor(cx, &[dim(cx, "S", 1, 9)]);
        let params = cx.alloc_slice(&[var(cx, "x", other)]);
        check(cx, FunctionData { params, ..whole }, "variant S$1_9 of `f` has other parameter types than `f`");
        let message = "variant S$1_9 returns Tensor[(S,), \"f32\"], but `f` returns Tensor[(S, 8), \"f32\"]";
        check(cx, FunctionData { return_type: other, ..whole }, message);
    });
}

#[test]
fn converters_are_for_weights_and_simple() {
    with_context(converters);
}

fn converters<'c>(cx: &Context<'c>) {
    let ty = rows(cx);
    let base = *identity(cx, "f", &[var(cx, "x", ty), weight(cx, "w", ty)]);
    let convert = identity(cx, "_", &[var(cx, "raw", ty)]);
    let with = |converters: &[Converter<'c>]| {
        errors(cx.function(FunctionData { converters: cx.alloc_slice(converters), ..base }))
    };
    let of = |weight: &str, function| Converter { weight: cx.symbol(weight), function };
    assert_eq!(with(&[of("w", convert)]), "");
    assert_eq!(with(&[of("x", convert)]), "the converter of `x` in `f` is for no constant parameter of `f`");
    let twice = "the converter of `w` in `f` is one of several";
    assert_eq!(with(&[of("w", convert), of("w", convert)]), format!("{twice}; {twice}"));
    let empty = cx.function(FunctionData { body: None, ..*convert });
    assert_eq!(with(&[of("w", empty)]), "the converter of `w` in `f` has no body");
    let nested = cx.alloc_slice(&[Converter { weight: cx.symbol("raw"), function: convert }]);
    let nested = cx.function(FunctionData { converters: nested, ..*convert });
    assert_eq!(with(&[of("w", nested)]), "the converter of `w` in `f` has variants or converters of its own");
}

#[test]
fn a_variant_is_found_by_the_value_of_its_dim() {
    with_context(|cx| {
        let (small, large) = (variant(cx, rows(cx), "S", 1, 5), variant(cx, rows(cx), "S", 5, 9));
        let f = prototype(cx, &[small, large]);
        let at = |value| f.variant_for(&[(cx.symbol("S"), value)]);
        assert!(at(4).unwrap() == small && at(5).unwrap() == large);
        assert_eq!(small.signature_id(), "S$1_5");
        assert_eq!(at(9).unwrap_err().message, "no variant of `f` is for `S` = 9");
        let error = f.variant_for(&[]).unwrap_err();
        assert_eq!(error.message, "`f` dispatches on dim `S`, which has no value");
        let both = prototype(cx, &[small, variant(cx, rows(cx), "S", 4, 9)]);
        let error = both.variant_for(&[(cx.symbol("S"), 4)]).unwrap_err();
        assert_eq!(error.message, "variants S$1_5 and S$4_9 of `f` both match");
        let plain = identity(cx, "g", &[var(cx, "x", rows(cx))]);
        assert!(plain.variant_for(&[]).unwrap() == plain);
        let message = f.value().unwrap_err().message;
        assert_eq!(message, "`f` is a dispatch prototype: it has variants, and no body");
    });
}
