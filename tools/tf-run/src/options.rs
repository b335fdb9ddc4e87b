//! The command line.

use std::path::PathBuf;

pub(crate) const HELP: &str = "\
tf-run ARTIFACT [OPTION=VALUE]...   runs an artifact of emit-ptx; ARTIFACT is its .ptx or its .json
tf-run --probe                      says whether there is a CUDA driver and a device (exit status 0 or 1)
tf-run --version                    says which version this is

  inputs=F         .safetensors file; parameter x is P + x of it, else x, else weights.x
  prefix=P         default empty
  outputs=F        file to write the results to, as out0, out1, ...
  device=N         ordinal of the CUDA device, default 0
  expect=F         .safetensors file with the wanted results; prints one JSON line, exit status 1 if they differ
  expect-prefix=P  default: prefix with .in. replaced by .out.; result k is named P + its parameter, P + out or P + outK,
                   else the same without P
  rtol=R atol=A    |got - want| <= A + R * |want|; default 0 and 0: equal
  time=N           times N launches after N to warm up; the JSON line states the median in microseconds
";

/// The option names, in the order of the help text.
const NAMES: [&str; 9] = ["inputs", "prefix", "outputs", "device", "expect", "expect-prefix", "rtol", "atol", "time"];

pub(crate) enum Command {
    Help,
    Version,
    Probe,
    Run(Box<Options>),
}

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Options {
    pub(crate) artifact: PathBuf,
    pub(crate) inputs: Option<PathBuf>,
    pub(crate) prefix: String,
    pub(crate) outputs: Option<PathBuf>,
    pub(crate) device: usize,
    pub(crate) expect: Option<PathBuf>,
    pub(crate) expect_prefix: Option<String>,
    pub(crate) rtol: f64,
    pub(crate) atol: f64,
    pub(crate) time: u32,
}

impl Options {
    /// The prefix of wanted results.
    pub(crate) fn wanted_prefix(&self) -> String {
        self.expect_prefix.clone().unwrap_or_else(|| self.prefix.replace(".in.", ".out."))
    }
}

/// Reads the arguments; an error says what was expected.
pub(crate) fn parse(arguments: &[String]) -> Result<Command, String> {
    let mut options = Options::default();
    let mut artifact = None;
    let mut seen: Vec<&str> = Vec::new();
    for argument in arguments {
        let text = match argument.as_str() {
            "-h" | "--help" => return Ok(Command::Help),
            "-V" | "--version" => return Ok(Command::Version),
            "--probe" if arguments.len() == 1 => return Ok(Command::Probe),
            "--probe" => return Err("`--probe` stands alone".into()),
            // `--time=5` is what other tools would take.
            other => other.trim_start_matches("--"),
        };
        match text.split_once('=') {
            Some((name, value)) => {
                if seen.contains(&name) {
                    return Err(format!("the option `{name}` is given twice"));
                }
                seen.push(name);
                options.set(name, value)?;
            }
            None if argument.starts_with('-') || NAMES.contains(&text) => return Err(lone(argument, text)),
            None => {
                if let Some(first) = artifact.replace(PathBuf::from(text)) {
                    return Err(format!("expected one artifact, found `{}` and `{text}`", first.display()));
                }
            }
        }
    }
    options.artifact = artifact.ok_or("expected an artifact, a .ptx or .json file of emit-ptx; see --help")?;
    let comparing = seen.iter().find(|name| ["expect-prefix", "rtol", "atol"].contains(name));
    if let (None, Some(name)) = (&options.expect, comparing) {
        return Err(format!("`{name}` needs `expect=FILE`, the values to compare with"));
    }
    Ok(Command::Run(Box::new(options)))
}

/// The message for an argument without a value.
fn lone(argument: &str, name: &str) -> String {
    if NAMES.contains(&name) {
        format!("the option `{name}` needs a value: {name}=VALUE")
    } else {
        unknown(argument, name)
    }
}

