//! The registry of ops, schemas and rules. Built once, frozen into the context, passed down.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::op::check;
use crate::op::decl::{AliasDecl, AttrDefault};
use crate::op::rules::{AccessFn, TypeFn, VerifyFn, access_handler, type_handler, verify_handler};
use crate::op::{AccessRule, Op, OpDecl, OpForm, OpName, TypeRule, VerifyRule};

/// Index of an op in its registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpId(u32);

/// A mistake in registration: of the driver or a plugin, not of the user's program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryError(pub String);

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for RegistryError {}

/// Handlers of one kind, keyed by op. A miss is the caller's decision.
#[derive(Clone, Debug)]
pub struct AnalysisRegistry<H> {
    name: &'static str,
    handlers: Vec<Option<H>>,
}

impl<H: Copy> AnalysisRegistry<H> {
    /// An empty table; `name` is used in messages.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, handlers: Vec::new() }
    }

    /// Adds a handler.
    ///
    /// # Errors
    /// The op has one already.
    pub fn register(&mut self, id: OpId, op: OpName, handler: H) -> Result<(), RegistryError> {
        let at = id.0 as usize;
        if self.handlers.len() <= at {
            self.handlers.resize(at + 1, None);
        }
        if self.handlers[at].is_some() {
            return Err(RegistryError(format!("`{op}` has two {} rules", self.name)));
        }
        self.handlers[at] = Some(handler);
        Ok(())
    }

    /// The handler of an op.
    #[must_use]
    pub fn get(&self, id: OpId) -> Option<H> {
        self.handlers.get(id.0 as usize).copied().flatten()
    }
}

/// A surface name: an op, or an alias that fixes some of its attributes.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// Surface name.
    pub name: &'static str,
    /// The op it builds.
    pub op: OpId,
    /// Its declaration.
    pub decl: &'static OpDecl,
    /// Attributes fixed by the alias; empty for the op itself.
    pub fixed: &'static [(&'static str, AttrDefault)],
}

#[derive(Default)]
struct Names {
    by_key: FxHashMap<u64, OpId>,
    /// By dialect, then by surface name.
    schemas: FxHashMap<&'static str, FxHashMap<&'static str, Vec<Schema>>>,
}

impl Names {
    fn bucket(&mut self, decl: &OpDecl, name: &'static str) -> &mut Vec<Schema> {
        self.schemas.entry(decl.name.dialect).or_default().entry(name).or_default()
    }
}

/// Collects ops, aliases and rules; [`OpRegistryBuilder::freeze`] checks and ends it.
pub struct OpRegistryBuilder {
    decls: Vec<&'static OpDecl>,
    names: Names,
    types: AnalysisRegistry<TypeFn>,
    verify: AnalysisRegistry<VerifyFn>,
    access: AnalysisRegistry<AccessFn>,
    errors: Vec<RegistryError>,
}

impl Default for OpRegistryBuilder {
    fn default() -> Self {
        Self {
            decls: Vec::new(),
            names: Names::default(),
            types: AnalysisRegistry::new("type"),
            verify: AnalysisRegistry::new("verification"),
            access: AnalysisRegistry::new("access"),
            errors: Vec::new(),
        }
    }
}

impl OpRegistryBuilder {
    /// Declares an op; its rules follow. Mistakes are reported by [`OpRegistryBuilder::freeze`].
    pub fn declare<O: Op>(&mut self) -> OpId {
        let decl = O::DECL;
        self.errors.extend(check::declaration(decl).into_iter().map(RegistryError));
        let id = OpId(self.decls.len() as u32);
        self.decls.push(decl);
        if let Some(old) = self.names.by_key.insert(decl.name.key, id) {
            let old = self.decls[old.0 as usize].name;
            self.errors.push(RegistryError(format!("`{}` is registered twice (before as `{old}`)", decl.name)));
        }
        let schema = Schema { name: decl.name.name, op: id, decl, fixed: &[] };
        self.names.bucket(decl, decl.name.name).push(schema);
        id
    }

