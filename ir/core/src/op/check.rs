//! Whether the parts of a declaration fit together: what the types of a plugin's source do not say.

use rustc_hash::FxHashMap;

use crate::op::{AliasDecl, AttrDefault, AttrKind, EnumDecl, OpDecl, ParamKind};

/// The keyword that every call has.
const LOCATION: &str = "loc";

/// ASCII letters, digits and underscores: what both texts read as one word.
fn is_word(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
}

/// What is wrong with a declaration.
pub(super) fn declaration(decl: &'static OpDecl) -> Vec<String> {
    let mut found = Vec::new();
    let op = decl.name;
    for name in [op.dialect, op.name].into_iter().filter(|name| !is_word(name)) {
        found.push(format!("`{op}`: `{name}` is no name of ASCII letters, digits and underscores"));
    }
    // The first operand that may be left out, and the one that takes all that follow.
    let (mut open, mut all) = (None, None);
    for (at, param) in decl.params.iter().enumerate() {
        let name = param.name;
        if !is_word(name) {
            found.push(format!("`{op}`: the parameter `{name}` is no name of ASCII letters, digits and underscores"));
        }
        if name == LOCATION {
            found.push(format!("`{op}` has a parameter `{name}`, the keyword by which every call says where it is"));
        }
        if decl.params[..at].iter().any(|other| other.name == name) {
            found.push(format!("`{op}` has two parameters `{name}`"));
        }
        match param.kind {
            ParamKind::Input { variadic, optional, .. } => {
                if let Some(all) = all {
                    found
                        .push(format!("`{op}` has the operand `{name}` after `{all}`, which takes any number of them"));
                }
                match open {
                    Some(open) if !optional && !variadic => {
                        found.push(format!("`{op}` has the operand `{name}` after `{open}`, which may be left out"));
                    }
                    _ => {}
                }
                all = all.or(variadic.then_some(name));
                open = open.or(optional.then_some(name));
            }
            ParamKind::Attribute { kind, default: Some(default), optional } if !fits(default, kind, optional) => {
                found.push(format!("`{op}` has {} as the default of `{name}`, {}", shown(default), described(kind)));
            }
            ParamKind::Attribute { .. } => {}
        }
    }
    found
}

/// What is wrong with an alias of an op.
pub(super) fn alias(decl: &OpDecl, alias: &AliasDecl) -> Vec<String> {
    let (op, of) = (decl.name, alias.name);
    let wrong = alias.fixed.iter().filter_map(|&(name, value)| {
        let kind = decl.attributes().find(|param| param.name == name).map(|param| &param.kind);
        match kind {
            Some(&ParamKind::Attribute { kind, optional, .. }) if !fits(value, kind, optional) => {
                Some(format!("the alias `{of}` of `{op}` fixes `{name}` to {}, {}", shown(value), described(kind)))
            }
            Some(_) => None,
            None => Some(format!("the alias `{of}` fixes `{name}`, an attribute that `{op}` has not")),
        }
    });
    wrong.collect()
}

/// Enums of one name with other variants: a name stands for one of them in both texts.
pub(super) fn enums(decls: &[&'static OpDecl]) -> Vec<String> {
    let mut known: FxHashMap<&str, (&'static EnumDecl, &'static OpDecl)> = FxHashMap::default();
    let mut found = Vec::new();
    for (decl, param) in decls.iter().flat_map(|&decl| decl.attributes().map(move |param| (decl, param))) {
        let ParamKind::Attribute { kind: AttrKind::Enum(of), .. } = param.kind else { continue };
        let (first, at) = *known.entry(of.name).or_insert((of, decl));
        if first != of {
            let (one, other) = (at.name, decl.name);
            found.push(format!("the enum `{}` of `{other}` has other variants than that of `{one}`", of.name));
        }
    }
    found
}

fn fits(value: AttrDefault, kind: AttrKind, optional: bool) -> bool {
    match (value, kind) {
        (AttrDefault::None, _) => optional,
        (AttrDefault::Bool(_), AttrKind::Bool)
        | (AttrDefault::Int(_), AttrKind::Int)
        | (AttrDefault::Float(_), AttrKind::Float) => true,
        (AttrDefault::Enum(at), AttrKind::Enum(of)) => usize::from(at) < of.variants.len(),
        _ => false,
    }
}

fn shown(value: AttrDefault) -> String {
    match value {
        AttrDefault::None => "None".to_owned(),
        AttrDefault::Bool(value) => value.to_string(),
        AttrDefault::Int(value) => value.to_string(),
        AttrDefault::Float(value) => format!("{value:?}"),
        AttrDefault::Enum(at) => format!("variant {at} of an enum"),
    }
}

fn described(kind: AttrKind) -> String {
    let text = match kind {
        AttrKind::Enum(of) => return format!("of the enum `{}` of {} variants", of.name, of.variants.len()),
        AttrKind::Bool => "a bool",
        AttrKind::Int => "an integer",
        AttrKind::Float => "a float (such as `1.0`)",
        AttrKind::Str => "a string",
        AttrKind::DType => "a dtype",
        AttrKind::Storage => "a storage",
        AttrKind::Ints => "a list of integers",
        AttrKind::Dim => "an extent",
        AttrKind::Dims => "a list of extents",
        AttrKind::Layout => "a layout",
        AttrKind::Shard => "a placement",
        AttrKind::Mesh => "a mesh",
        AttrKind::Type => "a type",
    };
    text.to_owned()
}
