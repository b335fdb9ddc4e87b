//! The line of progress.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use tf_shrink::Status;

/// How often the line changes.
const PACE: Duration = Duration::from_millis(100);

/// A line at the foot of a terminal; nothing elsewhere.
pub struct Progress {
    on_terminal: bool,
    started: Instant,
    last: Option<Instant>,
}

impl Progress {
    /// From now on.
    pub fn new() -> Self {
        Self { on_terminal: std::io::stderr().is_terminal(), started: Instant::now(), last: None }
    }

    /// How long it has been.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Shows how far the search is; `ops` are those of the best case.
    pub fn show(&mut self, status: &Status<'_>, ops: usize) {
        if !self.on_terminal || self.last.is_some_and(|last| last.elapsed() < PACE) {
            return;
        }
        self.last = Some(Instant::now());
        let seconds = self.elapsed().as_secs_f64();
        let line =
            format!("{ops} ops left, {} runs, {seconds:.1} s: {} ({})", status.runs, status.reduction, status.places);
        let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
    }

    /// Takes the line away.
    pub fn clear(&self) {
        if self.last.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
