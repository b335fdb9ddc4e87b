//! Ops as functions: one signature a schema, several as overloads.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use tf_core::op::{AttrDefault, AttrKind, EnumDecl, OpForm, OpRegistry, ParamDecl, ParamKind, Schema};
use tf_types::{DType, Storage};

use crate::print::python::{float, is_name, string};

/// What an operand may be: a value, or a number in its place.
const OPERAND: &str = "Expr | float";

/// Words of annotations that need no import.
const BUILTINS: [&str; 5] = ["bool", "float", "int", "str", "tuple"];

/// A parameter of a signature.
struct Param {
    text: String,
    is_required: bool,
}

/// The stub of the namespace of a dialect.
pub(super) fn dialect(registry: &OpRegistry, dialect: &str) -> String {
    let mut enums: BTreeSet<&'static str> = BTreeSet::new();
    let mut body = String::new();
    let names: Vec<_> = registry.names(dialect).into_iter().filter(|name| is_name(name)).collect();
    // A function of the name of a type would be meant by the annotations.
    let hidden: BTreeSet<&str> = names.iter().copied().collect();
    for name in names {
        let schemas = registry.schemas(dialect, name);
        let signatures: Vec<_> = schemas.iter().flat_map(|schema| signatures(schema, &mut enums)).collect();
        let signatures: Vec<_> = signatures.iter().map(|signature| unhidden(signature, &hidden)).collect();
        let paragraph: Vec<_> = schemas[0].decl.doc.lines().take_while(|line| !line.trim().is_empty()).collect();
        let doc = paragraph.join(" ");
        function(&mut body, name, &signatures, &doc, &hidden);
        if dialect == "T" && schemas.iter().all(|schema| schema.decl.form == OpForm::Effect) {
            function(&mut body, &format!("{name}_"), &signatures, &doc, &hidden);
        }
    }
    let mut out = format!("\"\"\"Ops of the dialect `{dialect}`, made by `tf-opt --emit-stubs`.\"\"\"\n\n");
    let kinds: Vec<_> = enums.into_iter().collect();
    let mut import = |module: &str, words: &[&str]| {
        let spell = |word: &&str| if hidden.contains(word) { format!("{word} as _{word}") } else { (*word).to_owned() };
        let words: Vec<_> = words.iter().map(spell).collect();
        if !words.is_empty() {
            let _ = writeln!(out, "from {module} import {}", words.join(", "));
        }
    };
    import("builtins", &BUILTINS.into_iter().filter(|word| hidden.contains(word)).collect::<Vec<_>>());
    import("collections.abc", &["Sequence"]);
    import("typing", &["Any", "Literal", "overload"]);
    if dialect == "T" {
        import("tilefoundry.dsl.T", &["cuda as cuda"]);
        import("tilefoundry.dsl.T.cuda.mma", &["MmaAtom"]);
    }
    import("tilefoundry.ir.core", &["Expr"]);
    import("tilefoundry.ir.types", &["DType", "Storage", "TensorType"]);
    import("tilefoundry.ir.types.dim", &["Dim"]);
    import("tilefoundry.ir.types.kinds", &kinds);
    import("tilefoundry.ir.types.shard", &["LayoutBase", "Mesh", "ShardLayout"]);
    out.push('\n');
    out.push_str(&body);
    out
}

/// A signature in which the words that ops hide have an underscore, but for names of parameters and what stands in quotes.
fn unhidden(signature: &str, hidden: &BTreeSet<&str>) -> String {
    let mut out = String::new();
    for (at, part) in signature.split('"').enumerate() {
        out.push_str(if at > 0 { "\"" } else { "" });
        if at % 2 == 1 {
            out.push_str(part);
            continue;
        }
        let mut rest = part;
        while let Some(start) = rest.find(|c: char| c.is_alphabetic() || c == '_') {
            let (before, from) = rest.split_at(start);
            let end = from.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(from.len());
            let (word, after) = from.split_at(end);
            out.push_str(before);
            out.push_str(if hidden.contains(word) && !after.starts_with(':') { "_" } else { "" });
            out.push_str(word);
            rest = after;
        }
        out.push_str(rest);
    }
    out
}

/// The kinds that attributes name, with their members in upper case.
pub(super) fn kinds(registry: &OpRegistry) -> String {
    let mut enums: BTreeMap<&'static str, &'static EnumDecl> = BTreeMap::new();
    for param in registry.iter().flat_map(|(_, decl)| decl.attributes()) {
        if let ParamKind::Attribute { kind: AttrKind::Enum(decl), .. } = param.kind {
            enums.insert(decl.name, decl);
        }
    }
    let mut out = "\"\"\"Kinds of ops; a string of the same name does as well.\"\"\"\n".to_owned();
    for (name, decl) in enums {
        let _ = writeln!(out, "\nclass {name}:\n    name: str\n    value: str");
        let _ = writeln!(out, "    def __init__(self, value: str) -> None: ...");
        for member in decl.variants.iter().map(|variant| variant.to_uppercase()).filter(|member| is_name(member)) {
            let _ = writeln!(out, "    {member}: {name}");
        }
    }
    out
}

