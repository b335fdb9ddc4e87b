//! What a pass works with.

use std::cell::RefCell;
use std::ops::Deref;

use tf_core::{Context, Diagnostic, Module};

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

/// What a module pass works with; derefs to the [`Context`].
pub struct PassCx<'a, 'c> {
    cx: &'a Context<'c>,
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
        Self { cx, artifacts: Vec::new(), diagnostics: Vec::new() }
    }

    /// The context, for as long as the run lasts.
    #[must_use]
    pub fn context(&self) -> &'a Context<'c> {
        self.cx
    }

    /// Leaves an artifact; the driver writes the last one.
    pub fn emit_artifact(&mut self, artifact: Artifact) {
        self.artifacts.push(artifact);
    }

    /// Reports a warning, a remark, or an error: after an error the pass counts as failed.
    pub fn emit(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
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
    /// The module as it was before the pass.
    pub module: Module<'c>,
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
        Self { cx, module, diagnostics: RefCell::default() }
    }

    /// The context, for as long as the run lasts.
    #[must_use]
    pub fn context(&self) -> &'a Context<'c> {
        self.cx
    }

    /// Reports a warning, a remark, or an error: after an error the pass counts as failed.
    pub fn emit(&self, diagnostic: Diagnostic) {
        self.diagnostics.borrow_mut().push(diagnostic);
    }

    /// The diagnostics, in the order they were reported.
    #[must_use]
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics.into_inner()
    }
}
