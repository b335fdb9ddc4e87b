//! Attributes of ops.

use tf_core::Diagnostic;
use tf_core::Literal;
use tf_core::op::{Attr, AttrDefault, AttrKind, EnumDecl, OpInstance, ParamKind, Schema};

use super::Parser;
use super::cursor::Parsed;
use super::lexer::{Kind, Token};

impl<'c> Parser<'_, '_, 'c> {
    /// The op with `{name = value, …}`, or nothing. `op` is where the op's name stands.
    pub fn instance(&mut self, op: Token, schema: &Schema) -> Parsed<OpInstance<'c>> {
        let (start, fixed) = (self.token.start, schema.fixed.as_ptr() as usize);
        if !self.at(b'{') {
            let attrs = self.attributes(op, schema)?;
            return Ok(self.cx().op_instance(schema.op, &attrs));
        }
        let of_schema = |(id, other, _)| id == schema.op && other == fixed;
        if let Some((text, (_, _, instance))) = self.recent_attributes.find(&self.text[start..], of_schema) {
            self.skip(text.len(), b'}');
            return Ok(instance);
        }
        let attrs = self.attributes(op, schema)?;
        let instance = self.cx().op_instance(schema.op, &attrs);
        self.recent_attributes.put(&self.text[start..self.previous.end], (schema.op, fixed, instance));
        Ok(instance)
    }

    /// Gives the values in declaration order.
    fn attributes(&mut self, op: Token, schema: &Schema) -> Parsed<Vec<Attr<'c>>> {
        let decl = schema.decl;
        let fixed = |name: &str| schema.fixed.iter().find(|(n, _)| *n == name).map(|(_, value)| *value);
        let mut values: Vec<Option<Attr<'c>>> = decl
            .attributes()
            .map(|param| match param.kind {
                ParamKind::Attribute { kind, .. } => fixed(param.name).map(|value| self.default_value(value, kind)),
                ParamKind::Input { .. } => None,
            })
            .collect();
        if self.at(b'{') {
            self.list([b'{', b'}'], |p| p.attribute(schema, &mut values))?;
        }
        let mut attrs = Vec::with_capacity(values.len());
        for (param, value) in decl.attributes().zip(values) {
            let ParamKind::Attribute { kind, default, optional } = param.kind else { continue };
            let default = default.or(optional.then_some(AttrDefault::None));
            match value.or_else(|| default.map(|value| self.default_value(value, kind))) {
                Some(value) => attrs.push(value),
                None => {
                    let message = format!("`{}` needs the attribute `{}`", decl.name, param.name);
                    let span = self.span(op);
                    let help = format!("write it in braces before the types: `{{{} = …}}`", param.name);
                    return Err(self.report(Diagnostic::error(message).at(span).with_help(help)));
                }
            }
        }
        Ok(attrs)
    }

    fn default_value(&self, value: AttrDefault, kind: AttrKind) -> Attr<'c> {
        match (value, kind) {
            (AttrDefault::Int(v), AttrKind::Dim) => Attr::Dim(self.cx().dim(v)),
            _ => value.to_attr(),
        }
    }

    fn attribute(&mut self, schema: &Schema, values: &mut [Option<Attr<'c>>]) -> Parsed<()> {
        let token = self.expect_kind(Kind::Word, "the name of an attribute")?;
        let name = self.text_of(token);
        let Some((at, param)) = schema.decl.attributes().enumerate().find(|(_, p)| p.name == name) else {
            let message = format!("`{}` has no attribute `{name}`", schema.decl.name);
            return Err(self.unknown(token, message, name, schema.decl.attributes().map(|p| p.name)));
        };
        if values[at].is_some() {
            return Err(self.error_at(token, format!("`{name}` is given twice")));
        }
        self.expect(b'=')?;
        let ParamKind::Attribute { kind, optional, .. } = param.kind else { return Ok(()) };
        let value = if optional && self.accept_word("none") { Attr::None } else { self.attribute_value(kind)? };
        values[at] = Some(value);
        Ok(())
    }

    fn attribute_value(&mut self, kind: AttrKind) -> Parsed<Attr<'c>> {
        Ok(match kind {
            AttrKind::Bool => match (self.accept_word("true"), self.accept_word("false")) {
                (true, _) => Attr::Bool(true),
                (_, true) => Attr::Bool(false),
                _ => return Err(self.expected("`true` or `false`")),
            },
            AttrKind::Int => Attr::Int(self.integer("an integer")?),
            AttrKind::Float => {
                let token = self.token;
                match self.literal("a float")? {
                    Literal::Float(value) => Attr::Float(value.to_bits()),
                    _ => return Err(self.error_at(token, "expected a float such as `1.0`")),
                }
            }
            AttrKind::Str => Attr::Str(self.string()?),
            AttrKind::Enum(decl) => self.enum_variant(decl)?,
            AttrKind::DType => Attr::DType(self.dtype()?),
            AttrKind::Storage => Attr::Storage(self.storage()?),
            AttrKind::Ints => {
                let values = self.list([b'[', b']'], |p| p.integer("an integer"))?;
                Attr::Ints(self.cx().alloc_slice(&values))
            }
            AttrKind::Dim => Attr::Dim(self.dim()?),
            AttrKind::Dims => {
                let dims = self.dim_list([b'[', b']'])?;
                Attr::Dims(self.cx().dims(&dims))
            }
            AttrKind::Layout => Attr::Layout(self.layout()?),
            AttrKind::Shard => Attr::Shard(self.shard()?),
            AttrKind::Mesh => Attr::Mesh(self.mesh()?),
            AttrKind::Type => Attr::Type(self.ty()?),
        })
    }

    fn enum_variant(&mut self, decl: &'static EnumDecl) -> Parsed<Attr<'c>> {
        let token = self.token;
        let name = self.string()?;
        if let Some(at) = decl.variants.iter().position(|v| *v == name.as_str()) {
            return Ok(Attr::Enum(at as u8));
        }
        let message = format!("unknown {} `{name}`; expected one of {}", decl.name, decl.variants.join(", "));
        Err(self.unknown(token, message, name.as_str(), decl.variants.iter().copied()))
    }
}
