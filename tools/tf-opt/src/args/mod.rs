//! The command line.

use lexopt::prelude::{Long, Short, Value, ValueExt};

use crate::error::{Outcome, Stop, stop};

/// The language of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Python syntax.
    Dsl,
    /// Textual IR.
    Tfir,
}

/// What is asked for instead of running a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Run.
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
}

/// The arguments, checked one by one but not against each other.
#[derive(Clone, Debug)]
pub struct Args {
    /// What to do.
    pub request: Request,
    /// The input; `-` is the standard input.
    pub file: Option<String>,
    /// `--input`
    pub language: Option<Language>,
    /// `--pipeline`
    pub pipeline: String,
    /// `-o`
    pub output: Option<String>,
    /// `--module`
    pub module: Option<String>,
    /// `--print-ir-before`
    pub before: Vec<String>,
    /// `--print-ir-after`
    pub after: Vec<String>,
    /// `--print-ir-after-all`
    pub after_all: bool,
    /// `--timing`
    pub timing: bool,
    /// `--stats`
    pub stats: bool,
    /// `--verify-each`
    pub verify_each: bool,
    /// `--verify-roundtrip`
    pub verify_roundtrip: bool,
    /// `--print-locations`
    pub locations: bool,
    /// `--threads`
    pub threads: Option<usize>,
}

/// Every long option, for hints.
const OPTIONS: [&str; 18] = [
    "dump-pipeline",
    "help",
    "help-pass",
    "input",
    "list-passes",
    "module",
    "output",
    "pipeline",
    "print-ir-after",
    "print-ir-after-all",
    "print-ir-before",
    "print-locations",
    "show-op",
    "stats",
    "threads",
    "timing",
    "verify-each",
    "verify-roundtrip",
];

impl Default for Args {
    fn default() -> Self {
        Self {
            request: Request::Run,
            file: None,
            language: None,
            pipeline: String::new(),
            output: None,
            module: None,
            before: Vec::new(),
            after: Vec::new(),
            after_all: false,
            timing: false,
            stats: false,
            verify_each: true,
            verify_roundtrip: false,
            locations: false,
            threads: None,
        }
    }
}

fn text(parser: &mut lexopt::Parser) -> Outcome<String> {
    parser.value().and_then(|value| value.string()).map_err(|error| Stop::Said(error.to_string()))
}

fn names(parser: &mut lexopt::Parser) -> Outcome<Vec<String>> {
    Ok(text(parser)?.split(',').map(str::to_owned).collect())
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

fn unknown(option: &str) -> Stop {
    let hint = tf_core::diag::did_you_mean(option.trim_start_matches('-'), OPTIONS);
    let hint = hint.map_or("`--help` lists all options".to_owned(), |near| format!("did you mean `--{near}`?"));
    Stop::Said(format!("unknown option `{option}`; {hint}"))
}

impl Args {
    /// Reads the command line.
    ///
    /// # Errors
    /// An unknown option, a missing value, two files.
    pub fn parse(parser: &mut lexopt::Parser) -> Outcome<Self> {
        let mut args = Self::default();
        while let Some(arg) = parser.next().map_err(|error| Stop::Said(error.to_string()))? {
            match arg {
                Short('h') | Long("help") => args.request = Request::Help,
                Short('V') | Long("version") => args.request = Request::Version,
                Short('o') | Long("output") => args.output = Some(text(parser)?),
                Short(other) => return Err(unknown(&format!("-{other}"))),
                Value(file) => {
                    let file = file.string().map_err(|error| Stop::Said(error.to_string()))?;
                    if let Some(first) = &args.file {
                        return stop(format!("one input at a time: `{first}` and `{file}` are given"));
                    }
                    args.file = Some(file);
                }
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
            "list-passes" => self.request = Request::ListPasses,
            "help-pass" => self.request = Request::HelpPass(text(parser)?),
            "show-op" => self.request = Request::ShowOp(text(parser)?),
            "dump-pipeline" => self.request = Request::DumpPipeline,
            "pipeline" => self.pipeline = text(parser)?,
            "module" => self.module = Some(text(parser)?),
            "print-ir-before" => self.before.extend(names(parser)?),
            "print-ir-after" => self.after.extend(names(parser)?),
            "print-ir-after-all" => self.after_all = flag(name, parser)?,
            "print-locations" => self.locations = flag(name, parser)?,
            "timing" => self.timing = flag(name, parser)?,
            "stats" => self.stats = flag(name, parser)?,
            "verify-each" => self.verify_each = flag(name, parser)?,
            "verify-roundtrip" => self.verify_roundtrip = flag(name, parser)?,
            "input" => {
                self.language = Some(match text(parser)?.as_str() {
                    "dsl" => Language::Dsl,
                    "tfir" => Language::Tfir,
                    other => return stop(format!("`--input` is dsl or tfir, found `{other}`")),
                });
            }
            "threads" => {
                let count = text(parser)?;
                match count.parse() {
                    Ok(count @ 1..=1024) => self.threads = Some(count),
                    _ => return stop(format!("`--threads` is a number from 1 to 1024, found `{count}`")),
                }
            }
            other => return Err(unknown(&format!("--{other}"))),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Args, Language, Request};
    use crate::error::Stop;

    fn parse(words: &[&str]) -> Result<Args, String> {
        let mut parser = lexopt::Parser::from_args(words);
        Args::parse(&mut parser).map_err(|stop| match stop {
            Stop::Said(message) => message,
            Stop::Reported => "reported".to_owned(),
        })
    }

    #[test]
    fn options_and_file() {
        let args =
            parse(&["-", "--input=dsl", "--pipeline", "a,b", "-oX", "--print-ir-after=a,b", "--verify-each=false"]);
        let args = args.unwrap();
        assert_eq!((args.file.as_deref(), args.language), (Some("-"), Some(Language::Dsl)));
        assert_eq!((args.pipeline.as_str(), args.output.as_deref()), ("a,b", Some("X")));
        assert_eq!((args.after.len(), args.verify_each, args.request), (2, false, Request::Run));
    }

    #[test]
    fn refusals() {
        let of = |words: &[&str]| parse(words).unwrap_err();
        assert_eq!(of(&["--pipelin=a"]), "unknown option `--pipelin`; did you mean `--pipeline`?");
        assert_eq!(of(&["-x"]), "unknown option `-x`; `--help` lists all options");
        assert_eq!(of(&["a.py", "b.py"]), "one input at a time: `a.py` and `b.py` are given");
        assert_eq!(of(&["--threads=0"]), "`--threads` is a number from 1 to 1024, found `0`");
        assert_eq!(of(&["--input=c"]), "`--input` is dsl or tfir, found `c`");
        assert_eq!(of(&["--stats=maybe"]), "`--stats` is true or false, found `maybe`");
    }
}
