//! The command line.

mod table;

use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::{Long, Short, Value, ValueExt};
use tf_core::diag::did_you_mean;
use tf_evaluate::CheckInputs;
use tf_opt::options::{self, Takes};

use table::ROWS;

pub use table::help;

/// What is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Request {
    /// A reduction.
    #[default]
    Reduce,
    /// `--help`
    Help,
    /// `--version`
    Version,
}

/// `--test`
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestArg {
    /// A pass, this one if one is named, changes what a function computes.
    WrongResult(Option<String>),
    /// The driver dies, or a pass panics.
    Crash,
    /// The driver does not end.
    Hang,
    /// A diagnostic has this text in it.
    Message(String),
    /// A command ends with status 0.
    Command(String),
}

/// The language of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// Textual IR.
    Tfir,
    /// Python syntax.
    Dsl,
}

/// The arguments, checked one by one.
#[derive(Clone, Debug)]
pub struct Args {
    /// What to do.
    pub request: Request,
    /// The input.
    pub file: String,
    /// `--pipeline`
    pub pipeline: Option<String>,
    /// `--pipeline-file`
    pub pipeline_file: Option<String>,
    /// `--test`
    pub test: Option<TestArg>,
    /// `--inputs`
    pub inputs: Option<CheckInputs>,
    /// `--load-pass-plugin`
    pub plugins: Vec<String>,
    /// `--module`
    pub module: Option<String>,
    /// `-o`
    pub output: Option<PathBuf>,
    /// `--emit`
    pub emit: Option<Emit>,
    /// `-j`
    pub jobs: usize,
    /// `--time-limit`
    pub time_limit: Option<Duration>,
    /// `--timeout`
    pub timeout: Duration,
    /// `--memory-limit`, in bytes.
    pub memory_limit: Option<u64>,
    /// `--resume`
    pub resume: bool,
    /// `--tf-opt`
    pub tf_opt: Option<PathBuf>,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            request: Request::Reduce,
            file: String::new(),
            pipeline: None,
            pipeline_file: None,
            test: None,
            inputs: None,
            plugins: Vec::new(),
            module: None,
            output: None,
            emit: None,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            time_limit: None,
            timeout: Duration::from_secs(60),
            memory_limit: None,
            resume: false,
            tf_opt: None,
        }
    }
}

fn unknown(option: &str) -> String {
    let known = ROWS.iter().map(|row| row.option.name).chain(["check-each"]);
    if did_you_mean(option.trim_start_matches('-'), known) == Some("check-each") {
        return format!("unknown option `{option}`; `--inputs` says what programs are evaluated on");
    }
    options::unknown(option, ROWS.iter().map(|row| row.option.name))
}

impl Args {
    /// Reads the command line.
    ///
    /// # Errors
    /// An unknown option, a missing or wrong value, not one file.
    pub fn parse(parser: &mut lexopt::Parser) -> Result<Self, String> {
        let mut args = Self::default();
        let mut files = Vec::new();
        let said = |error: lexopt::Error| error.to_string();
        while let Some(arg) = parser.next().map_err(said)? {
            let (found, shown) = match arg {
                Value(file) => {
                    files.push(file.string().map_err(said)?);
                    continue;
                }
                Short(letter) => (ROWS.iter().find(|row| row.letter == Some(letter)), format!("-{letter}")),
                Long(name) => (ROWS.iter().find(|row| row.option.name == name), format!("--{name}")),
            };
            let Some(row) = found else { return Err(unknown(&shown)) };
            let text = match row.option.takes {
                Takes::Nothing => String::new(),
                _ => parser.value().and_then(|value| value.string()).map_err(said)?,
            };
            (row.set)(&mut args, &text)?;
        }
        if args.request != Request::Reduce {
            return Ok(args);
        }
        match <[String; 1]>::try_from(files) {
            Ok([file]) => args.file = file,
            Err(files) if files.is_empty() => {
                return Err(
                    "no input; write the name of a .py, .tfir or reproducer file (`--help` shows all options)".into()
                );
            }
            Err(files) => return Err(format!("one file is reduced, found `{}`", files.join("`, `"))),
        }
        if args.pipeline.is_some() && args.pipeline_file.is_some() {
            return Err("`--pipeline` and `--pipeline-file` are both given".to_owned());
        }
        Ok(args)
    }

