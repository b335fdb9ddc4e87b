//! What a long run is at, on a terminal.

use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tf_core::op::OpName;

/// A run shorter than this is not told of.
const FIRST: Duration = Duration::from_secs(1);
/// Between two lines.
const EVERY: Duration = Duration::from_millis(250);

/// One line that is written over until this is dropped, and then cleared.
#[derive(Debug)]
pub struct Progress {
    shared: Arc<Shared>,
    ticker: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    calls: AtomicU64,
    op: Mutex<Option<OpName>>,
    done: Mutex<bool>,
    wake: Condvar,
}

/// What is behind the lock: nobody panics while holding it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Progress {
    /// On the error output, if that is a terminal.
    #[must_use]
    pub fn on_terminal() -> Option<Self> {
        stderr().is_terminal().then(|| Self::new(stderr(), FIRST, EVERY))
    }

    fn new(mut out: impl Write + Send + 'static, first: Duration, every: Duration) -> Self {
        let shared = Arc::new(Shared::default());
        let seen = Arc::clone(&shared);
        let start = Instant::now();
        let ticker = std::thread::spawn(move || {
            let (mut wait, mut written) = (first, false);
            loop {
                let done = locked(&seen.done);
                let (done, _) =
                    seen.wake.wait_timeout_while(done, wait, |done| !*done).unwrap_or_else(PoisonError::into_inner);
                if *done {
                    break;
                }
                drop(done);
                // A terminal that takes no more is no reason to stop.
                let _ = write!(out, "\r\x1b[2K{}", seen.line(start.elapsed()));
                let _ = out.flush();
                (wait, written) = (every, true);
            }
            if written {
                let _ = write!(out, "\r\x1b[2K");
                let _ = out.flush();
            }
        });
        Self { shared, ticker: Some(ticker) }
    }

    /// Notes that a call of an op begins.
    pub fn at(&self, op: OpName) {
        self.shared.calls.fetch_add(1, Ordering::Relaxed);
        *locked(&self.shared.op) = Some(op);
    }
}

impl Shared {
    fn line(&self, elapsed: Duration) -> String {
        let seconds = elapsed.as_secs();
        match *locked(&self.op) {
            Some(op) => format!("evaluating: {seconds} s, call {} is `{op}`", self.calls.load(Ordering::Relaxed)),
            None => format!("evaluating: {seconds} s"),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        *locked(&self.shared.done) = true;
        self.shared.wake.notify_all();
        if let Some(ticker) = self.ticker.take() {
            let _ = ticker.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use tf_core::op::Op;
    use tf_hir::MatMul;

    use super::Progress;

    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);

    impl Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_long_run_is_told_and_cleared_and_a_short_one_is_not() {
        let shown = |first| {
            let screen = Screen::default();
            let progress = Progress::new(screen.clone(), first, Duration::from_millis(1));
            progress.at(MatMul::DECL.name);
            while first.is_zero() && screen.0.lock().unwrap().is_empty() {
                std::thread::yield_now();
            }
            drop(progress);
            String::from_utf8(screen.0.lock().unwrap().clone()).unwrap()
        };
        let long = shown(Duration::ZERO);
        assert!(long.contains("evaluating: 0 s") && long.ends_with("\r\x1b[2K"), "{long:?}");
        assert_eq!(shown(Duration::from_secs(60)), "");
    }

    #[test]
    fn the_line_names_the_call() {
        let progress = Progress::new(std::io::sink(), Duration::from_secs(60), Duration::from_secs(60));
        assert_eq!(progress.shared.line(Duration::from_secs(2)), "evaluating: 2 s");
        progress.at(MatMul::DECL.name);
        progress.at(MatMul::DECL.name);
        assert_eq!(progress.shared.line(Duration::from_secs(3)), "evaluating: 3 s, call 2 is `tf.matmul`");
    }
}
