//! Names, members and weights of a module.

use tf_core::node::method::MethodData;
use tf_core::node::{Child, Method, ModuleData, PrimFunctionData};
use tf_core::tree::{Member, check_module, function_selectors, implicit_module};
use tf_core::{AnyFunction, Context, Module, StmtKind};
use tf_types::Topology;

use crate::common::{call, cuda, hir, identity, made, messages, module, rows, tensor, var, weight, with_context};

fn method<'c>(cx: &Context<'c>, name: &str) -> Method<'c> {
    cx.method(MethodData { name: cx.symbol(name), params: &[], source: "", body: &[], span: None })
}

fn empty<'c>(cx: &Context<'c>, name: &str) -> Module<'c> {
    cx.module(ModuleData::new(cx.symbol(name)))
}

fn check<'c>(cx: &Context<'c>, data: ModuleData<'c>) -> String {
    messages(&check_module(cx.module(data))).join("; ")
}

#[test]
fn names_are_disjoint() {
    with_context(|cx| {
        let f = made(cx, "f", rows(cx), |x| x);
        assert_eq!(check(cx, module(cx, "m", &[f, f])), "module `m` has two functions `f`");
        let children = cx.alloc_slice(&[Child::One(empty(cx, "f"))]);
        let data = ModuleData { children, ..module(cx, "m", &[f]) };
        assert_eq!(check(cx, data), "module `m` has a function and a child module `f`");
        let methods = cx.alloc_slice(&[method(cx, "f")]);
        let data = ModuleData { methods, ..module(cx, "m", &[f]) };
        assert_eq!(check(cx, data), "module `m` has a function and a method `f`");
        let group = Child::Group(cx.symbol("a"), cx.alloc_slice(&[empty(cx, "a0"), empty(cx, "a0")]));
        let children = cx.alloc_slice(&[group]);
        let data = ModuleData { children, ..module(cx, "m", &[f]) };
        assert_eq!(check(cx, data), "module `m` has two child modules `a0`");
    });
}

#[test]
fn entries_levels_and_targets_of_one_level() {
    with_context(|cx| {
        let f = made(cx, "f", rows(cx), |x| x);
        let data = ModuleData { entry: Some(cx.symbol("g")), ..module(cx, "m", &[f]) };
        let errors = check_module(cx.module(data));
        assert_eq!(messages(&errors), ["module `m` has no function `g` for its entry"]);
        assert_eq!(errors[0].help.as_deref(), Some("it has `f`"));
        let cta = Topology { name: cx.symbol("cta"), size: None };
        let data = ModuleData { topologies: Some(cx.topologies(&[cta, cta])), ..module(cx, "m", &[f]) };
        assert_eq!(messages(&check_module(cx.module(data))), ["module `m` declares the level `cta` twice"]);
        let child = cx.module(ModuleData { target: Some(cuda(cx)), ..module(cx, "c", &[]) });
        let data = ModuleData { children: cx.alloc_slice(&[Child::One(child)]), ..module(cx, "m", &[f]) };
        let message = "child module `c` of `m` declares the target nvidia.h200_sxm";
        assert_eq!(messages(&check_module(cx.module(data))), [message]);
        // A module without target, entry or functions is one.
        assert!(check_module(empty(cx, "m")).is_empty());
    });
}

#[test]
fn functions_by_name() {
    with_context(|cx| {
        let f = made(cx, "forward_step", rows(cx), |x| x);
        let m = cx.module(module(cx, "m", &[f]));
        assert!(m.function("forward_step").unwrap() == AnyFunction::Hir(f));
        assert_eq!(m.function_named("g").count(), 0);
        let error = m.function("forward_stop").unwrap_err();
        assert_eq!(error.message, "module `m` has no function `forward_stop`");
        assert_eq!(error.help.as_deref(), Some("did you mean `forward_step`?"));
        let twice = cx.module(module(cx, "m", &[f, f]));
        let message = "module `m` has several functions `forward_step`";
        assert_eq!(twice.function("forward_step").unwrap_err().message, message);
        let error = m.default_step().unwrap_err();
        assert_eq!(error.message, "module `m` has no default step; it has `forward_step`");
        assert_eq!(error.help.as_deref(), Some("select a function by name: `lookup('<name>')`"));
        let m = cx.module(ModuleData { entry: Some(f.name), ..*m });
        assert!(m.default_step().unwrap() == AnyFunction::Hir(f));
    });
}

