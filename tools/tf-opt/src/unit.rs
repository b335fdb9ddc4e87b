//! One input from text to result.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tf_core::{Arena, Context, Diagnostic, FileId, Module, SourceMap};
use tf_evaluate::CheckEach;
use tf_framework::{
    Artifact, Instrumentation, IrPrinter, IrTree, PassManager, Pipeline, Progress, Recipe, Reproducer, Statistics,
    TimeLimit, Timing, TracePage,
};
use tf_transforms::Rules;

use crate::args::Args;
use crate::driver::Driver;
use crate::error::{Outcome, Reporter, Stop, stop};
use crate::input::Unit;
use crate::{expect, input, print, shell};

/// A run shorter than this shows no line of progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a run over all inputs has in common.
pub struct Run<'r> {
    /// The registries.
    pub driver: &'r Driver,
    /// The arguments.
    pub args: &'r Args,
    /// Passes that have run before the pipeline, where a reproducer says so.
    pub earlier: Vec<String>,
    /// The pipeline's text and the name of where it stands.
    pub pipeline: (String, String),
    /// Where diagnostics go.
    pub reporter: Reporter,
    /// The clock.
    pub timing: Timing,
    /// The steps of `--trace-html`.
    pub steps: Vec<Value>,
    /// Whether a reproducer has been written; the first failure is the one to look at.
    pub reproduced: bool,
    /// How many inputs there are.
    pub count: usize,
}

impl Run<'_> {
    /// Compiles one input.
    ///
    /// # Errors
    /// Diagnostics, which have been reported.
    pub fn unit(&mut self, unit: &Unit) -> Outcome<Artifact> {
        let arena = Arena::new();
        let cx = Context::new(&arena, Arc::clone(&self.driver.ops));
        let pipeline = self.driver.pipeline(self.args, &self.pipeline, &self.earlier, cx.sources(), self.reporter)?;
        let started = Instant::now();
        let file = cx.sources().add(unit.name.as_str(), unit.text.as_str());
        let module = input::module(self.args, unit, file, &cx);
        self.timing.add("(read)", started.elapsed().as_secs_f64());
        let result = match module {
            Ok(module) => self.passes(&pipeline, unit, &cx, module),
            Err(diagnostics) => (diagnostics, Err(Stop::Reported)),
        };
        let result = self.judge(&cx, file, result)?;
        let started = Instant::now();
        let written = self.written(&cx, result);
        self.timing.add("(print)", started.elapsed().as_secs_f64());
        written
    }

    /// Reports, or compares with what the input states.
    fn judge<'c>(
        &self,
        cx: &Context<'c>,
        file: FileId,
        (diagnostics, result): (Vec<Diagnostic>, Outcome<Left<'c>>),
    ) -> Outcome<Left<'c>> {
        if !self.args.verify_diagnostics {
            self.reporter.report(&diagnostics, cx.sources());
            return result;
        }
        let wrong = expect::check(cx.sources(), file, &diagnostics);
        self.reporter.report(&wrong, cx.sources());
        match result {
            _ if !wrong.is_empty() => Err(Stop::Reported),
            // The diagnostics are as stated, so the failure is no failure, and there is nothing to write.
            Err(Stop::Reported) => Ok(Left { module: None, artifact: None }),
            result => result,
        }
    }

    fn written<'c>(&self, cx: &Context<'c>, left: Left<'c>) -> Outcome<Artifact> {
        let tfir = |text| Artifact::text("tfir", "tfir", text);
        let Some(module) = left.module else { return Ok(left.artifact.unwrap_or_else(|| tfir(String::new()))) };
        if self.args.verify_roundtrip {
            check_roundtrip(module, cx, self.reporter)?;
        }
        Ok(left.artifact.unwrap_or_else(|| tfir(print::text(module, cx, self.args.locations))))
    }

    fn passes<'c>(
        &mut self,
        pipeline: &Pipeline,
        unit: &Unit,
        cx: &Context<'c>,
        module: Module<'c>,
    ) -> (Vec<Diagnostic>, Outcome<Left<'c>>) {
        let args = self.args;
        let show = |module: Module<'_>, cx: &Context<'_>| print::text(module, cx, args.locations);
        let with_places = |module: Module<'_>, cx: &Context<'_>| print::text(module, cx, true);
        let mut statistics = Statistics::default();
        let mut printer = IrPrinter::new(args.print.clone(), &show, io::stderr());
        let mut tree = args.tree_dir.as_ref().map(|dir| IrTree::new(self.tree_dir(dir, unit), &show));
        let mut page = args.trace_html.is_some().then(|| TracePage::new(&show));
        let mut progress = self.reporter.on_terminal().then(|| Progress::new(io::stderr(), PATIENCE));
        let wanted = args.reproducer.as_ref().filter(|_| !self.reproduced);
        let mut reproducer = wanted.map(|path| {
            let reproducer = Reproducer::new(path.into(), self.recipe(), &with_places);
            if args.reproducer_of_crashes { reproducer } else { reproducer.of_failures() }
        });

        let check = args.check_each.as_ref().map(|inputs| CheckEach::new(self.driver.engines.clone(), inputs));
        let mut check = match check.transpose() {
            Ok(check) => check,
            Err(error) => return (vec![error.coded("check-each")], Err(Stop::Reported)),
        };

        let limit = args.pass_time_limit.map(|limit| {
            let (reporter, reproducer) = (self.reporter, wanted.cloned());
            TimeLimit::new(limit, move |pass| too_long(pass, limit, reproducer.as_deref(), reporter))
        });
        let mut limit = match limit.transpose() {
            Ok(limit) => limit,
            Err(error) => return (Vec::new(), stop(format!("cannot watch the time of passes: {error}"))),
        };

        let mut manager = PassManager::default().remarks(args.remarks, &args.remarks_from);
        if args.verify_each {
            manager = manager.verify_with(&Rules);
        }
        manager = manager.instrument(&mut self.timing).instrument(&mut statistics);
        // The limit comes before what evaluates programs, whose time is none of the pass's.
        let optional: [Option<&mut dyn Instrumentation>; 6] = [
            limit.as_mut().map(|l| l as _),
            check.as_mut().map(|c| c as _),
            reproducer.as_mut().map(|r| r as _),
            tree.as_mut().map(|t| t as _),
            page.as_mut().map(|p| p as _),
            progress.as_mut().map(|p| p as _),
        ];
        for instrument in optional.into_iter().flatten() {
            manager = manager.instrument(instrument);
        }
        let result = manager.instrument(&mut printer).run(pipeline, cx, module);

        self.steps.extend(page.into_iter().flat_map(TracePage::into_steps));
        if args.stats {
            let _ = io::Write::write_all(&mut io::stderr().lock(), statistics.report().as_bytes());
        }
        let mut told = Ok(());
        if let Some((path, error)) = tree.and_then(IrTree::into_error) {
            told = stop(format!("cannot write `{}`: {error}", path.display()));
        }
        if let (Some(reproducer), Some(path)) = (reproducer, wanted) {
            match reproducer.outcome() {
                Ok(failed) => self.reproduced |= failed,
                Err(error) => told = stop(format!("cannot write `{path}`: {error}")),
            }
        }
        let warnings = check.map(CheckEach::into_warnings).unwrap_or_default();
        match result {
            Ok(mut outcome) => {
                outcome.diagnostics.extend(warnings);
                let left = Left { module: Some(outcome.module), artifact: outcome.artifacts.pop() };
                (outcome.diagnostics, told.map(|()| left))
            }
            Err(mut failure) => {
                failure.diagnostics.splice(0..0, warnings);
                (failure.diagnostics, told.and(Err(Stop::Reported)))
            }
        }
    }

    fn recipe(&self) -> Recipe {
        Recipe {
            pipeline: String::new(),
            after: self.earlier.clone(),
            verify_each: self.args.verify_each,
            check_each: self.args.check_each.as_ref().map(ToString::to_string),
            threads: self.args.threads,
            plugins: self.args.plugins.clone(),
        }
    }

    fn tree_dir(&self, dir: &str, unit: &Unit) -> PathBuf {
        if self.count > 1 { Path::new(dir).join(&unit.stem) } else { dir.into() }
    }
}

