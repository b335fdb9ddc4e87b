//! `constprop`: constant propagation.

mod hir;
mod tir;

use std::sync::Arc;

use tf_core::node::FunctionData;
use tf_core::{AnyFunction, Context, Result};
use tf_dataflow::Constants;
use tf_framework::{AnyFunctionPass, Counter, FunctionAnalysis, FunctionCx, Pass};
use tf_value::EvalRegistry;

use crate::fold::Folder;

/// Replaces values that are the same in every run by literals, and removes branches and loops that they decide.
///
/// What is known follows from literals, static extents and ranks, through ops by their evaluation rules (so numbers are the
/// evaluator's bit for bit), through tuples, and through loops with their carries at a fixed point. A loop that runs once becomes its body, one
/// that never runs its initial values; in TIR an `if`, a `while` and a dispatch whose condition is known go their one way. Small vectors
/// that are zeros or count up become `tf.zeros` and `tf.arange`. What would fail in a run is left to fail there.
#[derive(Clone, Pass)]
#[pass(name = "constprop")]
pub struct ConstProp {
    #[statistic("values replaced")]
    replaced: Counter,
    #[statistic("loops and branches decided")]
    decided: Counter,
    rules: Arc<EvalRegistry>,
}

/// What is the same in every run of a function.
struct KnownValues(Arc<EvalRegistry>);

impl FunctionAnalysis for KnownValues {
    const NAME: &'static str = "constants";
    type Subject<'c> = AnyFunction<'c>;
    type Result<'c> = Constants<'c>;

    fn run<'c>(&self, function: AnyFunction<'c>, cx: &Context<'c>) -> Constants<'c> {
        let folder = Folder::new(cx, &self.0);
        match function {
            AnyFunction::Hir(function) => Constants::of_values(cx, function.body.as_slice(), &folder),
            AnyFunction::Tir(function) => Constants::of_statements(cx, function, &folder),
        }
    }
}

impl AnyFunctionPass for ConstProp {
    fn run<'c>(&self, function: AnyFunction<'c>, cx: &FunctionCx<'_, 'c>) -> Result<AnyFunction<'c>> {
        let folder = Folder::new(cx.context(), &self.rules);
        let constants = || cx.analysis(&KnownValues(Arc::clone(&self.rules)), function);
        match function {
            AnyFunction::Hir(function) => {
                let Some(old) = function.body else { return Ok(AnyFunction::Hir(function)) };
                let body = self.value(cx, old, folder, &constants())?;
                let changed = || cx.function(FunctionData { body: Some(body), ..*function });
                Ok(AnyFunction::Hir(if body == old { function } else { changed() }))
            }
            AnyFunction::Tir(function) => self.statements(function, cx, folder, &constants()).map(AnyFunction::Tir),
        }
    }
}
