//! `emit-dsl`: the module as authoring text.

use tf_core::{Module, Result};
use tf_dsl::{PrintOptions, print_module};
use tf_framework::{Artifact, OptionError, Pass, PassCx};

/// What `metadata` may name.
const METADATA: [&str; 2] = ["name", "location"];

/// Leaves the module as Python syntax that is read as the same module.
///
/// One statement a value, each in the loop that it depends on, laid out as a formatter would at 100 columns. What only textual IR can
/// say, such as a dispatch statement, is refused by name.
#[derive(Clone, Pass)]
#[pass(name = "emit-dsl")]
pub struct EmitDsl {
    /// The type of each value, in a comment.
    #[option]
    show_types: bool,
    /// What the author said of each value, in a comment: `name`, `location`.
    #[option]
    metadata: Vec<String>,
}

impl Pass for EmitDsl {
    fn check(&self) -> Result<(), OptionError> {
        match self.metadata.iter().find(|kind| !METADATA.contains(&kind.as_str())) {
            None => Ok(()),
            Some(kind) => Err(OptionError {
                option: "metadata",
                message: tf_framework::option::unknown_word(kind, &METADATA),
                help: None,
                missing: false,
            }),
        }
    }

    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        let asks_for = |kind: &str| self.metadata.iter().any(|asked| asked == kind);
        let [names, locations] = METADATA.map(asks_for);
        let text = print_module(cx, module, &PrintOptions { types: self.show_types, names, locations })?;
        cx.emit_artifact(Artifact::text("dsl", "py", text));
        Ok(module)
    }
}
