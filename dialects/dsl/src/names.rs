//! Names that authoring files import.

use tf_core::op::{AttrEnum, EnumDecl, OpRegistry, RegistryError};
use tf_types::Storage;
use tf_types::kinds::{BinaryKind, ReduceKind, UnaryKind};

use crate::print::{IMPORTS, python};
use crate::statics::Python;
use crate::value::Value;

/// What an imported name stands for when it is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    /// `tilefoundry` or a package below it: its attributes are the exported names.
    Package,
    /// `tf`: HIR ops.
    Tf,
    /// `T`: TIR ops.
    Tir,
    Tensor,
    ConstTensor,
    TensorType,
    Launch,
    /// `Expr`: an operand of an intrinsic.
    Expr,
    Func,
    Module,
    PrimFunc,
    Intrinsic,
    Mesh,
    Topology,
    Layout,
    ComposedLayout,
    ShardLayout,
    Split,
    Broadcast,
    Partial,
    DimVar,
    DimVarRangePat,
    CeilDiv,
    CudaTarget,
    CpuTarget,
    AmxTarget,
    /// `Dynamic`: ownership along a mesh axis that is decided at run time.
    Dynamic,
    /// `ReduceKind`, `UnaryKind`, `BinaryKind`: members are written in upper case.
    Kind(&'static EnumDecl),
    /// `DType`: members are the dtypes.
    DTypeEnum,
    /// `StorageKind`: members are the storages in upper case.
    StorageEnum,
    Min,
    Max,
    Len,
    Sum,
    Zip,
    Enumerate,
    Abs,
    Round,
    IntType,
    FloatType,
    BoolType,
    StrType,
    List,
    /// A module of Python's standard library.
    Library(&'static str),
    /// What Python has for constants.
    Python(Python),
    Range,
    Tile,
    Where,
    /// `tuple` and `Tuple`, as in return annotations.
    TupleType,
}

impl Builtin {
    /// The spelling that messages use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Library(module) => return module,
            Self::Python(python) => return python.name(),
            _ => {}
        }
        let known = exports().chain(WORDS).find(|(_, builtin)| *builtin == self);
        known.map_or("tilefoundry", |(name, _)| name)
    }
}

/// Exported names, by the module that authoring files take them from; they are found in any of the package.
const EXPORTED: &[(&str, &[(&str, Builtin)])] = &[
    (
        "tilefoundry.dsl",
        &[
            ("tf", Builtin::Tf),
            ("T", Builtin::Tir),
            ("Tensor", Builtin::Tensor),
            ("ConstTensor", Builtin::ConstTensor),
            ("Mesh", Builtin::Mesh),
            ("Topology", Builtin::Topology),
            ("S", Builtin::Split),
            ("Split", Builtin::Split),
            ("B", Builtin::Broadcast),
            ("Broadcast", Builtin::Broadcast),
            ("P", Builtin::Partial),
            ("Partial", Builtin::Partial),
            ("DimVar", Builtin::DimVar),
            ("DimVarRangePat", Builtin::DimVarRangePat),
            ("ceildiv", Builtin::CeilDiv),
            ("Dynamic", Builtin::Dynamic),
            ("ReduceKind", Builtin::Kind(ReduceKind::DECL)),
            ("UnaryKind", Builtin::Kind(UnaryKind::DECL)),
            ("BinaryKind", Builtin::Kind(BinaryKind::DECL)),
            ("dsl", Builtin::Package),
            ("ir", Builtin::Package),
            ("types", Builtin::Package),
            ("shard", Builtin::Package),
            ("dim", Builtin::Package),
            ("core", Builtin::Package),
            ("pattern", Builtin::Package),
            ("target", Builtin::Package),
            ("storage", Builtin::Package),
        ],
    ),
    (
        "tilefoundry",
        &[
            ("TensorType", Builtin::TensorType),
            ("Expr", Builtin::Expr),
            ("func", Builtin::Func),
            ("module", Builtin::Module),
            ("prim_func", Builtin::PrimFunc),
            ("intrinsic", Builtin::Intrinsic),
            ("DType", Builtin::DTypeEnum),
        ],
    ),
    (
        "tilefoundry.ir.types.shard",
        &[
            ("Layout", Builtin::Layout),
            ("ComposedLayout", Builtin::ComposedLayout),
            ("ShardLayout", Builtin::ShardLayout),
        ],
    ),
    (
        "tilefoundry.target",
        &[("CudaTarget", Builtin::CudaTarget), ("CpuTarget", Builtin::CpuTarget), ("AmxTarget", Builtin::AmxTarget)],
    ),
    ("tilefoundry.ir.types.storage", &[("StorageKind", Builtin::StorageEnum)]),
];

