//! Every option once: what is read, `--help` and hints derive from this table.

use std::time::Duration;

use tf_evaluate::CheckInputs;
use tf_opt::options::{OptionRow, Takes, lines, number, row};

use super::{Args, Emit, Request, TestArg};

/// An option, and what it does to the arguments.
pub struct Row {
    /// Its name, value and help.
    pub option: OptionRow,
    /// `-o` is `--output`.
    pub letter: Option<char>,
    /// Takes its value, or none.
    pub set: fn(&mut Args, &str) -> Result<(), String>,
}

const fn of(option: OptionRow, set: fn(&mut Args, &str) -> Result<(), String>) -> Row {
    Row { option, letter: None, set }
}

const fn short(letter: char, option: OptionRow, set: fn(&mut Args, &str) -> Result<(), String>) -> Row {
    Row { option, letter: Some(letter), set }
}

/// Seconds that an option takes at most.
const MOST_SECONDS: u64 = 10_000_000;

/// All options.
pub const ROWS: &[Row] = &[
    of(row("pipeline", Takes::Value("TEXT"), "the passes; a reproducer has its own"), |args, text| {
        args.pipeline = Some(text.to_owned());
        Ok(())
    }),
    of(row("pipeline-file", Takes::Path("FILE"), "the passes are the text of this file"), |args, text| {
        args.pipeline_file = Some(text.to_owned());
        Ok(())
    }),
    of(
        row("test", Takes::Value("KIND"), "what must hold of a case, see below; default: what FILE shows"),
        |args, text| {
            args.test = Some(test(text)?);
            Ok(())
        },
    ),
    of(
        row(
            "inputs",
            Takes::Value("N|FILE"),
            "what `--check-each` evaluates on: N generated sets (6), or those of a file",
        ),
        |args, text| {
            let inputs = CheckInputs::parse(Some(text));
            args.inputs = Some(inputs.map_err(|wanted| format!("`--inputs` is {wanted}, found `{text}`"))?);
            Ok(())
        },
    ),
    of(row("load-pass-plugin", Takes::Path("LIB"), "as for tf-opt; repeatable"), |args, text| {
        args.plugins.push(text.to_owned());
        Ok(())
    }),
    of(row("module", Takes::Value("NAME"), "the module of a .py file"), |args, text| {
        args.module = Some(text.to_owned());
        Ok(())
    }),
    short(
        'o',
        row("output", Takes::Path("OUT"), "-o OUT: what is left; default: reduced.tfir or reduced.py"),
        |args, text| {
            if text == "-" {
                return Err("`-o` is a file, beside which others are written, not the standard output".to_owned());
            }
            args.output = Some(text.into());
            Ok(())
        },
    ),
    of(row("emit", Takes::Words(&["tfir", "dsl"]), "its language; default: dsl for a name in .py"), |args, text| {
        args.emit = Some(match text {
            "tfir" => Emit::Tfir,
            "dsl" => Emit::Dsl,
            other => return Err(format!("`--emit` is tfir or dsl, found `{other}`")),
        });
        Ok(())
    }),
    short(
        'j',
        row("jobs", Takes::Value("N"), "-j N: runs at a time; default: one a core. The result is the same"),
        |args, text| {
            args.jobs = number("-j", text, 1024)? as usize;
            Ok(())
        },
    ),
    of(row("time-limit", Takes::Value("SECS"), "stop then, with the best so far"), |args, text| {
        args.time_limit = Some(Duration::from_secs(number("--time-limit", text, MOST_SECONDS)?));
        Ok(())
    }),
    of(
        row(
            "timeout",
            Takes::Value("SECS"),
            "a run that takes longer is ended, and passes only --test=hang; default: 60",
        ),
        |args, text| {
            args.timeout = Duration::from_secs(number("--timeout", text, MOST_SECONDS)?);
            Ok(())
        },
    ),
    of(row("memory-limit", Takes::Value("MIB"), "address space of a run"), |args, text| {
        args.memory_limit = Some(number("--memory-limit", text, 1 << 32)? << 20);
        Ok(())
    }),
    of(row("resume", Takes::Nothing, "go on where a run with the same arguments was stopped"), |args, _| {
        args.resume = true;
        Ok(())
    }),
    of(row("tf-opt", Takes::Path("PATH"), "the driver; default: the one beside tf-reduce"), |args, text| {
        args.tf_opt = Some(text.into());
        Ok(())
    }),
    short('h', row("help", Takes::Nothing, "-h: this text"), |args, _| {
        args.request = Request::Help;
        Ok(())
    }),
    short('V', row("version", Takes::Nothing, "-V: the version"), |args, _| {
        args.request = Request::Version;
        Ok(())
    }),
];

/// The kinds of `--test`.
const KINDS: [OptionRow; 6] = [
    row("test=wrong-result", Takes::Nothing, "`tf-opt --check-each` says that a pass changed what a function computes"),
    row("test=wrong-result", Takes::Value("PASS"), "that this pass did"),
    row("test=crash", Takes::Nothing, "tf-opt dies of the same signal, or a pass panics in the same way"),
    row("test=hang", Takes::Nothing, "tf-opt does not end within --timeout"),
    row("test=message", Takes::Value("TEXT"), "a diagnostic of tf-opt has TEXT in it"),
    row(
        "test=command",
        Takes::Value("CMD"),
        "CMD exits with status 0; `{}` in it is the file, else the file comes last",
    ),
];

/// `--help`
pub fn help() -> String {
    format!(
        "usage: tf-reduce FILE [OPTION]...

Makes FILE (.py, .tfir, or a reproducer of tf-opt) small while a test holds, and writes what is left as a reproducer.
Documentation: docs/tf-reduce.md

{}
What is looked for
{}",
        lines(ROWS.iter().map(|row| &row.option)),
        lines(&KINDS)
    )
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
