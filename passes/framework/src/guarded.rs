//! Every pass runs behind a guard against its panics.

use std::sync::Arc;

use tf_core::{AnyFunction, Diagnostic, Function, Module, PrimFunction, Result};

use crate::{
    AnyFunctionPass, FunctionCx, FunctionPass, Numerics, OptionError, Pass, PassCx, PassDecl, PassInfo, Pipeline,
    PrimFuncPass,
};
use tf_core::guard::{Panic, guard};

/// A pass whose panics are diagnostics. Being generic it is compiled into the crate that registers the pass.
pub(crate) struct Guarded<P>(pub(crate) P);

impl<P: PassInfo> Guarded<P> {
    fn panicked(&self, panic: Panic) -> Diagnostic {
        panic.into_diagnostic(&format!("pass `{}`", self.0.decl().name))
    }

    fn checked(&self, check: impl FnOnce(&P) -> Result<(), OptionError>) -> Result<(), OptionError> {
        guard(|| check(&self.0)).unwrap_or_else(|panic| {
            let option = self.0.decl().options.first().map_or("", |option| option.name);
            let message = format!("the check of the options panicked: {}", panic.message);
            Err(OptionError { option, message, help: None, missing: false })
        })
    }
}

impl<P: PassInfo> PassInfo for Guarded<P> {
    fn decl(&self) -> &'static PassDecl {
        self.0.decl()
    }

    fn numerics(&self) -> Numerics {
        self.0.numerics()
    }

    fn set_option(&mut self, index: usize, parts: &[String]) -> Result<(), String> {
        guard(|| self.0.set_option(index, parts))
            .unwrap_or_else(|panic| Err(format!("reading the value panicked: {}", panic.message)))
    }

    fn show_option(&self, index: usize) -> Option<Vec<String>> {
        guard(|| self.0.show_option(index)).unwrap_or_default()
    }

    fn set_pipeline(&mut self, index: usize, pipeline: Arc<Pipeline>) {
        self.0.set_pipeline(index, pipeline);
    }

    fn statistics(&self) -> Vec<u64> {
        self.0.statistics()
    }
}

impl<P: Pass> Pass for Guarded<P> {
    fn check(&self) -> Result<(), OptionError> {
        self.checked(P::check)
    }

    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        guard(|| self.0.run(module, cx)).unwrap_or_else(|panic| Err(self.panicked(panic).at(module.span)))
    }
}

impl<P: AnyFunctionPass> AnyFunctionPass for Guarded<P> {
    fn check(&self) -> Result<(), OptionError> {
        self.checked(P::check)
    }

    fn run<'c>(&self, function: AnyFunction<'c>, cx: &FunctionCx<'_, 'c>) -> Result<AnyFunction<'c>> {
        guard(|| self.0.run(function, cx)).unwrap_or_else(|panic| Err(self.panicked(panic).at(function.span())))
    }
}

impl<P: FunctionPass> FunctionPass for Guarded<P> {
    fn check(&self) -> Result<(), OptionError> {
        self.checked(P::check)
    }

    fn run<'c>(&self, function: Function<'c>, cx: &FunctionCx<'_, 'c>) -> Result<Function<'c>> {
        guard(|| self.0.run(function, cx)).unwrap_or_else(|panic| Err(self.panicked(panic).at(function.span)))
    }
}

impl<P: PrimFuncPass> PrimFuncPass for Guarded<P> {
    fn check(&self) -> Result<(), OptionError> {
        self.checked(P::check)
    }

    fn run<'c>(&self, function: PrimFunction<'c>, cx: &FunctionCx<'_, 'c>) -> Result<PrimFunction<'c>> {
        guard(|| self.0.run(function, cx)).unwrap_or_else(|panic| Err(self.panicked(panic).at(function.span)))
    }
}
