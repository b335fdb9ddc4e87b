//! The pass manager.

use std::time::Instant;

use rustc_hash::FxHashMap;
use tf_core::diag::Severity;
use tf_core::{AnyFunction, Context, Diagnostic, Module, Result};
use tf_types::Symbol;

use crate::pass::AnyPass;
use crate::relink::with_functions;
use crate::resolve::Step;
use crate::{Artifact, FunctionCx, Instrumentation, PassCx, PassRun, Pipeline, map_in_parallel};

/// The rules that hold between passes.
pub trait Verifier: Sync {
    /// Types a function again and checks its rules. Gives the function, or the one that inference makes of it.
    ///
    /// # Errors
    /// All rules that it breaks.
    fn function<'c>(
        &self,
        function: AnyFunction<'c>,
        module: Module<'c>,
        cx: &Context<'c>,
    ) -> Result<AnyFunction<'c>, Vec<Diagnostic>>;

    /// Checks the rules of the module that concern no single function.
    fn module<'c>(&self, module: Module<'c>, cx: &Context<'c>) -> Vec<Diagnostic>;
}

/// What a pipeline leaves.
pub struct Outcome<'c> {
    /// The module after the last pass.
    pub module: Module<'c>,
    /// Artifacts in the order they were left.
    pub artifacts: Vec<Artifact>,
    /// Warnings and remarks.
    pub diagnostics: Vec<Diagnostic>,
}

/// Where a pipeline stopped.
pub struct Failure<'c> {
    /// The pass; `None` for the input.
    pub pass: Option<&'static str>,
    /// The module before it.
    pub module: Module<'c>,
    /// All diagnostics, at least one of them an error.
    pub diagnostics: Vec<Diagnostic>,
}

/// Runs pipelines.
#[derive(Default)]
pub struct PassManager<'m> {
    verifier: Option<&'m dyn Verifier>,
    instruments: Vec<&'m mut dyn Instrumentation>,
}

impl<'m> PassManager<'m> {
    /// Checks what each pass changes, and the input.
    #[must_use]
    pub fn verify_with(mut self, verifier: &'m dyn Verifier) -> Self {
        self.verifier = Some(verifier);
        self
    }

    /// Adds an instrument; instruments are told in the order they were added.
    #[must_use]
    pub fn instrument(mut self, instrument: &'m mut dyn Instrumentation) -> Self {
        self.instruments.push(instrument);
        self
    }

    /// Runs the passes in order and stops at the first that fails.
    ///
    /// # Errors
    /// The failed pass with the module before it. Every error names the pass and, where it concerns one, the function.
    pub fn run<'c>(
        &mut self,
        pipeline: &Pipeline,
        cx: &Context<'c>,
        module: Module<'c>,
    ) -> std::result::Result<Outcome<'c>, Failure<'c>> {
        let mut outcome = Outcome { module, artifacts: Vec::new(), diagnostics: Vec::new() };
        match self.settle(cx, None, module) {
            Ok(settled) => outcome.module = settled,
            Err(diagnostics) => return Err(Failure { pass: None, module, diagnostics }),
        }
        for (index, step) in pipeline.steps.iter().enumerate() {
            let before = outcome.module;
            let name = step.pass.info().decl().name;
            if let Err(errors) = self.step(index, step, cx, &mut outcome) {
                outcome.diagnostics.extend(errors);
                return Err(Failure { pass: Some(name), module: before, diagnostics: outcome.diagnostics });
            }
        }
        for instrument in &mut self.instruments {
            instrument.finish();
        }
        Ok(outcome)
    }

    fn step<'c>(
        &mut self,
        index: usize,
        step: &Step,
        cx: &Context<'c>,
        outcome: &mut Outcome<'c>,
    ) -> Result<(), Vec<Diagnostic>> {
        let decl = step.pass.info().decl();
        let span = tracing::info_span!("pass", name = decl.name);
        let _entered = span.enter();
        let text = step.text.to_string();
        let mut run = PassRun { index, decl, text: &text, seconds: 0.0, changed: false, statistics: Vec::new() };
        for instrument in &mut self.instruments {
            instrument.before(&run, outcome.module, cx);
        }
        let before = outcome.module;
        let started = Instant::now();
        let result = apply(&step.pass, cx, outcome);
        run.seconds = started.elapsed().as_secs_f64();
        let result =
            result.and_then(|after| if after == before { Ok(after) } else { self.settle(cx, Some(before), after) });
        let result = result.map_err(|errors| blame(errors, &format!("in pass `{}`", decl.name)));
        let after = match result {
            Ok(after) => after,
            Err(errors) => {
                for instrument in &mut self.instruments {
                    instrument.failed(&run, before, cx);
                }
                return Err(errors);
            }
        };
        run.changed = after != before;
        run.statistics = decl.statistics.iter().copied().zip(step.pass.info().statistics()).collect();
        outcome.module = after;
        for instrument in &mut self.instruments {
            instrument.after(&run, after, cx);
        }
        Ok(())
    }

    /// Types and checks the functions of `after` that `before` does not have under their name.
    fn settle<'c>(
        &self,
        cx: &Context<'c>,
        before: Option<Module<'c>>,
        after: Module<'c>,
    ) -> Result<Module<'c>, Vec<Diagnostic>> {
        let Some(verifier) = self.verifier else { return Ok(after) };
        let old: FxHashMap<Symbol<'c>, AnyFunction<'c>> =
            before.iter().flat_map(|m| m.functions).map(|f| (f.name(), *f)).collect();
        let results = map_in_parallel(cx, after.functions, |cx, &function| {
            if old.get(&function.name()) == Some(&function) {
                return Ok(function);
            }
            let blame = |errors| blame(errors, &format!("in function `{}`", function.name()));
            verifier.function(function, after, cx).map_err(blame)
        });
        let mut functions = Vec::with_capacity(results.len());
        let mut errors = verifier.module(after, cx);
        for result in results {
            match result {
                Ok(function) => functions.push(function),
                Err(found) => errors.extend(found),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        with_functions(cx, after, &functions).map_err(|error| vec![error])
    }
}

