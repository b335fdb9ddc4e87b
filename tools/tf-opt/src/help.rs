//! Texts that describe the driver.

use std::fmt::Write;

use tf_core::op::{AttrDefault, AttrKind, OpDecl, OpRegistry, ParamKind};
use tf_framework::PassRegistry;

/// `--help`
pub fn usage(name: &str) -> String {
    format!(
        "\
Reads a program, runs a pipeline of passes and writes what it leaves.

Usage: {name} FILE [--pipeline=TEXT] [-o OUT]

Input
  FILE                    .py (Python syntax) or .tfir (textual IR); - is the standard input
  --input=dsl|tfir        its language, whatever its name
  --module=NAME           the module of a .py file; default: the only one, else the last

Pipeline
  --pipeline=TEXT         as a,b{{opt=1 flag}},func(c,d); without one: parse, verify, print
  --list-passes           all passes and named pipelines
  --help-pass=NAME        what a pass does, its options and statistics
  --dump-pipeline         print the pipeline with named ones expanded, and stop

Output
  -o OUT                  where the last artifact goes, or the IR if no pass leaves one; default: the standard output
  --print-locations       with the source locations in textual IR

Looking inside
  --print-ir-before=A,B   IR before these passes, on the error output
  --print-ir-after=A,B    IR after them
  --print-ir-after-all    IR after every pass
  --timing                time of each pass
  --stats                 what passes counted
  --verify-each=false     do not check the IR between passes
  --verify-roundtrip      check that the final IR prints and parses back to the same text
  --threads=N             threads for passes over functions; default: one a core
  --show-op=NAME          an op's parameters and documentation, as tf.reduce

  -h, --help              this text
  -V, --version           the version

Exit status: 0, or 1 with diagnostics on the error output.
"
    )
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

fn attr_kind(kind: AttrKind) -> String {
    match kind {
        AttrKind::Enum(decl) => decl.variants.iter().map(|v| format!("\"{v}\"")).collect::<Vec<_>>().join(" | "),
        other => format!("{other:?}").to_lowercase(),
    }
}

fn attr_default(default: AttrDefault, kind: AttrKind) -> String {
    match (default, kind) {
        (AttrDefault::Enum(at), AttrKind::Enum(decl)) => format!("\"{}\"", decl.variants[usize::from(at)]),
        (AttrDefault::None, _) => "none".to_owned(),
        (AttrDefault::Bool(value), _) => value.to_string(),
        (AttrDefault::Int(value), _) => value.to_string(),
        (AttrDefault::Float(value), _) => format!("{value:?}"),
        (AttrDefault::Enum(at), _) => at.to_string(),
    }
}

/// `--show-op`: all ops of that name, with or without the dialect.
pub fn op(registry: &OpRegistry, name: &str) -> Option<String> {
    let matches = |decl: &OpDecl| decl.name.to_string() == name || decl.name.name == name;
    let found: Vec<_> = registry.iter().filter(|(_, decl)| matches(decl)).collect();
    let texts: Vec<_> = found.into_iter().map(|(_, decl)| describe(decl)).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn describe(decl: &OpDecl) -> String {
    let mut out = format!("{} ({}, {:?})\n\n", decl.name, decl.category, decl.form).to_lowercase();
    out.replace_range(..decl.name.to_string().len(), &decl.name.to_string());
    for line in decl.doc.lines() {
        let _ = writeln!(out, "  {line}");
    }
    out.push('\n');
    for param in decl.params {
        let what = match param.kind {
            ParamKind::Input { variadic, optional, .. } => {
                format!(
                    "input{}{}",
                    if variadic { ", any number" } else { "" },
                    if optional { ", optional" } else { "" }
                )
            }
            ParamKind::Attribute { kind, default, .. } => {
                let default = default.map(|d| format!(" = {}", attr_default(d, kind))).unwrap_or_default();
                format!("{}{default}", attr_kind(kind))
            }
        };
        let _ = writeln!(out, "  {}: {what}\n      {}", param.name, param.doc);
    }
    out
}
