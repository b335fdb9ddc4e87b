//! A reduction from arguments to result.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tf_core::Diagnostic;
use tf_framework::Recipe;
use tf_opt::shell::quoted;
use tf_shrink::{Case, Inputs, Search, Test, Verdicts, reductions, size_of};

use crate::args::{Args, Emit, TestArg};
use crate::child::Limits;
use crate::files::Files;
use crate::input::{self, Input};
use crate::output::{self, note};
use crate::progress::Progress;
use crate::state::State;
use crate::test::{Runner, Seen, Tester, Wanted};

/// How many sets of inputs are made up unless told, as `--check-each` does.
const SETS: usize = 6;

/// How often the state is written.
const SAVE: Duration = Duration::from_secs(2);

/// The driver: beside this program, unless told.
fn driver(args: &Args) -> Result<PathBuf, String> {
    let path = match &args.tf_opt {
        Some(path) => path.clone(),
        None => std::env::current_exe().map_err(|error| error.to_string())?.with_file_name("tf-opt"),
    };
    match path.exists() {
        true => Ok(path),
        false => Err(format!("no driver at `{}`; `--tf-opt` says where it is", path.display())),
    }
}

/// The pipeline with named ones expanded, so that the passes in them can go one by one.
fn expanded(tf_opt: &Path, text: &str, plugins: &[String]) -> Result<String, String> {
    let mut command = Command::new(tf_opt);
    command.arg("--dump-pipeline").arg(format!("--pipeline={text}"));
    command.args(plugins.iter().map(|plugin| format!("--load-pass-plugin={plugin}")));
    let run = command.output().map_err(|error| format!("cannot start `{}`: {error}", tf_opt.display()))?;
    if !run.status.success() {
        let errors = String::from_utf8_lossy(&run.stderr).into_owned();
        return Err(errors.strip_prefix("error: ").unwrap_or(&errors).trim_end().to_owned());
    }
    Ok(String::from_utf8_lossy(&run.stdout).into_owned())
}

/// Runs the driver on the case as it is.
fn see(runner: &Runner, case: &Case, stop: &dyn Fn() -> bool) -> Result<Seen, String> {
    let seen = runner.see(case, stop).map_err(|error| format!("cannot run `{}`: {error}", runner.tf_opt.display()))?;
    seen.ok_or_else(|| EARLY.to_owned())
}

/// What a first run that was cancelled is an error of, until it is known why.
const EARLY: &str = "cancelled";

/// What runs cases: of two searches with different answers, this or the case or the test differs.
fn setting(runner: &Runner, args: &Args) -> String {
    let files = std::iter::once(runner.tf_opt.clone()).chain(runner.recipe.plugins.iter().map(PathBuf::from));
    let files = files.map(|path| {
        let found = path.metadata().ok();
        let written = found.as_ref().and_then(|found| found.modified().ok());
        let since = written.and_then(|written| written.duration_since(std::time::UNIX_EPOCH).ok());
        let path = path.canonicalize().unwrap_or(path);
        format!("{} {:?} {:?}\n", path.display(), found.map(|found| found.len()), since.map(|since| since.as_nanos()))
    });
    let limits = format!("{:?} {:?}\n", args.timeout, args.memory_limit);
    files.chain([limits, runner.recipe.header(&[])]).collect()
}

