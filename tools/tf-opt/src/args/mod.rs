//! The command line.

mod table;

use std::time::Duration;

use lexopt::prelude::{Long, Short, Value, ValueExt};
use tf_evaluate::CheckInputs;
use tf_framework::{PrintWhen, RemarkFilter, TimingFormat};

use crate::error::{Outcome, Stop, stop};
use crate::options::{self, Takes};

pub use table::{GROUPS, rows};

/// The language of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Python syntax.
    Dsl,
    /// Textual IR.
    Tfir,
}

/// What is asked for instead of running a pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Request {
    /// Run.
    #[default]
    Run,
    /// `--help`
    Help,
    /// `--version`
    Version,
    /// `--list-passes`
    ListPasses,
    /// `--help-pass=NAME`
    HelpPass(String),
    /// `--show-op=NAME`
    ShowOp(String),
    /// `--dump-pipeline`
    DumpPipeline,
    /// `--emit-docs=DIR`
    EmitDocs(String),
    /// `--emit-stubs=DIR`
    EmitStubs(String),
    /// `--completions=SHELL`
    Completions(String),
}

/// When diagnostics are coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Also into a file.
    Always,
    /// Not at all.
    Never,
}

/// The arguments, checked one by one but not against each other.
#[derive(Clone, Debug)]
pub struct Args {
    /// What to do.
    pub request: Request,
    /// The inputs; `-` is the standard input.
    pub files: Vec<String>,
    /// `--input`
    pub language: Option<Language>,
    /// `--split-input-file`
    pub split: bool,
    /// `--pipeline`
    pub pipeline: Option<String>,
    /// `--pipeline-file`
    pub pipeline_file: Option<String>,
    /// `--load-pass-plugin`
    pub plugins: Vec<String>,
    /// `-o`
    pub output: Option<String>,
    /// `--module`
    pub module: Option<String>,
    /// `--print-ir-…`
    pub print: PrintWhen,
    /// `--print-ir-tree-dir`
    pub tree_dir: Option<String>,
    /// `--timing`
    pub timing: Option<TimingFormat>,
    /// `--stats`
    pub stats: bool,
    /// `--trace`
    pub trace: Option<String>,
    /// `--trace-html`
    pub trace_html: Option<String>,
    /// `--remarks`
    pub remarks: RemarkFilter,
    /// `--remarks-from`
    pub remarks_from: Vec<String>,
    /// `--verify-each`
    pub verify_each: bool,
    /// `--check-each`
    pub check_each: Option<CheckInputs>,
    /// `--pass-time-limit`
    pub pass_time_limit: Option<Duration>,
    /// `--verify-roundtrip`
    pub verify_roundtrip: bool,
    /// `--verify-diagnostics`
    pub verify_diagnostics: bool,
    /// `--reproducer`
    pub reproducer: Option<String>,
    /// Whether the reproducer is there too if a pass brings the process down.
    pub reproducer_of_crashes: bool,
    /// `--run-reproducer`
    pub run_reproducer: Option<String>,
    /// `--print-locations`
    pub locations: bool,
    /// `--threads`
    pub threads: Option<usize>,
    /// `--color`
    pub color: Color,
    /// `--diagnostics=json`
    pub json: bool,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            request: Request::Run,
            files: Vec::new(),
            language: None,
            split: false,
            pipeline: None,
            pipeline_file: None,
            plugins: Vec::new(),
            output: None,
            module: None,
            print: PrintWhen::default(),
            tree_dir: None,
            timing: None,
            stats: false,
            trace: None,
            trace_html: None,
            remarks: RemarkFilter::default(),
            remarks_from: Vec::new(),
            verify_each: true,
            check_each: None,
            pass_time_limit: None,
            verify_roundtrip: false,
            verify_diagnostics: false,
            reproducer: None,
            reproducer_of_crashes: true,
            run_reproducer: None,
            locations: false,
            threads: None,
            color: Color::Auto,
            json: false,
        }
    }
}

fn text(parser: &mut lexopt::Parser) -> Outcome<String> {
    parser.value().and_then(|value| value.string()).map_err(|error| Stop::Said(error.to_string()))
}

fn names(parser: &mut lexopt::Parser) -> Outcome<Vec<String>> {
    Ok(text(parser)?.split(',').map(|name| name.trim_start_matches('@').to_owned()).collect())
}

/// A flag, or `--flag=true|false`.
fn flag(name: &str, parser: &mut lexopt::Parser) -> Outcome<bool> {
    match parser.optional_value() {
        None => Ok(true),
        Some(value) => match value.to_str() {
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            _ => stop(format!("`--{name}` is true or false, found `{}`", value.to_string_lossy())),
        },
    }
}

/// A number from 1 on.
fn number(name: &str, parser: &mut lexopt::Parser, most: u64) -> Outcome<u64> {
    options::number(&format!("--{name}"), &text(parser)?, most).map_err(Stop::Said)
}

/// One of the words that the table states.
fn word(name: &str, parser: &mut lexopt::Parser) -> Outcome<&'static str> {
    let found = match takes(name) {
        Takes::Maybe(words) => match parser.optional_value() {
            None => return Ok(words[0]),
            Some(value) => value.to_string_lossy().into_owned(),
        },
        _ => text(parser)?,
    };
    known_word(name, &found)
}

/// Some of the words that the table states, with commas between; the first where none is given.
fn words(name: &str, parser: &mut lexopt::Parser) -> Outcome<Vec<&'static str>> {
    match parser.optional_value() {
        Some(found) => found.to_string_lossy().split(',').map(|word| known_word(name, word)).collect(),
        None => match takes(name) {
            Takes::Maybe([first, ..]) => Ok(vec![first]),
            _ => Ok(Vec::new()),
        },
    }
}

