//! The pass, on tensor files.

use std::path::Path;
use std::sync::Arc;

use tf_core::node::ModuleData;
use tf_core::{AnyFunction, Arena, Context, ExprKind, Meta, Module};
use tf_evaluate::{Engines, Reference};
use tf_framework::{PassManager, PassRegistry, Pipeline};
use tf_testing::TempFolder;
use tf_types::DType;
use tf_value::io::{TensorFile, write_tensors};
use tf_value::{EvalRegistry, Tensor};

use crate::common::{add, context, dim, function, tensor, var};

/// A folder with files of tensors.
struct Folder(TempFolder);

impl Folder {
    fn new(name: &str) -> Self {
        Self(TempFolder::new(&format!("evaluate-{name}")))
    }

    fn write(&self, name: &str, tensors: &[(&str, Tensor)]) -> String {
        let path = self.0.join(name);
        write_tensors(&path, tensors.iter().map(|(name, tensor)| (*name, tensor))).unwrap();
        path.display().to_string()
    }
}

/// `f(x, const w) = x + w` over `n` elements.
fn module<'c>(cx: &Context<'c>) -> Module<'c> {
    let ty = tensor(cx, &[dim(cx, "n", 1, 99)], DType::F32);
    let x = var(cx, "x", ty);
    let w = cx.expr(ExprKind::Var { name: cx.symbol("w"), is_const: true }, ty, Meta::default());
    let f = function(cx, "f", &[x, w], add(cx, x, w));
    cx.module(ModuleData { functions: cx.alloc_slice(&[AnyFunction::Hir(f)]), ..ModuleData::new(cx.symbol("m")) })
}

/// The table that the pass leaves, or its errors with their notes and help.
fn run<'c>(cx: &Context<'c>, rules: &Arc<EvalRegistry>, options: &str) -> Result<String, String> {
    let mut engines = Engines::default();
    engines.add(Reference::new(Arc::clone(rules)));
    let mut registry = PassRegistry::default();
    tf_evaluate::register(&mut registry, &engines);
    let show = |errors: Vec<tf_core::Diagnostic>| {
        errors.iter().map(|e| e.render(cx.sources(), tf_core::diag::Style::Plain)).collect::<String>()
    };
    let text = format!("evaluate{{{options}}}");
    let pipeline = Pipeline::build(&registry, cx.sources(), "<pipeline>", &text).map_err(|e| show(e.diagnostics))?;
    let outcome = PassManager::default().run(&pipeline, cx, module(cx)).map_err(|failure| show(failure.diagnostics))?;
    Ok(String::from_utf8(outcome.artifacts[0].bytes.clone()).unwrap())
}

fn f32s(values: &[f32]) -> Tensor {
    Tensor::from_f32(&[values.len()], values).unwrap()
}

#[test]
fn names_prefixes_weights_and_outputs() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let folder = Folder::new("names");
    let out = folder.0.join("out.safetensors").display().to_string();
    let result = |options: &str| {
        run(cx, rules, &format!("{options} outputs={out}"))?;
        let file = TensorFile::open(Path::new(&out)).unwrap();
        assert_eq!(file.names(), ["out0"]);
        Ok::<_, String>(file.get("out0").unwrap().unwrap().to_f32_vec())
    };
    let (one, ten, hundred) = (f32s(&[1.0, 2.0]), f32s(&[10.0, 20.0]), f32s(&[100.0, 200.0]));
    let plain = folder.write("plain", &[("x", one.clone()), ("w", ten.clone())]);
    assert_eq!(result(&format!("inputs={plain}")), Ok(vec![11.0, 22.0]));
    let tensors = [("a.in.x", one.clone()), ("x", ten.clone()), ("weights.w", hundred.clone()), ("w", ten.clone())];
    let many = folder.write("many", &tensors);
    assert_eq!(result(&format!("inputs={many} prefix=a.in.")), Ok(vec![101.0, 202.0]));
    assert_eq!(result(&format!("inputs={many} run=a")), Ok(vec![101.0, 202.0]));
    assert_eq!(result(&format!("inputs={many} prefix=b.")), Ok(vec![110.0, 220.0]));
    let weights = folder.write("weights", &[("w", f32s(&[0.5, 0.5]))]);
    assert_eq!(result(&format!("inputs={many} run=a weights={weights}")), Ok(vec![1.5, 2.5]));
}

#[test]
fn the_table_names_conversions() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let folder = Folder::new("table");
    let half = f32s(&[1.0, f32::NAN]).cast(DType::F16).unwrap();
    let file = folder.write("f", &[("x", half), ("w", f32s(&[1.0, 1.0]))]);
    let text = run(cx, rules, &format!("inputs={file}")).unwrap();
    let lines: Vec<_> = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        lines,
        ["output dtype shape min max mean nan", "out0 f32 (2,) 2 2 2 1", "converted `x`: F16 in the file, cast to f32"]
    );
}