/// Whether a signal is ignored, as `nohup` has it for a hangup: then it stays so.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// What is looked for, and the case with what that needs.
fn wanted(args: &Args, runner: &Runner, case: &mut Case, stop: &dyn Fn() -> bool) -> Result<Wanted, String> {
    let made_up = matches!(case.inputs, Inputs::None) && matches!(args.test, None | Some(TestArg::WrongResult(_)));
    if made_up {
        case.inputs = Inputs::Generated(SETS);
    }
    let of_run =
        |case: &Case| Ok::<_, String>((Wanted::of(&see(runner, case, stop)?), case.pipeline.elements.is_empty()));
    Ok(match &args.test {
        Some(TestArg::WrongResult(pass)) => Wanted::WrongResult(pass.clone()),
        Some(TestArg::Hang) => Wanted::Hang,
        Some(TestArg::Message(text)) => Wanted::Message(text.clone()),
        Some(TestArg::Command(command)) => Wanted::Command(command.clone()),
        Some(TestArg::Crash) => match of_run(case)? {
            (Some(crash @ (Wanted::Signal(_) | Wanted::Panic(_))), _) => crash,
            (found, _) => {
                let found = found.map_or_else(|| "tf-opt ends well".to_owned(), |found| found.to_string());
                return Err(format!("`{}` does not crash: {found}", args.file));
            }
        },
        None => match of_run(case)? {
            (Some(found), _) => {
                // Evaluation was tried because nothing was said; what shows without it needs none.
                let plain = Case { inputs: Inputs::None, ..case.clone() };
                if made_up && see(runner, &plain, stop).is_ok_and(|seen| found.shown(&seen)) {
                    *case = plain;
                }
                found
            }
            (None, true) => {
                return Err(format!(
                    "`{}` has no pipeline; write `--pipeline` and what to look for, `--test`",
                    args.file
                ));
            }
            (None, false) => {
                return Err(format!("`{}` runs without a fault; `--test` says what to look for", args.file));
            }
        },
    })
}

/// What a run says of the case in the end, for the head of the file.
fn errors_of(runner: &Runner, wanted: &Wanted, case: &Case) -> Vec<Diagnostic> {
    if matches!(wanted, Wanted::Command(_) | Wanted::Hang) {
        return Vec::new();
    }
    let seen = runner.see(case, &|| false).ok().flatten();
    let errors = seen.into_iter().flat_map(|seen| seen.said).filter(|said| said.is_error);
    errors.map(|said| Diagnostic::error(said.message)).collect()
}