fn function(out: &mut String, name: &str, signatures: &[String], doc: &str, hidden: &BTreeSet<&str>) {
    let overload = if hidden.contains("overload") { "@_overload\n" } else { "@overload\n" };
    for signature in signatures {
        if signatures.len() > 1 {
            out.push_str(overload);
        }
        let _ = writeln!(out, "def {name}{signature}:\n    {}", docstring(doc));
    }
    out.push('\n');
}

fn docstring(doc: &str) -> String {
    crate::print::python::docstring(doc.trim())
}

/// `(x: Expr | float, *, axes: Sequence[int], loc: str = ...) -> Expr`; two where any number of operands may stand alone or in
/// a tuple.
fn signatures(schema: &Schema, enums: &mut BTreeSet<&'static str>) -> Vec<String> {
    let decl = schema.decl;
    let is_fixed = |param: &&ParamDecl| schema.fixed.iter().any(|(name, _)| *name == param.name);
    let params: Vec<_> = decl.params.iter().filter(|param| is_name(param.name) && !is_fixed(param)).collect();
    let is_variadic = |param: &&ParamDecl| matches!(param.kind, ParamKind::Input { variadic: true, .. });
    let result = if decl.form == OpForm::Effect { "None" } else { "Expr" };
    let forms: &[bool] = if params.iter().any(is_variadic) { &[false, true] } else { &[false] };
    let of = |spread: bool, enums: &mut BTreeSet<&'static str>| {
        let mut texts: Vec<String> = Vec::new();
        let mut keywords_only = false;
        let mut after_default = false;
        for param in &params {
            if spread && is_variadic(param) {
                texts.push(format!("*{}: {OPERAND}", param.name));
                keywords_only = true;
                continue;
            }
            let Param { text, is_required } = parameter(param, decl.name.dialect, enums);
            // Python has no required parameter after one with a default, except by keyword.
            if is_required && after_default && !keywords_only {
                texts.push("*".to_owned());
                keywords_only = true;
            }
            after_default |= !is_required;
            texts.push(text);
        }
        if !keywords_only {
            texts.push("*".to_owned());
        }
        texts.push("loc: str = ...".to_owned());
        format!("({}) -> {result}", texts.join(", "))
    };
    forms.iter().map(|&spread| of(spread, enums)).collect()
}

fn parameter(param: &ParamDecl, dialect: &str, enums: &mut BTreeSet<&'static str>) -> Param {
    let name = param.name;
    match param.kind {
        ParamKind::Input { variadic: true, .. } => {
            Param { text: format!("{name}: Sequence[{OPERAND}]"), is_required: true }
        }
        ParamKind::Input { optional: true, .. } => {
            Param { text: format!("{name}: {OPERAND} = ..."), is_required: false }
        }
        ParamKind::Input { .. } => Param { text: format!("{name}: {OPERAND}"), is_required: true },
        ParamKind::Attribute { kind, default, optional } => {
            let mut text = format!("{name}: {}", annotation(kind, enums));
            // The name of an instruction, or what `T.cuda` has for it.
            if (dialect, name, kind) == ("T", "atom", AttrKind::Str) {
                text.push_str(" | MmaAtom");
            }
            if optional {
                text.push_str(" | None");
            }
            let default = default.or(optional.then_some(AttrDefault::None));
            if let Some(default) = default {
                let _ = write!(text, " = {}", default_text(default, kind));
            }
            Param { text, is_required: default.is_none() }
        }
    }
}

pub(super) fn literals<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().map(string).collect();
    format!("Literal[{}]", names.join(", "))
}

fn annotation(kind: AttrKind, enums: &mut BTreeSet<&'static str>) -> String {
    let plain = match kind {
        AttrKind::Bool => "bool",
        AttrKind::Int => "int",
        AttrKind::Float => "float",
        AttrKind::Str => "str",
        AttrKind::Ints => "Sequence[int]",
        AttrKind::Dim => "Dim | int",
        AttrKind::Dims => "Sequence[Dim | int]",
        AttrKind::Layout => "LayoutBase | tuple[Any, ...]",
        AttrKind::Shard => "ShardLayout | tuple[Any, ...]",
        AttrKind::Mesh => "Mesh",
        AttrKind::Type => "TensorType",
        AttrKind::Enum(EnumDecl { name, variants }) => {
            enums.insert(name);
            return format!("{} | {name}", literals(variants.iter().copied()));
        }
        AttrKind::DType => return format!("{} | DType", literals(DType::ALL.map(DType::name))),
        AttrKind::Storage => return format!("{} | Storage", literals(Storage::ALL.map(Storage::name))),
    };
    plain.to_owned()
}

fn default_text(default: AttrDefault, kind: AttrKind) -> String {
    match (default, kind) {
        (AttrDefault::None, _) => "None".to_owned(),
        (AttrDefault::Bool(true), _) => "True".to_owned(),
        (AttrDefault::Bool(false), _) => "False".to_owned(),
        (AttrDefault::Int(value), _) => value.to_string(),
        (AttrDefault::Float(value), _) => float(value).unwrap_or_else(|| "...".to_owned()),
        (AttrDefault::Enum(at), AttrKind::Enum(decl)) => string(decl.variants[usize::from(at)]),
        (AttrDefault::Enum(_), _) => "...".to_owned(),
    }
}
