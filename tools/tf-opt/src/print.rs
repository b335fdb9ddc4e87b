//! `print`: the textual IR as an artifact.

use tf_core::{Context, Module, Result};
use tf_framework::{Artifact, Pass, PassCx};
use tf_text::{PrintOptions, print_module};

/// Leaves the module as textual IR.
///
/// It stands where a pipeline should end in the IR although an earlier pass left another artifact.
#[derive(Clone, Pass)]
#[pass(name = "print")]
pub struct Print {
    /// With source locations.
    #[option]
    locations: bool,
}

/// A module as text.
pub fn text(module: Module<'_>, cx: &Context<'_>, locations: bool) -> String {
    print_module(module, &PrintOptions { locations: locations.then(|| cx.sources()) })
}

impl Pass for Print {
    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        let text = text(module, cx, self.locations);
        cx.emit_artifact(Artifact::text("tfir", "tfir", text));
        Ok(module)
    }
}
