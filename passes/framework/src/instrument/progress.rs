//! A line that says what a long run is at.

use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tf_core::{Context, Diagnostic, Module};

use super::{Instrumentation, PassRun};

/// Shows `[3/7] bufferize` on a terminal, and takes it away again.
pub struct Progress<W: Write + Send + 'static> {
    shared: Arc<Shared<W>>,
    clock: Option<JoinHandle<()>>,
}

struct Shared<W> {
    line: Mutex<Line<W>>,
    /// The run has ended.
    ended: Condvar,
}

struct Line<W> {
    out: W,
    /// The pass that runs.
    text: Option<String>,
    /// The run has become a long one.
    long: bool,
    shown: bool,
    ended: bool,
}

impl<W> Shared<W> {
    fn lock(&self) -> MutexGuard<'_, Line<W>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Write> Line<W> {
    fn show(&mut self) {
        if let (true, Some(text)) = (self.long, &self.text) {
            let _ = write!(self.out, "\r\x1b[K{text}").and_then(|()| self.out.flush());
            self.shown = true;
        }
    }

    fn clear(&mut self) {
        self.text = None;
        if std::mem::take(&mut self.shown) {
            let _ = write!(self.out, "\r\x1b[K").and_then(|()| self.out.flush());
        }
    }
}

impl<W: Write + Send + 'static> Progress<W> {
    /// Onto that terminal, in a run that takes longer than `patience`.
    pub fn new(out: W, patience: Duration) -> Self {
        let line = Line { out, text: None, long: false, shown: false, ended: false };
        let shared = Arc::new(Shared { line: Mutex::new(line), ended: Condvar::new() });
        // The pass that makes the run a long one may have begun before that.
        let clock = thread::Builder::new().name("progress".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || {
                let waited = shared.ended.wait_timeout_while(shared.lock(), patience, |line| !line.ended);
                let (mut line, _) = waited.unwrap_or_else(PoisonError::into_inner);
                if !line.ended {
                    line.long = true;
                    line.show();
                }
            }
        });
        Self { shared, clock: clock.ok() }
    }
}

impl<W: Write + Send + 'static> Instrumentation for Progress<W> {
    fn before<'c>(&mut self, run: &PassRun<'_>, _: Module<'c>, _: &Context<'c>) {
        let mut line = self.shared.lock();
        line.text = Some(format!("[{}/{}] {}", run.index + 1, run.count, run.decl.name));
        line.show();
    }

    fn after<'c>(&mut self, _: &PassRun<'_>, _: Module<'c>, _: Module<'c>, _: &Context<'c>) {
        self.shared.lock().clear();
    }

    fn failed<'c>(&mut self, _: &PassRun<'_>, _: Module<'c>, _: &[Diagnostic], _: &Context<'c>) {
        self.shared.lock().clear();
    }
}

impl<W: Write + Send + 'static> Drop for Progress<W> {
    fn drop(&mut self) {
        let mut line = self.shared.lock();
        line.clear();
        line.ended = true;
        drop(line);
        self.shared.ended.notify_all();
        if let Some(clock) = self.clock.take() {
            // A panic of the clock loses nothing but the line.
            let _ = clock.join();
        }
    }
}
