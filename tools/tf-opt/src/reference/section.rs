//! What the reference says of one op.

use std::fmt::Write;
use std::sync::Arc;

use tf_core::op::{AttrKind, InputPattern, OpDecl, OpForm, OpId, OpRegistry, ParamDecl, ParamKind};

use super::{cell, example, fixed_attributes, names, value_text};
use crate::error::Outcome;

/// The op's section.
///
/// # Errors
/// Its example is no program.
pub fn section(ops: &Arc<OpRegistry>, id: OpId) -> Outcome<String> {
    let decl = ops.decl(id);
    let (text, source) = parts(decl);
    let effect = if decl.form == OpForm::Effect { " (effect)" } else { "" };
    let mut out = format!("### `{}`{effect}\n\n{text}\n", decl.name);
    if !decl.params.is_empty() {
        out.push_str("\n| Parameter | Takes | Default | |\n|---|---|---|---|\n");
        for param in decl.params {
            let (takes, default) = described(param);
            let _ = writeln!(out, "| `{}` | {} | {} | {} |", param.name, cell(&takes), cell(&default), cell(param.doc));
        }
    }
    let aliases: Vec<_> = names(ops)
        .into_iter()
        .filter(|(_, schema)| schema.op == id && !schema.fixed.is_empty())
        .map(|(full, schema)| format!("`{full}` ({})", fixed_attributes(decl, schema.fixed)))
        .collect();
    if !aliases.is_empty() {
        let _ = writeln!(out, "\nAlso: {}.", aliases.join(", "));
    }
    if let Some(source) = source {
        let shown = example::show(ops, decl, &source)?;
        let _ = writeln!(out, "\n```python\n{source}\n```\n\n```text\n{}\n```", shown.text);
        if !shown.accesses.is_empty() {
            let _ = writeln!(out, "\nWhat each element is made from:\n\n```text\n{}\n```", shown.accesses.join("\n"));
        }
    }
    Ok(out)
}

/// The first sentence of the documentation.
pub fn summary(decl: &OpDecl) -> &'static str {
    decl.doc.split("\n\n").next().unwrap_or_default()
}

/// The documentation without its example, and the example.
fn parts(decl: &OpDecl) -> (String, Option<String>) {
    match decl.doc.split_once("```python\n") {
        None => (decl.doc.to_owned(), None),
        Some((before, rest)) => {
            let (source, after) = rest.split_once("\n```").unwrap_or((rest, ""));
            (format!("{}{}", before.trim_end(), after.trim_end()), Some(source.to_owned()))
        }
    }
}

/// What an attribute parameter accepts.
pub fn attr_kind(param: &ParamDecl) -> Option<AttrKind> {
    match param.kind {
        ParamKind::Attribute { kind, .. } => Some(kind),
        ParamKind::Input { .. } => None,
    }
}

/// What the parameter takes, and what it is if it is left out.
fn described(param: &ParamDecl) -> (String, String) {
    match param.kind {
        ParamKind::Input { pattern, variadic, optional } => {
            let what = match pattern {
                InputPattern::Any => "any value".to_owned(),
                InputPattern::Tensor => "tensor".to_owned(),
                InputPattern::Scalar => "scalar".to_owned(),
                other => format!("{other:?}"),
            };
            (
                if variadic { format!("{what}, any number") } else { what },
                if optional { "none".into() } else { String::new() },
            )
        }
        ParamKind::Attribute { kind, default, .. } => {
            let takes = match kind {
                AttrKind::Enum(decl) => {
                    decl.variants.iter().map(|v| format!("`\"{v}\"`")).collect::<Vec<_>>().join(" | ")
                }
                AttrKind::Bool => "truth value".into(),
                AttrKind::Int => "integer".into(),
                AttrKind::Float => "number".into(),
                AttrKind::Str => "string".into(),
                AttrKind::DType => "dtype".into(),
                AttrKind::Storage => "storage".into(),
                AttrKind::Ints => "integers".into(),
                AttrKind::Dim => "extent".into(),
                AttrKind::Dims => "extents".into(),
                AttrKind::Layout => "layout".into(),
                AttrKind::Shard => "placement".into(),
                AttrKind::Mesh => "mesh".into(),
                AttrKind::Type => "type".into(),
            };
            let default = default.map_or_else(String::new, |value| format!("`{}`", value_text(value, kind)));
            (takes, default)
        }
    }
}
