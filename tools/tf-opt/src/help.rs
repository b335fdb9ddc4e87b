//! Texts that describe the driver.

use std::fmt::Write;

use tf_framework::PassRegistry;

use crate::args::GROUPS;
use crate::options::lines;

/// `--help`
pub fn usage(name: &str) -> String {
    let mut out = format!(
        "\
Reads programs, runs a pipeline of passes and writes what it leaves.

Usage: {name} FILE... [--pipeline=TEXT] [-o OUT]
  FILE                        .py (Python syntax) or .tfir (textual IR); - is the standard input
"
    );
    for (title, rows) in GROUPS {
        let _ = write!(out, "\n{title}\n{}", lines(*rows));
    }
    out.push_str("\nExit status: 0, or 1 with diagnostics on the error output.\n");
    out
}

/// `--list-passes`
pub fn passes(registry: &PassRegistry) -> String {
    let width = registry.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for entry in registry.iter() {
        let _ = writeln!(out, "{:<width$}  {}", entry.name, entry.summary());
    }
    out
}
