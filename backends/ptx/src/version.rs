//! What LLVM this is.

use inkwell::targets::{InitializationConfig, Target};

/// `LLVM 22.1.3, targets: nvptx64, x86-64` and a line break.
#[must_use]
pub fn versions() -> String {
    Target::initialize_x86(&InitializationConfig::default());
    Target::initialize_nvptx(&InitializationConfig::default());
    let mut names: Vec<String> = std::iter::successors(Target::get_first(), Target::get_next)
        .map(|t| t.get_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let (major, minor, patch) = inkwell::support::get_llvm_version();
    format!("LLVM and MLIR {major}.{minor}.{patch}, targets: {}\n", names.join(", "))
}