#[test]
fn attributes_are_functions_then_children_then_methods() {
    with_context(|cx| {
        let f = made(cx, "f", rows(cx), |x| x);
        let (one, layers) = (empty(cx, "attn"), [empty(cx, "layer0"), empty(cx, "layer1")]);
        let group = Child::Group(cx.symbol("layers"), cx.alloc_slice(&layers));
        let children = cx.alloc_slice(&[Child::One(one), group]);
        let methods = cx.alloc_slice(&[method(cx, "forward"), method(cx, "f")]);
        let m = cx.module(ModuleData { children, methods, ..module(cx, "m", &[f]) });
        assert!(m.member("f") == Ok(Member::Function(AnyFunction::Hir(f))));
        assert!(m.member("attn") == Ok(Member::Child(one)));
        assert!(m.member("layer1") == Ok(Member::Child(layers[1])));
        assert!(matches!(m.member("layers"), Ok(Member::Group([_, _]))));
        assert!(m.member("forward") == Ok(Member::Method(methods[0])));
        let refuse = |m: Module<'_>, name| m.member(name).err().unwrap().message;
        assert_eq!(refuse(m, "g"), "module `m` has no member `g`");
        assert_eq!(refuse(m, "_f"), "module `m` has no member `_f`");
        let twice = cx.module(module(cx, "m", &[f, f]));
        assert_eq!(refuse(twice, "f"), "module `m` has several members `f`");
    });
}

#[test]
fn weights_are_those_of_the_functions() {
    with_context(|cx| {
        let (a, b) = (rows(cx), tensor(cx, &[cx.dim(8)]));
        let f = identity(cx, "f", &[var(cx, "x", a), weight(cx, "w", b), weight(cx, "v", a)]);
        let g = identity(cx, "g", &[weight(cx, "v", a), weight(cx, "u", b)]);
        let m = cx.module(module(cx, "m", &[f, g]));
        let names: Vec<_> = m.weights().unwrap().into_iter().map(|(name, ty)| (name.to_string(), ty)).collect();
        assert_eq!(names, [("w".to_owned(), b), ("v".to_owned(), a), ("u".to_owned(), b)]);
        let h = identity(cx, "h", &[weight(cx, "w", a)]);
        let error = cx.module(module(cx, "m", &[f, h])).weights().unwrap_err();
        assert_eq!(error.message, "the weight `w` of `m` is Tensor[(8,), \"f32\"] and Tensor[(S, 8), \"f32\"]");
    });
}

#[test]
fn a_lone_function_is_a_module() {
    with_context(|cx| {
        let g = made(cx, "g", rows(cx), |x| x);
        let f = made(cx, "f", rows(cx), |x| call(cx, g, &[x]));
        let declared = ModuleData { target: Some(cuda(cx)), ..ModuleData::new(cx.symbol("")) };
        let m = implicit_module(cx, AnyFunction::Hir(f), &declared).expect("well formed");
        assert!(m.name == f.name && m.default_step().unwrap() == AnyFunction::Hir(f));
        assert!(hir(m, "g") == g && m.target == Some(cuda(cx)));
        let body = cx.stmt(StmtKind::Return, None);
        let name = cx.symbol("p");
        let data =
            PrimFunctionData { name, params: &[], body, output_count: 0, target: cuda(cx), doc: None, span: None };
        let p = AnyFunction::Tir(cx.prim_function(data));
        let m = implicit_module(cx, p, &ModuleData::new(name)).expect("well formed");
        assert!(m.default_step().unwrap() == p);
        assert!(function_selectors(m).is_empty(), "an implementation is no function of the model");
    });
}
