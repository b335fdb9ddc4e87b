//! Names of the file: imports, dim variables, meshes, classes. None hides another.

use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::{Context, Diagnostic, Result};
use tf_types::{DimVar, Mesh, Symbol};

use super::intrinsics::Declared;
use super::python::is_name;
use super::survey::Survey;
use crate::names::plugin_dialects;

/// What a file may import, by module, in the order of its head.
pub(crate) const IMPORTS: &[(&str, &[&str])] = &[
    ("tilefoundry.module", &["module"]),
    ("tilefoundry", &["DType", "Expr", "TensorType", "VerifyError", "func", "intrinsic", "prim_func"]),
    ("tilefoundry.target", &["AmxTarget", "CpuTarget", "CudaTarget"]),
    ("tilefoundry.dsl", &["BinaryKind", "ConstTensor", "ReduceKind", "T", "Tensor", "UnaryKind", "tf"]),
    ("tilefoundry.dsl.storage", &["gmem", "host", "rmem", "smem", "tmem", "umat"]),
    (
        "tilefoundry.ir.types.shard",
        &["B", "ComposedLayout", "Dynamic", "Layout", "Mesh", "P", "S", "ShardLayout", "Topology"],
    ),
    ("tilefoundry.ir.core.pattern", &["DimVarRangePat"]),
    ("tilefoundry.ir.types.dim", &["DimVar", "ceildiv"]),
];

/// Words that are read without an import.
const WORDS: &[&str] = &["float", "launch", "max", "min", "range", "tile", "tuple", "where"];

/// The names of a file, and which imports it uses.
pub(super) struct FileNames<'c> {
    given: FxHashSet<Symbol<'c>>,
    /// Names of the file, with imports and words.
    taken: FxHashSet<String>,
    /// Ops that a star import brings.
    ops: FxHashSet<&'static str>,
    imports: FxHashMap<&'static str, String>,
    used: FxHashSet<&'static str>,
    vars: FxHashMap<DimVar<'c>, String>,
    meshes: FxHashMap<Mesh<'c>, String>,
    used_vars: FxHashSet<DimVar<'c>>,
    used_meshes: FxHashSet<Mesh<'c>>,
}

