//! Reports over a whole pipeline.

use std::fmt::Write;

use tf_core::{Context, Module};

use super::{Instrumentation, PassRun};

/// Wall time of each pass, without checks and printing.
#[derive(Debug, Default)]
pub struct Timing {
    rows: Vec<(&'static str, f64)>,
}

impl Timing {
    /// One row a pass in pipeline order, then the total.
    #[must_use]
    pub fn report(&self) -> String {
        let total: f64 = self.rows.iter().map(|(_, seconds)| seconds).sum();
        let mut out = String::from("  seconds      %  pass\n");
        for (name, seconds) in self.rows.iter().copied().chain([("total", total)]) {
            let share = if total > 0.0 { 100.0 * seconds / total } else { 0.0 };
            let _ = writeln!(out, "{seconds:>9.4}  {share:>5.1}  {name}");
        }
        out
    }
}

impl Instrumentation for Timing {
    fn after<'c>(&mut self, run: &PassRun<'_>, _: Module<'c>, _: &Context<'c>) {
        self.rows.push((run.decl.name, run.seconds));
    }
}

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
    fn after<'c>(&mut self, run: &PassRun<'_>, _: Module<'c>, _: &Context<'c>) {
        self.rows.extend(run.statistics.iter().map(|&(text, count)| (run.index, run.decl.name, text, count)));
    }
}
