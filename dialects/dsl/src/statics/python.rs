//! Names of Python and of its standard library that files use on constants.

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
    IntEnum,
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
}

/// What needs no import.
const WORDS: &[(&str, Python)] = &[
    ("all", Python::All),
    ("any", Python::Any),
    ("classmethod", Python::Wrapper(Wrapper::Class)),
    ("dict", Python::Dict),
    ("divmod", Python::DivMod),
    ("filter", Python::Filter),
    ("frozenset", Python::FrozenSet),
    ("getattr", Python::GetAttr),
    ("hasattr", Python::HasAttr),
    ("isinstance", Python::IsInstance),
    ("iter", Python::Iter),
    ("map", Python::Map),
    ("next", Python::Next),
    ("NotImplemented", Python::NotImplemented),
    ("object", Python::Object),
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
    ("abc", "abstractmethod", Python::Wrapper(Wrapper::Abstract)),
    ("collections", "OrderedDict", Python::OrderedDict),
    ("collections", "namedtuple", Python::NamedTupleOf),
    ("dataclasses", "InitVar", Python::InitVar),
    ("dataclasses", "KW_ONLY", Python::KwOnly),
    ("dataclasses", "asdict", Python::AsDict),
    ("dataclasses", "dataclass", Python::DataClass),
    ("dataclasses", "field", Python::Field),
    ("dataclasses", "replace", Python::Replace),
    ("enum", "Enum", Python::Enum),
    ("enum", "IntEnum", Python::IntEnum),
    ("enum", "StrEnum", Python::StrEnum),
    ("enum", "auto", Python::Auto),
    ("functools", "cache", Python::Cache),
    ("functools", "cached_property", Python::Wrapper(Wrapper::Cached)),
    ("functools", "lru_cache", Python::LruCache),
    ("functools", "partial", Python::Partial),
    ("functools", "reduce", Python::Reduce),
    ("itertools", "chain", Python::Chain),
    ("itertools", "product", Python::Product),
    ("itertools", "repeat", Python::Repeat),
    ("types", "SimpleNamespace", Python::Namespace),
    ("typing", "ClassVar", Python::ClassVar),
    ("typing", "NamedTuple", Python::NamedTuple),
];

/// Modules of which something is known.
const MODULES: &[&str] =
    &["abc", "collections", "dataclasses", "enum", "functools", "itertools", "math", "types", "typing"];

impl Python {
    pub(crate) fn word(name: &str) -> Option<Self> {
        WORDS.iter().find(|(word, _)| *word == name).map(|&(_, python)| python)
    }

    pub(crate) fn library(module: &str, name: &str) -> Option<Self> {
        LIBRARY.iter().find(|(of, known, _)| *of == module && *known == name).map(|&(.., python)| python)
    }

    pub(crate) fn module(name: &str) -> Option<&'static str> {
        MODULES.iter().find(|known| **known == name).copied()
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
