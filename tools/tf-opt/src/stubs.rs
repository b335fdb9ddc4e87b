//! `--emit-stubs`: the Python package as a type checker sees it.

use std::path::Path;

use tf_core::op::OpRegistry;

use crate::error::{Outcome, stop};
use crate::output;

/// Writes the stub files below that folder, ops of loaded plugins with the others.
///
/// # Errors
/// The file system refuses.
pub fn emit(ops: &OpRegistry, folder: &str) -> Outcome<()> {
    if folder.is_empty() {
        return stop("`--emit-stubs` takes a folder; `.` is the one that you are in");
    }
    for stub in tf_dsl::stubs(ops) {
        let path = Path::new(folder).join(stub.path);
        if let Some(Err(error)) = path.parent().map(std::fs::create_dir_all) {
            return stop(format!("cannot make the folder of `{}`: {error}", path.display()));
        }
        output::file(&path, stub.text.as_bytes())?;
    }
    Ok(())
}
