//! Readings: constants by name, children, methods, converters.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tf_core::Arena;
use tf_core::diag::Style;
use tf_evaluate::{DimSizes, Engine, Engines, Reading, ReadingRequest, Reference, Resource, Step};
use tf_framework::{PassManager, PassRegistry, Pipeline};
use tf_testing::TempFolder;
use tf_types::DType;
use tf_value::io::{HOST, TensorInfo, TensorMap, TensorStore, write_tensors};
use tf_value::{Tensor, ValueError};

use crate::common::{context, f32s, parsed};

fn map(tensors: &[(&str, Tensor)]) -> Resource {
    let tensors = tensors.iter().map(|(name, tensor)| ((*name).to_owned(), tensor.clone()));
    Resource::new(Arc::new(TensorMap(tensors.collect::<BTreeMap<_, _>>())))
}

/// Outputs of a step, or the rendered error.
fn run(text: &str, resource: Resource, step: Option<&str>, inputs: &[Tensor]) -> Result<Vec<Vec<f64>>, String> {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let reading = Reading::load(parsed(cx, text), resource);
    let show = |error: tf_core::Diagnostic| error.render(cx.sources(), Style::Plain);
    let step = match step {
        Some(name) => reading.step(name).unwrap(),
        None => reading.default_step().map_err(show)?,
    };
    let request = ReadingRequest { step, inputs, dims: &DimSizes::default(), times: None };
    let outputs = Reference::new(Arc::clone(rules)).run_reading(&request).unwrap().map_err(show)?;
    Ok(outputs.iter().map(Tensor::to_f64_vec).collect())
}

