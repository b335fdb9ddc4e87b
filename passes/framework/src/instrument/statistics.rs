//! What passes counted.

use std::fmt::Write;

use tf_core::{Context, Module};

use super::{Instrumentation, PassRun};

/// What passes counted.
#[derive(Debug, Default)]
pub struct Statistics {
    /// By the number of the pass.
    rows: Vec<(String, &'static str, &'static str, u64)>,
}

impl Statistics {
    /// One row a statistic in pipeline order.
    #[must_use]
    pub fn report(&self) -> String {
        if self.rows.is_empty() {
            return "no pass of the pipeline has statistics\n".to_owned();
        }
        let mut out = String::new();
        for (number, pass, text, count) in &self.rows {
            let _ = writeln!(out, "{count:>10}  {number}:{pass}  {text}");
        }
        out
    }
}

impl Instrumentation for Statistics {
    fn after<'c>(&mut self, run: &PassRun<'_>, _: Module<'c>, _: Module<'c>, _: &Context<'c>) {
        for &(text, count) in &run.statistics {
            let same = |row: &&mut (String, &str, &str, u64)| row.0 == run.number && row.2 == text;
            match self.rows.iter_mut().find(same) {
                // It ran before, in the pipeline of another pass; a pass counts on.
                Some(row) => row.3 = count,
                None => self.rows.push((run.number.to_owned(), run.decl.name, text, count)),
            }
        }
    }
}
