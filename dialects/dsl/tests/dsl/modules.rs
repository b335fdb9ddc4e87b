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
