//! The pass `prepare-weights`: converters, lists, raw tensors that nothing takes.

use std::collections::BTreeMap;
use std::sync::Arc;

use tf_core::Arena;
use tf_core::diag::Style;
use tf_evaluate::{Engines, Reference};
use tf_framework::{PassManager, PassRegistry, Pipeline};
use tf_testing::TempFolder;
use tf_types::DType;
use tf_value::Tensor;
use tf_value::io::{open_tensors, write_tensors};

use crate::common::{context, f32s, parsed};

const CONVERTED: &str = r#"
module @m {
  module @child entry(@g) {
    hir.func @g(%x: tensor<2xf32>, %w: const tensor<2xf32>) -> tensor<2xf32> {
      %0 = tf.binary %x, %w {kind = "mul"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      hir.return %0
    }
  }
  hir.func @f(%x: tensor<2xf32>, %w: const tensor<2xf32>, %v: const tensor<1x2xf32>) -> tensor<2xf32> {
    hir.return %x
    hir.converter w @_(%raw: tensor<2xf32>) -> tensor<2xf32> {
      %0 = tf.unary %raw {kind = "neg"} : (tensor<2xf32>) -> tensor<2xf32>
      hir.return %0
    }
    hir.converter v @_(%parts: tensor<1x2xf32>) -> tensor<1x2xf32> {
      hir.return %parts
    }
  }
}"#;

/// What the pass writes from these raw tensors, or its errors.
fn prepare(text: &str, name: &str, raw: &[(&str, Tensor)]) -> Result<BTreeMap<String, Vec<f32>>, String> {
    prepared(text, name, raw).map(|(found, _)| found)
}

/// The same with the table that the pass leaves.
fn prepared(text: &str, name: &str, raw: &[(&str, Tensor)]) -> Result<(BTreeMap<String, Vec<f32>>, String), String> {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let folder = TempFolder::new(&format!("evaluate-prepare-{name}"));
    let file = folder.join("raw.npz");
    write_tensors(&file, raw.iter().map(|(name, tensor)| (*name, tensor))).unwrap();
    let mut engines = Engines::default();
    engines.add(Reference::new(Arc::clone(rules)));
    let mut registry = PassRegistry::default();
    tf_evaluate::register(&mut registry, &engines);
    let out = folder.join("out");
    let pipeline = format!("prepare-weights{{raw={} out={}}}", file.display(), out.display());
    let pipeline = Pipeline::build(&registry, cx.sources(), "<pipeline>", &pipeline).unwrap();
    let result = PassManager::default().run(&pipeline, cx, parsed(cx, text));
    let found = result.map(|outcome| {
        let table = String::from_utf8(outcome.artifacts[0].bytes.clone()).unwrap();
        let store = open_tensors(&out).unwrap();
        let read = |name: String| (name.clone(), store.get_as(&name, DType::F32).unwrap().unwrap().to_f32_vec());
        (store.names().into_iter().map(read).collect(), table)
    });
    found.map_err(|failure| failure.diagnostics.iter().map(|e| e.render(cx.sources(), Style::Plain)).collect())
}

#[test]
fn converters_make_constants_of_raw_ones() {
    let raw = [("raw", f32s(&[1.0, -2.0])), ("parts.0", f32s(&[5.0, 6.0])), ("child.w", f32s(&[3.0, 4.0]))];
    let want = [("child.w", vec![3.0, 4.0]), ("v", vec![5.0, 6.0]), ("w", vec![-1.0, 2.0])];
    let want = want.into_iter().map(|(name, values)| (name.to_owned(), values)).collect();
    assert_eq!(prepare(CONVERTED, "right", &raw), Ok(want));
    let message = prepare(CONVERTED, "missing", &raw[1..]).unwrap_err();
    assert!(message.contains("a constant is missing: module `m` lacks `raw`"), "{message}");
    let short = [("raw", f32s(&[1.0, -2.0])), ("child.w", f32s(&[3.0]))];
    let message = prepare(CONVERTED, "short", &short).unwrap_err();
    assert!(message.contains("the constant `child.w` is f32 of shape (2,), found F32 of shape (1,)"), "{message}");
    let half = [raw[0].clone(), raw[1].clone(), ("child.w", f32s(&[3.0, 4.0]).cast(DType::F16).unwrap())];
    let message = prepare(CONVERTED, "half", &half).unwrap_err();
    assert!(message.contains("the constant `child.w` is f32 of shape (2,), found F16 of shape (2,)"), "{message}");
    let longer = CONVERTED.replace("%v: const tensor<1x2xf32>", "%v: const tensor<2x1xf32>");
    let message = prepare(&longer, "longer", &raw).unwrap_err();
    assert!(message.contains("the constant `v` is f32 of shape (2, 1), found f32 of shape (1, 2)"), "{message}");
}

#[test]
fn what_preparation_refuses_is_named_and_pointed_at() {
    let raw = [("raw", f32s(&[1.0, -2.0])), ("parts.0", f32s(&[5.0, 6.0])), ("child.w", f32s(&[3.0, 4.0]))];
    let refused = |name: &str, from: &str, to: &str, words: &str, line: u32| {
        assert!(CONVERTED.contains(from), "{from}");
        let message = prepare(&CONVERTED.replacen(from, to, 1), name, &raw).unwrap_err();
        assert!(message.contains(words), "{message}");
        assert!(message.contains(&format!("t.tfir:{line}:")), "{message}");
    };
    let again = "hir.converter w @_(%raw: tensor<2xf32>) -> tensor<2xf32> {\n      hir.return %raw\n    }\n    ";
    let twice = format!("{again}hir.converter w @_(");
    refused("twice", "hir.converter w @_(", &twice, "the constant `w` has two converters", 14);
    let other = "hir.func @g(%w: const tensor<3xf32>) -> tensor<3xf32> {\n    hir.return %w\n  }\n  hir.func @f(";
    let words = "the constant `w` is declared as Tensor[(3,), \"f32\"] and as Tensor[(2,), \"f32\"]";
    refused("declared", "hir.func @f(", other, words, 12);
    let words = "the converter of `w` has a ConstTensor parameter: its parameters are raw tensors";
    refused("const", "w @_(%raw: tensor", "w @_(%raw: const tensor", words, 11);
}

#[test]
fn raw_lists_are_stacked_in_front() {
    let text = CONVERTED.replace("1x2xf32", "3x2xf32");
    let mut raw = vec![("raw", f32s(&[1.0, -2.0])), ("child.w", f32s(&[3.0, 4.0]))];
    raw.extend([("parts.0", f32s(&[1.0, 2.0])), ("parts.1", f32s(&[3.0, 4.0])), ("parts.2", f32s(&[5.0, 6.0]))]);
    assert_eq!(prepare(&text, "list", &raw).unwrap()["v"], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    raw[3].1 = f32s(&[3.0]);
    let message = prepare(&text, "uneven", &raw).unwrap_err();
    assert!(message.contains("stack takes tensors of one shape, found (2,) and (1,)"), "{message}");
    assert!(message.contains("t.tfir:15:"), "{message}");
}

#[test]
fn raw_tensors_that_nothing_took_are_told() {
    let mut raw = vec![("raw", f32s(&[1.0, -2.0])), ("parts.0", f32s(&[5.0, 6.0])), ("child.w", f32s(&[3.0, 4.0]))];
    let table = |name: &str, raw: &[(&str, Tensor)]| prepared(CONVERTED, name, raw).unwrap().1;
    assert!(!table("all", &raw).contains("unused"));
    // A gap ends a list.
    raw.extend([("parts.2", f32s(&[5.0, 6.0])), ("w", f32s(&[1.0, 1.0]))]);
    let text = table("more", &raw);
    assert!(text.lines().last().unwrap().ends_with("raw.npz: `parts.2`, `w`"), "{text}");
}