    /// Adds surface names of an op; they win over ops of the same name.
    pub fn alias(&mut self, id: OpId, aliases: &'static [AliasDecl]) {
        let decl = self.decls[id.0 as usize];
        for alias in aliases {
            self.errors.extend(check::alias(decl, alias).into_iter().map(RegistryError));
            let schema = Schema { name: alias.name, op: id, decl, fixed: alias.fixed };
            self.names.bucket(decl, alias.name).insert(0, schema);
        }
    }

    /// Attaches the type rule of `O`.
    pub fn types<O: TypeRule>(&mut self, id: OpId) {
        let result = self.types.register(id, O::DECL.name, type_handler::<O>);
        self.errors.extend(result.err());
    }

    /// Attaches the verification rule of `O`.
    pub fn verifies<O: VerifyRule>(&mut self, id: OpId) {
        let result = self.verify.register(id, O::DECL.name, verify_handler::<O>);
        self.errors.extend(result.err());
    }

    /// Attaches the access relation of `O`.
    pub fn access<O: AccessRule>(&mut self, id: OpId) {
        let result = self.access.register(id, O::DECL.name, access_handler::<O>);
        self.errors.extend(result.err());
    }

    /// Notes a mistake of a table that another crate owns.
    pub fn error(&mut self, error: RegistryError) {
        self.errors.push(error);
    }

    /// The registry.
    ///
    /// # Errors
    /// Every mistake made: a declaration whose parts do not fit together, an op or rule registered twice, a value op without type rule, an effect op without
    /// verification rule.
    pub fn freeze(mut self) -> Result<OpRegistry, Vec<RegistryError>> {
        for (at, decl) in self.decls.iter().enumerate() {
            let id = OpId(at as u32);
            let missing = match decl.form {
                OpForm::Value if self.types.get(id).is_none() => "type",
                OpForm::Effect if self.verify.get(id).is_none() => "verification",
                _ => continue,
            };
            self.errors.push(RegistryError(format!("`{}` has no {missing} rule", decl.name)));
        }
        self.errors.extend(check::enums(&self.decls).into_iter().map(RegistryError));
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let Self { decls, names, types, verify, access, .. } = self;
        Ok(OpRegistry { decls, names, types, verify, access })
    }
}

/// All ops of a driver with the rules that this crate defines. Other crates keep tables of their own.
pub struct OpRegistry {
    decls: Vec<&'static OpDecl>,
    names: Names,
    /// Type rules of value ops.
    pub types: AnalysisRegistry<TypeFn>,
    /// Verification rules of effect ops.
    pub verify: AnalysisRegistry<VerifyFn>,
    /// Access relations.
    pub access: AnalysisRegistry<AccessFn>,
}

impl OpRegistry {
    /// The id of an op.
    #[must_use]
    pub fn id_of(&self, name: OpName) -> Option<OpId> {
        self.names.by_key.get(&name.key).copied()
    }

    /// The declaration of an op.
    #[must_use]
    pub fn decl(&self, id: OpId) -> &'static OpDecl {
        self.decls[id.0 as usize]
    }

    /// All ops in registration order.
    pub fn iter(&self) -> impl Iterator<Item = (OpId, &'static OpDecl)> + '_ {
        self.decls.iter().enumerate().map(|(i, d)| (OpId(i as u32), *d))
    }

    /// The schemas of a surface name, aliases first, then in registration order.
    #[must_use]
    pub fn schemas(&self, dialect: &str, name: &str) -> &[Schema] {
        self.names.schemas.get(dialect).and_then(|names| names.get(name)).map_or(&[], Vec::as_slice)
    }

    /// The dialects that have ops, sorted.
    #[must_use]
    pub fn dialects(&self) -> Vec<&'static str> {
        let mut dialects: Vec<_> = self.names.schemas.keys().copied().collect();
        dialects.sort_unstable();
        dialects
    }

    /// All surface names of a dialect, sorted.
    #[must_use]
    pub fn names(&self, dialect: &str) -> Vec<&'static str> {
        let mut names: Vec<_> = self.names.schemas.get(dialect).into_iter().flat_map(|n| n.keys().copied()).collect();
        names.sort_unstable();
        names
    }
}
