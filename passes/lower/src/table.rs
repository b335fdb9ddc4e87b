//! The lowering rules of HIR ops, by op.

use tf_core::guard::guard;
use tf_core::op::{AnalysisRegistry, Op, OpId, OpName, OpRegistry, OpView, RegistryError};
use tf_core::{Expr, Result};

use crate::lowerer::Lowerer;

/// Lowers one call: emits statements and returns the buffer (a TIR variable) that holds the value.
pub type LowerFn = for<'a, 'c> fn(&mut Lowerer<'a, 'c>, Expr<'c>, OpView<'c>) -> Result<Expr<'c>>;

/// A rule behind a guard against its panics.
#[derive(Clone, Copy)]
pub(crate) struct GuardedRule {
    rule: LowerFn,
    call: for<'a, 'c> fn(LowerFn, &mut Lowerer<'a, 'c>, Expr<'c>, OpView<'c>) -> Result<Expr<'c>>,
}

impl GuardedRule {
    pub(crate) fn lower<'c>(self, lowerer: &mut Lowerer<'_, 'c>, expr: Expr<'c>, view: OpView<'c>) -> Result<Expr<'c>> {
        (self.call)(self.rule, lowerer, expr, view)
    }
}

/// Being generic over the op it is compiled into the crate that adds the rule, so a plugin catches its own panics.
fn guarded<'c, O: Op>(
    rule: LowerFn,
    lowerer: &mut Lowerer<'_, 'c>,
    expr: Expr<'c>,
    view: OpView<'c>,
) -> Result<Expr<'c>> {
    guard(|| rule(lowerer, expr, view)).unwrap_or_else(|panic| {
        Err(panic.into_diagnostic(&format!("the lowering rule of `{}`", O::DECL.name)).at(expr.span()))
    })
}

/// Lowering rules under registration. They may be added before the ops are frozen.
pub struct LowerRules {
    rules: Vec<(OpName, GuardedRule)>,
}

impl Default for LowerRules {
    /// The rules of this crate.
    fn default() -> Self {
        let mut rules = Self { rules: Vec::new() };
        crate::ops::register(&mut rules);
        rules
    }
}

impl LowerRules {
    /// Adds the rule of `O`.
    pub fn add<O: Op>(&mut self, rule: LowerFn) {
        self.rules.push((O::DECL.name, GuardedRule { rule, call: guarded::<O> }));
    }

    /// The table over frozen ops.
    ///
    /// # Errors
    /// Every rule of an op that is not registered, and every second rule of an op.
    pub fn freeze(self, ops: &OpRegistry) -> Result<LowerTable, Vec<RegistryError>> {
        let mut table = AnalysisRegistry::new("lowering");
        let mut errors = Vec::new();
        for (name, rule) in self.rules {
            match ops.id_of(name) {
                Some(id) => errors.extend(table.register(id, name, rule).err()),
                None => errors.push(RegistryError(format!("`{name}` has a lowering rule but is no op"))),
            }
        }
        if errors.is_empty() { Ok(LowerTable(table)) } else { Err(errors) }
    }
}

/// Lowering rules by op. An op without one is refused by name.
#[derive(Clone)]
pub struct LowerTable(AnalysisRegistry<GuardedRule>);

impl LowerTable {
    pub(crate) fn get(&self, id: OpId) -> Option<GuardedRule> {
        self.0.get(id)
    }
}