fn exports() -> impl Iterator<Item = &'static (&'static str, Builtin)> {
    EXPORTED.iter().flat_map(|(_, names)| names.iter())
}

/// Names of the package that say nothing in a file that is read: why each of them is not used there.
const OF_THE_HOST: &[(&str, &[&str])] = &[
    (
        "it compiles or runs a module, which files that are read do not: run `tf-opt` on this file",
        &["CompilerOptions", "build", "compile", "jit", "lower", "view"],
    ),
    (
        "it is a class of the IR for programs that build or inspect it",
        &[
            "Call",
            "Constant",
            "IntTuple",
            "LayoutBase",
            "Op",
            "Pattern",
            "ShardAttr",
            "Stmt",
            "TupleGetItem",
            "TupleType",
            "Type",
            "TypeInferContext",
            "Var",
        ],
    ),
    ("it is the error that checks of an `@intrinsic` raise", &["VerifyError"]),
];

/// Why a name that the package has is not used in a file.
pub(crate) fn of_the_host(name: &str) -> Option<&'static str> {
    OF_THE_HOST.iter().find(|(_, names)| names.contains(&name)).map(|(why, _)| *why)
}

/// Words that need no import.
const WORDS: &[(&str, Builtin)] = &[
    ("tile", Builtin::Tile),
    ("range", Builtin::Range),
    ("where", Builtin::Where),
    ("launch", Builtin::Launch),
    ("min", Builtin::Min),
    ("max", Builtin::Max),
    ("len", Builtin::Len),
    ("sum", Builtin::Sum),
    ("zip", Builtin::Zip),
    ("enumerate", Builtin::Enumerate),
    ("abs", Builtin::Abs),
    ("round", Builtin::Round),
    ("int", Builtin::IntType),
    ("float", Builtin::FloatType),
    ("bool", Builtin::BoolType),
    ("str", Builtin::StrType),
    ("list", Builtin::List),
    ("tuple", Builtin::TupleType),
];

/// The value of an exported name, whichever of the packages it is imported from.
pub(crate) fn exported<'c>(name: &str) -> Option<Value<'c>> {
    if let Ok(storage) = Storage::from_name(name) {
        return Some(Value::Storage(storage));
    }
    exports().find(|(known, _)| *known == name).map(|&(_, builtin)| Value::Builtin(builtin))
}

/// The module that authoring files take an exported name from.
pub(crate) fn home(name: &str) -> &'static str {
    if Storage::from_name(name).is_ok() {
        return "tilefoundry.dsl.storage";
    }
    let has = |names: &[(&str, Builtin)]| names.iter().any(|(known, _)| *known == name);
    EXPORTED.iter().find(|(_, names)| has(names)).map_or("tilefoundry.dsl", |(home, _)| home)
}

/// The value of a name that nothing binds.
pub(crate) fn word<'c>(name: &str) -> Option<Value<'c>> {
    WORDS.iter().find(|(known, _)| *known == name).map(|&(_, builtin)| Value::Builtin(builtin))
}

/// Dialects of this package: what else is registered comes from plugins, and has a namespace of its own.
const DIALECTS: [&str; 3] = ["T", "dim", "tf"];

/// The dialects of plugins.
pub(crate) fn plugin_dialects(ops: &OpRegistry) -> impl Iterator<Item = &'static str> {
    ops.dialects().into_iter().filter(|&dialect| is_plugin(dialect))
}

/// Dialects of plugins that have the name of something else of the language: an import of it would mean that.
#[must_use]
pub fn hidden_dialects(ops: &OpRegistry) -> Vec<RegistryError> {
    let imported = |name: &str| IMPORTS.iter().any(|(_, names)| names.contains(&name));
    let is_hidden = |name: &&str| exported(name).is_some() || word(name).is_some() || imported(name);
    let message = |name| format!("no dialect can be called `{name}`, which is a word of the language");
    plugin_dialects(ops).filter(is_hidden).map(|name| RegistryError(message(name))).collect()
}

/// Whether a dialect is that of a plugin.
pub(crate) fn is_plugin(dialect: &str) -> bool {
    !DIALECTS.contains(&dialect) && python::is_name(dialect)
}

/// Whether a builtin is one name of its own.
pub(crate) fn is_spelled(builtin: Builtin) -> bool {
    builtin != Builtin::Package && exports().chain(WORDS).any(|(_, known)| *known == builtin)
}

/// The value of a name that nothing binds, outside the bodies of functions of the language.
pub(crate) fn file_word<'c>(name: &str) -> Option<Value<'c>> {
    Python::word(name).map(|word| Value::Builtin(Builtin::Python(word)))
}

/// Exported names, for suggestions.
pub(crate) fn all() -> impl Iterator<Item = &'static str> {
    exports().map(|(name, _)| *name)
}
