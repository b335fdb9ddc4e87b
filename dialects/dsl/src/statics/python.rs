//! Names of Python and of its standard library that files use on constants.

/// A function or class of Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Python {
    All,
    Any,
    Dict,
    DivMod,
    Filter,
    GetAttr,
    HasAttr,
    IsInstance,
    Map,
    Next,
    Object,
    Pow,
    Print,
    Repr,
    Reversed,
    Set,
    Sorted,
    /// `dataclasses`.
    DataClass,
    AsDict,
    Field,
    Replace,
    /// `enum`.
    Enum,
    IntEnum,
    Auto,
    /// `functools`.
    Cache,
    /// `property`, `staticmethod`, `classmethod`.
    MethodKind,
    Partial,
    Reduce,
    /// `itertools`.
    Chain,
    Product,
    Repeat,
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
    ("classmethod", Python::MethodKind),
    ("dict", Python::Dict),
    ("divmod", Python::DivMod),
    ("filter", Python::Filter),
    ("frozenset", Python::Set),
    ("getattr", Python::GetAttr),
    ("hasattr", Python::HasAttr),
    ("isinstance", Python::IsInstance),
    ("map", Python::Map),
    ("next", Python::Next),
    ("object", Python::Object),
    ("pow", Python::Pow),
    ("print", Python::Print),
    ("property", Python::MethodKind),
    ("repr", Python::Repr),
    ("reversed", Python::Reversed),
    ("set", Python::Set),
    ("sorted", Python::Sorted),
    ("staticmethod", Python::MethodKind),
];

/// By module and name.
const LIBRARY: &[(&str, &str, Python)] = &[
    ("abc", "ABC", Python::Abc),
    ("collections", "OrderedDict", Python::Dict),
    ("collections", "namedtuple", Python::NamedTupleOf),
    ("dataclasses", "asdict", Python::AsDict),
    ("dataclasses", "dataclass", Python::DataClass),
    ("dataclasses", "field", Python::Field),
    ("dataclasses", "replace", Python::Replace),
    ("enum", "Enum", Python::Enum),
    ("enum", "IntEnum", Python::IntEnum),
    ("enum", "StrEnum", Python::IntEnum),
    ("enum", "auto", Python::Auto),
    ("functools", "cache", Python::Cache),
    ("functools", "lru_cache", Python::Cache),
    ("functools", "partial", Python::Partial),
    ("functools", "reduce", Python::Reduce),
    ("itertools", "chain", Python::Chain),
    ("itertools", "product", Python::Product),
    ("itertools", "repeat", Python::Repeat),
    ("types", "SimpleNamespace", Python::Namespace),
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
        let word = WORDS.iter().find(|(_, python)| *python == self).map(|(name, _)| *name);
        word.or_else(|| LIBRARY.iter().find(|(.., python)| *python == self).map(|(_, name, _)| *name))
            .unwrap_or("python")
    }
}
