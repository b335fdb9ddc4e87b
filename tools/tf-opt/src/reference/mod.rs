//! The op reference: one page a category, and `--show-op`, both made from the declarations.

mod example;
mod section;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use tf_core::diag::did_you_mean;
use tf_core::op::{AttrDefault, AttrKind, OpDecl, OpId, OpRegistry, Schema};

use crate::error::{Outcome, stop};
use crate::output;

/// The op's section, by its name or one of its aliases, with or without the dialect; several where dialects share a name.
///
/// # Errors
/// No op or alias of that name.
pub fn show(ops: &Arc<OpRegistry>, name: &str) -> Outcome<String> {
    let mut sections = Vec::new();
    let known = names(ops);
    for (full, schema) in &known {
        if full == name || schema.name == name {
            let alias = match schema.fixed {
                [] => String::new(),
                fixed => {
                    format!("`{full}` is `{}` with {}.\n\n", schema.decl.name, fixed_attributes(schema.decl, fixed))
                }
            };
            sections.push(alias + &section::section(ops, schema.op)?);
        }
    }
    if sections.is_empty() {
        let near = did_you_mean(name, known.iter().map(|(full, _)| full.as_str()));
        let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        return stop(format!("unknown op `{name}`{hint}"));
    }
    Ok(sections.join("\n"))
}

/// Writes a page for each category into `folder/ops`, and a list of all.
///
/// # Errors
/// The file system refuses; an op's example is no program.
pub fn emit(ops: &Arc<OpRegistry>, folder: &str) -> Outcome<()> {
    let folder = Path::new(folder).join("ops");
    if let Err(error) = std::fs::create_dir_all(&folder) {
        return stop(format!("cannot make the folder `{}`: {error}", folder.display()));
    }
    let mut pages: BTreeMap<(&str, &str), Vec<OpId>> = BTreeMap::new();
    for (id, decl) in ops.iter() {
        pages.entry((decl.name.dialect, decl.category)).or_default().push(id);
    }
    let mut index = String::from(
        "# Ops\n\nMade from the declarations by `tf-opt --emit-docs=docs`; `tf-opt --show-op=NAME` shows one.\n",
    );
    for ((dialect, category), mut ids) in pages {
        ids.sort_by_key(|id| ops.decl(*id).name.name);
        let page = format!("{dialect}-{category}.md");
        let mut text =
            format!("# `{dialect}`: {category}\n\nMade from the declarations by `tf-opt --emit-docs=docs`.\n\n");
        let _ = writeln!(index, "\n## [`{dialect}`: {category}]({page})\n\n| Op | |\n|---|---|");
        for id in ids {
            let decl = ops.decl(id);
            let _ = writeln!(index, "| `{}` | {} |", decl.name, cell(section::summary(decl)));
            text += &section::section(ops, id)?;
            text.push('\n');
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        output::file(&folder.join(page), text.as_bytes())?;
    }
    output::file(&folder.join("README.md"), index.as_bytes())
}

/// All surface names with the dialect, sorted by dialect.
fn names(ops: &OpRegistry) -> Vec<(String, Schema)> {
    let mut dialects: Vec<_> = ops.iter().map(|(_, decl)| decl.name.dialect).collect();
    dialects.sort_unstable();
    dialects.dedup();
    let mut known = Vec::new();
    for dialect in dialects {
        let schemas = ops.names(dialect).into_iter().flat_map(|name| ops.schemas(dialect, name));
        known.extend(schemas.map(|schema| (format!("{dialect}.{}", schema.name), *schema)));
    }
    known
}

/// `kind = "add"`
fn fixed_attributes(decl: &OpDecl, fixed: &[(&'static str, AttrDefault)]) -> String {
    let kind = |name: &str| decl.attributes().find(|param| param.name == name).and_then(section::attr_kind);
    let one = |(name, value): &(&'static str, AttrDefault)| match kind(name) {
        Some(kind) => format!("`{name} = {}`", value_text(*value, kind)),
        None => format!("`{name}`"),
    };
    fixed.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn value_text(value: AttrDefault, kind: AttrKind) -> String {
    match (value, kind) {
        (AttrDefault::Enum(at), AttrKind::Enum(decl)) => format!("\"{}\"", decl.variants[usize::from(at)]),
        (AttrDefault::None, _) => "none".to_owned(),
        (AttrDefault::Bool(value), _) => value.to_string(),
        (AttrDefault::Int(value), _) => value.to_string(),
        (AttrDefault::Float(value), _) => format!("{value:?}"),
        (AttrDefault::Enum(at), _) => at.to_string(),
    }
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use crate::builtins;

    #[test]
    fn every_value_op_has_an_example_that_compiles() {
        let (ops, _) = builtins().dialects.freeze().unwrap();
        let mut count = 0;
        for (id, decl) in ops.iter().filter(|(_, decl)| decl.name.dialect == "tf") {
            let section = super::section::section(&ops, id).unwrap();
            assert!(section.contains("```python"), "{} has no example", decl.name);
            assert!(section.contains("What each element is made from") || decl.name.name == "local", "{section}");
            count += 1;
        }
        assert_eq!(count, 43);
    }

    #[test]
    fn names_and_aliases() {
        let (ops, _) = builtins().dialects.freeze().unwrap();
        let surface = super::names(&ops).into_iter().filter(|(_, schema)| schema.decl.name.dialect == "tf");
        let (aliases, names): (Vec<_>, Vec<_>) = surface.partition(|(_, schema)| !schema.fixed.is_empty());
        assert_eq!((names.len(), aliases.len()), (43, 29));
    }
}
