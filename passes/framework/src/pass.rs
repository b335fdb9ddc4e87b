//! What a pass is.

use std::sync::Arc;

use tf_core::{AnyFunction, Function, Module, PrimFunction, Result};

use crate::{FunctionCx, OptionDecl, PassCx, Pipeline};

/// The declaration of a pass: static data that `derive(Pass)` writes.
#[derive(Debug)]
pub struct PassDecl {
    /// Its name in pipeline text.
    pub name: &'static str,
    /// What it does; the first sentence is its summary.
    pub doc: &'static str,
    /// Its options in order.
    pub options: &'static [OptionDecl],
    /// What it counts, in order.
    pub statistics: &'static [&'static str],
    /// Passes that must stand earlier in the pipeline.
    pub requires: &'static [&'static str],
    /// Analyses whose results hold for the functions that it returns.
    pub preserves: &'static [&'static str],
}

impl PassDecl {
    /// The first paragraph of the documentation, on one line.
    #[must_use]
    pub fn summary(&self) -> String {
        summary(self.doc)
    }
}

/// The first paragraph of a documentation, on one line.
pub(crate) fn summary(doc: &str) -> String {
    doc.split("\n\n").next().unwrap_or_default().replace('\n', " ")
}

/// How a pass keeps the numbers that a program computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numerics {
    /// Bit for bit, but for what a NaN carries.
    Exact,
    /// Up to a few roundings of floats.
    Rounds,
    /// As real numbers: also the signs of zeros, and what becomes of infinities and NaNs, may change.
    FastMath,
}

/// What `derive(Pass)` implements: the declaration, and the options by index.
pub trait PassInfo: Send + Sync {
    /// The declaration.
    fn decl(&self) -> &'static PassDecl;

    /// How it keeps numbers, with the options it has: exactly, unless `#[pass(…)]` says `rounds`, or `fast_math(FIELD)` and that option is
    /// set.
    fn numerics(&self) -> Numerics;

    /// Sets an option from the parts of its value.
    ///
    /// # Errors
    /// What was expected and what was found.
    fn set_option(&mut self, index: usize, parts: &[String]) -> Result<(), String>;

    /// The parts of an option's value; `None`: as if left out.
    fn show_option(&self, index: usize) -> Option<Vec<String>>;

    /// Gives an option of [`OptionKind::Pipeline`](crate::OptionKind::Pipeline) its passes.
    fn set_pipeline(&mut self, index: usize, pipeline: Arc<Pipeline>);

    /// The statistics in the order of the declaration.
    fn statistics(&self) -> Vec<u64>;
}

/// A value of an option that a pass refuses before anything runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionError {
    /// The option.
    pub option: &'static str,
    /// What was expected and what was found.
    pub message: String,
    /// How to mend it.
    pub help: Option<String>,
    /// Whether another program may know the value, as one with more engines does.
    pub missing: bool,
}

/// A pass over a module.
pub trait Pass: PassInfo {
    /// Looks at the options together, when the pipeline is built.
    ///
    /// # Errors
    /// Values that do not fit.
    fn check(&self) -> Result<(), OptionError> {
        Ok(())
    }

    /// The new module; the old one stays as it is. What does not change stays the same pointer.
    ///
    /// # Errors
    /// What the pass refuses. It can also [`PassCx::emit`] several errors.
    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>>;
}

/// A pass over each HIR function of a tree: members, instances, variants and converters, each by itself and in parallel. Calls of a
/// function that changes follow it.
pub trait FunctionPass: PassInfo {
    /// Looks at the options together, when the pipeline is built.
    ///
    /// # Errors
    /// Values that do not fit.
    fn check(&self) -> Result<(), OptionError> {
        Ok(())
    }

    /// The new function; the same pointer if nothing changes. Its variants and converters are left alone. A function made from one of
    /// the tree that it calls becomes an instance there.
    ///
    /// # Errors
    /// What the pass refuses. It can also [`FunctionCx::emit`] several errors.
    fn run<'c>(&self, function: Function<'c>, cx: &FunctionCx<'_, 'c>) -> Result<Function<'c>>;
}

/// A pass over each TIR function of a tree; functions run in parallel.
pub trait PrimFuncPass: PassInfo {
    /// Looks at the options together, when the pipeline is built.
    ///
    /// # Errors
    /// Values that do not fit.
    fn check(&self) -> Result<(), OptionError> {
        Ok(())
    }

    /// The new function; the same pointer if nothing changes.
    ///
    /// # Errors
    /// What the pass refuses. It can also [`FunctionCx::emit`] several errors.
    fn run<'c>(&self, function: PrimFunction<'c>, cx: &FunctionCx<'_, 'c>) -> Result<PrimFunction<'c>>;
}

/// A pass over each function of either IR; of HIR functions as [`FunctionPass`] says.
pub trait AnyFunctionPass: PassInfo {
    /// Looks at the options together, when the pipeline is built.
    ///
    /// # Errors
    /// Values that do not fit.
    fn check(&self) -> Result<(), OptionError> {
        Ok(())
    }

    /// The new function, of the same IR; the same pointer if nothing changes.
    ///
    /// # Errors
    /// What the pass refuses. It can also [`FunctionCx::emit`] several errors.
    fn run<'c>(&self, function: AnyFunction<'c>, cx: &FunctionCx<'_, 'c>) -> Result<AnyFunction<'c>>;
}

/// Which functions a pass over either IR runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    All,
    Hir,
    Tir,
}

/// A pass of any kind, with its options set.
pub(crate) enum AnyPass {
    Module(Box<dyn Pass>),
    AnyFunction(Box<dyn AnyFunctionPass>, Over),
    Function(Box<dyn FunctionPass>),
    PrimFunc(Box<dyn PrimFuncPass>),
}

impl AnyPass {
    pub(crate) fn info(&self) -> &dyn PassInfo {
        match self {
            Self::Module(pass) => pass.as_ref(),
            Self::AnyFunction(pass, _) => pass.as_ref(),
            Self::Function(pass) => pass.as_ref(),
            Self::PrimFunc(pass) => pass.as_ref(),
        }
    }

    pub(crate) fn info_mut(&mut self) -> &mut dyn PassInfo {
        match self {
            Self::Module(pass) => pass.as_mut(),
            Self::AnyFunction(pass, _) => pass.as_mut(),
            Self::Function(pass) => pass.as_mut(),
            Self::PrimFunc(pass) => pass.as_mut(),
        }
    }

    pub(crate) fn check(&self) -> Result<(), OptionError> {
        match self {
            Self::Module(pass) => pass.check(),
            Self::AnyFunction(pass, _) => pass.check(),
            Self::Function(pass) => pass.check(),
            Self::PrimFunc(pass) => pass.check(),
        }
    }
}