/// Ends the process: a pass has run for too long. The reproducer is there, as for a pass that brings the process down.
fn too_long(pass: &str, limit: Duration, reproducer: Option<&str>, reporter: Reporter) {
    let seconds = limit.as_secs();
    let mut error = Diagnostic::error(format!("pass `{pass}` has not ended after {seconds} s")).coded("time-limit");
    if let Some(path) = reproducer {
        let run = format!("tf-opt --run-reproducer {} --pass-time-limit={seconds}", shell::quoted(path));
        // Why the file could not be written, the thread that runs the pass knows.
        let note = match Path::new(path).is_file() {
            true => format!("`{path}` shows it again: {run}"),
            false => format!("the reproducer `{path}` could not be written"),
        };
        error = error.with_note(None, note);
    }
    reporter.report(&[error.with_help("`--pass-time-limit` is the time that a pass may take")], &SourceMap::default());
    std::process::exit(1);
}

/// What a pipeline left.
struct Left<'c> {
    /// `None`: it failed as the input states.
    module: Option<Module<'c>>,
    /// The last artifact.
    artifact: Option<Artifact>,
}

/// Printing, parsing and printing again gives the same text.
fn check_roundtrip<'c>(module: Module<'c>, cx: &Context<'c>, reporter: Reporter) -> Outcome<()> {
    let first = print::text(module, cx, false);
    let id = cx.sources().add("<printed IR>", first.as_str());
    let again = match tf_text::parse_module(cx, id) {
        Ok(parsed) => print::text(parsed, cx, false),
        Err(diagnostics) => {
            reporter.report(&diagnostics, cx.sources());
            return stop("the printed IR does not parse back");
        }
    };
    let differs = first.lines().zip(again.lines()).position(|(a, b)| a != b);
    match differs.or((first != again).then_some(first.lines().count().min(again.lines().count()))) {
        None => Ok(()),
        Some(line) => {
            let of = |text: &str| text.lines().nth(line).unwrap_or("(nothing)").to_owned();
            stop(format!(
                "the printed IR parses back to another module: line {} is\n  {}\nand then\n  {}",
                line + 1,
                of(&first),
                of(&again)
            ))
        }
    }
}
