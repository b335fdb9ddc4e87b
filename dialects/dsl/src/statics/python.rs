//! Names of Python and of its standard library that files use on constants.

use ruff_python_ast::{CmpOp, Operator, UnaryOp};

use super::Wrapper;

/// A function or class of Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Python {
    All,
    Any,
    Dict,
    DivMod,
    Filter,
    FrozenSet,
    GetAttr,
    HasAttr,
    IsInstance,
    Iter,
    Map,
    Next,
    NotImplemented,
    Object,
    OrderedDict,
    Pow,
    Print,
    Repr,
    Reversed,
    Set,
    SetAttr,
    /// `object.__setattr__`.
    SetFrozen,
    Sorted,
    Super,
    Type,
    /// `dataclasses`.
    DataClass,
    AsDict,
    Field,
    Replace,
    KwOnly,
    InitVar,
    /// `enum`.
    Enum,
    Flag,
    IntEnum,
    IntFlag,
    StrEnum,
    Auto,
    /// `functools`.
    Cache,
    LruCache,
    /// `property`, `staticmethod` and their like.
    Wrapper(Wrapper),
    Partial,
    Reduce,
    /// `itertools`.
    Chain,
    Product,
    Repeat,
    ClassVar,
    /// `typing.NamedTuple` and `collections.namedtuple`.
    NamedTuple,
    NamedTupleOf,
    /// `types.SimpleNamespace`.
    Namespace,
    /// `abc.ABC`, a base that adds nothing.
    Abc,
    AbcMeta,
    Unique,
    /// `functools.wraps`, and what it gives.
    Wraps,
    Wrapped,
    AsTuple,
    Fields,
    /// Methods of named tuples.
    TupleDict,
    TupleReplace,
    /// `collections`.
    Counter,
    DefaultDict,
    /// `copy`.
    Copy,
    DeepCopy,
    /// `operator`.
    Binary(Operator),
    Compare(CmpOp),
    Unary(UnaryOp),
    Contains,
    Truth,
    GetItem,
    AttrGetter,
    ItemGetter,
    /// What the two give.
    AttrOf,
    ItemOf,
    /// More of `itertools`.
    Accumulate,
    Combinations,
    /// `combinations_with_replacement`.
    Combined,
    Count,
    Cycle,
    DropWhile,
    FilterFalse,
    /// `chain.from_iterable`.
    Flat,
    ISlice,
    Longest,
    Pairwise,
    Permutations,
    StarMap,
    TakeWhile,
    /// What gives the one thing that it is given.
    Same,
    Cast,
    NewType,
    FromKeys,
    /// `@p.setter`.
    Setter,
    Callable,
    Chr,
    Ord,
    /// `hex`, `oct` and `bin`, by the letter before the digits.
    Based(char),
}

/// What needs no import.
const WORDS: &[(&str, Python)] = &[
    ("all", Python::All),
    ("any", Python::Any),
    ("bin", Python::Based('b')),
    ("callable", Python::Callable),
    ("chr", Python::Chr),
    ("classmethod", Python::Wrapper(Wrapper::Class)),
    ("dict", Python::Dict),
    ("divmod", Python::DivMod),
    ("filter", Python::Filter),
    ("frozenset", Python::FrozenSet),
    ("getattr", Python::GetAttr),
    ("hasattr", Python::HasAttr),
    ("hex", Python::Based('x')),
    ("isinstance", Python::IsInstance),
    ("iter", Python::Iter),
    ("map", Python::Map),
    ("next", Python::Next),
    ("NotImplemented", Python::NotImplemented),
    ("object", Python::Object),
    ("oct", Python::Based('o')),
    ("ord", Python::Ord),
    ("pow", Python::Pow),
    ("print", Python::Print),
    ("property", Python::Wrapper(Wrapper::Property)),
    ("repr", Python::Repr),
    ("reversed", Python::Reversed),
    ("set", Python::Set),
    ("setattr", Python::SetAttr),
    ("sorted", Python::Sorted),
    ("staticmethod", Python::Wrapper(Wrapper::Static)),
    ("super", Python::Super),
    ("type", Python::Type),
];

