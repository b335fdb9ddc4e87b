//! Variants, converters and schedule constraints.

use crate::common::{reference, with_source};
use tf_core::walk::post_order;
use tf_core::{AnyFunction, Callee, Diagnostic, ExprKind, Function, Module};

const HEAD: &str = "from tilefoundry import func, module\nfrom tilefoundry.dsl import ConstTensor, DimVar, DimVarRangePat, Tensor, tf\nN = DimVar(\"n\", 1, 9)\n";

fn messages(source: &str) -> Vec<String> {
    with_source(&format!("{HEAD}{source}"), |_, result| {
        let show = |d: Diagnostic| format!("{} {}", d.span.map_or(0, |s| s.line.get()), d.message);
        result.err().unwrap_or_default().into_iter().map(show).collect()
    })
}

fn hir<'c>(module: Module<'c>, name: &str) -> Function<'c> {
    match module.lookup(name) {
        Some(AnyFunction::Hir(function)) => function,
        _ => panic!("no function `{name}`"),
    }
}

#[test]
fn a_prototype_has_its_variants() {
    with_source(&reference("programs/dispatch_rows.py"), |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        assert_eq!(module.functions.len(), 1);
        let base = hir(module, "activate");
        assert!(base.is_prototype() && base.check_parts().is_empty());
        let shown: Vec<_> =
            base.variants.iter().map(|v| (v.name.as_str(), v.variant_name(), v.signature_id())).collect();
        let want = |label: &str, id: &str| ("activate", label.to_owned(), id.to_owned());
        assert_eq!(shown, [want("few_rows", "rows$1_17"), want("many_rows", "rows$17_65")]);
    });
}

#[test]
fn calls_are_of_the_complete_prototype() {
    let source = format!(
        "{HEAD}@module(entry=\"g\")\nclass M:\n    @func\n    def f(x: Tensor[(N,), \"f32\"]) -> Tensor[(N,), \"f32\"]:\n        pass\n\
         \x20   @func\n    def g(x: Tensor[(N,), \"f32\"]):\n        return f(x) + x\n\
         \x20   @f.specialize(DimVarRangePat(\"n\", 1, 9))\n    def _(x: Tensor[(N,), \"f32\"]) -> Tensor[(N,), \"f32\"]:\n        return x * x\n"
    );
    with_source(&source, |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        let called = post_order(&[hir(module, "g").body.unwrap()]).into_iter().find_map(|e| match e.kind {
            ExprKind::Call { callee: Callee::Function(callee), .. } => Some(callee),
            _ => None,
        });
        assert!(called == Some(hir(module, "f")) && called.is_some_and(|f| f.variants.len() == 1));
        assert!(hir(module, "f").variants[0].label.is_none());
    });
}

#[test]
fn variants_and_converters_are_refused_by_rule() {
    let f = "@func\ndef f(x: Tensor[(N,), \"f32\"], w: ConstTensor[(N,), \"f32\"]) -> Tensor[(N,), \"f32\"]:\n";
    let other = "(a: Tensor[(N,), \"f32\"]) -> Tensor[(N,), \"f32\"]:\n    return a\n";
    let cases = [
        (format!("{f}    pass\n"), "5 `f` has no body, and no variants"),
        (format!("{f}    return x + w\n@f.converter(\"x\")\ndef _{other}"), "7 `f` has no `ConstTensor` parameter `x`"),
        (
            format!("{f}    return x + w\n@f.converter(\"w\")\ndef _(a: Tensor[(3,), \"f32\"]):\n    return a\n"),
            "8 the converter returns Tensor[(3,), \"f32\"], but the weight `w` is Tensor[(n,), \"f32\"]",
        ),
        (
            format!("{f}    pass\n@f.specialize(DimVarRangePat(\"n\", 1, 9))\ndef low{other}"),
            "8 the variant `low` has 1 parameters, but `f` has 2",
        ),
        (format!("{f}    pass\n@f.specialize()\ndef low{other}"), "7 a variant of `f` needs a `DimVarRangePat`"),
    ];
    for (source, want) in cases {
        assert_eq!(messages(&source), [want], "{source}");
    }
    assert_eq!(messages("@func\ndef f(x: Tensor[(N,), \"f32\"]):\n    pass\n").len(), 1);
}

#[test]
fn weights_have_converters() {
    with_source(&reference("programs/weight_converter.py"), |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        let converters = hir(module, "project").converters;
        assert_eq!(converters.iter().map(|c| c.weight.as_str()).collect::<Vec<_>>(), ["weight", "gain"]);
        assert_eq!(converters[0].function.return_type.to_string(), "Tensor[(12, 16), \"f32\", (12, 16):(1, 12)]");
    });
}

#[test]
fn constraints_stay_on_their_values() {
    with_source(&reference("programs/constrained_chain.py"), |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        let body = hir(module, "chain").body.unwrap();
        let mut found: Vec<_> = post_order(&[body])
            .into_iter()
            .filter_map(|e| Some((e.binding_name()?.as_str(), e.data().meta.constraint?)))
            .collect();
        found.sort_by_key(|(name, _)| *name);
        assert_eq!(found.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["active", "hidden", "high"]);
        assert_eq!(found[1].1.layout.map(|l| l.axes.len()), Some(2));
        assert_eq!(found[0].1.storage.map(|s| s.name()), Some("rmem"));
    });
}
