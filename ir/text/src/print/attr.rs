//! Attributes and literals.

use std::fmt::Write;

use tf_core::Literal;
use tf_core::op::{Attr, AttrKind, OpInstance, ParamKind};

use super::Printer;
use crate::syntax::{CANONICAL_NAN, write_quoted};

impl<'c> Printer<'_, 'c> {
    /// ` {axes = [1], kind = "mean"}` in declaration order, without those that have their default value.
    pub fn attributes(&mut self, op: OpInstance<'c>) {
        if let Some(text) = self.attribute_texts.get(&op) {
            self.out.push_str(text);
            return;
        }
        let start = self.out.len();
        self.new_attributes(op);
        self.attribute_texts.insert(op, self.out[start..].into());
    }

    fn new_attributes(&mut self, op: OpInstance<'c>) {
        let mut separator = " {";
        for (param, &value) in op.decl.attributes().zip(op.attrs()) {
            let ParamKind::Attribute { kind, default, optional } = param.kind else { continue };
            let default = default.map(|d| d.to_attr());
            if default == Some(value) || (default.is_none() && optional && value == Attr::None) {
                continue;
            }
            self.out.push_str(separator);
            separator = ", ";
            self.out.push_str(param.name);
            self.out.push_str(" = ");
            self.attribute(value, kind);
        }
        if separator == ", " {
            self.out.push('}');
        }
    }

    fn attribute(&mut self, value: Attr<'c>, kind: AttrKind) {
        let out = &mut self.out;
        match value {
            Attr::None => out.push_str("none"),
            Attr::Bool(v) => write_display(out, v),
            Attr::Int(v) => write_display(out, v),
            Attr::Float(bits) => write_float(out, f64::from_bits(bits)),
            Attr::Str(text) => write_quoted(out, text.as_str()),
            Attr::Enum(ordinal) => {
                let AttrKind::Enum(decl) = kind else { unreachable!("an enum value in a {kind:?} attribute") };
                write_quoted(out, decl.variants[usize::from(ordinal)]);
            }
            Attr::DType(v) => out.push_str(v.name()),
            Attr::Storage(v) => out.push_str(v.name()),
            Attr::Ints(values) => {
                out.push('[');
                for (at, v) in values.iter().enumerate() {
                    if at > 0 {
                        out.push_str(", ");
                    }
                    write_display(out, v);
                }
                out.push(']');
            }
            Attr::Dim(dim) => self.types.write_dim(out, dim),
            Attr::Dims(dims) => self.types.write_dims(out, dims, ['[', ']']),
            Attr::Layout(layout) => self.types.write_layout(out, layout),
            Attr::Shard(shard) => self.types.write_layout(out, tf_types::TensorLayout::Shard(shard)),
            Attr::Mesh(mesh) => self.types.write_mesh(out, mesh),
            Attr::Type(ty) => self.types.write_type(out, ty),
        }
    }

    pub fn literal(&mut self, literal: Literal) {
        match literal {
            Literal::Bool(v) => write_display(&mut self.out, v),
            Literal::Int(v) => write_display(&mut self.out, v),
            Literal::Float(v) => write_float(&mut self.out, v),
        }
    }
}

fn write_display(out: &mut String, value: impl std::fmt::Display) {
    let _ = write!(out, "{value}");
}

/// Shortest digits that read back as the same bits; other nans than the canonical one as their bits.
pub fn write_float(out: &mut String, value: f64) {
    let _ = match value.to_bits() {
        CANONICAL_NAN => write!(out, "nan"),
        bits if value.is_nan() => write!(out, "{bits:#018x}"),
        _ => write!(out, "{value:?}"),
    };
}
