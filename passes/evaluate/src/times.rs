//! How long the ops of a run took.

use std::cell::RefCell;
use std::fmt::Write;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use tf_core::op::OpName;

use crate::progress::Progress;

/// Number of calls and time by op, and what is told of them meanwhile.
#[derive(Debug, Default)]
pub struct Times {
    counts: RefCell<FxHashMap<Name, (u64, Duration)>>,
    untimed: bool,
    progress: Option<Progress>,
}

/// Dialect and name of an op.
type Name = (&'static str, &'static str);

impl Times {
    /// Tells of the run where there is a terminal; `None`: neither that nor `timed`, so that there is nothing to do.
    pub(crate) fn on_terminal(timed: bool) -> Option<Self> {
        let progress = Progress::on_terminal();
        (timed || progress.is_some()).then(|| Self { untimed: !timed, progress, ..Self::default() })
    }

    /// Notes that a call begins; what [`Times::end`] takes if the calls are timed.
    pub fn begin(&self, op: OpName) -> Option<Instant> {
        if let Some(progress) = &self.progress {
            progress.at(op);
        }
        (!self.untimed).then(Instant::now)
    }

    /// Counts the call that began then.
    pub fn end(&self, op: OpName, began: Instant) {
        let took = began.elapsed();
        let mut times = self.counts.borrow_mut();
        let entry = times.entry((op.dialect, op.name)).or_default();
        entry.0 += 1;
        entry.1 += took;
    }

    /// One row an op, the longest first, and their sum.
    #[must_use]
    pub fn table(&self) -> String {
        let times = self.counts.borrow();
        let mut rows: Vec<_> =
            times.iter().map(|((dialect, op), &(calls, time))| (format!("{dialect}.{op}"), calls, time)).collect();
        rows.sort_unstable_by(|a, b| (b.2, &a.0).cmp(&(a.2, &b.0)));
        let all = rows.iter().fold((0, Duration::ZERO), |(calls, time), row| (calls + row.1, time + row.2));
        rows.push(("all".to_owned(), all.0, all.1));
        let width = rows.iter().map(|row| row.0.len()).max().unwrap_or(0);
        let mut text = format!("{:width$}  {:>9}  {:>10}  {:>9}\n", "op", "calls", "ms", "us/call");
        for (op, calls, time) in rows {
            let (ms, each) = (time.as_secs_f64() * 1e3, time.as_secs_f64() * 1e6 / calls.max(1) as f64);
            let _ = writeln!(text, "{op:width$}  {calls:>9}  {ms:>10.3}  {each:>9.2}");
        }
        text
    }
}
