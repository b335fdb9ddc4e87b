//! What a plugin and its driver must have in common, as texts for `fingerprint.rs`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates whose types and op declarations cross between driver and plugin, those of shared analyses with them.
const SOURCES: [&str; 14] = [
    "ir/types/src",
    "ir/core/src",
    "ir/core-macros/src",
    "ir/value/src",
    "ir/dataflow/src",
    "dialects/dim/src",
    "dialects/hir/src",
    "dialects/tir/src",
    "passes/framework/src",
    "passes/framework-macros/src",
    "passes/rewrite/src",
    "passes/transforms/src",
    "passes/lower/src",
    "passes/plugin/src",
];

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

fn compiler() -> String {
    let output = Command::new(variable("RUSTC")).arg("-vV").output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    let field =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("unknown").trim().to_owned();
    format!("{} ({}) for {}", field("release:"), field("commit-hash:"), variable("TARGET"))
}

fn profile() -> String {
    let assertions = if std::env::var_os("CARGO_CFG_DEBUG_ASSERTIONS").is_some() { "on" } else { "off" };
    format!("opt-level {}, debug assertions {assertions}, panic {}", variable("OPT_LEVEL"), variable("CARGO_CFG_PANIC"))
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// FNV-1a over names and contents, so that two checkouts of one commit agree wherever they lie.
fn sources(root: &Path) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for folder in SOURCES {
        let mut found = Vec::new();
        files(&root.join(folder), &mut found);
        found.sort();
        println!("cargo:rerun-if-changed={}", root.join(folder).display());
        for path in found {
            add(path.strip_prefix(root).unwrap_or(&path).to_string_lossy().as_bytes());
            add(&fs::read(&path).unwrap_or_default());
        }
    }
    format!("{hash:016x}")
}

fn main() {
    let manifest = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let root = manifest.parent().and_then(Path::parent).unwrap_or(&manifest);
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=TF_COMPILER={}", compiler());
    println!("cargo:rustc-env=TF_PROFILE={}", profile());
    println!("cargo:rustc-env=TF_SOURCES={}", sources(root));
}
