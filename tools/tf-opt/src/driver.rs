//! From arguments to output.

use std::io;
use std::sync::Arc;

use tf_core::op::{OpRegistry, RegistryError};
use tf_core::{Arena, Context, Module};
use tf_evaluate::{Engines, Reference};
use tf_framework::{Artifact, IrPrinter, PassManager, PassRegistry, Pipeline, Statistics, Timing};
use tf_transforms::Rules;

use crate::args::{Args, Request};
use crate::builtins::Builtins;
use crate::error::{Outcome, Stop, report, stop};
use crate::hand_over::hand_over;
use crate::{help, input, output, print};

/// A driver whose registries are complete.
struct Driver {
    name: &'static str,
    sibling: Option<&'static str>,
    ops: Arc<OpRegistry>,
    passes: PassRegistry,
}

impl Driver {
    fn new(builtins: Builtins) -> Outcome<Self> {
        let Builtins { name, dialects, lowering, mut passes, engines: added, sibling } = builtins;
        let misfit = |errors: Vec<RegistryError>| {
            let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
            Stop::Said(format!("the dialects of {name} do not fit together: {}", errors.join("; ")))
        };
        let (ops, rules) = dialects.freeze().map_err(misfit)?;
        tf_lower::register(&mut passes, lowering.freeze(&ops).map_err(misfit)?);
        let mut engines = Engines::default();
        engines.add(Reference::new(rules));
        engines.extend(added);
        tf_evaluate::register(&mut passes, &engines);
        passes.module_pass(print::Print::new());
        match passes.mistakes() {
            [] => Ok(Self { name, sibling, ops, passes }),
            mistakes => stop(format!("the passes of {name} do not fit together: {}", mistakes.join("; "))),
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
}

/// Runs the driver on the process's arguments.
///
/// # Errors
/// Everything that ends in exit status 1.
pub fn run(builtins: Builtins) -> Outcome<()> {
    let args = Args::parse(&mut lexopt::Parser::from_env())?;
    let driver = Driver::new(builtins)?;
    match &args.request {
        Request::Help => output::stdout(help::usage(driver.name).as_bytes()),
        Request::Version => output::stdout(format!("{} {}\n", driver.name, env!("CARGO_PKG_VERSION")).as_bytes()),
        Request::ListPasses => {
            // The sibling's list holds these and its own.
            driver.hand_over();
            output::stdout(help::passes(&driver.passes).as_bytes())
        }
        Request::HelpPass(name) => match driver.passes.get(name) {
            Some(entry) => output::stdout(entry.help().as_bytes()),
            None => {
                let note = driver.hand_over().map(|note| format!("; {note}")).unwrap_or_default();
                stop(format!("unknown pass `{name}`; `--list-passes` lists all passes{note}"))
            }
        },
        Request::ShowOp(name) => match help::op(&driver.ops, name) {
            Some(text) => output::stdout(text.as_bytes()),
            None => {
                let names: Vec<_> = driver.ops.iter().map(|(_, decl)| decl.name.to_string()).collect();
                let near = tf_core::diag::did_you_mean(name, names.iter().map(String::as_str));
                let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                stop(format!("unknown op `{name}`{hint}"))
            }
        },
        Request::Run | Request::DumpPipeline => match args.threads {
            None => compile(&driver, &args),
            Some(threads) => match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
                Ok(pool) => pool.install(|| compile(&driver, &args)),
                Err(error) => stop(format!("cannot start {threads} threads: {error}")),
            },
        },
    }
}

fn compile(driver: &Driver, args: &Args) -> Outcome<()> {
    let arena = Arena::new();
    let cx = Context::new(&arena, Arc::clone(&driver.ops));
    let pipeline = build(driver, args, &cx)?;
    if args.request == Request::DumpPipeline {
        return output::stdout(format!("{pipeline}\n").as_bytes());
    }
    let module = input::module(args, &cx)?;
    let (module, artifact) = run_passes(&pipeline, args, &cx, module)?;
    if args.verify_roundtrip {
        check_roundtrip(module, &cx)?;
    }
    let artifact = artifact.unwrap_or_else(|| Artifact::text("tfir", "tfir", print::text(module, &cx, args.locations)));
    output::write(args.output.as_deref(), &artifact)
}

fn build(driver: &Driver, args: &Args, cx: &Context<'_>) -> Outcome<Pipeline> {
    let named = args.before.iter().chain(&args.after).find(|name| driver.passes.get(name).is_none());
    let result = Pipeline::build(&driver.passes, cx.sources(), "<pipeline>", &args.pipeline);
    let missing = result.as_ref().is_err_and(|error| error.missing) || named.is_some();
    let note = if missing { driver.hand_over() } else { None };
    match (result, named) {
        (Err(mut error), _) => {
            if let (Some(note), Some(last)) = (note, error.diagnostics.last_mut()) {
                last.notes.push((None, note));
            }
            report(&error.diagnostics, cx.sources());
            Err(Stop::Reported)
        }
        (Ok(_), Some(name)) => {
            stop(format!("no pass `{name}` to print the IR around; `--list-passes` lists all passes"))
        }
        (Ok(pipeline), None) => Ok(pipeline),
    }
}

fn run_passes<'c>(
    pipeline: &Pipeline,
    args: &Args,
    cx: &Context<'c>,
    module: Module<'c>,
) -> Outcome<(Module<'c>, Option<Artifact>)> {
    let (mut timing, mut statistics) = (Timing::default(), Statistics::default());
    let mut printer = IrPrinter {
        before: args.before.clone(),
        after: args.after.clone(),
        after_all: args.after_all,
        print: &|module, cx| print::text(module, cx, args.locations),
        out: Box::new(io::stderr()),
    };
    let mut manager = PassManager::default();
    if args.verify_each {
        manager = manager.verify_with(&Rules);
    }
    let mut manager = manager.instrument(&mut timing).instrument(&mut statistics).instrument(&mut printer);
    let result = manager.run(pipeline, cx, module);
    drop(manager);
    let diagnostics = match &result {
        Ok(outcome) => &outcome.diagnostics,
        Err(failure) => &failure.diagnostics,
    };
    report(diagnostics, cx.sources());
    let mut out = io::stderr().lock();
    for text in [args.timing.then(|| timing.report()), args.stats.then(|| statistics.report())].into_iter().flatten() {
        let _ = io::Write::write_all(&mut out, text.as_bytes());
    }
    match result {
        Ok(mut outcome) => Ok((outcome.module, outcome.artifacts.pop())),
        Err(_) => Err(Stop::Reported),
    }
}

/// Printing, parsing and printing again gives the same text.
fn check_roundtrip<'c>(module: Module<'c>, cx: &Context<'c>) -> Outcome<()> {
    let first = print::text(module, cx, false);
    let id = cx.sources().add("<printed IR>", first.as_str());
    let again = match tf_text::parse_module(cx, id) {
        Ok(parsed) => print::text(parsed, cx, false),
        Err(diagnostics) => {
            report(&diagnostics, cx.sources());
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
