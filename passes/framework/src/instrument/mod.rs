//! What watches passes run: timing, IR printing, statistics.

mod print;
mod report;

use tf_core::{Context, Module};

use crate::PassDecl;

pub use print::{IrPrinter, Print};
pub use report::{Statistics, Timing};

/// One run of one pass.
pub struct PassRun<'a> {
    /// Its place in the pipeline, from 0.
    pub index: usize,
    /// The pass.
    pub decl: &'static PassDecl,
    /// The pass with its options, as pipeline text.
    pub text: &'a str,
    /// How long the pass itself ran; 0 before it has.
    pub seconds: f64,
    /// Whether another module came back.
    pub changed: bool,
    /// What it counted, after it ran.
    pub statistics: Vec<(&'static str, u64)>,
}

/// Is told of every pass. All calls come from the thread that runs the manager.
pub trait Instrumentation {
    /// A pass is about to run.
    fn before<'c>(&mut self, run: &PassRun<'_>, module: Module<'c>, cx: &Context<'c>) {
        let _ = (run, module, cx);
    }

    /// A pass has run and what it changed has been checked.
    fn after<'c>(&mut self, run: &PassRun<'_>, module: Module<'c>, cx: &Context<'c>) {
        let _ = (run, module, cx);
    }

    /// A pass has failed; `module` is the one before it.
    fn failed<'c>(&mut self, run: &PassRun<'_>, module: Module<'c>, cx: &Context<'c>) {
        let _ = (run, module, cx);
    }

    /// The pipeline has ended without failure.
    fn finish(&mut self) {}
}