impl<'c> FileNames<'c> {
    pub(super) fn new(cx: &Context<'c>, survey: &Survey<'c>, declared: &[Declared<'c>]) -> Result<Self> {
        let words = WORDS.iter().map(|&word| word.to_owned());
        let used = declared.iter().flat_map(|intrinsic| intrinsic.names.iter().cloned());
        let mut names = Self {
            given: survey.given.clone(),
            taken: words.chain(used).collect(),
            ops: cx.ops().names("tf").into_iter().collect(),
            imports: FxHashMap::default(),
            used: FxHashSet::default(),
            vars: FxHashMap::default(),
            meshes: FxHashMap::default(),
            used_vars: FxHashSet::default(),
            used_meshes: FxHashSet::default(),
        };
        let all = IMPORTS.iter().flat_map(|(_, names)| names.iter().copied());
        let dialects = plugin_dialects(cx.ops()).map(|name| (name, true));
        for (name, is_dialect) in all.map(|name| (name, false)).chain(dialects) {
            // Intrinsics use names of the language, and Python's `math`, which is no dialect then.
            let is_taken = names.is_given(cx, name) || is_dialect && names.taken.contains(name);
            let spelling = if is_taken { names.numbered(cx, name) } else { name.to_owned() };
            names.taken.insert(spelling.clone());
            names.imports.insert(name, spelling);
        }
        let mut bounds: FxHashMap<Symbol<'c>, DimVar<'c>> = FxHashMap::default();
        for &var in &survey.vars {
            let first = *bounds.entry(var.name).or_insert(var);
            if first != var {
                let message = format!(
                    "the DSL has one range for a dim name, but `{}` has [{}, {}) and [{}, {})",
                    var.name, first.lo, first.hi, var.lo, var.hi
                );
                return Err(Diagnostic::error(message));
            }
            let name = names.file_name(cx, var.name.as_str(), "dim");
            names.vars.insert(var, name);
        }
        Ok(names)
    }

    pub(super) fn is_given(&self, cx: &Context<'c>, name: &str) -> bool {
        self.given.contains(&cx.symbol(name))
    }

    /// `base_2`, `base_3`, …: the first that is free.
    fn numbered(&mut self, cx: &Context<'c>, base: &str) -> String {
        let mut number = 2;
        loop {
            let name = format!("{base}_{number}");
            if self.is_free(cx, &name) {
                self.taken.insert(name.clone());
                return name;
            }
            number += 1;
        }
    }

    fn is_free(&self, cx: &Context<'c>, name: &str) -> bool {
        !self.taken.contains(name) && !self.ops.contains(name) && !self.is_given(cx, name)
    }

    /// A name of the file near to `wanted`, or to `otherwise` where that is no Python name.
    pub(super) fn file_name(&mut self, cx: &Context<'c>, wanted: &str, otherwise: &str) -> String {
        let base = if is_name(wanted) { wanted } else { otherwise };
        if self.is_free(cx, base) {
            self.taken.insert(base.to_owned());
            return base.to_owned();
        }
        self.numbered(cx, base)
    }

    /// Takes the name of the last class, whatever else has it.
    pub(super) fn take(&mut self, name: Symbol<'c>) -> String {
        self.taken.insert(name.to_string());
        name.to_string()
    }

    /// The name of a class of the file: that of its module, unless another class has it.
    pub(super) fn class_name(&mut self, cx: &Context<'c>, wanted: Symbol<'c>) -> String {
        let wanted = wanted.as_str();
        if is_name(wanted) && !self.taken.contains(wanted) {
            self.taken.insert(wanted.to_owned());
            return wanted.to_owned();
        }
        self.numbered(cx, if is_name(wanted) { wanted } else { "module_of" })
    }

    /// Names a whole mesh after its outermost level.
    pub(super) fn name_mesh(&mut self, cx: &Context<'c>, mesh: Mesh<'c>) {
        if !self.meshes.contains_key(&mesh) {
            let level = mesh.topology_names().next().map_or("mesh", Symbol::as_str);
            let name = self.file_name(cx, level, "mesh");
            self.meshes.insert(mesh, name);
        }
    }

    /// A named mesh, which the file then defines.
    pub(super) fn mesh(&mut self, mesh: Mesh<'c>) -> Option<String> {
        self.used_meshes.insert(mesh);
        self.meshes.get(&mesh).cloned()
    }

    /// A dim variable, which the file then defines.
    pub(super) fn var(&mut self, var: DimVar<'c>) -> &str {
        self.used_vars.insert(var);
        self.vars.get(&var).map_or("", String::as_str)
    }

    pub(super) fn uses_mesh(&self, mesh: Mesh<'c>) -> bool {
        self.used_meshes.contains(&mesh)
    }

    pub(super) fn uses_var(&self, var: DimVar<'c>) -> bool {
        self.used_vars.contains(&var)
    }

    /// Whether a local value of that name hides nothing of the file.
    pub(super) fn allows(&self, name: &str) -> bool {
        !self.taken.contains(name)
    }

    /// An imported name as the file spells it.
    pub(super) fn import(&mut self, name: &'static str) -> &str {
        self.used.insert(name);
        self.imports.get(name).map_or(name, String::as_str)
    }

    /// A word that needs no import; a value of that name would hide it.
    pub(super) fn word(&self, cx: &Context<'c>, name: &'static str) -> Result<&'static str> {
        if self.is_given(cx, name) {
            let message = format!("`{name}` is a word of the DSL, which a value or function of that name hides");
            return Err(Diagnostic::error(message).with_help("give it another name"));
        }
        Ok(name)
    }

    /// An op as it is called in a `@func`: by its name, unless something else has it.
    pub(super) fn op(&mut self, cx: &Context<'c>, name: &str) -> String {
        if self.is_given(cx, name) { format!("{}.{name}", self.import("tf")) } else { name.to_owned() }
    }

    /// `name`, or `name as other`, where the file uses it.
    pub(super) fn imported(&self, name: &'static str) -> Option<String> {
        let spelling = self.imports.get(name).filter(|_| self.used.contains(name))?;
        Some(if spelling == name { name.to_owned() } else { format!("{name} as {spelling}") })
    }
}