fn unknown(argument: &str, name: &str) -> String {
    match tf_core::diag::did_you_mean(name, NAMES) {
        Some(known) => format!("unknown option `{argument}`; did you mean `{known}=`?"),
        None => format!("unknown option `{argument}`; expected one of {}", NAMES.join(", ")),
    }
}

impl Options {
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let wrong = |expected: &str| format!("`{name}={value}`: expected {expected}");
        let path = || if value.is_empty() { Err(wrong("a file name")) } else { Ok(Some(PathBuf::from(value))) };
        let tolerance = || match value.parse::<f64>() {
            Ok(number) if number >= 0.0 && number.is_finite() => Ok(number),
            _ => Err(wrong("a number not below 0")),
        };
        match name {
            "inputs" => self.inputs = path()?,
            "prefix" => self.prefix = value.to_owned(),
            "outputs" => self.outputs = path()?,
            "device" => {
                let number = value.strip_prefix("cuda:").unwrap_or(value);
                self.device = number.parse().map_err(|_| wrong("the number of a device, from 0"))?;
            }
            "expect" => self.expect = path()?,
            "expect-prefix" => self.expect_prefix = Some(value.to_owned()),
            "rtol" => self.rtol = tolerance()?,
            "atol" => self.atol = tolerance()?,
            "time" => match value.parse() {
                Ok(runs) if runs > 0 => self.time = runs,
                _ => return Err(wrong("a number of launches from 1")),
            },
            _ => return Err(unknown(name, name)),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, Options, parse};

    fn of(arguments: &[&str]) -> Result<Options, String> {
        let arguments: Vec<String> = arguments.iter().map(|&one| one.to_owned()).collect();
        match parse(&arguments)? {
            Command::Run(options) => Ok(*options),
            _ => Err("another command".into()),
        }
    }

    #[test]
    fn options_in_any_order() {
        let options = of(&["inputs=a.safetensors", "k.ptx", "prefix=r.in.", "device=cuda:1", "time=5"]).unwrap();
        assert_eq!((options.device, options.time, options.prefix.as_str()), (1, 5, "r.in."));
        assert_eq!(options.wanted_prefix(), "r.out.");
        assert_eq!(of(&["k.ptx", "--time=5"]).unwrap().time, 5);
        // A value may hold the sign.
        assert_eq!(of(&["k.ptx", "inputs=a=b"]).unwrap().inputs.unwrap().to_str(), Some("a=b"));
    }

    #[test]
    fn refusals_say_what_was_expected() {
        let cases: [(&[&str], &str); 12] = [
            (&[], "expected an artifact, a .ptx or .json file of emit-ptx; see --help"),
            (&["a.ptx", "b.ptx"], "expected one artifact, found `a.ptx` and `b.ptx`"),
            (&["a.ptx", "input=x"], "unknown option `input`; did you mean `inputs=`?"),
            (&["a.ptx", "ouptuts=x"], "unknown option `ouptuts`; did you mean `outputs=`?"),
            (&["a.ptx", "colour=x"], "unknown option `colour`; expected one of inputs, prefix,"),
            (&["a.ptx", "--prob"], "unknown option `--prob`; expected one of"),
            (&["a.ptx", "time"], "the option `time` needs a value: time=VALUE"),
            (&["a.ptx", "time=0"], "`time=0`: expected a number of launches from 1"),
            (&["a.ptx", "device=x"], "`device=x`: expected the number of a device, from 0"),
            (&["a.ptx", "expect=e", "rtol=-1"], "`rtol=-1`: expected a number not below 0"),
            (&["a.ptx", "rtol=1"], "`rtol` needs `expect=FILE`, the values to compare with"),
            (&["a.ptx", "time=1", "time=2"], "the option `time` is given twice"),
        ];
        for (arguments, expected) in cases {
            let message = of(arguments).unwrap_err();
            assert!(message.starts_with(expected), "{arguments:?}: {message}");
        }
    }
}
