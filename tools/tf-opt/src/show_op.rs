//! `--show-op`.

use std::fmt::Write;

use tf_core::op::{AttrDefault, AttrKind, OpDecl, OpRegistry, ParamKind};

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
