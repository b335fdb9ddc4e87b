//! Op declarations: static data, written by the `#[op]` macro.

pub use crate::node::Pattern as InputPattern;
use crate::op::{Attr, AttrKind, OpView};

/// Dialect and name of an op; `key` identifies it across crates and shared libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OpName {
    /// `tf` (HIR) or `T` (TIR).
    pub dialect: &'static str,
    /// Surface name.
    pub name: &'static str,
    /// FNV-1a of `dialect.name`; collisions are refused at registration.
    pub key: u64,
}

impl OpName {
    /// The name with its key.
    #[must_use]
    pub const fn new(dialect: &'static str, name: &'static str) -> Self {
        const fn fnv(mut hash: u64, bytes: &[u8]) -> u64 {
            let mut i = 0;
            while i < bytes.len() {
                hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
                i += 1;
            }
            hash
        }
        let key = fnv(fnv(fnv(0xcbf2_9ce4_8422_2325, dialect.as_bytes()), b"."), name.as_bytes());
        Self { dialect, name, key }
    }
}

impl std::fmt::Display for OpName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.dialect, self.name)
    }
}

/// Whether a call of an op is a value or an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpForm {
    /// Produces a tensor or a tuple.
    Value,
    /// Writes into its operands; has unit type and stands in statement position.
    Effect,
}

/// A parameter of an op.
#[derive(Debug)]
pub struct ParamDecl {
    /// Source name.
    pub name: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// Input or attribute.
    pub kind: ParamKind,
}

/// Input or attribute.
#[derive(Debug)]
pub enum ParamKind {
    /// An operand of the call.
    Input {
        /// For telling overloads apart.
        pattern: InputPattern,
        /// Any number of operands; only the last input may be.
        variadic: bool,
        /// May be left out; only trailing inputs may be.
        optional: bool,
    },
    /// A value on the op instance.
    Attribute {
        /// What it accepts.
        kind: AttrKind,
        /// Its value when the call does not state it.
        default: Option<AttrDefault>,
        /// Whether `None` is a value.
        optional: bool,
    },
}

/// A default value, in static data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttrDefault {
    /// Absent.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A variant's ordinal.
    Enum(u8),
}

impl AttrDefault {
    /// As an attribute value.
    #[must_use]
    pub fn to_attr<'c>(self) -> Attr<'c> {
        match self {
            Self::None => Attr::None,
            Self::Bool(v) => Attr::Bool(v),
            Self::Int(v) => Attr::Int(v),
            Self::Float(v) => Attr::Float(v.to_bits()),
            Self::Enum(v) => Attr::Enum(v),
        }
    }
}

/// The declaration of an op.
#[derive(Debug)]
pub struct OpDecl {
    /// Dialect and name.
    pub name: OpName,
    /// `math`, `tensor`, `nn`, `memory`, …
    pub category: &'static str,
    /// What it computes.
    pub doc: &'static str,
    /// Value or effect.
    pub form: OpForm,
    /// Parameters in surface order.
    pub params: &'static [ParamDecl],
}

impl OpDecl {
    /// The inputs in operand order.
    pub fn inputs(&self) -> impl Iterator<Item = &'static ParamDecl> + use<> {
        self.params.iter().filter(|p| matches!(p.kind, ParamKind::Input { .. }))
    }

    /// The attributes in the order an instance stores them.
    pub fn attributes(&self) -> impl Iterator<Item = &'static ParamDecl> + use<> {
        self.params.iter().filter(|p| matches!(p.kind, ParamKind::Attribute { .. }))
    }

    /// Least and greatest number of operands.
    #[must_use]
    pub fn arity(&self) -> (usize, Option<usize>) {
        let (mut least, mut most) = (0, Some(0));
        for input in self.inputs() {
            if let ParamKind::Input { variadic, optional, .. } = input.kind {
                least += usize::from(!variadic && !optional);
                most = if variadic { None } else { most.map(|m| m + 1) };
            }
        }
        (least, most)
    }
}

/// A surface name for an op with some attributes fixed (`add` is `binary` with `kind = add`).
#[derive(Clone, Copy, Debug)]
pub struct AliasDecl {
    /// Surface name.
    pub name: &'static str,
    /// Attributes that the alias fixes.
    pub fixed: &'static [(&'static str, AttrDefault)],
}

/// A Rust type that declares an op. Implemented by `#[op]`.
pub trait Op: Sized + 'static {
    /// Typed view of a call: one accessor for each parameter.
    type View<'c>: Copy + From<OpView<'c>>;
    /// The declaration.
    const DECL: &'static OpDecl;
}
