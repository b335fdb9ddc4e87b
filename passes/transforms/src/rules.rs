//! The rules that the pass manager checks between passes.

use tf_core::{AnyFunction, Context, Diagnostic, Module, Result};
use tf_framework::Verifier;

use tf_infer::infer_function;

use crate::verify;

/// Type inference and all rules of `verify`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules;

impl Verifier for Rules {
    fn function<'c>(
        &self,
        function: AnyFunction<'c>,
        module: Module<'c>,
        cx: &Context<'c>,
    ) -> Result<AnyFunction<'c>, Vec<Diagnostic>> {
        let typed = match function {
            AnyFunction::Hir(hir) => AnyFunction::Hir(infer_function(hir, cx)?),
            tir @ AnyFunction::Tir(_) => tir,
        };
        let errors = verify::function(typed, module, cx);
        if errors.is_empty() { Ok(typed) } else { Err(errors) }
    }

    fn module<'c>(&self, module: Module<'c>, cx: &Context<'c>) -> Vec<Diagnostic> {
        verify::module(module, cx)
    }
}
