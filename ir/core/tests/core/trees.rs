//! Owners, paths and copies.

use tf_core::equal::structurally_equal;
use tf_core::node::{Child, FunctionData, ModuleData, Origin, PrimFunctionData};
use tf_core::tree::{ModuleIndex, attached, cloned, function_selectors, renamed, select};
use tf_core::walk::{post_order, walk_stmts};
use tf_core::{AnyFunction, Context, Module, StmtKind};
use tf_types::Topology;

use crate::common::{call, cuda, hir, made, messages, module, rows, var, with_context};

fn levels<'c>(cx: &Context<'c>, levels: &[(&str, Option<i64>)]) -> Option<&'c [Topology<'c>]> {
    let level = |&(name, size): &(&str, Option<i64>)| Topology { name: cx.symbol(name), size: size.map(|s| cx.dim(s)) };
    Some(cx.topologies(&levels.iter().map(level).collect::<Vec<_>>()))
}

/// `model` of the target with `cta` and `thread`, its child `attn` with its own levels, and the group `layers` of two.
fn model<'c>(cx: &Context<'c>) -> Module<'c> {
    let f = made(cx, "f", rows(cx), |x| x);
    let attn = ModuleData { topologies: levels(cx, &[("cta", None)]), ..module(cx, "attn", &[f]) };
    let attn = cx.module(attn);
    let layer = |name: &str| {
        let inner = cx.module(module(cx, "mlp", &[made(cx, "moe", rows(cx), |x| x)]));
        let children = cx.alloc_slice(&[Child::One(inner)]);
        cx.module(ModuleData { children, ..module(cx, name, &[made(cx, "moe", rows(cx), |x| x)]) })
    };
    let group = Child::Group(cx.symbol("layers"), cx.alloc_slice(&[layer("layer0"), layer("layer1")]));
    let step = made(cx, "step", rows(cx), |x| call(cx, f, &[x]));
    cx.module(ModuleData {
        children: cx.alloc_slice(&[Child::One(attn), group]),
        entry: Some(step.name),
        target: Some(cuda(cx)),
        topologies: levels(cx, &[("cta", Some(128)), ("thread", Some(256))]),
        ..module(cx, "model", &[step])
    })
}

#[test]
fn context_is_that_of_the_nearest_owner() {
    with_context(|cx| {
        let root = model(cx);
        let index = ModuleIndex::new(root).ok().unwrap();
        let (attn, layer) = (root.child("attn").unwrap(), root.child("layer1").unwrap());
        let mlp = layer.child("mlp").unwrap();
        assert_eq!(index.path(mlp).iter().map(|n| n.as_str()).collect::<Vec<_>>(), ["layer1", "mlp"]);
        assert!(index.parent(mlp) == Some(layer) && index.owner(AnyFunction::Hir(hir(mlp, "moe"))) == Some(mlp));
        assert!(index.resolve_target(mlp) == Ok(cuda(cx)));
        assert_eq!(index.effective_topologies(mlp), root.topologies.unwrap());
        assert_eq!(index.effective_topologies(attn).len(), 1, "a declared hierarchy replaces the owner's");
        assert_eq!(index.resolve_topology(mlp, "thread").unwrap().size, Some(cx.dim(256)));
        let error = index.resolve_topology(attn, "thread").unwrap_err();
        assert_eq!(error.message, "module `attn` has no level `thread`; it has `cta`");
        assert_eq!(index.level_size(mlp, "cta").unwrap(), 128);
        let message = "the size of level `cta` is deferred, and a number is needed here";
        assert_eq!(index.level_size(attn, "cta").unwrap_err().message, message);
        let error = ModuleIndex::new(mlp).ok().unwrap().resolve_target(mlp).unwrap_err();
        assert_eq!(error.message, "no target is declared for module `mlp`");
        let free = cx.module(ModuleData { topologies: Some(&[]), ..ModuleData::new(cx.symbol("free")) });
        let owner = cx.module(ModuleData { children: cx.alloc_slice(&[Child::One(free)]), ..*root });
        assert!(ModuleIndex::new(owner).ok().unwrap().effective_topologies(free).is_empty());
    });
}

#[test]
fn a_module_stands_in_a_tree_once_and_in_several_trees() {
    with_context(|cx| {
        let f = made(cx, "f", rows(cx), |x| x);
        let child = cx.module(module(cx, "c", &[f]));
        let own = |name: &str, size| {
            let children = cx.alloc_slice(&[Child::One(child)]);
            let topologies = levels(cx, &[("cta", Some(size))]);
            cx.module(ModuleData { children, topologies, ..module(cx, name, &[]) })
        };
        let (first, second) = (own("a", 4), own("b", 8));
        for (root, size) in [(first, 4), (second, 8), (first, 4)] {
            assert_eq!(ModuleIndex::new(root).ok().unwrap().level_size(child, "cta").unwrap(), size);
        }
        let both = Child::Group(cx.symbol("g"), cx.alloc_slice(&[first, second]));
        let root = cx.module(ModuleData { children: cx.alloc_slice(&[both]), ..module(cx, "m", &[]) });
        let errors = ModuleIndex::new(root).err().unwrap();
        assert!(messages(&errors).contains(&"child module `c` stands in the tree of `m` twice"));
        let root = cx.module(ModuleData { children: first.children, ..module(cx, "m", &[f]) });
        let errors = ModuleIndex::new(root).err().unwrap();
        assert_eq!(messages(&errors), ["function `f` belongs to `m` and to `c`"]);
    });
}