/// Two children of one form, each with a constant of its own, in a group; a method that runs them.
const TREE: &str = r#"
#n = dim<"n", 1, 9>
module @tree {
  hir.func @twice(%x: tensor<[#n]xf32>) -> tensor<[#n]xf32> {
    %0 = tf.binary %x, %x {kind = "add"} : (tensor<[#n]xf32>, tensor<[#n]xf32>) -> tensor<[#n]xf32>
    hir.return %0
  }
  group @steps {
    module @a entry(@add) {
      hir.func @add(%x: tensor<[#n]xf32>, %w: const tensor<[#n]xf32>) -> tensor<[#n]xf32> {
        %0 = tf.binary %x, %w {kind = "add"} : (tensor<[#n]xf32>, tensor<[#n]xf32>) -> tensor<[#n]xf32>
        hir.return %0
      }
    }
    module @b entry(@add) {
      hir.func @add(%x: tensor<[#n]xf32>, %w: const tensor<[#n]xf32>) -> tensor<[#n]xf32> {
        %0 = tf.binary %x, %w {kind = "add"} : (tensor<[#n]xf32>, tensor<[#n]xf32>) -> tensor<[#n]xf32>
        hir.return %0
      }
    }
  }
  METHODS
}
"#;

fn tree(methods: &str) -> String {
    TREE.replace("METHODS", methods)
}

fn both() -> Resource {
    map(&[("a.w", f32s(&[10.0, 20.0])), ("b.w", f32s(&[100.0, 200.0]))])
}

#[test]
fn constants_go_by_dotted_name_and_methods_run_children() {
    let x = [f32s(&[1.0, 2.0])];
    let run = |body: &str, resource| {
        run(&tree(&format!("method @forward(x) source(\"…\") {{ {body} }}")), resource, None, &x)
    };
    assert_eq!(run("return $self.b($self.a($x))", both()), Ok(vec![vec![111.0, 222.0]]));
    let names = "set y = $self.steps[-1].add(@x = $x)\n set z = $self.twice($y)\n return ($z, $y)";
    assert_eq!(run(names, both()), Ok(vec![vec![202.0, 404.0], vec![101.0, 202.0]]));
    let looped = "for m in $self.steps { set x = $m($x) }\n for i in range 0 to 3 step 1 { set x = $self.twice($x) }\n return $x";
    assert_eq!(run(looped, both()), Ok(vec![vec![888.0, 1776.0]]));
    let down = "for i in range 3 to 0 step -1 { set x = $self.twice($x) }\n for i in range 5 to 0 step -2 { set x = $self.twice($x) }\n return $x";
    assert_eq!(run(down, both()), Ok(vec![vec![64.0, 128.0]]));
    let unpacked = "unpack (p, q) = ($x, $self.a($x))\n drop $self.twice($p)\n return $q";
    // The child that is not reached needs no constants.
    assert_eq!(run(unpacked, map(&[("a.w", f32s(&[1.0, 1.0]))])), Ok(vec![vec![2.0, 3.0]]));
}

#[test]
fn methods_call_methods_with_defaults() {
    let methods = r#"
      method @again(x, times = 2) source("…") { set y = $self.twice($x) return $y }
      method @forward(x) source("…") { return $self.again($self.again($x), @times = 3) }
      method @deep(x) source("…") { return $self.deep($x) }"#;
    let x = [f32s(&[1.0])];
    assert_eq!(run(&tree(methods), both(), None, &x), Ok(vec![vec![4.0]]));
    let message = run(&tree(methods), both(), Some("deep"), &x).unwrap_err();
    assert!(message.contains("methods call each other more than 64 deep"), "{message}");
}

#[test]
fn what_a_method_may_not_do_is_named() {
    let refused = |body: &str| {
        let text = tree(&format!("method @forward(x) source(\"…\") {{ {body} }}"));
        run(&text, both(), None, &[f32s(&[1.0, 2.0])]).unwrap_err()
    };
    let has = |body: &str, words: &str| {
        let message = refused(body);
        assert!(message.contains(words), "{body}: {message}");
    };
    has("unsupported \"while\"", "method `forward` of module `tree`: `while` is not run");
    has("return unsupported \"lambda\"", "`lambda` is not run");
    has("return $y", "`y` is not defined");
    has("return $self.c($x)", "module `tree` has no member `c`");
    has("return $x.shape", "`.shape`: only modules have attributes here");
    has("return $self.steps[2]", "there is no item 2 of 2");
    has("return $self.steps($x)", "only functions, children and methods are called");
    has("unpack (a, b) = $self.twice($x)", "what is unpacked is no tuple");
    has("unpack (a, b, c) = $self.steps", "3 names for 2 values");
    has("unpack (a, b) = ($x, $x, $x)", "2 names for 3 values");
    has("return $self.forward($x, @x = $x)", "`x` is given twice");
    has("return $self.forward(@y = $x)", "it has no parameter `y`");
    has("return $self.forward()", "`x` is not given");
    has("return $self.twice($self)", "an argument of a function is a tensor or a number");
    has("return $self.twice($x, @y = $x)", "`twice` takes 1 activation (`x`), found 2");
    has("return $self", "method `forward` returns something that is no tensor");
    let message = refused("return $self.a($x, $x)");
    assert!(message.contains("`add` takes 1 activation (`x`), found 2"), "{message}");
    assert!(message.contains("its constants (`w`) are filled by name; one argument for each parameter"), "{message}");
}

#[test]
fn missing_constants_are_listed_before_anything_runs() {
    let methods = "method @forward(x) source(\"…\") { return $self.b($self.a($x)) }";
    let message = run(&tree(methods), map(&[("w", f32s(&[1.0]))]), None, &[f32s(&[1.0])]).unwrap_err();
    assert!(message.contains("2 constants are missing: child `a` lacks `a.w`; child `b` lacks `b.w`"), "{message}");
    assert!(message.contains("memory has `w`"), "{message}");
}

/// A misspelled name is told, but no constant of another child.
#[test]
fn names_that_were_meant_are_those_that_nothing_takes() {
    let methods = "method @forward(x) source(\"…\") { return $self.b($self.a($x)) }";
    let refused = |names: &[&str]| {
        let tensors: Vec<_> = names.iter().map(|name| (*name, f32s(&[1.0]))).collect();
        run(&tree(methods), map(&tensors), None, &[f32s(&[1.0])]).unwrap_err()
    };
    let message = refused(&["b.w"]);
    assert!(message.contains("child `a` lacks `a.w`") && !message.contains("did you mean"), "{message}");
    let message = refused(&["a.w2", "b.w"]);
    assert!(message.contains("did you mean `a.w2`?"), "{message}");
}

#[test]
fn constants_of_another_shape_or_dtype_are_refused() {
    let step = "method @forward(x) source(\"…\") { return $self.a($x) }";
    let refused = |w: Tensor| run(&tree(step), map(&[("a.w", w)]), None, &[f32s(&[1.0, 2.0])]).unwrap_err();
    let message = refused(Tensor::zeros(&[2], DType::F16).unwrap());
    assert!(message.contains("the constant `a.w` is f32 of shape (2,), memory has f16 of shape (2,)"), "{message}");
    let message = refused(f32s(&[1.0, 2.0, 3.0]));
    assert!(message.contains("the constant `a.w` is f32 of shape (2,), memory has f32 of shape (3,)"), "{message}");
    let message = refused(Tensor::zeros(&[2, 1], DType::F32).unwrap());
    assert!(message.contains("the constant `a.w` is f32 of shape (2,), memory has f32 of shape (2, 1)"), "{message}");
}

/// Tensors of which it is noted what is read; those named so far lie on another device.
#[derive(Debug, Default)]
struct Watched {
    tensors: TensorMap,
    read: Mutex<Vec<String>>,
    elsewhere: Vec<&'static str>,
}

impl Watched {
    fn new(names: &[&str], elsewhere: &[&'static str]) -> Arc<Self> {
        let tensors = names.iter().map(|name| ((*name).to_owned(), f32s(&[1.0, 2.0]))).collect();
        Arc::new(Self { tensors: TensorMap(tensors), read: Mutex::default(), elsewhere: elsewhere.to_vec() })
    }

    /// What running the method reads, or why it is refused.
    fn run(self: &Arc<Self>, body: &str) -> Result<Vec<String>, String> {
        let text = tree(&format!("method @forward(x) source(\"…\") {{ {body} }}"));
        run(&text, Resource::new(Arc::clone(self) as Arc<dyn TensorStore>), None, &[f32s(&[1.0, 2.0])])?;
        Ok(self.read.lock().unwrap().clone())
    }
}

impl TensorStore for Watched {
    fn label(&self) -> String {
        self.tensors.label()
    }
    fn names(&self) -> Vec<String> {
        self.tensors.names()
    }
    fn info(&self, name: &str) -> Option<TensorInfo> {
        self.tensors.info(name)
    }
    fn device(&self, name: &str) -> &str {
        if self.elsewhere.contains(&name) { "cuda:0" } else { HOST }
    }
    fn get_as(&self, name: &str, dtype: DType) -> Option<Result<Tensor, ValueError>> {
        self.read.lock().unwrap().push(name.to_owned());
        self.tensors.get_as(name, dtype)
    }
}

#[test]
fn constants_are_read_when_they_are_used_and_once() {
    let store = Watched::new(&["a.w", "b.w", "w"], &[]);
    assert_eq!(store.run("return $self.twice($x)"), Ok(vec![]));
    assert_eq!(store.run("return $self.a($self.a($x))"), Ok(vec!["a.w".to_owned()]));
}

#[test]
fn constants_on_another_device_are_refused_before_anything_is_read() {
    let store = Watched::new(&["a.w", "b.w"], &["b.w"]);
    let message = store.run("return $self.b($self.a($x))").unwrap_err();
    assert!(
        message.contains("the tensors of a run lie on one device, found `a.w`, `x` on cpu; `b.w` on cuda:0"),
        "{message}"
    );
    assert!(message.contains("evaluation moves no tensor"), "{message}");
    assert!(store.read.lock().unwrap().is_empty());
    // What is not reached may lie anywhere.
    assert_eq!(store.run("return $self.a($x)"), Ok(vec!["a.w".to_owned()]));
}

/// The constants of the variant that is not selected need no tensors, those of converters neither.
#[test]
fn only_what_is_reached_needs_constants() {
    let text = r#"
#n = dim<"n", 1, 9>
module @m entry(@outer) {
  module @big entry(@add) {
    hir.func @add(%x: tensor<[#n]xf32>, %w: const tensor<1xf32>) -> tensor<[#n]xf32> {
      %0 = tf.binary %x, %w {kind = "add"} : (tensor<[#n]xf32>, tensor<1xf32>) -> tensor<[#n]xf32>
      hir.return %0
    }
  }
  hir.func @f(%x: tensor<[#n]xf32>) -> tensor<[#n]xf32> {
    hir.variant "few" [n = 1 to 4] (%x: tensor<[#n]xf32>) -> tensor<[#n]xf32> {
      hir.return %x
    }
    hir.variant "many" [n = 4 to 9] (%x: tensor<[#n]xf32>) -> tensor<[#n]xf32> {
      %0 = call @big::@add(%x) : (tensor<[#n]xf32>) -> tensor<[#n]xf32>
      hir.return %0
    }
  }
  hir.func @outer(%x: tensor<[#n]xf32>) -> tensor<[#n]xf32> {
    %0 = call @f(%x) : (tensor<[#n]xf32>) -> tensor<[#n]xf32>
    hir.return %0
  }
}"#;
    assert_eq!(run(text, map(&[]), None, &[f32s(&[1.0; 3])]), Ok(vec![vec![1.0; 3]]));
    let message = run(text, map(&[]), None, &[f32s(&[1.0; 4])]).unwrap_err();
    assert!(message.contains("a constant is missing: child `big` lacks `big.w`"), "{message}");
    let big = map(&[("big.w", f32s(&[2.0]))]);
    assert_eq!(run(text, big, None, &[f32s(&[1.0; 4])]), Ok(vec![vec![3.0; 4]]));
}

#[test]
fn a_reading_without_a_step_says_what_it_has() {
    let message = run(&tree(""), both(), None, &[]).unwrap_err();
    assert!(message.contains("module `tree` has neither a method `forward` nor an entry"), "{message}");
    assert!(message.contains("module `tree` has the function `twice` and no methods"), "{message}");
}

#[test]
fn variants_are_chosen_by_this_runs_extents() {
    let text = r#"
#n = dim<"n", 1, 9>
module @m entry(@outer) {
  hir.func @f(%x: tensor<[#n]xf32>, %w: const tensor<1xf32>) -> tensor<[#n]xf32> {
    hir.variant "few" [n = 1 to 4] (%x: tensor<[#n]xf32>, %w: const tensor<1xf32>) -> tensor<[#n]xf32> {
      hir.return %x
    }
    hir.variant "many" [n = 4 to 9] (%x: tensor<[#n]xf32>, %w: const tensor<1xf32>) -> tensor<[#n]xf32> {
      %0 = tf.binary %x, %x {kind = "add"} : (tensor<[#n]xf32>, tensor<[#n]xf32>) -> tensor<[#n]xf32>
      hir.return %0
    }
  }
  hir.func @outer(%x: tensor<[#n]xf32>, %w: const tensor<1xf32>) -> tensor<[#n]xf32> {
    %0 = call @f(%x, %w) : (tensor<[#n]xf32>, tensor<1xf32>) -> tensor<[#n]xf32>
    hir.return %0
  }
}"#;
    let w = || map(&[("w", f32s(&[0.0]))]);
    assert_eq!(run(text, w(), None, &[f32s(&[1.0; 3])]), Ok(vec![vec![1.0; 3]]));
    assert_eq!(run(text, w(), None, &[f32s(&[1.0; 4])]), Ok(vec![vec![2.0; 4]]));
    assert_eq!(run(text, w(), Some("f"), &[f32s(&[1.0; 5])]), Ok(vec![vec![2.0; 5]]));
}

/// A step is the method `forward` even where there is an entry.
#[test]
fn forward_comes_before_the_entry() {
    let text = tree("method @forward(x) source(\"…\") { return $x }")
        .replace("module @tree {", "module @tree entry(@twice) {");
    assert_eq!(run(&text, both(), None, &[f32s(&[1.0])]), Ok(vec![vec![1.0]]));
    let text = tree("").replace("module @tree {", "module @tree entry(@twice) {");
    assert_eq!(run(&text, both(), None, &[f32s(&[1.0])]), Ok(vec![vec![2.0]]));
}

/// A method calls functions as the host does: what it passes is cast to the parameters' dtypes.
#[test]
fn arguments_of_methods_are_cast() {
    let half = Tensor::from_f32(&[2], &[0.5, 1.5]).unwrap().cast(DType::F16).unwrap();
    let twice = tree("method @forward(x) source(\"…\") { return $self.twice($x) }");
    assert_eq!(run(&twice, both(), None, &[half]), Ok(vec![vec![1.0, 3.0]]));
    let ints = Tensor::from_vec(&[1], vec![(1i64 << 24) + 1]).unwrap();
    assert_eq!(run(&twice, both(), None, &[ints]), Ok(vec![vec![f64::from(1 << 25)]]));
}

/// State is a parameter and a result: what was passed in stays as it was, for the caller and for what comes after in the method.
#[test]
fn state_is_passed_in_and_returned() {
    let text = r#"
module @m {
  hir.func @step(%cache: tensor<3xf32>, %at: tensor<1xi64>, %new: tensor<1xf32>) -> tensor<3xf32> {
    %0 = tf.index_copy %cache, %at, %new {dim = 0} : (tensor<3xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<3xf32>
    hir.return %0
  }
  method @forward(cache, at, new) source("…") {
    set first = $self.step($cache, $at, $new)
    set second = $self.step($cache, $at, $new)
    return ($first, $second, $cache)
  }
}"#;
    let inputs = [f32s(&[1.0, 2.0, 3.0]), Tensor::from_vec(&[1], vec![1i64]).unwrap(), f32s(&[9.0])];
    let (old, new) = (vec![1.0, 2.0, 3.0], vec![1.0, 9.0, 3.0]);
    assert_eq!(run(text, map(&[]), None, &inputs), Ok(vec![new.clone(), new.clone(), old.clone()]));
    assert_eq!(run(text, map(&[]), Some("step"), &inputs), Ok(vec![new]));
    assert_eq!(inputs[0].to_f64_vec(), old);
}

/// What `evaluate` says of a run on these inputs.
fn evaluated(text: &str, name: &str, inputs: &[(&str, Tensor)]) -> Result<String, String> {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let folder = TempFolder::new(&format!("evaluate-methods-{name}"));
    let file = folder.join("in.npz");
    write_tensors(&file, inputs.iter().map(|(name, tensor)| (*name, tensor))).unwrap();
    let mut engines = Engines::default();
    engines.add(Reference::new(Arc::clone(rules)));
    let mut registry = PassRegistry::default();
    tf_evaluate::register(&mut registry, &engines);
    let pipeline = format!("evaluate{{inputs={}}}", file.display());
    let pipeline = Pipeline::build(&registry, cx.sources(), "<pipeline>", &pipeline).unwrap();
    let outcome = PassManager::default().run(&pipeline, cx, parsed(cx, text)).map_err(|failure| {
        failure.diagnostics.iter().map(|e| e.render(cx.sources(), Style::Plain)).collect::<String>()
    })?;
    Ok(String::from_utf8(outcome.artifacts[0].bytes.clone()).unwrap())
}

#[test]
fn parameters_of_methods_with_defaults_need_no_tensor() {
    let text = tree("method @forward(x, times = 2) source(\"…\") { set y = $self.twice($x) return $y }");
    let table = evaluated(&text, "default", &[("x", f32s(&[1.5, 2.0]))]).unwrap();
    assert!(table.contains("out0    f32    (2,)") && table.contains("3.500000"), "{table}");
    let message = evaluated(&text, "missing", &[("times", f32s(&[1.0]))]).unwrap_err();
    assert!(message.contains("there is no tensor for the method's parameter `x`"), "{message}");
}

#[test]
fn a_constant_is_checked_in_every_run() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let reading = Reading::load(parsed(cx, &tree("")), map(&[("a.w", f32s(&[1.0, 2.0]))]));
    let run = |x: &[f32]| {
        let step = reading.child("a").unwrap().default_step().unwrap();
        let request = ReadingRequest { step, inputs: &[f32s(x)], dims: &DimSizes::default(), times: None };
        Reference::new(Arc::clone(rules)).run_reading(&request).unwrap().map(|found| found[0].to_f32_vec())
    };
    assert_eq!(run(&[1.0, 1.0]), Ok(vec![2.0, 3.0]));
    let message = run(&[1.0; 3]).unwrap_err().message;
    assert_eq!(message, "the constant `a.w` is f32 of shape (3,), memory has f32 of shape (2,)");
    assert_eq!(run(&[0.0, 0.0]), Ok(vec![1.0, 2.0]));
}

#[test]
fn two_readings_of_a_module_share_nothing() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let module = parsed(cx, &tree(""));
    let of = |w: f32| {
        let reading = Reading::load(module, map(&[("a.w", f32s(&[w]))]));
        let step: Step<'_> = reading.child("a").unwrap().default_step().unwrap();
        let request = ReadingRequest { step, inputs: &[f32s(&[1.0])], dims: &DimSizes::default(), times: None };
        Reference::new(Arc::clone(rules)).run_reading(&request).unwrap().unwrap()[0].to_f32_vec()
    };
    assert_eq!((of(1.0), of(2.0)), (vec![2.0], vec![3.0]));
}
