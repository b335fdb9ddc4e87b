//! Names that a host supplies beside those of the file.

use tf_core::{Function, Module, PrimFunction, Target};
use tf_types::{DType, Dim, Mesh, Storage, Symbol, TensorLayout, Topology};

use crate::statics::{Dict, Heap, Instance, Key};
use crate::value::{SEQUENCE_DEPTH, Value};

/// Resolves the names that a file uses and does not bind.
///
/// A file that stands alone needs none: [`crate::parse_file`] reads it with [`Closed`]. A host that has live objects
/// (a Python extension with the globals and closure of a decorated function) implements this and calls
/// [`crate::parse_file_in`]. Names of the file come first, then these, then the ops of the dialect.
pub trait Environment<'c> {
    /// The value of a name; none where the host does not know it. Asked once for each use.
    fn lookup(&self, name: &str) -> Option<HostValue<'c>>;
}

/// The environment of a file that stands alone: it knows no names.
pub struct Closed;

impl<'c> Environment<'c> for Closed {
    fn lookup(&self, _: &str) -> Option<HostValue<'c>> {
        None
    }
}

/// A live value; handles are of the context that the file is read into.
#[derive(Clone, Debug)]
pub enum HostValue<'c> {
    /// `None`.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float; it takes the float dtype of the operands beside it.
    Float(f64),
    /// A string.
    Str(Symbol<'c>),
    /// A tuple.
    Tuple(Vec<HostValue<'c>>),
    /// A list.
    List(Vec<HostValue<'c>>),
    /// A dict with strings as keys.
    Dict(Vec<(Symbol<'c>, HostValue<'c>)>),
    /// An object by its attributes, such as a configuration.
    Object(Vec<(Symbol<'c>, HostValue<'c>)>),
    /// A symbolic extent, such as a `DimVar`.
    Dim(Dim<'c>),
    /// A dtype.
    DType(DType),
    /// A storage.
    Storage(Storage),
    /// A level.
    Topology(Topology<'c>),
    /// A mesh.
    Mesh(Mesh<'c>),
    /// A layout of any kind.
    Layout(TensorLayout<'c>),
    /// A target.
    Target(Target<'c>),
    /// A module, which a class may attach as its child.
    Module(Module<'c>),
    /// A function, which functions may call.
    Function(Function<'c>),
    /// A TIR function, which TIR functions may call and launch.
    Prim(PrimFunction<'c>),
}

impl<'c> HostValue<'c> {
    /// Whether it can be changed, so that each use of its name means the same object.
    pub(crate) fn has_identity(&self) -> bool {
        match self {
            Self::List(_) | Self::Dict(_) | Self::Object(_) => true,
            Self::Tuple(items) => items.iter().any(Self::has_identity),
            _ => false,
        }
    }

    /// As a value of the file; none where values nest too deep.
    pub(crate) fn value(self, heap: &Heap<'c>, depth: u32) -> Option<Value<'c>> {
        if depth > SEQUENCE_DEPTH {
            return None;
        }
        let part = |item: HostValue<'c>| item.value(heap, depth + 1);
        let all = |items: Vec<HostValue<'c>>| items.into_iter().map(part).collect::<Option<Vec<_>>>();
        Some(match self {
            Self::None => Value::None,
            Self::Bool(value) => Value::Bool(value),
            Self::Int(value) => Value::Int(value),
            Self::Float(value) => Value::Float(value),
            Self::Str(text) => Value::Str(text),
            Self::Tuple(items) => Value::tuple(all(items)?)?,
            Self::List(items) => heap.list(all(items)?),
            Self::Dim(dim) => dim.as_const().map_or(Value::Dim(dim), Value::Int),
            Self::DType(dtype) => Value::DType(dtype),
            Self::Storage(storage) => Value::Storage(storage),
            Self::Topology(topology) => Value::Topology(topology),
            Self::Mesh(mesh) => Value::Mesh(mesh),
            Self::Layout(TensorLayout::Plain(layout)) => Value::Layout(layout),
            Self::Layout(TensorLayout::Shard(shard)) => Value::Shard(shard),
            Self::Layout(TensorLayout::Composed(composed)) => Value::Composed(composed),
            Self::Target(target) => Value::Target(target),
            Self::Dict(items) => {
                let mut dict = Dict::default();
                for (name, value) in items {
                    dict.put(Key::Str(name), Value::Str(name), part(value)?);
                }
                heap.dict(dict)
            }
            Self::Object(attributes) => {
                let attributes = attributes.into_iter().map(|(name, value)| Some((name, part(value)?)));
                heap.instance(Instance::host(attributes.collect::<Option<_>>()?))
            }
            Self::Module(module) => Value::Module(module),
            Self::Function(function) => Value::Function(function),
            Self::Prim(function) => Value::Prim(function),
        })
    }
}