    /// The language of the result.
    pub fn emit(&self) -> Emit {
        let is_python = self.output.as_ref().is_some_and(|path| path.extension().is_some_and(|end| end == "py"));
        self.emit.unwrap_or(if is_python { Emit::Dsl } else { Emit::Tfir })
    }

    /// Where the result goes.
    pub fn output(&self) -> PathBuf {
        let unless_told = match self.emit() {
            Emit::Tfir => "reduced.tfir",
            Emit::Dsl => "reduced.py",
        };
        self.output.clone().unwrap_or_else(|| unless_told.into())
    }
}

#[cfg(test)]
mod tests {
    use super::{Args, Emit, TestArg};

    fn parse(words: &[&str]) -> Result<Args, String> {
        Args::parse(&mut lexopt::Parser::from_args(words))
    }

    #[test]
    fn options() {
        let args = parse(&["k.py", "--test=wrong-result=cse", "-j4", "-o", "small.py", "--time-limit=3"]).unwrap();
        assert_eq!((args.file.as_str(), args.jobs, args.emit()), ("k.py", 4, Emit::Dsl));
        assert_eq!(args.test, Some(TestArg::WrongResult(Some("cse".to_owned()))));
        let test = |text: &str| parse(&["k", &format!("--test={text}")]).unwrap().test.unwrap();
        assert_eq!(test("message=a=b"), TestArg::Message("a=b".to_owned()));
        assert_eq!(test("command=grep x"), TestArg::Command("grep x".to_owned()));
        assert_eq!(test("wrong-result"), TestArg::WrongResult(None));
    }

    #[test]
    fn the_result_has_the_name_of_its_language() {
        let of = |words: &[&str]| {
            let args = parse(&[&["k"], words].concat()).unwrap();
            (args.output().display().to_string(), args.emit())
        };
        assert_eq!(of(&[]), ("reduced.tfir".to_owned(), Emit::Tfir));
        assert_eq!(of(&["--emit=dsl"]), ("reduced.py".to_owned(), Emit::Dsl));
        assert_eq!(of(&["-o", "a.py"]), ("a.py".to_owned(), Emit::Dsl));
        assert_eq!(of(&["-oa.py", "--emit=tfir"]), ("a.py".to_owned(), Emit::Tfir));
    }

    #[test]
    fn every_row_of_the_table_is_an_option() {
        for row in super::ROWS {
            let value = match row.option.takes {
                super::Takes::Nothing => String::new(),
                super::Takes::Words(words) => format!("={}", words[0]),
                _ if row.option.name == "test" => "=crash".to_owned(),
                _ => "=1".to_owned(),
            };
            let found = parse(&["k", &format!("--{}{value}", row.option.name)]);
            assert!(found.is_ok(), "{}: {found:?}", row.option.name);
            assert!(super::help().contains(&row.option.usage()), "{}", row.option.name);
        }
    }

    #[test]
    fn refusals() {
        let of = |words: &[&str]| parse(words).unwrap_err();
        assert!(of(&[]).starts_with("no input"));
        assert_eq!(of(&["a", "b"]), "one file is reduced, found `a`, `b`");
        assert_eq!(of(&["a", "--tset=x"]), "unknown option `--tset`; did you mean `--test`?");
        assert!(of(&["a", "--check-each"]).ends_with("`--inputs` says what programs are evaluated on"));
        assert!(of(&["a", "--test=slow"]).ends_with("found `slow`"));
        assert!(of(&["a", "--test=message="]).ends_with("found `message=`"));
        assert_eq!(of(&["a", "-x"]), "unknown option `-x`; `--help` lists all options");
        assert_eq!(of(&["a", "-j0"]), "`-j` is a number from 1 to 1024, found `0`");
        assert_eq!(of(&["a", "--emit=c"]), "`--emit` is tfir or dsl, found `c`");
        assert!(of(&["a", "--inputs=0"]).starts_with("`--inputs` is a number of generated inputs"));
    }
}