/// The value of `--check-each`.
///
/// # Errors
/// It is none.
pub fn check_inputs(text: Option<&str>) -> Outcome<CheckInputs> {
    CheckInputs::parse(text)
        .map_err(|wanted| Stop::Said(format!("`--check-each` is {wanted}, found `{}`", text.unwrap_or_default())))
}

fn takes(name: &str) -> Takes {
    rows().find(|row| row.name == name).map_or(Takes::Nothing, |row| row.takes)
}

fn known_word(name: &str, found: &str) -> Outcome<&'static str> {
    let (Takes::Words(words) | Takes::Maybe(words)) = takes(name) else {
        return stop(format!("`--{name}` takes no word"));
    };
    match words.iter().find(|word| **word == found) {
        Some(word) => Ok(word),
        None => stop(format!("`--{name}` is {}, found `{found}`", words.join(" or "))),
    }
}

fn unknown(option: &str) -> Stop {
    Stop::Said(options::unknown(option, rows().map(|row| row.name)))
}

impl Args {
    /// Reads the command line.
    ///
    /// # Errors
    /// An unknown option, a missing or wrong value.
    pub fn parse(parser: &mut lexopt::Parser) -> Outcome<Self> {
        let mut args = Self::default();
        while let Some(arg) = parser.next().map_err(|error| Stop::Said(error.to_string()))? {
            match arg {
                Short('h') => args.request = Request::Help,
                Short('V') => args.request = Request::Version,
                Short('o') => args.output = Some(text(parser)?),
                Short(other) => return Err(unknown(&format!("-{other}"))),
                Value(file) => args.files.push(file.string().map_err(|error| Stop::Said(error.to_string()))?),
                Long(name) => {
                    let name = name.to_owned();
                    args.long(&name, parser)?;
                }
            }
        }
        Ok(args)
    }

    fn long(&mut self, name: &str, parser: &mut lexopt::Parser) -> Outcome<()> {
        match name {
            "help" => self.request = Request::Help,
            "version" => self.request = Request::Version,
            "list-passes" => self.request = Request::ListPasses,
            "help-pass" => self.request = Request::HelpPass(text(parser)?),
            "show-op" => self.request = Request::ShowOp(text(parser)?),
            "dump-pipeline" => self.request = Request::DumpPipeline,
            "emit-docs" => self.request = Request::EmitDocs(text(parser)?),
            "emit-stubs" => self.request = Request::EmitStubs(text(parser)?),
            "completions" => self.request = Request::Completions(word(name, parser)?.to_owned()),
            "output" => self.output = Some(text(parser)?),
            "pipeline" => self.pipeline = Some(text(parser)?),
            "pipeline-file" => self.pipeline_file = Some(text(parser)?),
            "load-pass-plugin" => self.plugins.push(text(parser)?),
            "module" => self.module = Some(text(parser)?),
            "split-input-file" => self.split = flag(name, parser)?,
            "print-ir-before" => self.print.before.extend(names(parser)?),
            "print-ir-before-all" => self.print.before_all = flag(name, parser)?,
            "print-ir-after" => self.print.after.extend(names(parser)?),
            "print-ir-after-all" => self.print.after_all = flag(name, parser)?,
            "print-ir-after-change" => self.print.after_change = flag(name, parser)?,
            "print-ir-function" => self.print.functions.extend(names(parser)?),
            "print-ir-diff" => self.print.diff = flag(name, parser)?,
            "print-ir-tree-dir" => self.tree_dir = Some(text(parser)?),
            "print-locations" => self.locations = flag(name, parser)?,
            "stats" => self.stats = flag(name, parser)?,
            "trace" => self.trace = Some(text(parser)?),
            "trace-html" => self.trace_html = Some(text(parser)?),
            "verify-each" => self.verify_each = flag(name, parser)?,
            "check-each" => {
                let found = parser.optional_value().map(|value| value.to_string_lossy().into_owned());
                self.check_each = Some(check_inputs(found.as_deref())?);
            }
            "pass-time-limit" => {
                self.pass_time_limit = Some(Duration::from_secs(number(name, parser, 10_000_000)?));
            }
            "verify-roundtrip" => self.verify_roundtrip = flag(name, parser)?,
            "verify-diagnostics" => self.verify_diagnostics = flag(name, parser)?,
            "reproducer" => self.reproducer = Some(text(parser)?),
            "run-reproducer" => self.run_reproducer = Some(text(parser)?),
            "timing" => {
                self.timing = Some(match word(name, parser)? {
                    "flat" => TimingFormat::Flat,
                    "json" => TimingFormat::Json,
                    _ => TimingFormat::Tree,
                });
            }
            "remarks" => {
                for word in words(name, parser)? {
                    match word {
                        "applied" => self.remarks.applied = true,
                        "missed" => self.remarks.missed = true,
                        "analysis" => self.remarks.analysis = true,
                        _ => self.remarks = RemarkFilter::ALL,
                    }
                }
            }
            "remarks-from" => self.remarks_from.extend(names(parser)?),
            "color" => {
                self.color = match word(name, parser)? {
                    "always" => Color::Always,
                    "never" => Color::Never,
                    _ => Color::Auto,
                };
            }
            "diagnostics" => self.json = word(name, parser)? == "json",
            "input" => {
                self.language = Some(if word(name, parser)? == "dsl" { Language::Dsl } else { Language::Tfir });
            }
            "threads" => self.threads = Some(number(name, parser, 1024)? as usize),
            other => return Err(unknown(&format!("--{other}"))),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
