//! What a name or expression of the file is, before and beside IR.

use std::rc::Rc;

use tf_core::op::EnumDecl;
use tf_core::{DimVarRangePat, Expr, Function, Module, PrimFunction, Target};
use tf_types::{
    ComposedLayout, DType, Dim, Layout, Mesh, ShardAttr, ShardLayout, Storage, Symbol, TensorLayout, Topology, Type,
};

use crate::names::Builtin;
use crate::prim::Platform;
use crate::statics::{Dict, Field, Instance, IntRange, Iter, Ref, Set, Unread, Wrapper, kinds};

/// A value of the file. Only [`Value::Expr`] and [`Value::Window`] are of run time.
#[derive(Clone)]
pub(crate) enum Value<'c> {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Symbol<'c>),
    Tuple(Rc<Sequence<'c>>),
    /// A compile-time list, of expressions too.
    List(Ref<Rc<Sequence<'c>>>),
    /// `range(...)`.
    IntRange(Rc<IntRange>),
    Set(Ref<Set<'c>>),
    /// A symbolic dim; integers are [`Value::Int`].
    Dim(Dim<'c>),
    Topology(Topology<'c>),
    Layout(Layout<'c>),
    Composed(ComposedLayout<'c>),
    Mesh(Mesh<'c>),
    MeshAxis(Mesh<'c>, usize),
    Shard(ShardLayout<'c>),
    ShardAttr(ShardAttr<'c>),
    Target(Target<'c>),
    Storage(Storage),
    DType(DType),
    /// A member of a kind that attributes name, such as `ReduceKind.MAX`.
    Kind(&'static EnumDecl, u8),
    Annotation(Annotation<'c>),
    Builtin(Builtin),
    /// A function of `math`.
    Math(Symbol<'c>),
    /// A callable with arguments that come first.
    Bound(Rc<Bound<'c>>),
    /// A plain function of the file, by its place.
    Factory(usize),
    /// A method of a string, list, dict or other value of Python.
    Method(Rc<(Value<'c>, Symbol<'c>)>),
    /// A plain class of the file, by its place.
    Record(usize),
    /// The `__init__` that a plain class has by itself: that of a dataclass, or none: of `object`.
    Init(Option<usize>),
    /// `field(...)` of a dataclass.
    Field(Rc<Field<'c>>),
    /// What `property` and its like make of a plain function.
    Wrapped(Wrapper, usize),
    /// `super()`: the class behind which the search starts, and for whom.
    Super(Rc<(usize, Value<'c>)>),
    /// An instance of a plain class.
    Object(Ref<Instance<'c>>),
    /// A dict of constants in order.
    Dict(Ref<Dict<'c>>),
    /// `d.keys()`, `d.values()`, `d.items()`.
    View(View, Ref<Dict<'c>>),
    Iter(Ref<Iter<'c>>),
    /// The namespace of a dialect that a plugin adds.
    Dialect(&'static str),
    /// An op by its dialect, `tf`, `T` or that of a plugin, and name.
    Op(&'static str, Symbol<'c>),
    /// A statement of TIR that the file declares, by its place.
    Intrinsic(usize),
    /// A name below `T.cuda`.
    Platform(Platform<'c>),
    /// A class under `@module`, or a copy of one.
    Module(Module<'c>),
    /// What a variant is for.
    Range(DimVarRangePat<'c>),
    Function(Function<'c>),
    Prim(PrimFunction<'c>),
    Expr(Expr<'c>),
    /// The variable of `for k in tile(extent, step)`.
    Window(Window<'c>),
    /// What is not read.
    Unread(Rc<Unread<'c>>),
}

/// What a view of a dict shows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    Keys,
    Values,
    Items,
}

/// Elements, and how deep tuples nest in them.
#[derive(Clone)]
pub(crate) struct Sequence<'c> {
    pub(crate) items: Vec<Value<'c>>,
    pub(crate) depth: u32,
}

impl<'c> std::ops::Deref for Sequence<'c> {
    type Target = [Value<'c>];

    fn deref(&self) -> &Self::Target {
        &self.items
    }
}

/// What a method of an instance, or `functools.partial`, is.
pub(crate) struct Bound<'c> {
    pub(crate) callee: Value<'c>,
    pub(crate) args: Vec<Value<'c>>,
    pub(crate) keywords: Vec<(Symbol<'c>, Value<'c>)>,
    depth: u32,
}

impl<'c> Bound<'c> {
    /// The value; none beyond [`SEQUENCE_DEPTH`].
    pub(crate) fn value(
        callee: Value<'c>,
        args: Vec<Value<'c>>,
        keywords: Vec<(Symbol<'c>, Value<'c>)>,
    ) -> Option<Value<'c>> {
        let below = args.iter().chain(keywords.iter().map(|(_, value)| value)).chain([&callee]).map(Value::depth).max();
        let depth = below.unwrap_or(0) + 1;
        (depth <= SEQUENCE_DEPTH).then(|| Value::Bound(Rc::new(Self { callee, args, keywords, depth })))
    }
}

/// Tuples inside tuples, and values of any kind inside each other where all of them are looked at.
pub(crate) const SEQUENCE_DEPTH: u32 = 16;

/// `Tensor[…]` or a tuple of them, and which slots were written.
#[derive(Clone, Copy)]
pub(crate) struct Annotation<'c> {
    pub(crate) ty: Type<'c>,
    pub(crate) is_const: bool,
    pub(crate) states_layout: bool,
    pub(crate) states_storage: bool,
}

/// The window `[iv, iv + size)` of a tile loop.
#[derive(Clone, Copy)]
pub(crate) struct Window<'c> {
    pub(crate) iv: Expr<'c>,
    pub(crate) size: Dim<'c>,
}

impl<'c> Value<'c> {
    /// A tuple; `None` beyond [`SEQUENCE_DEPTH`].
    pub(crate) fn tuple(items: Vec<Value<'c>>) -> Option<Self> {
        Sequence::new(items).map(|s| Self::Tuple(Rc::new(s)))
    }

    /// What it is, for messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::None => "None".to_owned(),
            Self::Bool(true) => "the bool True".to_owned(),
            Self::Bool(false) => "the bool False".to_owned(),
            Self::Int(value) => format!("the integer {value}"),
            Self::Float(value) => format!("the float {value:?}"),
            Self::Str(text) => format!("the string {text:?}"),
            Self::Tuple(items) => format!("a tuple of {}", items.items.len()),
            Self::List(items) => format!("a list of {}", items.get().len()),
            Self::IntRange(_) => "a range".to_owned(),
            Self::Set(set) => format!("a set of {}", set.get().items.len()),
            Self::Dim(dim) => format!("the dim {dim}"),
            Self::Topology(topology) => format!("the level `{}`", topology.name),
            Self::Layout(_) => "a Layout".to_owned(),
            Self::Composed(_) => "a ComposedLayout".to_owned(),
            Self::Mesh(_) => "a mesh".to_owned(),
            Self::MeshAxis(mesh, axis) => format!("the mesh coordinate `{}`", mesh.axis_name(*axis)),
            Self::Shard(_) => "a ShardLayout".to_owned(),
            Self::ShardAttr(_) => "a shard attribute".to_owned(),
            Self::Target(target) => format!("the target {target}"),
            Self::Storage(storage) => format!("the storage {storage}"),
            Self::DType(dtype) => format!("the dtype {dtype}"),
            Self::Kind(decl, at) => format!("the kind {}", kinds::written(decl, *at)),
            Self::Annotation(annotation) => format!("the type {}", annotation.ty),
            Self::Builtin(builtin) => format!("`{}`", builtin.name()),
            Self::Math(name) => format!("`math.{name}`"),
            Self::Bound(bound) => bound.callee.describe(),
            Self::Factory(_) => "a plain Python function".to_owned(),
            Self::Method(method) => format!("the method `{}`", method.1),
            Self::Init(_) => "the method `__init__`".to_owned(),
            Self::Field(_) => "a `field(...)`".to_owned(),
            Self::Wrapped(wrapper, _) => format!("a `{}`", wrapper.name()),
            Self::Super(_) => "`super()`".to_owned(),
            Self::Record(_) => "a plain Python class".to_owned(),
            Self::Object(_) => "an instance of a plain class".to_owned(),
            Self::Dict(items) => format!("a dict of {}", items.get().len()),
            Self::View(..) => "a view of a dict".to_owned(),
            Self::Iter(_) => "an iterator".to_owned(),
            Self::Dialect(dialect) => format!("the dialect `{dialect}`"),
            Self::Op(dialect, name) => format!("the op `{dialect}.{name}`"),
            Self::Intrinsic(_) => "an intrinsic".to_owned(),
            Self::Platform(platform) => platform.describe(),
            Self::Module(module) => format!("the module `{}`", module.name),
            Self::Range(_) => "a `DimVarRangePat`".to_owned(),
            Self::Prim(function) => format!("the `@prim_func` `{}`", function.name),
            Self::Function(function) => format!("the function `{}`", function.name),
            Self::Expr(expr) => format!("a run-time value of type {}", expr.ty()),
            Self::Window(_) => "a tile window".to_owned(),
            Self::Unread(_) => "a value that is not read".to_owned(),
        }
    }

    /// The run-time value behind a name: of a window the induction variable.
    pub(crate) fn as_expr(&self) -> Option<Expr<'c>> {
        match self {
            Self::Expr(expr) => Some(*expr),
            Self::Window(window) => Some(window.iv),
            _ => None,
        }
    }

    /// A layout of any kind.
    pub(crate) fn as_layout(&self) -> Option<TensorLayout<'c>> {
        match self {
            Self::Layout(layout) => Some(TensorLayout::Plain(*layout)),
            Self::Composed(layout) => Some(TensorLayout::Composed(*layout)),
            Self::Shard(shard) => Some(TensorLayout::Shard(*shard)),
            _ => None,
        }
    }

    /// How deep tuples nest in it. What is in objects with identity does not count: those are dropped one by one.
    pub(crate) fn depth(&self) -> u32 {
        match self {
            Self::Tuple(sequence) => sequence.depth,
            Self::Bound(bound) => bound.depth,
            Self::Super(parts) => parts.1.depth() + 1,
            Self::Method(parts) => parts.0.depth() + 1,
            _ => 0,
        }
    }

    /// How many values are in it, at all depths and as often as they occur, up to `most`; that also where they nest too
    /// deep.
    pub(crate) fn weight(&self, most: usize) -> usize {
        let mut stack = vec![(self.clone(), 0)];
        let mut weight = 0;
        while let Some((value, depth)) = stack.pop() {
            weight += 1;
            if weight >= most || depth > SEQUENCE_DEPTH {
                return most;
            }
            let mut parts = Vec::new();
            match &value {
                Self::Dict(items) => {
                    parts.extend(items.get().items().iter().take(most).map(|(_, value)| value.clone()))
                }
                Self::Object(object) => parts.extend(object.get().attributes.iter().map(|(_, value)| value.clone())),
                Self::Set(set) => parts.extend(set.get().items.items().iter().take(most).map(|(item, _)| item.clone())),
                Self::IntRange(range) => weight = weight.saturating_add(range.count as usize).min(most),
                other => {
                    parts.extend(other.as_sequence().iter().flat_map(|items| items.iter().take(most)).cloned());
                }
            }
            stack.extend(parts.into_iter().map(|part| (part, depth + 1)));
        }
        weight
    }

    /// An integer or float as a float.
    pub(crate) fn as_float(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether it is no object that changes, and reaches none.
    pub(crate) fn is_atom(&self) -> bool {
        /// Items that are looked at.
        const ITEMS: usize = 64;
        match self {
            Self::Tuple(items) => items.len() <= ITEMS && items.iter().all(|item| item.depth() == 0 && item.is_atom()),
            Self::List(_)
            | Self::Set(_)
            | Self::Bound(_)
            | Self::Factory(_)
            | Self::Method(_)
            | Self::Record(_)
            | Self::Init(_)
            | Self::Field(_)
            | Self::Wrapped(..)
            | Self::Super(_)
            | Self::Object(_)
            | Self::Dict(_)
            | Self::View(..)
            | Self::Iter(_)
            | Self::Unread(_) => false,
            _ => true,
        }
    }

    /// Whether it is a sequence or dict whose items are atoms.
    pub(crate) fn holds_atoms(&self) -> bool {
        match self {
            Self::Dict(dict) => dict.get().items().iter().all(|(_, value)| value.is_atom()),
            Self::List(list) => list.get().iter().all(Value::is_atom),
            _ => false,
        }
    }

    /// The text of a string.
    pub(crate) fn text(&self) -> Option<&'c str> {
        match self {
            Self::Str(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// The elements of a tuple or list as they are now; none where they are not known any more.
    pub(crate) fn as_sequence(&self) -> Option<Rc<Sequence<'c>>> {
        match self {
            Self::Tuple(sequence) => Some(Rc::clone(sequence)),
            Self::List(list) if list.unknown().is_none() => Some(Rc::clone(&list.get())),
            Self::Object(object) if object.get().is_tuple => {
                let items = object.get().attributes.iter().map(|(_, value)| value.clone()).collect();
                Some(Rc::new(Sequence { items, depth: 0 }))
            }
            Self::IntRange(range) => range.items().map(|items| Rc::new(Sequence { items, depth: 0 })),
            _ => None,
        }
    }
}

impl<'c> Sequence<'c> {
    fn new(items: Vec<Value<'c>>) -> Option<Self> {
        let depth = items.iter().map(Value::depth).max().unwrap_or(0) + 1;
        (depth <= SEQUENCE_DEPTH).then_some(Self { items, depth })
    }
}
