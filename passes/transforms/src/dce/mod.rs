//! `dce`: dead code.

mod hir;
mod tir;

use tf_core::node::FunctionData;
use tf_core::{AnyFunction, Result};
use tf_framework::{AnyFunctionPass, Counter, FunctionCx, Pass};

/// Removes what no result depends on.
///
/// Of HIR that is what loops carry for nobody: a carry whose final value is not used, and whose value no other carry needs. (A value that
/// nothing uses is in no function: a body is what its result reaches.) Of statements it is bindings that nothing uses, and by liveness
/// local buffers that are never read with the effects that only write them. Parameters and outputs stay as they are.
#[derive(Clone, Pass)]
#[pass(name = "dce")]
pub struct DeadCode {
    #[statistic("carries removed")]
    carries: Counter,
    #[statistic("statements removed")]
    statements: Counter,
}

impl AnyFunctionPass for DeadCode {
    fn run<'c>(&self, function: AnyFunction<'c>, cx: &FunctionCx<'_, 'c>) -> Result<AnyFunction<'c>> {
        match function {
            AnyFunction::Hir(function) => {
                let Some(old) = function.body else { return Ok(AnyFunction::Hir(function)) };
                let body = hir::live(cx.context(), old, &self.carries)?;
                let changed = || cx.function(FunctionData { body: Some(body), ..*function });
                Ok(AnyFunction::Hir(if body == old { function } else { changed() }))
            }
            AnyFunction::Tir(function) => tir::live(cx, function, &self.statements).map(AnyFunction::Tir),
        }
    }
}