/// By module and name.
const LIBRARY: &[(&str, &str, Python)] = &[
    ("abc", "ABC", Python::Abc),
    ("abc", "ABCMeta", Python::AbcMeta),
    ("abc", "abstractmethod", Python::Wrapper(Wrapper::Abstract)),
    ("collections", "Counter", Python::Counter),
    ("collections", "OrderedDict", Python::OrderedDict),
    ("collections", "defaultdict", Python::DefaultDict),
    ("collections", "namedtuple", Python::NamedTupleOf),
    ("dataclasses", "InitVar", Python::InitVar),
    ("dataclasses", "KW_ONLY", Python::KwOnly),
    ("dataclasses", "asdict", Python::AsDict),
    ("copy", "copy", Python::Copy),
    ("copy", "deepcopy", Python::DeepCopy),
    ("dataclasses", "astuple", Python::AsTuple),
    ("dataclasses", "dataclass", Python::DataClass),
    ("dataclasses", "field", Python::Field),
    ("dataclasses", "fields", Python::Fields),
    ("dataclasses", "replace", Python::Replace),
    ("enum", "Enum", Python::Enum),
    ("enum", "Flag", Python::Flag),
    ("enum", "IntEnum", Python::IntEnum),
    ("enum", "IntFlag", Python::IntFlag),
    ("enum", "StrEnum", Python::StrEnum),
    ("enum", "auto", Python::Auto),
    ("enum", "unique", Python::Unique),
    ("functools", "cache", Python::Cache),
    ("functools", "cached_property", Python::Wrapper(Wrapper::Cached)),
    ("functools", "lru_cache", Python::LruCache),
    ("functools", "partial", Python::Partial),
    ("functools", "reduce", Python::Reduce),
    ("functools", "wraps", Python::Wraps),
    ("itertools", "chain", Python::Chain),
    ("itertools", "product", Python::Product),
    ("itertools", "repeat", Python::Repeat),
    ("itertools", "accumulate", Python::Accumulate),
    ("itertools", "combinations", Python::Combinations),
    ("itertools", "combinations_with_replacement", Python::Combined),
    ("itertools", "count", Python::Count),
    ("itertools", "cycle", Python::Cycle),
    ("itertools", "dropwhile", Python::DropWhile),
    ("itertools", "filterfalse", Python::FilterFalse),
    ("itertools", "islice", Python::ISlice),
    ("itertools", "pairwise", Python::Pairwise),
    ("itertools", "permutations", Python::Permutations),
    ("itertools", "starmap", Python::StarMap),
    ("itertools", "takewhile", Python::TakeWhile),
    ("itertools", "zip_longest", Python::Longest),
    ("operator", "add", Python::Binary(Operator::Add)),
    ("operator", "and_", Python::Binary(Operator::BitAnd)),
    ("operator", "floordiv", Python::Binary(Operator::FloorDiv)),
    ("operator", "lshift", Python::Binary(Operator::LShift)),
    ("operator", "mod", Python::Binary(Operator::Mod)),
    ("operator", "mul", Python::Binary(Operator::Mult)),
    ("operator", "or_", Python::Binary(Operator::BitOr)),
    ("operator", "pow", Python::Binary(Operator::Pow)),
    ("operator", "rshift", Python::Binary(Operator::RShift)),
    ("operator", "sub", Python::Binary(Operator::Sub)),
    ("operator", "truediv", Python::Binary(Operator::Div)),
    ("operator", "xor", Python::Binary(Operator::BitXor)),
    ("operator", "eq", Python::Compare(CmpOp::Eq)),
    ("operator", "ge", Python::Compare(CmpOp::GtE)),
    ("operator", "gt", Python::Compare(CmpOp::Gt)),
    ("operator", "is_", Python::Compare(CmpOp::Is)),
    ("operator", "is_not", Python::Compare(CmpOp::IsNot)),
    ("operator", "le", Python::Compare(CmpOp::LtE)),
    ("operator", "lt", Python::Compare(CmpOp::Lt)),
    ("operator", "ne", Python::Compare(CmpOp::NotEq)),
    ("operator", "inv", Python::Unary(UnaryOp::Invert)),
    ("operator", "invert", Python::Unary(UnaryOp::Invert)),
    ("operator", "neg", Python::Unary(UnaryOp::USub)),
    ("operator", "not_", Python::Unary(UnaryOp::Not)),
    ("operator", "pos", Python::Unary(UnaryOp::UAdd)),
    ("operator", "attrgetter", Python::AttrGetter),
    ("operator", "contains", Python::Contains),
    ("operator", "getitem", Python::GetItem),
    ("operator", "itemgetter", Python::ItemGetter),
    ("operator", "truth", Python::Truth),
    ("types", "SimpleNamespace", Python::Namespace),
    ("typing", "cast", Python::Cast),
    ("typing", "final", Python::Same),
    ("typing", "override", Python::Same),
    ("typing", "runtime_checkable", Python::Same),
    ("typing", "ClassVar", Python::ClassVar),
    ("typing", "Generic", Python::Abc),
    ("typing", "NewType", Python::NewType),
    ("typing", "NamedTuple", Python::NamedTuple),
    ("typing", "Protocol", Python::Abc),
];

