//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::{Long, Short, Value, ValueExt};
use tf_evaluate::CheckInputs;

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
    pub output: PathBuf,
    /// `--emit`
    pub emit: Emit,
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
            output: PathBuf::from("reduced.tfir"),
            emit: Emit::Tfir,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            time_limit: None,
            timeout: Duration::from_secs(60),
            memory_limit: None,
            resume: false,
            tf_opt: None,
        }
    }
}

const OPTIONS: [&str; 17] = [
    "pipeline",
    "pipeline-file",
    "test",
    "inputs",
    "load-pass-plugin",
    "module",
    "output",
    "emit",
    "jobs",
    "time-limit",
    "timeout",
    "memory-limit",
    "resume",
    "tf-opt",
    "help",
    "version",
    "check-each",
];

fn unknown(option: &str) -> String {
    let near = tf_core::diag::did_you_mean(option.trim_start_matches('-'), OPTIONS);
    match near {
        Some("check-each") => format!("unknown option `{option}`; `--inputs` says what programs are evaluated on"),
        Some(near) => format!("unknown option `{option}`; did you mean `--{near}`?"),
        None => format!("unknown option `{option}`; `--help` lists all options"),
    }
}

fn test(text: &str) -> Result<TestArg, String> {
    let (kind, value) = text.split_once('=').map_or((text, None), |(kind, value)| (kind, Some(value)));
    match (kind, value) {
        ("wrong-result", pass) => Ok(TestArg::WrongResult(pass.map(str::to_owned))),
        ("crash", None) => Ok(TestArg::Crash),
        ("hang", None) => Ok(TestArg::Hang),
        ("message", Some(wanted)) if !wanted.is_empty() => Ok(TestArg::Message(wanted.to_owned())),
        ("command", Some(command)) if !command.trim().is_empty() => Ok(TestArg::Command(command.to_owned())),
        _ => Err(format!(
            "`--test` is wrong-result[=PASS], crash, hang, message=TEXT or command=COMMAND, found `{text}`"
        )),
    }
}

/// A number of an option from 1 on.
fn number(option: &str, text: &str, most: u64) -> Result<u64, String> {
    match text.parse() {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        _ => Err(format!("`{option}` is a number from 1 to {most}, found `{text}`")),
    }
}

impl Args {
    /// Reads the command line.
    ///
    /// # Errors
    /// An unknown option, a missing or wrong value, not one file.
    pub fn parse(parser: &mut lexopt::Parser) -> Result<Self, String> {
        let mut args = Self::default();
        let mut files = Vec::new();
        let mut emit = None;
        let said = |error: lexopt::Error| error.to_string();
        while let Some(arg) = parser.next().map_err(said)? {
            let name = match arg {
                Value(file) => {
                    files.push(file.string().map_err(said)?);
                    continue;
                }
                Short('h') => "help".to_owned(),
                Short('V') => "version".to_owned(),
                Short('o') => "output".to_owned(),
                Short('j') => "jobs".to_owned(),
                Short(other) => return Err(unknown(&format!("-{other}"))),
                Long(name) => name.to_owned(),
            };
            let mut text = || parser.value().and_then(|value| value.string()).map_err(said);
            match name.as_str() {
                "help" => args.request = Request::Help,
                "version" => args.request = Request::Version,
                "pipeline" => args.pipeline = Some(text()?),
                "pipeline-file" => args.pipeline_file = Some(text()?),
                "test" => args.test = Some(test(&text()?)?),
                "inputs" => {
                    let found = text()?;
                    let inputs = CheckInputs::parse(Some(&found));
                    args.inputs = Some(inputs.map_err(|wanted| format!("`--inputs` is {wanted}, found `{found}`"))?);
                }
                "load-pass-plugin" => args.plugins.push(text()?),
                "module" => args.module = Some(text()?),
                "output" => args.output = text()?.into(),
                "emit" => {
                    emit = Some(match text()?.as_str() {
                        "tfir" => Emit::Tfir,
                        "dsl" => Emit::Dsl,
                        other => return Err(format!("`--emit` is tfir or dsl, found `{other}`")),
                    });
                }
                "jobs" => args.jobs = number("-j", &text()?, 1024)? as usize,
                "time-limit" => {
                    args.time_limit = Some(Duration::from_secs(number("--time-limit", &text()?, 10_000_000)?));
                }
                "timeout" => args.timeout = Duration::from_secs(number("--timeout", &text()?, 10_000_000)?),
                "memory-limit" => args.memory_limit = Some(number("--memory-limit", &text()?, 1 << 32)? << 20),
                "resume" => args.resume = true,
                "tf-opt" => args.tf_opt = Some(text()?.into()),
                other => return Err(unknown(&format!("--{other}"))),
            }
        }
        let is_python = args.output.extension().is_some_and(|extension| extension == "py");
        args.emit = emit.unwrap_or(if is_python { Emit::Dsl } else { Emit::Tfir });
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
        assert_eq!((args.file.as_str(), args.jobs, args.emit), ("k.py", 4, Emit::Dsl));
        assert_eq!(args.test, Some(TestArg::WrongResult(Some("cse".to_owned()))));
        let test = |text: &str| parse(&["k", &format!("--test={text}")]).unwrap().test.unwrap();
        assert_eq!(test("message=a=b"), TestArg::Message("a=b".to_owned()));
        assert_eq!(test("command=grep x"), TestArg::Command("grep x".to_owned()));
        assert_eq!(test("wrong-result"), TestArg::WrongResult(None));
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
        assert_eq!(of(&["a", "-j0"]), "`-j` is a number from 1 to 1024, found `0`");
        assert_eq!(of(&["a", "--emit=c"]), "`--emit` is tfir or dsl, found `c`");
        assert!(of(&["a", "--inputs=0"]).starts_with("`--inputs` is a number of generated inputs"));
    }
}
