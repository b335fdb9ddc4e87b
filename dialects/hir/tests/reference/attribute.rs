//! Attributes from compile-time values.

use tf_core::Context;
use tf_core::op::{Attr, AttrKind};
use tf_types::{DType, Dim, Storage};

use crate::expression::Val;

fn dim<'c>(cx: &Context<'c>, value: &Val<'c>) -> Option<Dim<'c>> {
    match value {
        Val::Int(value) => Some(cx.dim(*value)),
        Val::Dim(dim) => Some(*dim),
        _ => None,
    }
}

/// The value as an attribute of that kind, if it is one.
pub fn attribute<'c>(cx: &Context<'c>, kind: AttrKind, value: &Val<'c>) -> Option<Attr<'c>> {
    Some(match (kind, value) {
        (AttrKind::Bool, Val::Bool(value)) => Attr::Bool(*value),
        (AttrKind::Int, Val::Int(value)) => Attr::Int(*value),
        (AttrKind::Float, Val::Float(value)) => Attr::Float(value.to_bits()),
        (AttrKind::Float, Val::Int(value)) => Attr::Float((*value as f64).to_bits()),
        (AttrKind::Str, Val::Text(text)) => Attr::Str(cx.symbol(text)),
        (AttrKind::Enum(decl), Val::Text(text)) => {
            Attr::Enum(decl.variants.iter().position(|variant| variant == text)? as u8)
        }
        (AttrKind::DType, Val::Text(text)) => Attr::DType(DType::from_name(text).ok()?),
        (AttrKind::Storage, Val::Text(text)) => Attr::Storage(Storage::from_name(text).ok()?),
        (AttrKind::Ints, Val::Tuple(items)) => {
            let int = |item: &Val<'c>| match item {
                Val::Int(value) => Some(*value),
                _ => None,
            };
            Attr::Ints(cx.alloc_slice(&items.iter().map(int).collect::<Option<Vec<_>>>()?))
        }
        (AttrKind::Dim, value) => Attr::Dim(dim(cx, value)?),
        (AttrKind::Dims, Val::Tuple(items)) => {
            Attr::Dims(cx.normal_dims(&items.iter().map(|item| dim(cx, item)).collect::<Option<Vec<_>>>()?))
        }
        (AttrKind::Type, Val::Type(ty)) => Attr::Type(*ty),
        _ => return None,
    })
}