/// Modules of which something is known.
const MODULES: &[&str] = &[
    "abc",
    "collections",
    "copy",
    "dataclasses",
    "enum",
    "functools",
    "itertools",
    "math",
    "operator",
    "types",
    "typing",
];

/// Functions and classes of Python that are not read.
const UNREAD: &[&str] = &[
    "Ellipsis",
    "__import__",
    "aiter",
    "anext",
    "ascii",
    "breakpoint",
    "bytearray",
    "bytes",
    "compile",
    "complex",
    "delattr",
    "dir",
    "eval",
    "exec",
    "exit",
    "format",
    "globals",
    "hash",
    "help",
    "id",
    "input",
    "issubclass",
    "locals",
    "memoryview",
    "open",
    "quit",
    "slice",
    "vars",
];

impl Python {
    /// Whether Python has a function or class of that name which is not read.
    pub(crate) fn is_unread_word(name: &str) -> bool {
        UNREAD.contains(&name)
    }

    pub(crate) fn word(name: &str) -> Option<Self> {
        WORDS.iter().find(|(word, _)| *word == name).map(|&(_, python)| python)
    }

    pub(crate) fn library(module: &str, name: &str) -> Option<Self> {
        LIBRARY.iter().find(|(of, known, _)| *of == module && *known == name).map(|&(.., python)| python)
    }

    pub(crate) fn module(name: &str) -> Option<&'static str> {
        MODULES.iter().find(|known| **known == name).copied()
    }

    /// A function that stands under a class or function.
    pub(super) fn member(self, name: &str) -> Option<Self> {
        match (self, name) {
            (Self::Chain, "from_iterable") => Some(Self::Flat),
            (Self::Dict, "fromkeys") => Some(Self::FromKeys),
            _ => None,
        }
    }

    /// Whether it keeps what it is given and does not look at each.
    pub(super) fn keeps(self) -> bool {
        matches!(
            self,
            Self::Copy
                | Self::DeepCopy
                | Self::DefaultDict
                | Self::Dict
                | Self::Field
                | Self::Filter
                | Self::FromKeys
                | Self::GetAttr
                | Self::Map
                | Self::Namespace
                | Self::Next
                | Self::OrderedDict
                | Self::Partial
                | Self::Print
                | Self::Reduce
                | Self::Repeat
                | Self::Same
                | Self::Cast
                | Self::NewType
                | Self::Replace
                | Self::TupleReplace
                | Self::SetAttr
                | Self::SetFrozen
        )
    }

    pub(crate) fn name(self) -> &'static str {
        if self == Self::SetFrozen {
            return "object.__setattr__";
        }
        let word = WORDS.iter().find(|(_, python)| *python == self).map(|(name, _)| *name);
        word.or_else(|| LIBRARY.iter().find(|(.., python)| *python == self).map(|(_, name, _)| *name))
            .unwrap_or("python")
    }
}
