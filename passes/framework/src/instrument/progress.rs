//! A line that says what a long run is at.

use std::io::Write;
use std::time::{Duration, Instant};

use tf_core::{Context, Diagnostic, Module};

use super::{Instrumentation, PassRun};

/// A run shorter than this shows no line.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shows `[3/7] bufferize` on a terminal, and takes it away again.
pub struct Progress<W: Write> {
    out: W,
    started: Instant,
    shown: bool,
}

impl<W: Write> Progress<W> {
    /// Onto that terminal.
    pub fn new(out: W) -> Self {
        Self { out, started: Instant::now(), shown: false }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(self.out, "\r\x1b[K").and_then(|()| self.out.flush());
        }
    }
}

impl<W: Write> Instrumentation for Progress<W> {
    fn before<'c>(&mut self, run: &PassRun<'_>, _: Module<'c>, _: &Context<'c>) {
        if self.started.elapsed() >= PATIENCE {
            let line = write!(self.out, "\r\x1b[K[{}/{}] {}", run.index + 1, run.count, run.decl.name);
            let _ = line.and_then(|()| self.out.flush());
            self.shown = true;
        }
    }

    fn after<'c>(&mut self, _: &PassRun<'_>, _: Module<'c>, _: Module<'c>, _: &Context<'c>) {
        self.clear();
    }

    fn failed<'c>(&mut self, _: &PassRun<'_>, _: Module<'c>, _: &[Diagnostic], _: &Context<'c>) {
        self.clear();
    }
}
