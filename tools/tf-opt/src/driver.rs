//! From arguments to output.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use tf_core::diag::did_you_mean;
use tf_core::op::{OpRegistry, RegistryError};
use tf_core::{Diagnostic, SourceMap};
use tf_evaluate::{Engines, Reference};
use tf_framework::{PassRegistry, Pipeline, Timing, TraceLog, TracePage};

use crate::args::{Args, Request};
use crate::builtins::Builtins;
use crate::error::{Outcome, Reporter, Stop, stop};
use crate::hand_over::hand_over;
use crate::output::Written;
use crate::unit::Run;
use crate::{completions, docs, help, input, output, plugins, print, reference, shell, stubs};

/// Where `--check-each` and `--pass-time-limit` write what shows a wrong pass again, unless `--reproducer` says where.
const CHECK_REPRODUCER: &str = "tf-opt-check.tfir";

/// A driver whose registries are complete.
pub struct Driver {
    name: &'static str,
    sibling: Option<&'static str>,
    versions: fn() -> String,
    /// Ops and their rules.
    pub ops: Arc<OpRegistry>,
    passes: PassRegistry,
    /// Engines by name.
    pub engines: Engines,
}

impl Driver {
    fn new(mut builtins: Builtins, args: &Args, trace: Option<&Arc<TraceLog>>, reporter: Reporter) -> Outcome<Self> {
        let loaded = plugins::load(&mut builtins, &args.plugins, trace).map_err(|error| {
            reporter.report(&[error], &SourceMap::default());
            Stop::Reported
        })?;
        let Builtins { name, dialects, lowering, mut passes, patterns, engines: added, sibling, versions, .. } =
            builtins;
        let with = if loaded.is_empty() { String::new() } else { format!(" with plugin `{}`", loaded.join("`, `")) };
        let misfit =
            |errors: Vec<RegistryError>| Stop::Said(plugins::misfit(&format!("the dialects of {name}{with}"), &errors));
        let (ops, rules) = plugins::freeze(dialects).map_err(misfit)?;
        let unfit: Vec<_> = patterns.mistakes().to_vec();
        tf_transforms::register(&mut passes, &rules, patterns);
        tf_lower::register(&mut passes, lowering.freeze(&ops).map_err(misfit)?);
        let mut engines = Engines::default();
        engines.add(Reference::new(rules));
        engines.extend(added);
        tf_evaluate::register(&mut passes, &engines);
        passes.module_pass(print::Print::new());
        let mistakes: Vec<_> = passes.mistakes().iter().cloned().chain(unfit).collect();
        match &mistakes[..] {
            [] => Ok(Self { name, sibling, versions, ops, passes, engines }),
            mistakes => stop(plugins::misfit(&format!("the passes of {name}{with}"), mistakes)),
        }
    }

    /// Tries the sibling, and says why it is not there.
    fn hand_over(&self) -> Option<String> {
        let sibling = self.sibling?;
        match hand_over(sibling) {
            Ok(never) => match never {},
            Err(note) => Some(note),
        }
    }

    /// Builds the pipeline; mistakes are reported.
    ///
    /// # Errors
    /// The text is no pipeline of this driver or of its sibling.
    pub fn pipeline(
        &self,
        args: &Args,
        (name, text): &(String, String),
        earlier: &[String],
        sources: &SourceMap,
        reporter: Reporter,
    ) -> Outcome<Pipeline> {
        let result = Pipeline::build_after(&self.passes, sources, name, text, earlier);
        let named = self.unknown_named(args);
        let missing = result.as_ref().is_err_and(|error| error.missing) || named.is_some();
        let note = if missing { self.hand_over() } else { None };
        let mut diagnostics = match (result, named) {
            (Ok(pipeline), None) => return Ok(pipeline),
            (Err(error), _) => error.diagnostics,
            (Ok(_), Some(error)) => vec![error],
        };
        if let (Some(note), Some(first)) = (note, diagnostics.first_mut()) {
            first.notes.push((None, note));
        }
        reporter.report(&diagnostics, sources);
        Err(Stop::Reported)
    }

    /// What is wrong with the passes that options other than the pipeline name.
    fn unknown_named(&self, args: &Args) -> Option<Diagnostic> {
        let options = [
            ("print-ir-before", &args.print.before),
            ("print-ir-after", &args.print.after),
            ("remarks-from", &args.remarks_from),
        ];
        let mut named = options.into_iter().flat_map(|(option, names)| names.iter().map(move |name| (option, name)));
        let (option, name) = named.find(|(_, name)| self.passes.get(name).is_none())?;
        Some(self.unknown_pass(name).with_note(None, format!("`--{option}` names it")))
    }

    fn unknown_pass(&self, name: &str) -> Diagnostic {
        let near = did_you_mean(name, self.passes.iter().map(|entry| entry.name));
        let help = near
            .map_or_else(|| "`--list-passes` lists all passes".to_owned(), |near| format!("did you mean `{near}`?"));
        Diagnostic::error(format!("unknown pass `{name}`")).coded("usage").with_help(help)
    }

