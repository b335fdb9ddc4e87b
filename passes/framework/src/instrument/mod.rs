//! What watches passes run: timing, IR printing, statistics, reproducers, traces.

mod diff;
mod print;
mod progress;
mod recipe;
mod reproducer;
mod statistics;
mod time_limit;
mod timing;
mod trace_html;
mod tree;

use tf_core::{Context, Diagnostic, Module, Result};

use crate::{Numerics, PassDecl};

pub use print::{IrPrinter, Print, PrintWhen};
pub use progress::Progress;
pub use recipe::Recipe;
pub use reproducer::Reproducer;
pub use statistics::Statistics;
pub use time_limit::TimeLimit;
pub use timing::{Timing, TimingFormat};
pub use trace_html::TracePage;
pub use tree::IrTree;

/// One run of one pass.
pub struct PassRun<'a> {
    /// Its place in the pipeline, from 0.
    pub index: usize,
    /// How many passes the pipeline has.
    pub count: usize,
    /// The pass.
    pub decl: &'static PassDecl,
    /// How it keeps numbers, with its options.
    pub numerics: Numerics,
    /// The pass with its options, as pipeline text.
    pub text: &'a str,
    /// The named pipelines and passes that it came from, outermost first.
    pub path: &'a [&'static str],
    /// Those named pipelines of the path that begin with this pass.
    pub opens: &'a [&'static str],
    /// Those named pipelines of the path that end with this pass.
    pub closes: &'a [&'static str],
    /// Its number from 0, after those of the passes that it runs in: `2`, `2.0`.
    pub number: &'a str,
    /// How long the pass itself ran; 0 before it has.
    pub seconds: f64,
    /// How much of that time passed in a pipeline that it ran.
    pub nested_seconds: f64,
    /// How long its functions took, summed over all threads; [`PassRun::seconds`] for a module pass.
    pub busy_seconds: f64,
    /// How long typing and checking its result took.
    pub check_seconds: f64,
    /// Whether another module came back.
    pub changed: bool,
    /// What it counted, after it ran.
    pub statistics: Vec<(&'static str, u64)>,
}

/// Is told of every pass. All calls come from the thread that runs the manager.
pub trait Instrumentation {
    /// The input has been typed and checked.
    fn input<'c>(&mut self, seconds: f64, module: Module<'c>, cx: &Context<'c>) {
        let _ = (seconds, module, cx);
    }

    /// A pass is about to run.
    fn before<'c>(&mut self, run: &PassRun<'_>, module: Module<'c>, cx: &Context<'c>) {
        let _ = (run, module, cx);
    }

    /// A pass has run; an error counts as the pass's own failure.
    ///
    /// # Errors
    /// What is wrong with what it left.
    fn check<'c>(&mut self, run: &PassRun<'_>, before: Module<'c>, after: Module<'c>, cx: &Context<'c>) -> Result<()> {
        let _ = (run, before, after, cx);
        Ok(())
    }

    /// A pass has run and what it changed has been checked.
    fn after<'c>(&mut self, run: &PassRun<'_>, before: Module<'c>, after: Module<'c>, cx: &Context<'c>) {
        let _ = (run, before, after, cx);
    }

    /// A pass has failed; `before` is the module before it.
    fn failed<'c>(&mut self, run: &PassRun<'_>, before: Module<'c>, errors: &[Diagnostic], cx: &Context<'c>) {
        let _ = (run, before, errors, cx);
    }

    /// The pipeline has ended without failure.
    fn finish(&mut self) {}
}
