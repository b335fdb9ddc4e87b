//! A limit on how long a pass may run.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tf_core::{Context, Diagnostic, Module, Result};

use super::{Instrumentation, PassRun};

/// Watches how long passes run, each with the verifier on what it leaves. The time of a pass inside another one is that of the inner one only.
/// A pass that never ends cannot be ended: what to do then, a function says, which runs in a thread of its own.
pub struct TimeLimit {
    limit: Duration,
    shared: Arc<Shared>,
    watch: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    /// The state has changed.
    changed: Condvar,
}

struct State {
    /// The passes that run, each inside the one before.
    running: Vec<Running>,
    ended: bool,
}

struct Running {
    number: String,
    text: String,
    /// What is left for it.
    left: Duration,
    /// Since when it runs; `None`: one inside it does.
    since: Option<Instant>,
}

impl Running {
    fn pause(&mut self) {
        if let Some(since) = self.since.take() {
            self.left = self.left.saturating_sub(since.elapsed());
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a pass has run out of time, and gives its text; `None`: the run has ended before.
    fn expired(&self) -> Option<String> {
        let mut state = self.lock();
        while !state.ended {
            let last = state.running.last();
            let left = last.and_then(|last| Some(last.left.saturating_sub(last.since?.elapsed())));
            state = match (left, last) {
                (Some(Duration::ZERO), Some(last)) => return Some(last.text.clone()),
                (Some(left), _) => self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
                _ => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        None
    }
}

impl TimeLimit {
    /// `expired` is called once, with the text of a pass that has run longer.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn new(limit: Duration, expired: impl FnOnce(&str) + Send + 'static) -> std::io::Result<Self> {
        let state = Mutex::new(State { running: Vec::new(), ended: false });
        let shared = Arc::new(Shared { state, changed: Condvar::new() });
        let watch = thread::Builder::new().name("time-limit".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || {
                if let Some(pass) = shared.expired() {
                    expired(&pass);
                }
            }
        })?;
        Ok(Self { limit, shared, watch: Some(watch) })
    }

    fn ended(&self, number: &str) {
        let mut state = self.shared.lock();
        if state.running.pop_if(|last| last.number == number).is_some()
            && let Some(outer) = state.running.last_mut()
        {
            outer.since = Some(Instant::now());
        }
        drop(state);
        self.shared.changed.notify_all();
    }
}

impl Instrumentation for TimeLimit {
    fn before<'c>(&mut self, run: &PassRun<'_>, _: Module<'c>, _: &Context<'c>) {
        let mut state = self.shared.lock();
        if let Some(outer) = state.running.last_mut() {
            outer.pause();
        }
        let (number, text, since) = (run.number.to_owned(), run.text.to_owned(), Some(Instant::now()));
        state.running.push(Running { number, text, left: self.limit, since });
        drop(state);
        self.shared.changed.notify_all();
    }

    fn check<'c>(&mut self, run: &PassRun<'_>, _: Module<'c>, _: Module<'c>, _: &Context<'c>) -> Result<()> {
        self.ended(run.number);
        Ok(())
    }

    fn failed<'c>(&mut self, run: &PassRun<'_>, _: Module<'c>, _: &[Diagnostic], _: &Context<'c>) {
        self.ended(run.number);
    }
}

impl Drop for TimeLimit {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_all();
        if let Some(watch) = self.watch.take() {
            // A panic of the watch was a panic of what it called.
            let _ = watch.join();
        }
    }
}
