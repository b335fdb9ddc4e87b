//! What files of users hold around the programs: shared methods, star imports, the rest of the package, code for other tools.

use crate::common::with_source;
use tf_core::Diagnostic;
use tf_core::node::method::{MethodExpr, MethodStmtKind};

const HEAD: &str = "from functools import cache\nfrom tilefoundry import func, module, prim_func\n\
                    from tilefoundry.dsl import Mesh, Tensor, Topology, tf\n";
const LEAF: &str = "    @func\n    def run(x: Tensor[(4,), \"f32\"]):\n        return x\n";

/// The messages of a file with that below the imports.
fn messages(below: &str) -> Vec<String> {
    with_source(&format!("{HEAD}{below}"), |_, result| {
        let diagnostics = result.err().unwrap_or_default();
        diagnostics.into_iter().map(|d: Diagnostic| d.message).collect()
    })
}

#[test]
fn a_function_of_the_file_is_a_method_under_its_attribute() {
    // Its constants are those around it, its text has the name of the attribute.
    let source = "def build(steps):\n    def _walk(self, x):\n        \"\"\"Text.\"\"\"\n        return self.run(x), steps\n\
                  \x20   @module\n    class M:\n        forward = _walk\n        again = _walk\n\
                  \x20       @func\n        def run(x: Tensor[(4,), \"f32\"]):\n            return x\n    return M\nM = build(3)\n";
    with_source(&format!("{HEAD}{source}"), |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        let sources: Vec<_> = module.methods.iter().map(|method| (method.name.as_str(), method.source)).collect();
        let text = |name: &str| format!("def {name}(self, x):\n    \"\"\"Text.\"\"\"\n    return self.run(x), 3");
        assert_eq!(sources, [("forward", &*text("forward")), ("again", &*text("again"))]);
        let MethodStmtKind::Return(Some(MethodExpr::Tuple([MethodExpr::Call { .. }, MethodExpr::Literal(_)]))) =
            module.methods[0].body[0].kind
        else {
            panic!("no tuple")
        };
    });
}

#[test]
fn what_is_no_plain_function_is_no_method() {
    let class = |member: &str| format!("def walk(self, x):\n    return x\n@module\nclass M:\n    {member}\n{LEAF}");
    assert_eq!(messages(&class("forward = walk")), [""; 0]);
    assert_eq!(messages(&class("forward = lambda self, x: x")), ["the method `forward` is a lambda"]);
    assert_eq!(
        messages(&class("__call__ = walk")),
        ["`__call__` is no method of a module: a call of it runs `forward`"]
    );
    assert_eq!(messages(&class("run = walk")), ["the module has a second member named `run`, a function"]);
    assert_eq!(
        messages(&class("forward = walk").replace("def walk", "@cache\ndef walk")),
        ["the method `forward` is a function with a cache"]
    );
    assert_eq!(
        messages(&class("forward = walk").replace("(self, x)", "()")),
        ["the method `forward` has no parameter for its module"]
    );
    // A function of the language calls none, under any name.
    let called = "    @func\n    def f(x: Tensor[(4,), \"f32\"]):\n        return forward(x)\n";
    assert_eq!(
        messages(&format!("{}{called}", class("forward = walk"))),
        ["`forward` cannot be used: it is a method, which only methods call"]
    );
}

#[test]
fn star_imports_bind_the_language() {
    let source = "from tilefoundry.dsl import *\nfrom tilefoundry.target import *\nN = DimVar(\"n\", 1, 9)\n\
                  @func(target=CudaTarget(\"nvidia.h200_sxm\"), topologies=(Topology(\"cta\", 4),))\n\
                  def f(x: Tensor[(N,), \"f32\"]):\n    with Mesh((\"cta\",), (4,), (\"c\",)) as m:\n        return tf.relu(x)\n";
    with_source(source, |_, result| assert!(result.is_ok(), "{:?}", result.err()));
    // Names of packages are imported by themselves.
    let packages = "from tilefoundry import *\nir = 3\nfrom tilefoundry.dsl import *\n";
    let sized = "@func\ndef f(x: Tensor[(ir,), \"f32\"]):\n    return x\n";
    with_source(&format!("{packages}{sized}"), |_, result| assert!(result.is_ok(), "{:?}", result.err()));
    let unknown = with_source(&format!("from tilefoundry.dls import *\n{sized}"), |_, result| result.is_err());
    assert!(unknown);
}

