//! Which module of a file is read, and what it declares.

use tf_core::TargetKind;

use crate::common::{with_module, with_source};

const TWO: &str = r#"
import tilefoundry
from tilefoundry.dsl import Tensor, Topology, tf
from tilefoundry.target import CpuTarget

@tilefoundry.module(entry="f", target=CpuTarget())
class Left:
    """Both halves."""
    topologies = (Topology("cta", 4), Topology("thread"))

    @tilefoundry.func
    def g(x: Tensor[(4,), "f32"]) -> Tensor[(4,), "f32"]:
        return x + x

    @tilefoundry.func
    def f(x: Tensor[(4,), "f32"]) -> tuple[Tensor[(4,), "f32"], Tensor[(4,), "f32"]]:
        return g(x), x


@tilefoundry.func(topologies=(Topology("thread", 8),))
def alone(x: Tensor[(4,), "f32"]):
    return tf.exp(x)


@tilefoundry.module
class Wrong:
    @tilefoundry.func
    def h(x: Tensor[(4,), "f32"]):
        return Left(x)
"#;

#[test]
fn modules_are_selected_by_name() {
    with_module(TWO, Some("Left"), |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        assert_eq!(module.functions.iter().map(|f| f.name().as_str()).collect::<Vec<_>>(), ["g", "f"]);
        assert_eq!(module.entry.unwrap().as_str(), "f");
        assert_eq!(module.target.unwrap().kind, TargetKind::Cpu);
        assert_eq!(module.topologies.unwrap().iter().map(ToString::to_string).collect::<Vec<_>>(), ["cta 4", "thread"]);
    });
    with_module(TWO, Some("alone"), |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        assert_eq!((module.name.as_str(), module.functions.len(), module.target.is_none()), ("alone", 1, true));
        assert_eq!(module.topologies.unwrap()[0].to_string(), "thread 8");
    });
    let messages = |name| {
        with_module(TWO, name, |_, result| {
            result.err().unwrap_or_default().into_iter().map(|d| (d.message, d.help)).collect::<Vec<_>>()
        })
    };
    assert_eq!(messages(Some("Wrong"))[0].0, "`Left` is no child of the module that calls it");
    let known = Some("it has Left, alone, Wrong".to_owned());
    assert_eq!(messages(Some("Right")), [("the file has no module or function `Right`".to_owned(), known)]);
    assert_eq!(messages(None).len(), 1);
}

/// A module that a refused call would have made is missing for the reason of the call.
#[test]
fn modules_of_refused_calls_say_why() {
    let source = "from tilefoundry import func, module\nfrom tilefoundry.dsl import Tensor, tf\n\
        def make(dtype):\n    @module(entry=\"f\")\n    class M:\n        @func\n        \
        def f(x: Tensor[(4,), dtype]):\n            return x + 1.0\n    return M\n\
        Right = make(\"f32\")\nWrong = make(\"i64\")\n";
    let messages = |name| {
        with_module(source, Some(name), |_, result| {
            result.err().unwrap_or_default().into_iter().map(|error| error.message).collect::<Vec<_>>()
        })
    };
    assert_eq!(messages("Right"), [""; 0]);
    assert_eq!(messages("Wrong"), ["`add` takes operands of one dtype, found i64 and f32"]);
}

#[test]
fn the_last_module_is_the_default() {
    let two = TWO.replace("return Left(x)", "return x");
    with_source(&two, |_, result| {
        assert_eq!(result.ok().map(|module| module.name.as_str()), Some("Wrong"));
    });
    with_source("x = 1\n", |_, result| {
        let error = &result.err().unwrap_or_default()[0];
        assert_eq!(error.message, "the file has no class under `@module` and no function under `@func`");
    });
}

#[test]
fn syntax_errors_have_a_place() {
    with_source("def f(:\n    return (\n", |cx, result| {
        let errors = result.err().unwrap_or_default();
        assert!(errors[0].message.starts_with("invalid syntax: "), "{}", errors[0].message);
        assert_eq!(cx.sources().describe(errors[0].span.unwrap()), "test.py:1:7");
    });
}

#[test]
fn what_follows_from_a_syntax_error_is_not_reported() {
    for (line, want) in [
        ("relu(x))", vec!["2:12-13"]),
        ("y = (x, 2]", vec!["2:14-15"]),
        ("y = relu(x", vec!["2:15-16"]),
        ("y = x +\n\nz = x +", vec!["2:12-13", "4:12-13"]),
        ("for i in range(4)", vec!["2:22-23"]),
    ] {
        let body = line.replace('\n', "\n    ");
        with_source(&format!("def f(x):\n    {body}\n    return x\n"), |_, result| {
            let errors = result.err().unwrap_or_default();
            let spans = errors.iter().filter_map(|error| error.span);
            let found: Vec<_> = spans.map(|at| format!("{}:{}-{}", at.line, at.column, at.end_column)).collect();
            assert_eq!(found, want, "{line}");
        });
    }
}

/// `name: functions` of the module that is read, or the first message.
fn read(members: &str, name: Option<&str>) -> String {
    let source = format!("from tilefoundry import func, module\nfrom tilefoundry.dsl import Tensor, tf\n{members}");
    with_module(&source, name, |_, result| match result {
        Ok(module) => {
            let functions: Vec<_> = module.functions.iter().map(|f| f.name().as_str()).collect();
            format!("{}: {}", module.name, functions.join(" "))
        }
        Err(errors) => errors[0].message.clone(),
    })
}