/// Reduces as the arguments say.
///
/// # Errors
/// Wrong arguments or files; the test does not hold at the start; a file cannot be written, a case cannot be run.
pub fn run(args: &Args) -> Result<(), String> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal)) {
        // The second one ends the program at once.
        let twice = signal_hook::flag::register_conditional_default(signal, Arc::clone(&interrupted));
        let once = signal_hook::flag::register(signal, Arc::clone(&interrupted));
        twice.and(once).map_err(|error| error.to_string())?;
    }
    let deadline = args.time_limit.map(|limit| Instant::now() + limit);
    let stop = || interrupted.load(Ordering::Relaxed) || deadline.is_some_and(|deadline| Instant::now() >= deadline);

    let tf_opt = driver(args)?;
    let Input { mut case, recipe, ops, files: mut kept } =
        input::read(args, |text, plugins| expanded(&tf_opt, text, plugins))?;
    kept.push(tf_opt.clone());
    let files = Files::new(args, &kept)?;
    let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let limits = Limits { time: args.timeout, memory: args.memory_limit };
    let recipe = Recipe { pipeline: String::new(), ..recipe };
    let runner = Runner { tf_opt, limits, recipe, folder };
    let why_stopped = || if interrupted.load(Ordering::Relaxed) { "interrupted" } else { "the time is up" };
    let early = || format!("{} before it was known whether the test holds for `{}`", why_stopped(), args.file);
    if let Some(limit) = args.memory_limit {
        let pipeline = case.pipeline.to_string();
        let starts = runner.starts(&pipeline, &stop).map_err(|error| format!("cannot run the driver: {error}"))?;
        if !starts.ok_or_else(early)? {
            return Err(format!(
                "the driver does not start within `--memory-limit={}`; the limit is on the address space of a run, in MiB",
                limit >> 20
            ));
        }
    }
    let wanted =
        wanted(args, &runner, &mut case, &stop).map_err(|error| if error == EARLY { early() } else { error })?;
    let tester = Tester { runner: &runner, wanted };
    let first = size_of(&case, &ops);
    if !tester.holds(&case, &stop)?.ok_or_else(early)? {
        let hint = match (&tester.wanted, case.pipeline.elements.is_empty()) {
            (Wanted::Command(_), _) => "",
            (_, true) => "; it has no pipeline: write `--pipeline`",
            (_, false) => "; run tf-opt on it to see what it shows",
        };
        return Err(format!("the test does not hold for `{}` as it is ({}){hint}", args.file, tester.wanted));
    }

    let state = State::new(files.state.clone(), case.fingerprint(), tester.wanted.to_string(), setting(&runner, args));
    let verdicts = if args.resume { state.load()? } else { Verdicts::default() };
    let mut search = Search { ops: Arc::clone(&ops), test: &tester, jobs: args.jobs, stop: &stop, verdicts, runs: 0 };
    let mut progress = Progress::new();
    let (mut ops_left, mut saved, mut is_saved) = (first.ops, Instant::now(), false);
    let best = search.run(case, &reductions(), &mut |status| {
        if status.shrunk {
            ops_left = size_of(status.best, &ops).ops;
        }
        progress.show(status, ops_left);
        if saved.elapsed() > SAVE {
            saved = Instant::now();
            output::write(status.best, (&files.partial, Emit::Tfir), &runner, &ops, &[])?;
            is_saved = true;
            state.save(status.verdicts)?;
        }
        Ok(())
    });
    progress.clear();
    let best = best.map_err(|error| match is_saved {
        true => format!("{error}; the best so far is `{}`", files.partial.display()),
        false => error,
    })?;
    let stopped = stop();
    if stopped {
        state.save(&search.verdicts)?;
    } else if is_saved || args.resume {
        state.remove();
    }
    let runs = search.runs;
    let errors = if stopped { Vec::new() } else { errors_of(&runner, &tester.wanted, &best) };
    let (output, emit) = language(args, &best, &tester, &ops, &files);
    output::write(&best, (&output, emit), &runner, &ops, &errors)?;
    if is_saved {
        let _ = std::fs::remove_file(&files.partial);
        if matches!(best.inputs, Inputs::Tensors(_)) {
            let _ = std::fs::remove_file(output::tensors_path(&files.partial));
        }
    }

    let last = size_of(&best, &ops);
    note(&format!(
        "{} became {}, in {runs} runs and {:.1} s",
        counted(first),
        counted(last),
        progress.elapsed().as_secs_f64()
    ));
    let again = match emit {
        Emit::Tfir => format!("tf-opt --run-reproducer {}", quoted(&output.display().to_string())),
        Emit::Dsl => output::command(&best, &output, &runner),
    };
    note(&format!("`{}` shows it: {again}", output.display()));
    if stopped {
        note(&format!("{}; the same command with `--resume` goes on", why_stopped()));
    }
    Ok(())
}

fn counted(size: tf_shrink::Size) -> String {
    let of = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    format!("{} in {}", of(size.ops, "op"), of(size.functions, "function"))
}

/// The file and the language of the result: textual IR where Python syntax cannot say it, or does not show the fault.
fn language(
    args: &Args,
    best: &Case,
    tester: &Tester<'_>,
    ops: &Arc<tf_core::op::OpRegistry>,
    files: &Files,
) -> (PathBuf, Emit) {
    if args.emit() == Emit::Tfir {
        return (files.output.clone(), Emit::Tfir);
    }
    let why = match output::dsl(best, ops) {
        Err(why) => why,
        Ok(program) => match input::python(&program, ops) {
            Some(module) => {
                let again = Case { module: module.into(), ..best.clone() };
                match tester.holds(&again, &|| false) {
                    Ok(Some(true)) => return (files.output.clone(), Emit::Dsl),
                    _ => "read back, it does not show the fault".to_owned(),
                }
            }
            None => "it does not read back".to_owned(),
        },
    };
    note(&format!("what is left is written as textual IR, not in Python syntax: {why}"));
    (files.textual.clone(), Emit::Tfir)
}