#[test]
fn parts_of_the_package_that_are_no_language_are_not_missed() {
    let program = format!("@module(entry=\"run\")\nclass M:\n{LEAF}");
    let beside = "from tilefoundry.evaluator import to_torch_dtype\nfrom tilefoundry.runtime import load as load_module\n\
                  DTYPE = to_torch_dtype(\"f32\")\ndef main(path):\n    return load_module(M, path)\n";
    assert_eq!(messages(&format!("{beside}{program}")), [""; 0]);
    assert_eq!(
        messages(&format!("{beside}{}", program.replace("(4,)", "(DTYPE,)"))),
        ["`DTYPE` cannot be used: it comes from `tilefoundry.evaluator`, and authoring files are read, not executed"]
    );
    // A name of the language from a part that there is not is a slip.
    for name in ["ConstTensor", "ConstTensr"] {
        let slip =
            format!("from tilefoundry.dls import {name}\n@func\ndef f(x: {name}[(4,), \"f32\"]):\n    return x\n");
        let found = messages(&slip);
        assert!(found[0].contains("there is no module `tilefoundry.dls`; there are"), "{found:?}");
    }
}

#[test]
fn classes_under_decorators_of_libraries_are_code_of_the_host() {
    let program = format!("@module(entry=\"run\")\nclass M:\n{LEAF}");
    for twin in [
        "from tilefoundry.runtime import runtime_func, runtime_module\n@runtime_module(M)\nclass Twin:\n    leaf = M\n\
         \x20   @runtime_func\n    def run(self, x):\n        assert x.shape == (4,)\n        return x\n",
        "from tilefoundry.ir.core.register import register_op\n@register_op(dialect=\"tf\")\nclass Twin(Op):\n    x = 1\n",
        "import torch\n@torch.compile\nclass Twin(torch.nn.Module):\n    def run(self):\n        return self\n",
    ] {
        with_source(&format!("{HEAD}{program}{twin}"), |_, result| match result {
            Ok(module) => assert_eq!(module.name.as_str(), "M"),
            Err(errors) => panic!("{errors:?}"),
        });
        let used = format!("{program}{twin}@module\nclass N:\n    twin = Twin\n");
        let wanted =
            "`Twin` cannot be used: it is a plain Python class with a decorator, and authoring files are not executed";
        assert_eq!(messages(&used), [wanted]);
    }
    // A misspelt word of the language is no library.
    let misspelt = program.replace("@module", "@modul").replace("@modul(", "from tilefoundry import modul\n@modul(");
    assert_eq!(
        messages(&misspelt),
        ["`modul` cannot be used: `tilefoundry` has no name `modul` that is supported; did you mean `module`?"]
    );
    let twice = program.replace("@module", "@cache\n@module");
    assert_eq!(messages(&twice), ["a class under `@module` has no other decorator, found `@cache`"]);
}

#[test]
fn what_is_not_read_is_said_once() {
    let source = "import json\nC = json.load(open(\"c.json\"))\nW = C[\"w\"]\nH = C[\"h\"]\n\
                  @func\ndef f(x: Tensor[(W, W), \"f32\"], y: Tensor[(W, H), \"f32\"]):\n    return x\n\
                  @func\ndef g(x: Tensor[(H, W), \"f32\"], w: Tensor[(W,), \"f32\"], y: Tensor[(undefined,), \"f32\"], z: Tensor[(undefined,), \"f32\"]):\n    return x\n";
    with_source(&format!("{HEAD}{source}"), |_, result| {
        let errors = result.err().unwrap_or_default();
        let told: Vec<_> = errors
            .iter()
            .map(|error| {
                let notes: Vec<_> = error.notes.iter().map(|(_, note)| note.as_str()).collect();
                (error.message.split(':').next().unwrap_or_default(), notes.join(" "))
            })
            .collect();
        let undefined = ("the name `undefined` is not defined", String::new());
        let used = |name, more: &str| (name, format!("it is used in {more}"));
        assert_eq!(
            told,
            [
                used("`W` cannot be used", "2 more places"),
                ("`H` cannot be used", String::new()),
                undefined.clone(),
                undefined
            ]
        );
    });
}

