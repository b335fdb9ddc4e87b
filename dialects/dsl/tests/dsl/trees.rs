//! Child modules, groups, factories, methods, and what a file evaluates to make them.

use crate::common::{reference, with_source};
use tf_core::node::Child;
use tf_core::node::method::{MethodExpr, MethodItems, MethodStmtKind};
use tf_core::{AnyFunction, Diagnostic, ExprKind, ModuleIndex};

const LEAF: &str = "import math\nfrom dataclasses import dataclass\nfrom tilefoundry import func, module\nfrom tilefoundry.dsl import ConstTensor, Tensor, tf\n\
@module(entry=\"run\")\nclass Leaf:\n    @func\n    def run(x: Tensor[(4,), \"f32\"], w: ConstTensor[(4,), \"f32\"]):\n        return x * w\n";

fn messages(source: &str) -> Vec<String> {
    with_source(&format!("{LEAF}{source}"), |_, result| {
        result.err().unwrap_or_default().into_iter().map(|d: Diagnostic| d.message).collect()
    })
}

#[test]
fn a_tree_of_modules() {
    with_source(&reference("programs/residual_stack.py"), |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        assert!(ModuleIndex::new(module).is_ok());
        let shown = |child: &Child<'_>| {
            let modules: Vec<_> = child.modules().iter().map(|m| m.name.as_str()).collect();
            format!("{}: {}", child.name(), modules.join(" "))
        };
        let shown: Vec<_> = module.children.iter().map(shown).collect();
        assert_eq!(shown, ["embed: embed", "blocks: block0 block1 block2", "head: head"]);
        let forward = module.methods[0];
        assert!(forward.source.starts_with("def forward(self, ids):\n    h = self.embed(ids)\n"), "{}", forward.source);
        assert_eq!((forward.params.len(), forward.body.len()), (1, 5));
    });
}

#[test]
fn children_are_called_without_their_constants() {
    with_source(&reference("programs/tiny_decoder.py"), |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        let Some(AnyFunction::Hir(entry)) = module.entry_function() else { panic!("no entry") };
        let nodes = tf_core::walk::post_order(&[entry.body.unwrap()]);
        let calls: Vec<_> = nodes
            .iter()
            .filter_map(|e| match e.kind {
                ExprKind::Call { callee: tf_core::Callee::Function(callee), args } => Some((callee, args.len())),
                _ => None,
            })
            .collect();
        assert_eq!(calls.iter().map(|(f, count)| (f.name.as_str(), *count)).collect::<Vec<_>>(), [("layer", 3); 2]);
        let owner = |at: usize| module.child(&format!("layer{at}")).and_then(|m| m.entry_function());
        assert!((0..2).all(|at| owner(at) == Some(AnyFunction::Hir(calls[at].0))));
        assert!(calls[0].0 != calls[1].0);
    });
}

#[test]
fn methods_keep_what_they_do() {
    let source = "N = 3\n@module\nclass M:\n    layers = [Leaf.renamed(f\"l{i}\") for i in range(N)]\n\
                  \x20   def forward(self, x, n=2):\n        for i in range(N):\n            x = self.layers[i](x)\n\
                  \x20       for layer in self.layers:\n            x = layer(x)\n        if n:\n            return x\n        return x\n";
    with_source(&format!("{LEAF}{source}"), |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        let body = module.methods[0].body;
        let MethodStmtKind::For { items: MethodItems::Range(0, 3, 1), body: inner, .. } = body[0].kind else {
            panic!("no range")
        };
        let MethodStmtKind::Assign(_, MethodExpr::Call { callee: MethodExpr::Item(..), .. }) = inner[0].kind else {
            panic!("no call of an item")
        };
        assert!(matches!(body[1].kind, MethodStmtKind::For { items: MethodItems::Of(MethodExpr::Attribute(..)), .. }));
        assert!(matches!(body[2].kind, MethodStmtKind::Unsupported(what) if what.as_str() == "if"));
        assert!(matches!(body[3].kind, MethodStmtKind::Return(Some(MethodExpr::Name(_)))));
    });
}

#[test]
fn methods_are_kept_whatever_their_signature() {
    for (signature, wanted) in [
        ("def run(self, x, *args, **kw)", "a parameter for any number of arguments"),
        ("def run(self, x, **kw)", "a parameter for any number of arguments"),
        ("async def run(self, x)", "async def"),
    ] {
        let source = format!("@module\nclass M:\n    leaf = Leaf\n\n    {signature}:\n        return self.leaf(x)\n");
        with_source(&format!("{LEAF}{source}"), |_, result| {
            let method = result.unwrap_or_else(|errors| panic!("{errors:?}")).methods[0];
            assert_eq!(method.source, format!("{signature}:\n    return self.leaf(x)"));
            assert!(matches!(method.body[0].kind, MethodStmtKind::Unsupported(what) if what.as_str() == wanted));
            assert_eq!((method.params.len(), method.body.len()), (1, 2));
        });
    }
}

#[test]
fn files_are_evaluated_statically() {
    let source = "@dataclass(frozen=True)\nclass Config:\n    hidden: int = 8\n    heads: int = 2\n    @property\n    def head(self):\n        return self.hidden // self.heads\n\
                  CFG = Config(hidden=16)\nTABLE = {\"a\": 2, **{\"b\": 3}}\nWIDE = sum(v for v in TABLE.values() if v > 2) + max(TABLE[\"a\"], 1)\n\
                  if CFG.hidden > 8 and not False:\n    EXTRA = math.ceil(math.sqrt(CFG.head))\nelse:\n    EXTRA = nothing\n\
                  def shape(n, more=()):\n    out = (n,)\n    for extent in more:\n        out = out + (extent,)\n    return out\n\
                  @func\ndef f(x: Tensor[shape(CFG.head, (WIDE, EXTRA)), \"f32\"]):\n    return x\n";
    with_source(&format!("{LEAF}{source}").replace("@module(entry=\"run\")\nclass Leaf", "class Leaf"), |_, result| {
        let ty = result.ok().and_then(|module| module.entry_function()).map(|f| f.params()[0].ty().to_string());
        assert_eq!(ty.as_deref(), Some("Tensor[(8, 5, 3), \"f32\"]"));
    });
}

#[test]
fn trees_are_refused_by_rule() {
    let m = |body: &str| format!("@module\nclass M:\n    leaf = Leaf\n{body}");
    assert_eq!(messages(&m("    leaf = Leaf\n")), ["the module has a second member named `leaf`, a child module"]);
    assert_eq!(messages(&m("    rest = ()\n")), ["`rest` is no member of a module"]);
    assert_eq!(
        messages(&m("    @func\n    def f(x: Tensor[(4,), \"f32\"]):\n        return leaf(x, x)\n")),
        ["`run` takes 1 argument, found 2"]
    );
    assert_eq!(
        messages("def loop(n):\n    return loop(n + 1)\nX = loop(0)\n"),
        ["more than 64 calls of plain functions"]
    );
    let growing = "def grow(n):\n    @module\n    class M:\n        a = (Leaf.renamed(\"p\"), wrong)\n    return M\nA = grow(1)\nB = grow(2)\n";
    assert_eq!(messages(growing), ["the name `wrong` is not defined"]);
}
