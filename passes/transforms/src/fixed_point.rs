//! `fixed-point`: passes again and again.

use tf_core::{Diagnostic, Module, Result};
use tf_framework::{Counter, NestedPipeline, Pass, PassCx};

/// Runs a pipeline again and again until it changes nothing.
///
/// `fixed-point{passes={canonicalize,cse,dce}}` ends when a round gives back the module that it was given. A pipeline that does not
/// come to rest is stopped with a warning; the module is then that of the last round.
#[derive(Clone, Pass)]
#[pass(name = "fixed-point")]
pub struct FixedPoint {
    /// What a round consists of.
    #[option]
    passes: NestedPipeline,
    /// Stop after so many rounds.
    #[option(name = "max-rounds")]
    #[default("10")]
    max_rounds: i64,
    #[statistic("rounds")]
    rounds: Counter,
}

impl Pass for FixedPoint {
    fn check(&self) -> Result<(), tf_framework::OptionError> {
        if self.max_rounds > 0 {
            return Ok(());
        }
        let message = format!("expected a number of rounds from 1, found {}", self.max_rounds);
        Err(tf_framework::OptionError { option: "max-rounds", message, help: None, missing: false })
    }

    fn run<'c>(&self, mut module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        for _ in 0..self.max_rounds {
            self.rounds.add(1);
            let before = module;
            module = cx.run_pipeline(&self.passes, before)?;
            if module == before {
                return Ok(module);
            }
        }
        let message = format!("the passes still change the module in round {}", self.max_rounds);
        let warning = Diagnostic::warning(message).at(cx.option_span("passes"));
        cx.emit(
            warning
                .with_help("more rounds: `max-rounds=N`; `--print-ir-after-change --print-ir-diff` shows the changes"),
        );
        Ok(module)
    }
}
