//! Child processes with limits.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal, kill_process_group, pidfd_open, prlimit};

/// How long between two looks at whether a run is cancelled.
const LOOK: Duration = Duration::from_millis(20);

/// The most that a run may write into one file.
const OUTPUT_LIMIT: u64 = 1 << 30;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With that status.
    Exit(i32),
    /// By that signal.
    Signal(i32),
    /// It was ended after its time.
    TimedOut,
}

impl End {
    /// Whether somebody asked it to end: by Ctrl-C, a closed terminal, `kill`.
    fn is_request(self) -> bool {
        [Signal::INT, Signal::HUP, Signal::TERM].iter().any(|signal| self == Self::Signal(signal.as_raw()))
    }
}

/// What a run may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time.
    pub time: Duration,
    /// Address space in bytes.
    pub memory: Option<u64>,
}

/// Runs a command with its error output in a file. `None`: it was cancelled or asked to end.
///
/// # Errors
/// It cannot be started or waited for; then nothing of it runs any more.
pub fn run(
    command: &mut Command,
    errors: &Path,
    limits: Limits,
    cancelled: &dyn Fn() -> bool,
) -> std::io::Result<Option<End>> {
    let errors = File::create(errors)?;
    let mut limited = limits.memory.map(|memory| with_memory(command, memory));
    let command = limited.as_mut().unwrap_or(command);
    // A group of its own: what it starts ends with it, and an interrupt at the terminal does not reach it.
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors).process_group(0).spawn()?;
    let pid = Pid::from_child(&child);
    let cap = |limit| Rlimit { current: Some(limit), maximum: Some(limit) };
    // A process that has ended already needs no limits.
    let _ = prlimit(Some(pid), Resource::Fsize, cap(OUTPUT_LIMIT));
    let _ = prlimit(Some(pid), Resource::Core, cap(0));
    let watched = watch(pid, limits.time, cancelled);
    // It, or what it has started and left behind; before it is waited for, after which the number may be another's.
    let _ = kill_process_group(pid, Signal::KILL);
    let end = ended(child.wait()?);
    Ok(match watched? {
        // A Ctrl-C can reach it before it has a group: then it is no answer how it ended.
        Watched::Ended if cancelled() || end.is_request() => None,
        Watched::Ended => Some(end),
        Watched::TimedOut => Some(End::TimedOut),
        Watched::Cancelled => None,
    })
}

/// The command in so much address space from its start on: limits that are set later do not count what it has by then.
fn with_memory(command: &Command, bytes: u64) -> Command {
    let mut limited = Command::new("sh");
    limited.arg("-c").arg("ulimit -v \"$1\" && shift && exec \"$@\"").arg("sh").arg((bytes >> 10).to_string());
    limited.arg(command.get_program()).args(command.get_args());
    limited
}

/// What came first.
enum Watched {
    Ended,
    TimedOut,
    Cancelled,
}

fn watch(pid: Pid, time: Duration, cancelled: &dyn Fn() -> bool) -> std::io::Result<Watched> {
    let started = Instant::now();
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    loop {
        let left = time.saturating_sub(started.elapsed());
        let pause = Timespec { tv_sec: 0, tv_nsec: left.min(LOOK).subsec_nanos().into() };
        match poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&pause)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(Watched::Ended),
            Err(error) => return Err(error.into()),
        }
        if left.is_zero() {
            return Ok(Watched::TimedOut);
        }
        if cancelled() {
            return Ok(Watched::Cancelled);
        }
    }
}

fn ended(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exit(code),
        (None, signal) => End::Signal(signal.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::{End, Limits, run};

    fn sh(script: &str, time: Duration, memory: Option<u64>, cancelled: bool) -> Option<End> {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(&mut command, &folder.path().join("errors"), Limits { time, memory }, &|| cancelled).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn ends() {
        assert_eq!(sh("exit 3", LONG, None, false), Some(End::Exit(3)));
        assert_eq!(sh("kill -SEGV $$", LONG, None, false), Some(End::Signal(11)));
        assert_eq!(sh("kill -INT $$", LONG, None, false), None);
    }

    #[test]
    fn limits() {
        let started = Instant::now();
        assert_eq!(sh("sleep 50 & wait", Duration::from_millis(100), None, false), Some(End::TimedOut));
        assert_eq!(sh("sleep 50", LONG, None, true), None);
        let listed = "test \"$(ulimit -v)\" = 1048576 && printf %s \"two  words\" | grep -q \"two  words\"";
        assert_eq!(sh(listed, LONG, Some(1 << 30), false), Some(End::Exit(0)));
        assert_ne!(sh("exit 0", LONG, Some(1 << 20), false), Some(End::Exit(0)));
        assert!(started.elapsed() < Duration::from_secs(30));
    }
}
