//! What the tests share.
use std::{
    env,
    io::Write,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use tf_core::{Arena, Context, Module};
use tf_framework::{PassManager, PassRegistry, Pipeline};
use tf_lower::LowerRules;
use tf_value::DialectBuilder;

/// A context with all dialects.
pub fn context(arena: &Arena) -> Context<'_> {
    let mut builder = DialectBuilder::default();
    tf_dim::register(&mut builder);
    tf_hir::register(&mut builder);
    tf_tir::register(&mut builder);
    let (ops, _) = builder.freeze().expect("consistent dialects");
    Context::new(arena, Arc::clone(&ops))
}

/// Runs a pipeline of lowering passes.
pub fn lower<'c>(cx: &Context<'c>, module: Module<'c>, pipeline: &str) -> Module<'c> {
    let mut registry = PassRegistry::default();
    tf_lower::register(&mut registry, LowerRules::default().freeze(cx.ops()).expect("all ops are registered"));
    let pipeline = Pipeline::build(&registry, cx.sources(), "pipeline", pipeline).map_err(|e| e.diagnostics).unwrap();
    match PassManager::default().run(&pipeline, cx, module) {
        Ok(outcome) => outcome.module,
        Err(failure) => panic!("{:?}: {:#?}", failure.pass, failure.diagnostics),
    }
}

/// Whether the text is accepted by MLIR's own tool; says so where there is none.
pub fn assert_accepted(text: &str) {
    let tool = env::var("MLIR_OPT").unwrap_or_else(|_| "mlir-opt-22".to_owned());
    let child = Command::new(&tool).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        println!("skipped: no {tool}");
        return;
    };
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
}

/// A file of the reference set.
pub fn reference(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference").join(path)
}
