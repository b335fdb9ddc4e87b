//! Evaluation rules of ops, and the builder by which a dialect registers ops with all rules of this level.

use std::marker::PhantomData;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tf_core::Literal;
use tf_core::guard::guard;
use tf_core::op::rules::typed;
use tf_core::op::{
    AccessRule, AliasDecl, AnalysisRegistry, Op, OpCall, OpId, OpRegistry, OpRegistryBuilder, OpView, RegistryError,
    TypeRule, VerifyRule,
};
use tf_types::{DType, Symbol, Type};

use crate::tir::{TirEvalRule, TirFn, tir_handler};
use crate::{Tensor, Value, ValueError};

/// What an evaluation rule knows besides its operands.
pub struct EvalCx<'a, 'c> {
    /// Sizes of the dim variables in this run.
    pub dims: &'a FxHashMap<Symbol<'c>, i64>,
    /// The inferred type of the result.
    pub result_type: Type<'c>,
}

/// The value of an op.
pub trait EvalRule: Op {
    /// Computes the result from operands in call order. May take them out: one whose elements nobody else holds is computed in place. Must
    /// not depend on inference having run.
    ///
    /// # Errors
    /// The values do not allow it: a zero divisor, a window past the end.
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], cx: &EvalCx<'_, 'c>) -> Result<Value, ValueError>;
}

/// The value of a literal of that dtype.
///
/// # Errors
/// `f4e2m1`; a negative number for `f8e8m0`.
pub fn literal(literal: Literal, dtype: DType) -> Result<Tensor, ValueError> {
    match literal {
        Literal::Bool(value) => Tensor::scalar(value).cast(dtype),
        Literal::Int(value) => Tensor::scalar_from_i64(value, dtype),
        Literal::Float(value) => Tensor::scalar_from_f64(value, dtype),
    }
}

/// Handler of an [`EvalRule`].
pub type EvalFn = for<'a, 'c> fn(OpView<'c>, &mut [Value], &EvalCx<'a, 'c>) -> Result<Value, ValueError>;

fn eval_handler<'c, O: EvalRule>(
    view: OpView<'c>,
    operands: &mut [Value],
    cx: &EvalCx<'_, 'c>,
) -> Result<Value, ValueError> {
    guard(|| O::eval(typed(view), operands, cx)).unwrap_or_else(|panic| {
        let place = panic.place.map(|place| format!(" (at {place})")).unwrap_or_default();
        Err(ValueError::new(format!("the evaluation of `{}` panicked: {}{place}", O::DECL.name, panic.message)))
    })
}

/// Evaluation rules by op.
pub struct EvalRegistry {
    values: AnalysisRegistry<EvalFn>,
    tir: AnalysisRegistry<TirFn>,
}

impl EvalRegistry {
    /// The rule that computes a value from values.
    #[must_use]
    pub fn get(&self, id: OpId) -> Option<EvalFn> {
        self.values.get(id)
    }

    /// The rule that says what a TIR op means.
    #[must_use]
    pub fn tir(&self, id: OpId) -> Option<TirFn> {
        self.tir.get(id)
    }
}

/// What a dialect registers into: ops with their type, verification, access and evaluation rules.
pub struct DialectBuilder {
    ops: OpRegistryBuilder,
    eval: EvalRegistry,
}

impl Default for DialectBuilder {
    fn default() -> Self {
        let eval = EvalRegistry {
            values: AnalysisRegistry::new("evaluation"),
            tir: AnalysisRegistry::new("evaluation of statements"),
        };
        Self { ops: OpRegistryBuilder::default(), eval }
    }
}

impl DialectBuilder {
    /// Declares an op; chain its rules.
    pub fn op<O: Op>(&mut self) -> OpEntry<'_, O> {
        let id = self.ops.declare::<O>();
        OpEntry { builder: self, id, op: PhantomData }
    }

    /// The frozen registries.
    ///
    /// # Errors
    /// Everything registered twice, and every mandatory rule that is missing.
    pub fn freeze(self) -> Result<(Arc<OpRegistry>, Arc<EvalRegistry>), Vec<RegistryError>> {
        Ok((Arc::new(self.ops.freeze()?), Arc::new(self.eval)))
    }
}

/// An op under registration.
pub struct OpEntry<'r, O> {
    builder: &'r mut DialectBuilder,
    id: OpId,
    op: PhantomData<O>,
}

impl<O: Op> OpEntry<'_, O> {
    /// Attaches the type rule.
    #[must_use]
    pub fn types(self) -> Self
    where
        O: TypeRule,
    {
        self.builder.ops.types::<O>(self.id);
        self
    }

    /// Attaches the verification rule.
    #[must_use]
    pub fn verifies(self) -> Self
    where
        O: VerifyRule,
    {
        self.builder.ops.verifies::<O>(self.id);
        self
    }

    /// Attaches the access relation.
    #[must_use]
    pub fn access(self) -> Self
    where
        O: AccessRule,
    {
        self.builder.ops.access::<O>(self.id);
        self
    }

    /// Attaches the evaluation rule.
    #[must_use]
    pub fn evaluates(self) -> Self
    where
        O: EvalRule,
    {
        let result = self.builder.eval.values.register(self.id, O::DECL.name, eval_handler::<O>);
        if let Err(error) = result {
            self.builder.ops.error(error);
        }
        self
    }

    /// Attaches the rule that says what a TIR op means.
    #[must_use]
    pub fn means(self) -> Self
    where
        O: TirEvalRule,
    {
        let result = self.builder.eval.tir.register(self.id, O::DECL.name, tir_handler::<O>);
        if let Err(error) = result {
            self.builder.ops.error(error);
        }
        self
    }

    /// Adds surface names with fixed attributes.
    #[must_use]
    pub fn aliases(self, aliases: &'static [AliasDecl]) -> Self {
        self.builder.ops.alias(self.id, aliases);
        self
    }

    /// Ends the registration of this op.
    pub fn done(self) {}
}
