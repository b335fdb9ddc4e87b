//! What a driver comes with.

use tf_evaluate::Engines;
use tf_framework::PassRegistry;
use tf_lower::LowerRules;
use tf_rewrite::Patterns;
use tf_value::DialectBuilder;

/// The ops, passes and engines of a driver.
pub struct Builtins {
    /// The program's name, as it calls itself.
    pub name: &'static str,
    /// Ops with their rules.
    pub dialects: DialectBuilder,
    /// Lowering rules of HIR ops.
    pub lowering: LowerRules,
    /// Passes and named pipelines; the generic ones, those that lower, `evaluate` and `print` are added by [`crate::main`].
    pub passes: PassRegistry,
    /// Patterns of `canonicalize`.
    pub patterns: Patterns,
    /// Engines of `evaluate`; `reference` is added by [`crate::main`].
    pub engines: Engines,
    /// The program in the same folder that is started when this one lacks a pass or an engine.
    pub sibling: Option<&'static str>,
    /// The versions that a plugin must share: `tf_plugin::locked_versions!()`.
    pub crates: &'static str,
    /// Lines of `--version` after the first one, such as the version of LLVM.
    pub versions: fn() -> String,
}

/// All dialects and passes that need no LLVM.
#[must_use]
pub fn builtins() -> Builtins {
    let mut dialects = DialectBuilder::default();
    tf_hir::register(&mut dialects);
    tf_tir::register(&mut dialects);
    tf_dim::register(&mut dialects);
    let mut patterns = Patterns::default();
    tf_transforms::patterns::register(&mut patterns);
    Builtins {
        name: "tf-opt",
        dialects,
        lowering: LowerRules::default(),
        passes: PassRegistry::default(),
        patterns,
        engines: Engines::default(),
        sibling: None,
        crates: tf_plugin::locked_versions!(),
        versions: String::new,
    }
}
