//! Attribute values: a closed set of kinds, and the Rust types that read them.

use tf_types::kinds::{BinaryKind, ReduceKind, UnaryKind};
use tf_types::{DType, Dim, Mesh, ShardLayout, Storage, Symbol, TensorLayout, Type};

use crate::Context;

/// The value of an attribute. Equal values are structurally equal; handles compare as pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Attr<'c> {
    /// An optional attribute that is absent.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float, as its bits.
    Float(u64),
    /// A string.
    Str(Symbol<'c>),
    /// The ordinal of an enum's variant; the parameter names the enum.
    Enum(u8),
    /// A dtype.
    DType(DType),
    /// A storage.
    Storage(Storage),
    /// A list of integers, such as axes.
    Ints(&'c [i64]),
    /// An extent.
    Dim(Dim<'c>),
    /// A list of extents.
    Dims(&'c [Dim<'c>]),
    /// A layout of any form.
    Layout(TensorLayout<'c>),
    /// A placement.
    Shard(ShardLayout<'c>),
    /// A mesh.
    Mesh(Mesh<'c>),
    /// A type.
    Type(Type<'c>),
}

/// What an attribute parameter accepts: the parsers dispatch on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrKind {
    /// [`Attr::Bool`]
    Bool,
    /// [`Attr::Int`]
    Int,
    /// [`Attr::Float`]
    Float,
    /// [`Attr::Str`]
    Str,
    /// [`Attr::Enum`] of this enum; written as its string.
    Enum(&'static EnumDecl),
    /// [`Attr::DType`]; written as its name.
    DType,
    /// [`Attr::Storage`]
    Storage,
    /// [`Attr::Ints`]
    Ints,
    /// [`Attr::Dim`]
    Dim,
    /// [`Attr::Dims`]
    Dims,
    /// [`Attr::Layout`]
    Layout,
    /// [`Attr::Shard`]; layout sugar is accepted.
    Shard,
    /// [`Attr::Mesh`]
    Mesh,
    /// [`Attr::Type`]
    Type,
}

/// The names of an attribute enum's variants, by ordinal.
#[derive(Debug, PartialEq, Eq)]
pub struct EnumDecl {
    /// Rust name, such as `ReduceKind`.
    pub name: &'static str,
    /// Source spellings.
    pub variants: &'static [&'static str],
}

/// A Rust enum used as an attribute.
pub trait AttrEnum: Copy + 'static {
    /// Its declaration.
    const DECL: &'static EnumDecl;
    /// All variants, by ordinal.
    const VARIANTS: &'static [Self];
    /// Position in [`AttrEnum::VARIANTS`].
    fn ordinal(self) -> u8;
}

/// A Rust type (or a marker in its place) by which an op's field reads an attribute.
pub trait AttrType {
    /// What the accessor returns.
    type Value<'c>: Copy;
    /// What the parsers accept.
    const KIND: AttrKind;
    /// Whether the attribute may be absent.
    const OPTIONAL: bool = false;
    /// Stores a value.
    fn encode<'c>(value: Self::Value<'c>, cx: &Context<'c>) -> Attr<'c>;
    /// Reads a value; the attribute has the declared kind.
    fn decode(attr: Attr<'_>) -> Self::Value<'_>;
}

/// Marker: a list of integers such as axes; read as `&[i64]`.
pub struct Ints;
/// Marker: a list of extents; read as `&[Dim]`.
pub struct Dims;
/// Marker: a string.
pub struct StrAttr;
/// Marker: an extent.
pub struct DimAttr;
/// Marker: a placement.
pub struct Placement;
/// Marker: a layout of any form.
pub struct AnyLayout;
/// Marker: a mesh.
pub struct MeshAttr;
/// Marker: a type.
pub struct TypeAttr;

macro_rules! attr_types {
    ($($marker:ty, $value:ty, $kind:ident, $cx:ident, $v:ident => $stored:expr, $load:expr;)*) => {$(
        impl AttrType for $marker {
            type Value<'c> = $value;
            const KIND: AttrKind = AttrKind::$kind;
            fn encode<'c>($v: $value, $cx: &Context<'c>) -> Attr<'c> {
                let _ = $cx;
                Attr::$kind($stored)
            }
            fn decode<'c>(attr: Attr<'c>) -> $value {
                match attr {
                    Attr::$kind($v) => $load,
                    other => unreachable!("attribute of kind {:?} holds {other:?}", Self::KIND),
                }
            }
        }
    )*};
}

attr_types! {
    bool, bool, Bool, cx, v => v, v;
    i64, i64, Int, cx, v => v, v;
    f64, f64, Float, cx, v => v.to_bits(), f64::from_bits(v);
    StrAttr, Symbol<'c>, Str, cx, v => v, v;
    DType, DType, DType, cx, v => v, v;
    Storage, Storage, Storage, cx, v => v, v;
    Ints, &'c [i64], Ints, cx, v => cx.alloc_slice(v), v;
    Dims, &'c [Dim<'c>], Dims, cx, v => cx.dims(v), v;
    DimAttr, Dim<'c>, Dim, cx, v => v, v;
    AnyLayout, TensorLayout<'c>, Layout, cx, v => v, v;
    Placement, ShardLayout<'c>, Shard, cx, v => v, v;
    MeshAttr, Mesh<'c>, Mesh, cx, v => v, v;
    TypeAttr, Type<'c>, Type, cx, v => v, v;
}

impl<T: AttrType> AttrType for Option<T> {
    type Value<'c> = Option<T::Value<'c>>;
    const KIND: AttrKind = T::KIND;
    const OPTIONAL: bool = true;
    fn encode<'c>(value: Self::Value<'c>, cx: &Context<'c>) -> Attr<'c> {
        value.map_or(Attr::None, |v| T::encode(v, cx))
    }
    fn decode(attr: Attr<'_>) -> Self::Value<'_> {
        match attr {
            Attr::None => None,
            other => Some(T::decode(other)),
        }
    }
}

/// Makes an enum with `ALL` and `name()` an attribute type.
#[macro_export]
macro_rules! attr_enum {
    ($($name:ident),*) => {$(
        impl $crate::op::AttrEnum for $name {
            const DECL: &'static $crate::op::EnumDecl = &$crate::op::EnumDecl {
                name: stringify!($name),
                variants: &{
                    let mut names = [""; $name::ALL.len()];
                    let mut i = 0;
                    while i < names.len() {
                        names[i] = $name::ALL[i].name();
                        i += 1;
                    }
                    names
                },
            };
            const VARIANTS: &'static [Self] = $name::ALL;
            fn ordinal(self) -> u8 {
                self as u8
            }
        }
        impl $crate::op::AttrType for $name {
            type Value<'c> = $name;
            const KIND: $crate::op::AttrKind = $crate::op::AttrKind::Enum(<$name as $crate::op::AttrEnum>::DECL);
            fn encode<'c>(value: $name, _: &$crate::Context<'c>) -> $crate::op::Attr<'c> {
                $crate::op::Attr::Enum($crate::op::AttrEnum::ordinal(value))
            }
            fn decode(attr: $crate::op::Attr<'_>) -> $name {
                match attr {
                    $crate::op::Attr::Enum(i) => <$name as $crate::op::AttrEnum>::VARIANTS[usize::from(i)],
                    other => unreachable!("enum attribute holds {other:?}"),
                }
            }
        }
    )*};
}

attr_enum!(BinaryKind, UnaryKind, ReduceKind);