#[test]
fn a_raise_behind_the_return_is_not_reached() {
    let body = |rest: &str| {
        messages(&format!(
            "@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    y = x\n    return y\n    {}\n",
            rest.replace('\n', "\n    ")
        ))
    };
    assert_eq!(body("raise RuntimeError(\"unreachable\")"), [""; 0]);
    assert_eq!(body("raise RuntimeError\ny = x"), ["the statement stands after `return`"]);
    assert_eq!(body("y = x\nraise RuntimeError"), ["the statement stands after `return`"]);
}

#[test]
fn a_placement_may_say_that_there_are_no_states() {
    let placed = |layout: &str| {
        let source = format!(
            "@module(topologies=(Topology(\"cta\", 4),))\nclass M:\n    @func\n    def f(x: Tensor[(8, 4), \"f32\"]):\n\
             \x20       with Mesh((\"cta\",), (4,), (\"c\",)) as m:\n            return tf.reshard(x, {layout}, \"gmem\")\n"
        );
        with_source(&format!("{HEAD}{source}"), |_, result| match result {
            Ok(module) => {
                let tf_core::AnyFunction::Hir(function) = module.functions[0] else { panic!("no function") };
                Ok(function.return_type.to_string())
            }
            Err(errors) => Err(errors[0].message.clone()),
        })
    };
    assert_eq!(placed("((8 @ m.c, 4), {})"), placed("(8 @ m.c, 4)"));
    assert_eq!(placed("((8, 4), {})"), placed("(8, 4)"));
    assert_eq!(placed("((8, 4), (4, 1), {})"), placed("((8, 4), (4, 1))"));
    assert_eq!(placed("((8, 4), {}, (4, 1))"), Err("the set of value states must be the last item".to_owned()));
    assert!(placed("((8, 4), {1: 2})").is_err());
}

#[test]
fn tile_is_found_beside_the_ops() {
    let looped = |callee: &str| {
        let source = format!(
            "@func\ndef f(x: Tensor[(8, 4), \"f32\"], s: Tensor[(2, 4), \"f32\"]):\n    for r in {callee}(8, 2):\n\
             \x20       s = s + x[r, :]\n    return s\n"
        );
        messages(&source)
    };
    assert_eq!(looped("tf.tile"), [""; 0]);
    assert_eq!(looped("tf . tile"), [""; 0]);
    assert_eq!(looped("(tf).tile"), [""; 0]);
    assert_eq!(looped("tf.range"), ["a loop runs over `tile(...)` or `range(...)`, not `tf.range`"]);
    assert_eq!(looped("x.tile"), ["a loop runs over `tile(...)` or `range(...)`, not `x.tile`"]);
}

#[test]
fn storages_are_members_of_an_enum_too() {
    let storage = |member: &str| {
        messages(&format!(
            "from tilefoundry import TensorType\nfrom tilefoundry.dsl import T\nfrom tilefoundry.ir.types import DType\n\
             from tilefoundry.ir.types.storage import StorageKind\n@prim_func\ndef f(x: Tensor[(4,), \"f32\"]):\n\
             \x20   held = T.alloc_tensor(TensorType(shape=(4,), dtype=DType.f32, layout=None, storage=StorageKind.{member}))\n\
             \x20   T.copy(x, held)\n"
        ))
    };
    assert_eq!(storage("RMEM"), [""; 0]);
    assert_eq!(storage("rmem"), ["`StorageKind` has no member `rmem`"]);
    assert_eq!(storage("REG"), ["`StorageKind` has no member `REG`"]);
}

#[test]
fn what_plain_functions_make_in_arguments_of_the_host_is_checked() {
    let source = "import torch\ndef build(n):\n    @func\n    def f(x: Tensor[(n,), \"f32\"]):\n        return tf.nope(x)\n    \
                  return f\nm = torch.compile(build(3))\n@func\ndef g(x: Tensor[(4,), \"f32\"]):\n    return x\n";
    let found = messages(source);
    assert!(found.len() == 1 && found[0].contains("nope"), "{found:?}");
}

#[test]
fn a_refused_return_is_not_missed() {
    let source = "import json\nC = json.load(open(\"c.json\"))\n@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return x * C\n\
                  @func\ndef g(x: Tensor[(4,), \"f32\"]):\n    return x * C\n";
    let found = messages(source);
    assert!(found.len() == 1 && found[0].starts_with("`C` cannot be used"), "{found:?}");
}
