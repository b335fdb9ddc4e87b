//! What a pass works with.

use std::cell::RefCell;
use std::ops::Deref;
use std::sync::Arc;

use tf_core::{Context, Diagnostic, Module, Result, Span};

use crate::analysis::{Analyses, FunctionAnalysis};
use crate::parallel::{Own, Workers, map_with};
use crate::remark::{RemarkFilter, RemarkKind};
use crate::{NestedPipeline, Outcome, PassManager, Pipeline};

/// What an emitter leaves beside the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// What it is: `ptx`, `mlir`, `llvm`, `dot`, `text`.
    pub kind: &'static str,
    /// The extension of its file, without the dot.
    pub extension: &'static str,
    /// Its contents.
    pub bytes: Vec<u8>,
    /// Files that belong beside it: extension and contents. They are written only where the artifact has a path.
    pub companions: Vec<(&'static str, Vec<u8>)>,
}

impl Artifact {
    /// A text without companions.
    #[must_use]
    pub fn text(kind: &'static str, extension: &'static str, text: String) -> Self {
        Self { kind, extension, bytes: text.into_bytes(), companions: Vec::new() }
    }

    /// With a further file beside it.
    #[must_use]
    pub fn with_companion(mut self, extension: &'static str, bytes: Vec<u8>) -> Self {
        self.companions.push((extension, bytes));
        self
    }
}

/// What the manager gives to every pass.
#[derive(Clone, Copy, Default)]
pub(crate) struct Given<'a, 'c> {
    pub(crate) remarks: RemarkFilter,
    /// `None`: each pass that asks computes anew.
    pub(crate) analyses: Option<&'a Analyses<'c>>,
    /// Where the values of the pass's options stand.
    pub(crate) option_spans: &'a [(&'static str, Span)],
}

/// Runs a pipeline inside a pass.
pub(crate) trait RunNested<'c> {
    /// What the pipeline leaves, or the errors of the pass that failed with what was told before.
    fn run_nested(&mut self, pipeline: &Pipeline, module: Module<'c>) -> Result<Outcome<'c>, Vec<Diagnostic>>;
}

impl<'c> Given<'_, 'c> {
    fn analysis<A: FunctionAnalysis>(
        &self,
        analysis: &A,
        subject: A::Subject<'c>,
        cx: &Context<'c>,
    ) -> Arc<A::Result<'c>> {
        match self.analyses {
            Some(analyses) => analyses.get(analysis, subject, cx),
            None => Arc::new(analysis.run(subject, cx)),
        }
    }
}

/// What a module pass works with; derefs to the [`Context`].
pub struct PassCx<'a, 'c> {
    cx: &'a Context<'c>,
    workers: &'a dyn Workers,
    given: Given<'a, 'c>,
    nested: Option<&'a mut dyn RunNested<'c>>,
    pub(crate) artifacts: Vec<Artifact>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl<'c> Deref for PassCx<'_, 'c> {
    type Target = Context<'c>;
    fn deref(&self) -> &Context<'c> {
        self.cx
    }
}

impl<'a, 'c> PassCx<'a, 'c> {
    /// For a pass that is run by hand.
    #[must_use]
    pub fn new(cx: &'a Context<'c>) -> Self {
        Self::with(cx, &Own, Given::default(), None)
    }

    pub(crate) fn with(
        cx: &'a Context<'c>,
        workers: &'a dyn Workers,
        given: Given<'a, 'c>,
        nested: Option<&'a mut dyn RunNested<'c>>,
    ) -> Self {
        Self { cx, workers, given, nested, artifacts: Vec::new(), diagnostics: Vec::new() }
    }

    /// The context, for as long as the run lasts.
    #[must_use]
    pub fn context(&self) -> &'a Context<'c> {
        self.cx
    }