/// With a note that says where the error arose.
fn blame(mut diagnostics: Vec<Diagnostic>, place: &str) -> Vec<Diagnostic> {
    for diagnostic in diagnostics.iter_mut().filter(|d| d.severity == Severity::Error) {
        diagnostic.notes.push((None, place.to_owned()));
    }
    diagnostics
}

fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error
}

/// Runs a pass; its artifacts and warnings go to the outcome.
fn apply<'c>(
    pass: &AnyPass,
    cx: &Context<'c>,
    outcome: &mut Outcome<'c>,
) -> std::result::Result<Module<'c>, Vec<Diagnostic>> {
    let module = outcome.module;
    match pass {
        AnyPass::Module(pass) => {
            let mut pass_cx = PassCx::new(cx);
            let result = pass.run(module, &mut pass_cx);
            let PassCx { artifacts, diagnostics: mut found, .. } = pass_cx;
            let result = result.map_err(|error| found.push(error));
            match result {
                Ok(after) if !found.iter().any(is_error) => {
                    outcome.diagnostics.extend(found);
                    outcome.artifacts.extend(artifacts);
                    Ok(after)
                }
                _ => Err(found),
            }
        }
        AnyPass::Function(pass) => over_functions(cx, outcome, |function, cx| match function {
            AnyFunction::Hir(hir) => pass.run(hir, cx).map(AnyFunction::Hir),
            tir @ AnyFunction::Tir(_) => Ok(tir),
        }),
        AnyPass::PrimFunc(pass) => over_functions(cx, outcome, |function, cx| match function {
            AnyFunction::Tir(tir) => pass.run(tir, cx).map(AnyFunction::Tir),
            hir @ AnyFunction::Hir(_) => Ok(hir),
        }),
    }
}

fn over_functions<'c>(
    cx: &Context<'c>,
    outcome: &mut Outcome<'c>,
    run: impl Fn(AnyFunction<'c>, &FunctionCx<'_, 'c>) -> Result<AnyFunction<'c>> + Sync,
) -> std::result::Result<Module<'c>, Vec<Diagnostic>> {
    let module = outcome.module;
    let results = map_in_parallel(cx, module.functions, |cx, &function| {
        let function_cx = FunctionCx::new(cx, module);
        let result = run(function, &function_cx);
        let mut found = function_cx.into_diagnostics();
        let after = result.map_err(|error| found.push(error)).unwrap_or(function);
        (after, blame(found, &format!("in function `{}`", function.name())))
    });
    let (functions, found): (Vec<_>, Vec<_>) = results.into_iter().unzip();
    let found: Vec<_> = found.into_iter().flatten().collect();
    if found.iter().any(is_error) {
        return Err(found);
    }
    outcome.diagnostics.extend(found);
    with_functions(cx, module, &functions).map_err(|error| vec![error])
}
