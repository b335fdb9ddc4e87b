//! The pass manager.

use std::time::Instant;

use rustc_hash::FxHashMap;
use tf_core::tree::Replacements;
use tf_core::{AnyFunction, Context, Diagnostic, Module, Result};

use crate::analysis::Analyses;
use crate::apply::{Applied, apply, blame, coded, place};
use crate::cx::{Given, RunNested};
use crate::relink::{functions, with_functions};
use crate::resolve::Step;
use crate::{Artifact, Instrumentation, PassRun, Pipeline, RemarkFilter, map_in_parallel};
use tf_core::guard::guard;

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
    remarks: RemarkFilter,
    /// Only these passes; all if empty.
    remarks_from: Vec<String>,
    instruments: Vec<&'m mut dyn Instrumentation>,
}

impl<'m> PassManager<'m> {
    /// Checks what each pass changes, and the input.
    #[must_use]
    pub fn verify_with(mut self, verifier: &'m dyn Verifier) -> Self {
        self.verifier = Some(verifier);
        self
    }

    /// Asks these passes for remarks, all if none is named.
    #[must_use]
    pub fn remarks(mut self, filter: RemarkFilter, from: &[String]) -> Self {
        self.remarks = filter;
        self.remarks_from = from.to_vec();
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
        let started = Instant::now();
        match self.settle(cx, None, module) {
            Ok(settled) => outcome.module = settled,
            Err(diagnostics) => return Err(Failure { pass: None, module, diagnostics }),
        }
        let seconds = started.elapsed().as_secs_f64();
        for instrument in &mut self.instruments {
            instrument.input(seconds, outcome.module, cx);
        }
        let within = Within { cx, analyses: &Analyses::default(), path: &[], number: "" };
        if let Err((pass, errors)) = self.steps(pipeline, within, &mut outcome) {
            outcome.diagnostics.extend(errors);
            return Err(Failure { pass: Some(pass), module: outcome.module, diagnostics: outcome.diagnostics });
        }
        for instrument in &mut self.instruments {
            instrument.finish();
        }
        Ok(outcome)
    }