#[test]
fn refusals_list_what_there_is() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let folder = Folder::new("refusals");
    let file = folder.write("f", &[("a.x", f32s(&[1.0])), ("b", f32s(&[1.0]))]);
    let text = run(cx, rules, &format!("inputs={file} prefix=b.")).unwrap_err();
    assert!(text.contains("no tensor for the parameter `x`: tried `b.x` in "), "{text}");
    assert!(text.contains("has `a.x`, `b`"), "{text}");
    let text = run(cx, rules, &format!("inputs={file} prefix=a.")).unwrap_err();
    assert!(text.contains("a constant is missing: module `m` lacks `w`"), "{text}");
    assert!(text.contains("tried `a.w` in ") && text.contains(", `weights.w` in "), "{text}");
    assert!(text.contains("has `a.x`, `b`"), "{text}");
    let text = run(cx, rules, &format!("inputs={file}")).unwrap_err();
    assert!(text.contains("what stands before the names in the file is stated as `prefix=a.`"), "{text}");
    let text = run(cx, rules, "").unwrap_err();
    assert!(text.contains("no tensor for the parameter `x`") && text.contains("inputs=FILE"), "{text}");
    let text = run(cx, rules, "on=cuda:0").unwrap_err();
    assert!(text.contains("there is no engine `cuda:0`") && text.contains("engines here: `reference`"), "{text}");
    assert!(text.contains("evaluate{on=cuda:0}\n") && text.contains("            ^^^^^^"), "{text}");
    let text = run(cx, rules, "entry=g random=1").unwrap_err();
    assert!(
        text.contains("module `m` has no function, method or child `g`") && text.contains("has the function"),
        "{text}"
    );
    assert!(text.contains("<pipeline>:1:16"), "{text}");
    let text = run(cx, rules, "random=1 entry=f.g").unwrap_err();
    assert!(text.contains("`f` of module `m` is no child: `f.g` names nothing"), "{text}");
    assert!(text.contains("<pipeline>:1:25"), "{text}");
    assert!(run(cx, rules, "inputs=/nowhere").unwrap_err().contains("/nowhere"));
    assert!(run(cx, rules, "prefix=a run=b").unwrap_err().contains("`prefix` is given too"));
    assert!(run(cx, rules, "dims=n").unwrap_err().contains("expected NAME:SIZE with a size of 0 or more, found `n`"));
    assert!(run(cx, rules, "dims=n:-1").unwrap_err().contains("found `n:-1`"));
}

#[test]
fn numbers_of_the_table_are_short_at_any_size() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let folder = Folder::new("numbers");
    let row = |x: &[f32]| {
        let zeros = vec![0.0; x.len()];
        let file = folder.write("f.npz", &[("x", f32s(x)), ("w", f32s(&zeros))]);
        let text = run(cx, rules, &format!("inputs={file}")).unwrap();
        text.lines().nth(1).unwrap().split_whitespace().skip(2).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row(&[1e-9, 3.0]), "(2,) 1.000000e-9 3 1.500000 0");
    assert_eq!(row(&[-2.5e7, 1e30]), "(2,) -25000000 1.000000e30 5.000000e29 0");
    assert_eq!(row(&[f32::NEG_INFINITY, f32::NAN]), "(2,) -inf -inf -inf 1");
    assert_eq!(row(&[f32::NAN]), "(1,) - - - 1");
}

#[test]
fn stated_dims_must_be_those_of_the_run() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let folder = Folder::new("stated");
    let file = folder.write("f.npz", &[("x", f32s(&[1.0, 2.0])), ("w", f32s(&[1.0, 2.0]))]);
    assert!(run(cx, rules, &format!("inputs={file} dims=n:2")).is_ok());
    let text = run(cx, rules, &format!("inputs={file} dims=n:3")).unwrap_err();
    assert!(text.contains("dim `n` is 2 in the inputs, but stated as 3"), "{text}");
    let text = run(cx, rules, &format!("inputs={file} dims=n:1")).unwrap_err();
    assert!(text.contains("dim `n` is 2 in the inputs, but stated as 1"), "{text}");
    let text = run(cx, rules, "random=1 dims=m:3").unwrap_err();
    assert!(text.contains("`f` has no dim `m`, whose size `dims` states") && text.contains("it has `n`"), "{text}");
}

#[test]
fn near_names_are_told() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let folder = Folder::new("near");
    let file = folder.write("f.npz", &[("a.x", f32s(&[1.0])), ("ww", f32s(&[1.0]))]);
    let text = run(cx, rules, &format!("inputs={file} prefix=a.")).unwrap_err();
    assert!(text.contains("lacks `w`") && text.contains("did you mean `ww`?"), "{text}");
}

#[test]
fn made_up_tensors_depend_on_the_seed_only() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let of = |seed: i64| run(cx, rules, &format!("random={seed} dims=n:17")).unwrap();
    assert!(of(1).contains("(17,)"));
    assert!(of(1) == of(1) && of(1) != of(2));
    let text = run(cx, rules, "random=1").unwrap_err();
    assert!(text.contains("the size of dim `n` is not known") && text.contains("state it: `dims=n:SIZE`"), "{text}");
}

#[test]
fn names_of_the_weights_that_nothing_declares_are_told() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let folder = Folder::new("unused");
    let inputs = folder.write("f.npz", &[("x", f32s(&[1.0])), ("other", f32s(&[1.0]))]);
    let one = folder.write("one.npz", &[("w", f32s(&[1.0]))]);
    let table = |weights: &str| run(cx, rules, &format!("inputs={inputs} weights={weights}")).unwrap();
    assert!(!table(&one).contains("unused"));
    let more = folder.write("more.npz", &[("w", f32s(&[1.0])), ("a.w", f32s(&[1.0])), ("v", f32s(&[1.0]))]);
    let text = table(&more);
    assert_eq!(text.lines().last(), Some(&*format!("unused of {more}: `a.w`, `v`")));
}
