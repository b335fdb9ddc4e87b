//! Names that a host supplies instead of the file.

use std::cell::RefCell;

use tf_core::{AnyFunction, Arena, Context, Module};
use tf_dsl::{DslOptions, Environment, HostValue, parse_file_in};

use crate::common::registry;

/// A host with a configuration, a mesh and a function that an earlier file defined.
struct Host<'c> {
    names: Vec<(&'static str, HostValue<'c>)>,
    asked: RefCell<Vec<String>>,
}

impl<'c> Environment<'c> for Host<'c> {
    fn lookup(&self, name: &str) -> Option<HostValue<'c>> {
        self.asked.borrow_mut().push(name.to_owned());
        self.names.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
    }
}

/// A configuration with a number, a float and a dict.
fn config<'c>(cx: &Context<'c>) -> HostValue<'c> {
    let sizes = HostValue::Dict(vec![(cx.symbol("small"), HostValue::Int(2))]);
    let fields = [("width", HostValue::Int(8)), ("eps", HostValue::Float(0.5)), ("sizes", sizes)];
    HostValue::Object(fields.map(|(name, value)| (cx.symbol(name), value)).to_vec())
}

fn read<'c>(cx: &Context<'c>, source: &str, host: &Host<'c>) -> Result<Module<'c>, String> {
    let file = cx.sources().add("live.py", source);
    let result = parse_file_in(cx, file, &DslOptions::default(), host);
    result.map_err(|errors| errors.iter().map(|e| e.message.clone()).collect::<Vec<_>>().join("; "))
}

const HEAD: &str = "from tilefoundry import func\nfrom tilefoundry.dsl import Tensor, tf\n";

#[test]
fn live_values_stand_where_the_file_binds_no_name() {
    let arena = Arena::new();
    let cx = &Context::new(&arena, registry());
    let empty = Host { names: Vec::new(), asked: RefCell::default() };
    let scale = "@func\ndef scale(x: Tensor[(4,), \"f32\"]):\n    return x * 0.5\n";
    let scale = read(cx, &format!("{HEAD}{scale}"), &empty).unwrap();
    assert!(empty.asked.borrow().iter().all(|name| !matches!(name.as_str(), "func" | "Tensor" | "tf" | "x")));
    let Some(AnyFunction::Hir(scale)) = scale.entry_function() else { panic!("no entry") };
    let sizes = [HostValue::Int(4), HostValue::Dim(cx.new_dim_var("n", 1, 9).unwrap())];
    let host = Host {
        names: vec![
            ("SHAPE", HostValue::Tuple(sizes.to_vec())),
            ("EPS", HostValue::Float(0.25)),
            ("half", HostValue::Function(scale)),
            ("KIND", HostValue::Str(cx.symbol("bf16"))),
            ("x", HostValue::Int(7)),
            ("CFG", config(cx)),
        ],
        asked: RefCell::default(),
    };
    let source = format!(
        "{HEAD}@func\ndef f(x: Tensor[SHAPE, KIND], y: Tensor[SHAPE[:1], \"f32\"]):\n    return x + EPS, half(y)\n"
    );
    let module = read(cx, &source, &host).unwrap();
    // Attributes and items of an object that lives elsewhere.
    let width =
        format!("{HEAD}@func\ndef f(x: Tensor[(CFG.width, CFG.sizes[\"small\"]), \"f32\"]):\n    return x * CFG.eps\n");
    let configured = read(cx, &width, &host).unwrap();
    assert_eq!(configured.functions[0].params()[0].ty().to_string(), "Tensor[(8, 2), \"f32\"]");
    let Some(AnyFunction::Hir(function)) = module.entry_function() else { panic!("no entry") };
    assert_eq!(function.return_type.to_string(), "(Tensor[(4, n), \"bf16\"], Tensor[(4,), \"f32\"])");
    assert_eq!(module.functions.iter().map(|f| f.name().as_str()).collect::<Vec<_>>(), ["scale", "f"]);
}

#[test]
fn what_the_host_does_not_know_is_undefined() {
    let arena = Arena::new();
    let cx = &Context::new(&arena, registry());
    let nested = (0..40).fold(HostValue::Int(1), |inner, _| HostValue::List(vec![inner]));
    let host = Host { names: vec![("DEEP", nested)], asked: RefCell::default() };
    let with =
        |body: &str| read(cx, &format!("{HEAD}@func\ndef f(x: Tensor[(4,), \"f32\"]):\n    return {body}\n"), &host);
    assert_eq!(with("x * ALPHA").unwrap_err(), "the name `ALPHA` is not defined");
    assert_eq!(with("DEEP[0]").unwrap_err(), "the sequences of `DEEP` are nested too deep");
    assert!(with("exp(x)").is_ok());
}