    /// What users type: of two siblings the one with the shorter name.
    fn program(&self) -> &'static str {
        self.name.strip_suffix("-llvm").unwrap_or(self.name)
    }

    /// Answers a question about the driver itself.
    fn tell(&self, request: &Request, reporter: Reporter) -> Outcome<()> {
        match request {
            Request::Version => {
                // The sibling knows the version of LLVM too.
                self.hand_over();
                output::stdout(
                    format!("{} {}\n{}", self.program(), env!("CARGO_PKG_VERSION"), (self.versions)()).as_bytes(),
                )
            }
            Request::ListPasses => {
                // The sibling's list holds these and its own.
                self.hand_over();
                output::stdout(help::passes(&self.passes).as_bytes())
            }
            Request::EmitDocs(folder) => {
                self.hand_over();
                docs::emit(&self.passes, folder)?;
                reference::emit(&self.ops, folder)
            }
            Request::EmitStubs(folder) => stubs::emit(&self.ops, folder),
            Request::Completions(shell) => {
                self.hand_over();
                output::stdout(completions::script(shell, self.program(), &self.passes).as_bytes())
            }
            Request::HelpPass(name) => match self.passes.get(name) {
                Some(entry) => output::stdout(entry.help().as_bytes()),
                None => {
                    let mut error = self.unknown_pass(name);
                    error.notes.extend(self.hand_over().map(|note| (None, note)));
                    reporter.report(&[error], &SourceMap::default());
                    Err(Stop::Reported)
                }
            },
            Request::ShowOp(name) => output::stdout(reference::show(&self.ops, name)?.as_bytes()),
            Request::Help => output::stdout(help::usage(self.name).as_bytes()),
            Request::Run | Request::DumpPipeline => Ok(()),
        }
    }
}

/// Runs the driver on the process's arguments; what ends in exit status 1 has been reported.
pub fn run(builtins: Builtins) -> Result<(), ()> {
    let timing = Timing::start();
    tf_framework::record_panics();
    let parsed = Args::parse(&mut lexopt::Parser::from_env());
    let reporter = Reporter::new(parsed.as_ref().unwrap_or(&Args::default()));
    let outcome = parsed.and_then(|args| with_args(builtins, args, timing, reporter));
    outcome.map_err(|stop| {
        if let Stop::Said(message) = stop {
            reporter.say(&message);
        }
    })
}

fn with_args(builtins: Builtins, mut args: Args, timing: Timing, reporter: Reporter) -> Outcome<()> {
    let is_reproducer = args.run_reproducer.is_some();
    let earlier = input::follow_recipe(&mut args)?;
    let is_checked = args.check_each.is_some() || args.pass_time_limit.is_some();
    if is_checked && !is_reproducer && args.reproducer.is_none() {
        args.reproducer = Some(CHECK_REPRODUCER.to_owned());
        args.reproducer_of_crashes = args.pass_time_limit.is_some();
    }
    let trace = args.trace.as_ref().map(|_| Arc::new(TraceLog::default()));
    if let Some(trace) = &trace {
        trace.install();
    }
    let driver = Driver::new(builtins, &args, trace.as_ref(), reporter)?;
    if !matches!(args.request, Request::Run | Request::DumpPipeline) {
        return driver.tell(&args.request, reporter);
    }
    let all = || compile(&driver, &args, earlier, timing, reporter);
    let outcome = match args.threads {
        None => all(),
        Some(threads) => match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) => pool.install(all),
            Err(error) => stop(format!("cannot start {threads} threads: {error}")),
        },
    };
    match (&args.trace, trace) {
        (Some(path), Some(trace)) => outcome.and(output::file(Path::new(path), trace.to_json().as_bytes())),
        _ => outcome,
    }
}

/// The pipeline's text and the name of where it stands.
fn pipeline_text(args: &Args) -> Outcome<(String, String)> {
    match (&args.pipeline, &args.pipeline_file) {
        (Some(_), Some(_)) => stop("`--pipeline` and `--pipeline-file` are both given"),
        (None, Some(file)) => Ok((file.clone(), input::read(file)?)),
        (text, None) => Ok(("<pipeline>".to_owned(), text.clone().unwrap_or_default())),
    }
}

fn compile(driver: &Driver, args: &Args, earlier: Vec<String>, timing: Timing, reporter: Reporter) -> Outcome<()> {
    let pipeline = pipeline_text(args)?;
    if args.request == Request::DumpPipeline {
        let pipeline = driver.pipeline(args, &pipeline, &earlier, &SourceMap::default(), reporter)?;
        return output::stdout(format!("{pipeline}\n").as_bytes());
    }
    // Its mistakes come before those of the inputs.
    driver.pipeline(args, &pipeline, &earlier, &SourceMap::default(), reporter)?;
    let units = input::units(args)?;
    let mut run = Run {
        driver,
        args,
        earlier,
        pipeline,
        reporter,
        timing,
        steps: Vec::new(),
        reproduced: false,
        count: units.len(),
    };
    let (mut results, mut failed) = (Vec::new(), Ok(()));
    for unit in units {
        match run.unit(&unit) {
            Ok(artifact) => results.push(Written { stem: unit.stem, artifact }),
            Err(stop @ Stop::Said(_)) => return Err(stop),
            Err(Stop::Reported) => failed = Err(Stop::Reported),
        }
    }
    if let Some(format) = args.timing {
        let _ = io::stderr().lock().write_all(run.timing.report(format).as_bytes());
    }
    if let Some(path) = &args.trace_html {
        let page = TracePage::page(&args.files.join(" "), run.steps);
        output::file(Path::new(path), page.as_bytes())?;
    }
    if let (true, Some(path)) = (run.reproduced, &args.reproducer) {
        let run = format!("tf-opt --run-reproducer {}", shell::quoted(path));
        reporter.note(&format!("`{path}` shows the failure again: {run}"));
    }
    // A file is complete or as it was; on the standard output each input stands for itself.
    let to_file = args.output.as_deref().is_some_and(|path| path != "-");
    if failed.is_err() && (to_file || results.is_empty()) {
        return failed;
    }
    output::write(args.output.as_deref(), &results)?;
    failed
}