    /// Runs the passes; after a failure the outcome is as before the one that failed.
    fn steps<'c>(
        &mut self,
        pipeline: &Pipeline,
        within: Within<'_, 'c>,
        outcome: &mut Outcome<'c>,
    ) -> Result<(), (&'static str, Vec<Diagnostic>)> {
        for (index, step) in pipeline.steps.iter().enumerate() {
            let at = (index, pipeline.steps.len());
            self.step(at, step, within, outcome).map_err(|errors| (step.pass.info().decl().name, errors))?;
        }
        Ok(())
    }

    fn step<'c>(
        &mut self,
        (index, count): (usize, usize),
        step: &Step,
        within: Within<'_, 'c>,
        outcome: &mut Outcome<'c>,
    ) -> Result<(), Vec<Diagnostic>> {
        let Within { cx, analyses, .. } = within;
        let decl = step.pass.info().decl();
        let span = tracing::info_span!("pass", name = decl.name);
        let _entered = span.enter();
        let text = step.text.to_string();
        let number = format!("{}{index}", within.number);
        let path = [within.path, &step.path].concat();
        let mut run = PassRun {
            index,
            count,
            decl,
            numerics: step.pass.info().numerics(),
            text: &text,
            path: &path,
            opens: &path[path.len() - step.opens..],
            closes: &path[path.len() - step.closes..],
            number: &number,
            seconds: 0.0,
            nested_seconds: 0.0,
            busy_seconds: 0.0,
            check_seconds: 0.0,
            changed: false,
            statistics: Vec::new(),
        };
        for instrument in &mut self.instruments {
            instrument.before(&run, outcome.module, cx);
        }
        let before = outcome.module;
        let started = Instant::now();
        let remarks = if self.remarks_from.is_empty() || self.remarks_from.iter().any(|pass| pass == decl.name) {
            self.remarks
        } else {
            RemarkFilter::default()
        };
        let given = Given { remarks, analyses: Some(analyses), option_spans: &step.option_spans };
        let inner = [path.as_slice(), &[decl.name]].concat();
        let within = Within { path: &inner, number: &format!("{number}."), ..within };
        let mut nested = Nested { manager: self, within, seconds: 0.0, checked: None };
        let Applied { result, busy_seconds } = apply(&step.pass, cx, given, &mut nested, outcome, decl);
        let Nested { seconds, checked, .. } = nested;
        run.nested_seconds = seconds;
        run.seconds = started.elapsed().as_secs_f64();
        run.busy_seconds = busy_seconds.unwrap_or(run.seconds - run.nested_seconds);
        let result = result.and_then(|after| {
            if after == before || checked == Some(after) {
                return Ok(after);
            }
            let started = Instant::now();
            let settled = self.settle(cx, Some(before), after).map_err(|errors| blame(errors, &place(decl)));
            run.check_seconds = started.elapsed().as_secs_f64();
            settled
        });
        let result = result.and_then(|after| {
            run.changed = after != before;
            let mut instruments = self.instruments.iter_mut();
            instruments
                .try_for_each(|instrument| instrument.check(&run, before, after, cx))
                .map_err(|error| blame(vec![error], &place(decl)))?;
            Ok(after)
        });
        let after = match result {
            Ok(after) => after,
            Err(errors) => {
                for instrument in &mut self.instruments {
                    instrument.failed(&run, before, &errors, cx);
                }
                return Err(errors);
            }
        };
        run.statistics = decl.statistics.iter().copied().zip(step.pass.info().statistics()).collect();
        outcome.module = after;
        analyses.follow(before, after, decl.preserves);
        for instrument in &mut self.instruments {
            instrument.after(&run, before, after, cx);
        }
        Ok(())
    }

    /// Types and checks the functions of `after` that `before` does not have, or has under another target or other levels.
    fn settle<'c>(
        &self,
        cx: &Context<'c>,
        before: Option<Module<'c>>,
        after: Module<'c>,
    ) -> Result<Module<'c>, Vec<Diagnostic>> {
        let Some(verifier) = self.verifier else { return Ok(after) };
        let old: FxHashMap<AnyFunction<'c>, Module<'c>> =
            before.into_iter().flat_map(|before| functions(cx, before)).collect();
        let all = functions(cx, after);
        let results = map_in_parallel(cx, &all, |cx, &(function, module)| {
            let is_known = |old: &Module<'c>| (old.target, old.topologies) == (module.target, module.topologies);
            if old.get(&function).is_some_and(is_known) {
                return Ok(function);
            }
            let blame = |errors| blame(errors, &format!("in function `{}`", function.name()));
            let _span = tracing::info_span!("check", name = function.name().as_str()).entered();
            let checked = guard(|| verifier.function(function, module, cx));
            checked
                .unwrap_or_else(|panic| Err(vec![panic.into_diagnostic("the check").at(function.span())]))
                .map_err(blame)
        });
        let mut retyped = Replacements::default();
        let module = guard(|| verifier.module(after, cx));
        let mut errors = module.unwrap_or_else(|panic| vec![panic.into_diagnostic("the check").at(after.span)]);
        for (&(before, _), result) in all.iter().zip(results) {
            match result {
                Ok(function) if function == before => {}
                Ok(function) => drop(retyped.insert(before, function)),
                Err(found) => errors.extend(found),
            }
        }
        if !errors.is_empty() {
            return Err(coded(errors, "verify"));
        }
        with_functions(cx, after, &retyped, true).map_err(|error| vec![error])
    }
}

/// Where passes run.
#[derive(Clone, Copy)]
struct Within<'a, 'c> {
    cx: &'a Context<'c>,
    analyses: &'a Analyses<'c>,
    /// The named pipelines and passes around them, outermost first.
    path: &'a [&'static str],
    /// What stands before their numbers.
    number: &'a str,
}

/// Runs the pipelines of a pass.
struct Nested<'a, 'm, 'c> {
    manager: &'a mut PassManager<'m>,
    within: Within<'a, 'c>,
    /// How long that took.
    seconds: f64,
    /// The last module that came of it, which needs no second check.
    checked: Option<Module<'c>>,
}

impl<'c> RunNested<'c> for Nested<'_, '_, 'c> {
    fn run_nested(&mut self, pipeline: &Pipeline, module: Module<'c>) -> Result<Outcome<'c>, Vec<Diagnostic>> {
        let started = Instant::now();
        let mut outcome = Outcome { module, artifacts: Vec::new(), diagnostics: Vec::new() };
        let result = self.manager.steps(pipeline, self.within, &mut outcome);
        self.seconds += started.elapsed().as_secs_f64();
        match result {
            Ok(()) => {
                self.checked = Some(outcome.module);
                Ok(outcome)
            }
            Err((_, errors)) => {
                outcome.diagnostics.extend(errors);
                Err(outcome.diagnostics)
            }
        }
    }
}
