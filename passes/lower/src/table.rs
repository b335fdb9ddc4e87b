//! The lowering rules of HIR ops, by op.

use tf_core::op::{AnalysisRegistry, Op, OpId, OpRegistry, OpView, RegistryError};
use tf_core::{Expr, Result};

use crate::lowerer::Lowerer;

/// Lowers one call: emits statements and returns the buffer (a TIR variable) that holds the value.
pub type LowerFn = for<'a, 'c> fn(&mut Lowerer<'a, 'c>, Expr<'c>, OpView<'c>) -> Result<Expr<'c>>;

/// Lowering rules by op. An op without one is refused by name.
#[derive(Clone)]
pub struct LowerTable {
    rules: AnalysisRegistry<LowerFn>,
}

impl Default for LowerTable {
    fn default() -> Self {
        Self { rules: AnalysisRegistry::new("lowering") }
    }
}

impl LowerTable {
    /// The rules of this crate.
    ///
    /// # Errors
    /// The registry lacks an op that has a rule here.
    pub fn builtin(ops: &OpRegistry) -> Result<Self, RegistryError> {
        let mut table = Self::default();
        crate::ops::register(&mut table, ops)?;
        Ok(table)
    }

    /// Adds the rule of `O`.
    ///
    /// # Errors
    /// `O` is not registered, or has a rule already.
    pub fn register<O: Op>(&mut self, ops: &OpRegistry, rule: LowerFn) -> Result<(), RegistryError> {
        let name = O::DECL.name;
        let id = ops.id_of(name).ok_or_else(|| RegistryError(format!("`{name}` has a lowering but is no op")))?;
        self.rules.register(id, name, rule)
    }

    pub(crate) fn get(&self, id: OpId) -> Option<LowerFn> {
        self.rules.get(id)
    }
}