    /// Applies `f` to every item on the driver's threads, each with a context of its own; the results are in order. A plugin uses
    /// this and never rayon itself, of which it has a second copy.
    pub fn map_in_parallel<T: Sync, R: Send>(&self, items: &[T], f: impl Fn(&Context<'c>, &T) -> R + Sync) -> Vec<R> {
        map_with(self.workers, self.cx, items, f)
    }

    /// What an analysis knows of a function, computed or remembered.
    pub fn analysis<A: FunctionAnalysis>(&self, analysis: &A, subject: A::Subject<'c>) -> Arc<A::Result<'c>> {
        self.given.analysis(analysis, subject, self.cx)
    }

    /// Where the value of an option of this pass stands in the pipeline's text; an error about what it names points there.
    #[must_use]
    pub fn option_span(&self, name: &str) -> Option<Span> {
        self.given.option_spans.iter().find(|(option, _)| *option == name).map(|(_, span)| *span)
    }

    /// Runs the pipeline of an option on a module: its passes are checked, timed and shown as those outside.
    ///
    /// # Errors
    /// What a pass of it refuses.
    pub fn run_pipeline(&mut self, option: &NestedPipeline, module: Module<'c>) -> Result<Module<'c>> {
        let Some(pipeline) = &option.pipeline else { return Ok(module) };
        let result = match &mut self.nested {
            Some(runner) => runner.run_nested(pipeline, module),
            None => PassManager::default().run(pipeline, self.cx, module).map_err(|failure| failure.diagnostics),
        };
        match result {
            Ok(outcome) => {
                self.artifacts.extend(outcome.artifacts);
                self.diagnostics.extend(outcome.diagnostics);
                Ok(outcome.module)
            }
            Err(mut found) => {
                let last = found.pop().unwrap_or_else(|| Diagnostic::error("the pipeline failed"));
                self.diagnostics.extend(found);
                Err(last)
            }
        }
    }

    /// Leaves an artifact; the driver writes the last one.
    pub fn emit_artifact(&mut self, artifact: Artifact) {
        self.artifacts.push(artifact);
    }

    /// Reports a warning, a remark, or an error: after an error the pass counts as failed.
    pub fn emit(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Tells what was done, or why it was not; the text is made only if somebody listens.
    pub fn remark(&mut self, kind: RemarkKind, span: Option<Span>, text: impl FnOnce() -> String) {
        self.diagnostics.extend(self.given.remarks.remark(kind, span, text));
    }

    /// The artifacts so far.
    #[must_use]
    pub fn artifacts(&self) -> &[Artifact] {
        &self.artifacts
    }

    /// The diagnostics so far.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

/// What a function pass works with; derefs to the [`Context`] of its thread.
pub struct FunctionCx<'a, 'c> {
    cx: &'a Context<'c>,
    /// The module of the function as it was before the pass, with the target and levels that it has through its owners.
    pub module: Module<'c>,
    given: Given<'a, 'c>,
    diagnostics: RefCell<Vec<Diagnostic>>,
}

impl<'c> Deref for FunctionCx<'_, 'c> {
    type Target = Context<'c>;
    fn deref(&self) -> &Context<'c> {
        self.cx
    }
}

impl<'a, 'c> FunctionCx<'a, 'c> {
    /// For a pass that is run by hand.
    #[must_use]
    pub fn new(cx: &'a Context<'c>, module: Module<'c>) -> Self {
        Self::with(cx, module, Given::default())
    }

    pub(crate) fn with(cx: &'a Context<'c>, module: Module<'c>, given: Given<'a, 'c>) -> Self {
        Self { cx, module, given, diagnostics: RefCell::default() }
    }

    /// The context, for as long as the run lasts.
    #[must_use]
    pub fn context(&self) -> &'a Context<'c> {
        self.cx
    }

    /// What an analysis knows of a function, computed or remembered.
    pub fn analysis<A: FunctionAnalysis>(&self, analysis: &A, subject: A::Subject<'c>) -> Arc<A::Result<'c>> {
        self.given.analysis(analysis, subject, self.cx)
    }

    /// Reports a warning, a remark, or an error: after an error the pass counts as failed.
    pub fn emit(&self, diagnostic: Diagnostic) {
        self.diagnostics.borrow_mut().push(diagnostic);
    }

    /// Tells what was done, or why it was not; the text is made only if somebody listens.
    pub fn remark(&self, kind: RemarkKind, span: Option<Span>, text: impl FnOnce() -> String) {
        self.diagnostics.borrow_mut().extend(self.given.remarks.remark(kind, span, text));
    }

    /// The diagnostics, in the order they were reported.
    #[must_use]
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics.into_inner()
    }
}
