//! Import statements: bindings of known names, nothing is loaded.

use ruff_python_ast as ast;
use tf_core::diag::did_you_mean;
use tf_types::{Storage, Symbol};

use crate::names::{self, Builtin};
use crate::parser::{Binding, Parser};
use crate::prim::Platform;
use crate::statics::Python;
use crate::statics::Unread;
use crate::value::Value;

const ROOT: &str = "tilefoundry";

/// What the package holds at its first level; deeper ones are not told apart.
const PARTS: [&str; 4] = ["dsl", "ir", "module", "target"];

const DSL: &str = "tilefoundry.dsl";

/// What `tilefoundry.dsl` holds of its own; others are dialects.
const NAMESPACES: [&str; 4] = ["T", "T.cuda", "storage", "tf"];

/// The part of the package that `module` is under, where there is none such.
fn unknown_part(module: &str) -> Option<&str> {
    let part = module.strip_prefix(ROOT).and_then(|rest| rest.strip_prefix('.')?.split('.').next());
    part.filter(|part| !PARTS.contains(part))
}

pub(super) fn is_ours(module: &str) -> bool {
    module == ROOT || module.strip_prefix(ROOT).is_some_and(|rest| rest.starts_with('.'))
}

impl<'c> Parser<'_, 'c> {
    /// `import a.b as c`, `from a.b import c as d`.
    pub(crate) fn import(&mut self, stmt: &ast::Stmt) {
        if let ast::Stmt::ImportFrom(import) = stmt {
            let module = import.module.as_ref().map_or("", |name| name.as_str());
            for alias in import.names.iter().filter(|alias| alias.name.as_str() == "*") {
                match module {
                    // Ops are found in the registry.
                    "tilefoundry.dsl.tf" | "tilefoundry.dsl.T" if import.level == 0 => {}
                    _ if import.level == 0 && self.dialect_of(module).is_some() => self.import_dialect(module),
                    _ if import.level == 0 && is_ours(module) && unknown_part(module).is_none() => {
                        self.import_all(module);
                    }
                    // Other packages export too much to guess at.
                    _ => {
                        let why = format!("`{}` may bind it anew, and is not read", self.text(import));
                        self.doubts += 1;
                        self.lose_names(&why, self.span(alias));
                    }
                }
            }
        }
        for (name, binding) in self.import_bindings(stmt) {
            // There may be no such module.
            self.doubts += usize::from(binding.as_unread().is_some());
            self.bind(name, binding);
        }
    }

    /// The names that an import statement binds.
    pub(super) fn import_bindings(&self, stmt: &ast::Stmt) -> Vec<(Symbol<'c>, Binding<'c>)> {
        match stmt {
            ast::Stmt::Import(import) => import.names.iter().map(|alias| self.module_binding(alias)).collect(),
            ast::Stmt::ImportFrom(import) => {
                let module = import.module.as_ref().map_or("", |name| name.as_str());
                let names = import.names.iter().filter(|alias| alias.name.as_str() != "*" && module != "__future__");
                let binding = |alias: &ast::Alias| {
                    let name = alias.name.as_str();
                    let bound = alias.asname.as_ref().map_or(name, |name| name.as_str());
                    (self.cx.symbol(bound), self.imported(module, name, alias, import.level > 0))
                };
                names.map(binding).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Binds the names of the language; packages are imported by their own names.
    fn import_all(&mut self, module: &str) {
        let names = names::all().chain(Storage::ALL.map(Storage::name));
        for (name, value) in names.filter_map(|name| Some((name, names::exported(name)?))) {
            if !matches!(value, Value::Builtin(Builtin::Package)) {
                self.bind(self.cx.symbol(name), Binding::Value(value));
            }
        }
        let dialects: Vec<_> = names::plugin_dialects(self.cx.ops()).filter(|_| module == DSL).collect();
        for dialect in dialects {
            self.bind(self.cx.symbol(dialect), Binding::Value(Value::Dialect(dialect)));
        }
    }

    /// Binds the ops of a dialect of a plugin.
    fn import_dialect(&mut self, module: &str) {
        let Some(dialect) = self.dialect_of(module) else { return };
        for name in self.cx.ops().names(dialect) {
            let name = self.cx.symbol(name);
            self.bind(name, Binding::Value(Value::Op(dialect, name)));
        }
    }

    /// The dialect of a plugin that a module is.
    fn dialect_of(&self, module: &str) -> Option<&'static str> {
        self.plugin_dialect(module.strip_prefix(DSL)?.strip_prefix('.')?)
    }

    pub(super) fn plugin_dialect(&self, name: &str) -> Option<&'static str> {
        names::plugin_dialects(self.cx.ops()).find(|&dialect| dialect == name)
    }

    fn module_binding(&self, alias: &ast::Alias) -> (Symbol<'c>, Binding<'c>) {
        let module = alias.name.as_str();
        let root = module.split('.').next().unwrap_or(module);
        let bound = alias.asname.as_ref().map_or(root, |name| name.as_str());
        let binding = if let Some(library) = Python::module(module) {
            Binding::Value(Value::Builtin(Builtin::Library(library)))
        } else if !is_ours(module) {
            self.outside(module, alias)
        } else {
            let last = module.rsplit('.').next().unwrap_or(module);
            let dialect = || self.dialect_of(module).map(Value::Dialect);
            let value = if alias.asname.is_some() { names::exported(last).or_else(dialect) } else { None };
            Binding::Value(value.unwrap_or(Value::Builtin(Builtin::Package)))
        };
        (self.cx.symbol(bound), binding)
    }

    fn imported(&self, module: &str, name: &str, alias: &ast::Alias, relative: bool) -> Binding<'c> {
        if relative || !is_ours(module) {
            let known = if relative { None } else { self.library(module, name) };
            return known.map_or_else(|| self.outside(module, alias), Binding::Value);
        }
        let word = matches!(name, "tile" | "where" | "launch").then(|| names::word(name)).flatten();
        let known = names::exported(name).or(word);
        if let Some(part) = unknown_part(module) {
            let is_slip = || did_you_mean(part, PARTS).is_some() && did_you_mean(name, names::all()).is_some();
            if known.is_none() && !is_slip() {
                // A part that is no language, such as its runtime: used beside the programs.
                return self.outside(module, alias);
            }
            let known = PARTS.map(|part| format!("`{ROOT}.{part}`")).join(", ");
            let why = format!("there is no module `{module}`; there are {known}");
            return Binding::unread(why, self.span(alias));
        }
        if let Some(dialect) = self.dialect_of(module) {
            return Binding::Value(Value::Op(dialect, self.cx.symbol(name)));
        }
        let dialect = match module {
            "tilefoundry.dsl.tf" => Some("tf"),
            "tilefoundry.dsl.T" if name == "cuda" => return Binding::Value(Value::Platform(Platform::Cuda)),
            "tilefoundry.dsl.T" => Some("T"),
            _ => None,
        };
        if let Some(dialect) = dialect {
            return Binding::Value(Value::Op(dialect, self.cx.symbol(name)));
        }
        if let Some(value) = known {
            return Binding::Value(value);
        }
        if module == DSL
            && let Some(dialect) = self.plugin_dialect(name)
        {
            return Binding::Value(Value::Dialect(dialect));
        }
        let at = self.span(alias);
        let near = if names::of_the_host(name).is_none() { did_you_mean(name, names::all()) } else { None };
        let below = module.strip_prefix(DSL).and_then(|rest| rest.strip_prefix('.'));
        let dialect = below.filter(|part| !NAMESPACES.contains(part)).or((module == DSL).then_some(name));
        let why = match (names::of_the_host(name), near, dialect) {
            (Some(why), ..) => why.to_owned(),
            (None, Some(near), _) => {
                let why = format!("`{module}` has no name `{name}` that is supported; did you mean `{near}`?");
                return Binding::unread(why, at);
            }
            (None, None, Some(dialect)) => format!("no loaded plugin has a dialect `{dialect}`"),
            (None, None, None) => format!("`{module}` has no name `{name}` that is supported"),
        };
        // Of the host's side of the package, as other parts of it.
        Binding::Value(Unread::of_host(&why, name, at))
    }

    /// A name of Python's standard library.
    pub(super) fn library(&self, module: &str, name: &str) -> Option<Value<'c>> {
        match (module, name) {
            ("math", name) => {
                super::math::NAMES.split(' ').any(|known| known == name).then(|| self.math_constant(name))
            }
            ("typing", "Tuple") => Some(Value::Builtin(Builtin::TupleType)),
            ("typing", "TYPE_CHECKING") => Some(Value::Bool(false)),
            _ => Python::library(module, name).map(|python| Value::Builtin(Builtin::Python(python))),
        }
    }

    fn outside(&self, module: &str, alias: &ast::Alias) -> Binding<'c> {
        // Under another name it changes what it is given all the same.
        Binding::Value(Unread::of_library(module, alias.name.as_str(), self.span(alias)))
    }
}
