//! The page of all passes, made from the registry.

use std::fmt::Write;
use std::path::Path;

use tf_framework::{Entry, PassRegistry};

use crate::error::{Outcome, stop};
use crate::output;

/// `--emit-docs`: writes `passes.md` into that folder.
///
/// # Errors
/// The file system refuses.
pub fn emit(registry: &PassRegistry, folder: &str) -> Outcome<()> {
    if let Err(error) = std::fs::create_dir_all(folder) {
        return stop(format!("cannot make the folder `{folder}`: {error}"));
    }
    output::file(&Path::new(folder).join("passes.md"), page(registry).as_bytes())
}

fn page(registry: &PassRegistry) -> String {
    let mut out = String::from(
        "# Passes\n\nMade from the passes themselves by `tf-opt --emit-docs=docs`; `tf-opt --help-pass=NAME` shows one.\n",
    );
    for (title, is_pipeline) in [("Passes", false), ("Named pipelines", true)] {
        let entries: Vec<_> = registry.iter().filter(|entry| (entry.kind() == "pipeline") == is_pipeline).collect();
        if entries.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n## {title}");
        for entry in entries {
            section(&mut out, entry);
        }
    }
    out
}

fn section(out: &mut String, entry: &Entry) {
    let _ = writeln!(out, "\n### `{}`\n\n*{}*", entry.name, entry.kind());
    let _ = writeln!(out, "\n{}", entry.doc);
    if !entry.options.is_empty() {
        let _ = writeln!(out, "\n| Option | Default | Meaning |\n|---|---|---|");
    }
    for option in entry.options {
        let default = match (option.default, option.required) {
            (Some(default), _) => format!("`{default}`"),
            (None, true) => "required".to_owned(),
            (None, false) => String::new(),
        };
        let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
        let _ = writeln!(out, "| `{}` | {} | {} |", cell(&option.usage()), cell(&default), cell(option.doc));
    }
    if !entry.patterns.is_empty() {
        let _ = writeln!(out, "\n| Pattern | Meaning |\n|---|---|");
    }
    for pattern in &entry.patterns {
        let _ = writeln!(out, "| {} | {} |", pattern.name, pattern.doc.replace('|', "\\|"));
    }
    if !entry.requires.is_empty() {
        let names: Vec<_> = entry.requires.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(out, "\nRequires {} earlier in the pipeline.", names.join(", "));
    }
    if !entry.statistics.is_empty() {
        let _ = writeln!(out, "\nStatistics: {}.", entry.statistics.join(", "));
    }
}
