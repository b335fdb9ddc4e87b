//! Reading sources with the ops of this repository.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use tf_core::op::OpRegistry;
use tf_core::{Arena, Context, Diagnostic, Module};
use tf_dsl::{DslOptions, parse_file};

/// All ops of HIR, of TIR and of index arithmetic.
pub fn registry() -> Arc<OpRegistry> {
    static OPS: OnceLock<Arc<OpRegistry>> = OnceLock::new();
    Arc::clone(OPS.get_or_init(|| {
        let mut builder = tf_value::DialectBuilder::default();
        tf_dim::register(&mut builder);
        tf_hir::register(&mut builder);
        tf_tir::register(&mut builder);
        builder.freeze().expect("the dialects register once").0
    }))
}

/// Reads `source` and hands the result to `check`.
pub fn with_source<T>(
    source: &str,
    check: impl for<'c> FnOnce(&Context<'c>, Result<Module<'c>, Vec<Diagnostic>>) -> T,
) -> T {
    with_module(source, None, check)
}

/// Reads one module of `source` and hands the result to `check`.
pub fn with_module<T>(
    source: &str,
    module: Option<&str>,
    check: impl for<'c> FnOnce(&Context<'c>, Result<Module<'c>, Vec<Diagnostic>>) -> T,
) -> T {
    let arena = Arena::new();
    let cx = Context::new(&arena, registry());
    let file = cx.sources().add("test.py", source);
    let result = parse_file(&cx, file, &DslOptions { module: module.map(str::to_owned) });
    check(&cx, result)
}

/// A file of the reference values.
pub fn reference(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}
