//! What passes counted.

use std::fmt::Write;

use tf_core::{Context, Module};

use super::{Instrumentation, PassRun};

/// What passes counted.
#[derive(Debug, Default)]
pub struct Statistics {
    rows: Vec<(usize, &'static str, &'static str, u64)>,
}

impl Statistics {
    /// One row a statistic in pipeline order.
    #[must_use]
    pub fn report(&self) -> String {
        if self.rows.is_empty() {
            return "no pass of the pipeline has statistics\n".to_owned();
        }
        let mut out = String::new();
        for (index, pass, text, count) in &self.rows {
            let _ = writeln!(out, "{count:>10}  {index}:{pass}  {text}");
        }
        out
    }
}

impl Instrumentation for Statistics {
    fn after<'c>(&mut self, run: &PassRun<'_>, _: Module<'c>, _: Module<'c>, _: &Context<'c>) {
        self.rows.extend(run.statistics.iter().map(|&(text, count)| (run.index, run.decl.name, text, count)));
    }
}
