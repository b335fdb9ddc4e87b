//! Plugins, and the ops of a driver that has them.

use std::path::Path;
use std::sync::Arc;

use tf_core::Diagnostic;
use tf_core::op::{OpRegistry, RegistryError};
use tf_framework::TraceLog;
use tf_plugin::Registrar;
use tf_value::{DialectBuilder, EvalRegistry};

use crate::Builtins;

/// Lets plugins register into the builtins; the names of those that did.
///
/// # Errors
/// A plugin that is refused, or that is loaded twice.
pub fn load(
    builtins: &mut Builtins,
    paths: &[String],
    trace: Option<&Arc<TraceLog>>,
) -> Result<Vec<String>, Diagnostic> {
    let mut loaded = Vec::new();
    for path in paths {
        let registrar = Registrar {
            dialects: &mut builtins.dialects,
            lowering: &mut builtins.lowering,
            passes: &mut builtins.passes,
            patterns: &mut builtins.patterns,
        };
        match tf_plugin::load(Path::new(path), builtins.crates, registrar, trace.cloned()) {
            Ok(plugin) if loaded.contains(&plugin.name) => {
                return Err(Diagnostic::error(format!("plugin `{}` is loaded twice", plugin.name)).coded("usage"));
            }
            Ok(plugin) => loaded.push(plugin.name),
            Err(error) => {
                let mut diagnostic = Diagnostic::error(error.message).coded("plugin");
                diagnostic.notes.extend(error.notes.into_iter().map(|note| (None, note)));
                diagnostic.help = error.help;
                return Err(diagnostic);
            }
        }
    }
    Ok(loaded)
}

/// The ops of a driver with these plugins, for programs beside it that read what it reads.
///
/// # Errors
/// A plugin that is refused; dialects that do not fit together.
pub fn ops(mut builtins: Builtins, plugins: &[String]) -> Result<Arc<OpRegistry>, Diagnostic> {
    load(&mut builtins, plugins, None)?;
    let (ops, _) = freeze(builtins.dialects)
        .map_err(|errors| Diagnostic::error(misfit("the dialects", &errors)).coded("plugin"))?;
    Ok(ops)
}

/// The ops and what they mean, if every front end tells them apart.
///
/// # Errors
/// Every mistake of the registration.
pub fn freeze(dialects: DialectBuilder) -> Result<(Arc<OpRegistry>, Arc<EvalRegistry>), Vec<RegistryError>> {
    let (ops, rules) = dialects.freeze()?;
    let hidden = tf_dsl::hidden_dialects(&ops);
    if hidden.is_empty() { Ok((ops, rules)) } else { Err(hidden) }
}

/// That registrations contradict each other.
pub fn misfit(what: &str, mistakes: &[impl ToString]) -> String {
    let mistakes: Vec<_> = mistakes.iter().map(ToString::to_string).collect();
    format!("{what} do not fit together: {}", mistakes.join("; "))
}