#[test]
fn modules_that_plain_functions_give() {
    let made = "def make(n):\n    @module(entry=\"f\")\n    class M:\n        @func\n        def f(x: Tensor[(n,), \"f32\"]):\n            \
                return x\n    return M.renamed(f\"m{n}\")\nsmall = make(4)\nlarge = make(8)\n";
    assert_eq!(read(made, None), "m8: f");
    assert_eq!(read(made, Some("small")), "m4: f");
    let class = "@module\nclass C:\n    @func\n    def g(x: Tensor[(4,), \"f32\"]):\n        return x\n";
    assert_eq!(read(&format!("{class}D = C.renamed(\"d\")\n"), None), "C: g");
    assert_eq!(read(&format!("{class}D = C.renamed(\"d\")\n"), Some("D")), "d: g");
}

#[test]
fn class_bodies_decide_by_constants() {
    let function =
        |name: &str| format!("        @func\n        def {name}(x: Tensor[(4,), \"f32\"]):\n            return x\n");
    let class = |test: &str| {
        let branches = [function("a"), function("b")];
        format!(
            "N = 3\n@module\nclass M:\n    __version__ = 1\n    if {test}:\n{}    else:\n{}",
            branches[0], branches[1]
        )
    };
    assert_eq!(read(&class("N > 2"), None), "M: a");
    assert_eq!(read(&class("N > 5"), None), "M: b");
    assert_eq!(read(&class("tf"), None), "`tf` is `tf`, which is neither true nor false");
    assert_eq!(
        read(&class("False").replace("def b", "def __call__"), None),
        "`__call__` is no method of a module: a call of it runs `forward`"
    );
}

/// The kinds of definitions, read from a text.
#[test]
fn texts_are_scripts() {
    use tf_core::{AnyFunction, Arena, Context};
    use tf_dsl::{Script, parse_func_source, parse_module_source, parse_script};

    const FUNC: &str = "@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return x\n";
    const OWN: &str = "@func(topologies=(Topology(\"thread\", 4),))\ndef g(x: Tensor[(4,), \"f32\"]):\n    return x\n";
    const PRIM: &str = "@prim_func\ndef p(x: Tensor[(4,), \"f32\"]):\n    T.relu(x, x)\n";
    const CLASS: &str =
        "@module(entry=\"h\")\nclass M:\n    @prim_func\n    def h(x: Tensor[(4,), \"f32\"]):\n        T.relu(x, x)\n";
    let head = "from tilefoundry import func, module, prim_func\nfrom tilefoundry.dsl import T, Tensor, Topology, tf\n";
    let arena = Arena::new();
    let cx = &Context::new(&arena, crate::common::registry());
    let text = |parts: &[&str]| format!("{head}{}", parts.concat());
    let script = |parts: &[&str]| parse_script(cx, &text(parts)).expect("the text is right");

    assert!(matches!(script(&[FUNC]), Script::Function(AnyFunction::Hir(f)) if f.name.as_str() == "f"));
    assert!(matches!(script(&[PRIM]), Script::Function(AnyFunction::Tir(p)) if p.name.as_str() == "p"));
    assert!(matches!(script(&[FUNC, OWN]), Script::Module(g) if g.name.as_str() == "g" && g.topologies.is_some()));
    // A class counts before the functions around it.
    assert!(matches!(script(&[CLASS, FUNC]), Script::Module(m) if m.name.as_str() == "M"));

    let messages = |errors: Vec<tf_core::Diagnostic>| errors.into_iter().map(|e| e.message).collect::<Vec<_>>();
    assert!(parse_func_source(cx, &text(&[OWN])).is_ok() && parse_module_source(cx, &text(&[CLASS])).is_ok());
    let refused = parse_func_source(cx, &text(&[CLASS])).map_err(messages).unwrap_err();
    assert_eq!(refused, ["the source defines the module `M`, and a function was expected"]);
    let refused = parse_module_source(cx, &text(&[PRIM])).map_err(messages).unwrap_err();
    assert_eq!(refused, ["the source defines the function `p`, and a module was expected"]);
}

/// A plain function makes functions: each name that one is bound to selects it, and the last is the default.
#[test]
fn functions_of_plain_functions_are_selected_by_name() {
    let text = r#"
from tilefoundry import func, prim_func
from tilefoundry.dsl import T, Tensor, tf
from tilefoundry.target import CpuTarget

def make(width):
    @func
    def double(x: Tensor[(width,), "f32"]) -> Tensor[(width,), "f32"]:
        return x + x
    return double

def statements(width):
    @prim_func(target=CpuTarget())
    def copy(x: Tensor[(width,), "f32"], out: Tensor[(width,), "f32"]):
        T.copy(x, out)
    return copy

stored = statements(2)
small, big = [make(width) for width in (4, 8)]
again = small
"#;
    for (name, entry, extent) in [
        (None, "double", "8"),
        (Some("small"), "double", "4"),
        (Some("big"), "double", "8"),
        (Some("stored"), "copy", "2"),
    ] {
        with_module(text, name, |_, result| {
            let module = result.unwrap();
            let function = module.functions[0];
            assert_eq!(function.name().as_str(), entry, "{name:?}");
            let param = function.params()[0].ty();
            assert_eq!(param.as_tensor().unwrap().shape[0].to_string(), extent, "{name:?}");
            assert_eq!(module.target.is_some(), name == Some("stored"));
        });
    }
}
