//! The kinds that attributes name, as enums: `ReduceKind.MAX`, `ReduceKind("max")`.

use ruff_python_ast as ast;
use tf_core::Span;
use tf_core::op::{Attr, EnumDecl};

use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// How a member is written: its value in upper case.
pub(crate) fn written(decl: &EnumDecl, at: u8) -> String {
    format!("{}.{}", decl.name, decl.variants[usize::from(at)].to_uppercase())
}

/// The member of that value.
fn valued<'c>(decl: &'static EnumDecl, value: &str) -> Option<Value<'c>> {
    let at = decl.variants.iter().position(|variant| *variant == value)?;
    Some(Value::Kind(decl, u8::try_from(at).ok()?))
}

impl<'c> Parser<'_, 'c> {
    /// `ReduceKind.MAX`
    pub(super) fn kind_member(&self, decl: &'static EnumDecl, name: &str, span: Span) -> Res<Value<'c>> {
        let members: Vec<_> = decl.variants.iter().map(|variant| variant.to_uppercase()).collect();
        if let Some(at) = members.iter().position(|member| member == name)
            && let Some(value) = valued(decl, decl.variants[at])
        {
            return Ok(value);
        }
        let (kind, upper) = (decl.name, name.to_uppercase());
        let refusal = Refusal::wrong(span, format!("`{kind}` has no member `{name}`; it has {}", members.join(", ")));
        Err(refusal.near(&upper, members.iter().map(String::as_str)))
    }

    /// `ReduceKind("max")`
    pub(super) fn kind_called(&mut self, decl: &'static EnumDecl, call: &ast::ExprCall, span: Span) -> Res<Value<'c>> {
        let given = self.arguments(call, decl.name, &["value"])?;
        let value = self.required(&given, 0, "value", decl.name, span)?;
        let text = self.string(value, &format!("the value of a `{}`", decl.name))?;
        valued(decl, text).ok_or_else(|| {
            let known = decl.variants.iter().copied();
            let message = format!("no `{}` is \"{text}\"; they are {}", decl.name, decl.variants.join(", "));
            Refusal::wrong(self.span(value), message).near(text, known)
        })
    }

    /// What a member has.
    pub(super) fn kind_attribute(&self, decl: &'static EnumDecl, at: u8, name: &str, span: Span) -> Res<Value<'c>> {
        let value = decl.variants[usize::from(at)];
        match name {
            "value" => Ok(Value::Str(self.cx.symbol(value))),
            "name" => Ok(Value::Str(self.cx.symbol(&value.to_uppercase()))),
            _ => {
                let message = format!("`{}` has no attribute `{name}`", written(decl, at));
                Err(Refusal::unread(span, message).help("a member has `name` and `value`"))
            }
        }
    }

    /// The attribute of that kind which a string or a member states.
    pub(crate) fn kind_attr(&self, decl: &EnumDecl, value: &Value<'c>, what: &str, span: Span) -> Res<Attr<'c>> {
        match value {
            Value::Str(name) => match decl.variants.iter().position(|variant| *variant == name.as_str()) {
                Some(at) => Ok(Attr::Enum(at as u8)),
                None => {
                    let message = format!("{what} is one of {}, found \"{name}\"", decl.variants.join(", "));
                    Err(Refusal::wrong(span, message).near(name.as_str(), decl.variants.iter().copied()))
                }
            },
            Value::Kind(own, at) if *own == decl => Ok(Attr::Enum(*at)),
            other => {
                let message = format!("{what} must be a string naming a {}, found {}", decl.name, other.describe());
                let refusal = Refusal::wrong(span, message);
                match other {
                    Value::Kind(own, at) if decl.variants.contains(&own.variants[usize::from(*at)]) => {
                        let member = own.variants[usize::from(*at)].to_uppercase();
                        Err(refusal.help(format!("write `{}.{member}`", decl.name)))
                    }
                    _ => Err(refusal),
                }
            }
        }
    }
}