#[test]
fn paths_select_modules_and_functions() {
    with_context(|cx| {
        let root = model(cx);
        let paths: Vec<_> = function_selectors(root).into_iter().map(|(path, _)| path).collect();
        let want = ["step", "attn.f", "layer0.moe", "layer0.mlp.moe", "layer1.moe", "layer1.mlp.moe"];
        assert_eq!(paths, want);
        for (path, function) in function_selectors(root) {
            let selected = select(cx, root, &path).unwrap();
            assert!(selected.default_step().unwrap() == AnyFunction::Hir(function), "{path}");
            assert!(selected.target == root.target && selected.topologies.is_some());
        }
        assert!(select(cx, root, "").unwrap() == root);
        let mlp = select(cx, root, "layer0.mlp").unwrap();
        assert!(mlp.topologies == root.topologies && mlp.entry.is_none());
        let refuse = |path: &str| select(cx, root, path).err().unwrap().message;
        assert_eq!(refuse("layer0..mlp"), "the path `layer0..mlp` has an empty segment");
        assert_eq!(refuse("layer0.x"), "module `layer0` has no child module or function `x`, in the path `layer0.x`");
        assert_eq!(refuse("layer2.moe"), "module `model` has no child module `layer2`, in the path `layer2.moe`");
        let message = "`step` in the path `step.moe` is a function, and only the last segment may be one";
        assert_eq!(refuse("step.moe"), message);
    });
}

#[test]
fn copies_share_no_node_and_call_each_other() {
    with_context(|cx| {
        let outside = made(cx, "outside", rows(cx), |x| x);
        let f = made(cx, "f", rows(cx), |x| call(cx, outside, &[x]));
        let origin = Some(Origin { name: f.name, function: Some(f), dims: None });
        let instance = made(cx, "f$1", rows(cx), |x| call(cx, f, &[x]));
        let instance = cx.function(FunctionData { origin, ..*instance });
        let child = cx.module(module(cx, "c", &[f]));
        let step = made(cx, "step", rows(cx), |x| call(cx, instance, &[x]));
        let i = var(cx, "i", cx.scalar(tf_types::DType::I64));
        let end = cx.stmt(StmtKind::Return, None);
        let body = cx.stmt(StmtKind::For { induction: i, start: i, stop: i, step: i, body: end }, None);
        let data = PrimFunctionData {
            name: cx.symbol("p"),
            params: &[],
            body,
            output_count: 0,
            target: cuda(cx),
            doc: None,
            span: None,
        };
        let prim = AnyFunction::Tir(cx.prim_function(data));
        let functions = cx.alloc_slice(&[AnyFunction::Hir(step), prim]);
        let root = cx.module(ModuleData {
            functions,
            instances: cx.alloc_slice(&[instance]),
            children: cx.alloc_slice(&[Child::One(child)]),
            ..module(cx, "m", &[])
        });
        let copy = cloned(cx, root).unwrap();
        assert!(copy != root && structurally_equal(root, copy));
        let new_child = copy.child("c").unwrap();
        let (new_f, new_instance) = (hir(new_child, "f"), copy.instances[0]);
        assert!(new_child != child && new_f != f && new_instance != instance);
        assert!(new_instance.callees() == [new_f] && new_instance.origin_of() == Some(new_f));
        assert!(hir(copy, "step").callees() == [new_instance]);
        assert!(new_f.callees() == [outside], "what is outside is shared");
        let [old, new] = [f, new_f].map(|f| post_order(&[f.body.unwrap()]));
        assert!(old.iter().all(|node| !new.contains(node)));
        let Some(AnyFunction::Tir(new_prim)) = copy.lookup("p") else { panic!("a TIR function") };
        walk_stmts(new_prim.body, |stmt| {
            if let StmtKind::For { induction, start, .. } = stmt.kind {
                assert!(induction != i && induction == start);
            }
        });
        let named = renamed(cx, root, cx.symbol("n")).unwrap();
        assert_eq!(named.name.as_str(), "n");
        let published = cx.module(ModuleData { target: Some(cuda(cx)), ..*root });
        let error = attached(cx, published, cx.symbol("c")).err().unwrap();
        assert_eq!(error.message, "`m` declares the target nvidia.h200_sxm and cannot be the child `c`");
        assert_eq!(attached(cx, root, cx.symbol("c")).unwrap().name.as_str(), "c");
    });
}
