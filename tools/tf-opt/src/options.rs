//! Options as rows of a table, and the help that these make.

use std::fmt::Write;

/// What follows an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing, or `=true|false`.
    Flag,
    /// Nothing at all.
    Nothing,
    /// A value, shown like this.
    Value(&'static str),
    /// One of these words.
    Words(&'static [&'static str]),
    /// Nothing, or one of these words.
    Maybe(&'static [&'static str]),
    /// Nothing, or `=` with a value, shown like this.
    MaybeValue(&'static str),
    /// A file or folder.
    Path(&'static str),
    /// The name of a pass.
    Pass(&'static str),
}

/// An option of the command line.
#[derive(Debug)]
pub struct OptionRow {
    /// Its name after `--`.
    pub name: &'static str,
    /// What follows.
    pub takes: Takes,
    /// What it does.
    pub help: &'static str,
}

/// A row.
#[must_use]
pub const fn row(name: &'static str, takes: Takes, help: &'static str) -> OptionRow {
    OptionRow { name, takes, help }
}

impl OptionRow {
    /// `--name=VALUE`
    #[must_use]
    pub fn usage(&self) -> String {
        let name = self.name;
        match self.takes {
            Takes::Flag | Takes::Nothing => format!("--{name}"),
            Takes::Value(what) | Takes::Path(what) | Takes::Pass(what) => format!("--{name}={what}"),
            Takes::Words(words) => format!("--{name}={}", words.join("|")),
            Takes::Maybe(words) => format!("--{name}[={}]", words.join("|")),
            Takes::MaybeValue(what) => format!("--{name}[={what}]"),
        }
    }
}

/// Where the second column of `--help` begins.
const COLUMN: usize = 30;

/// The rows as lines of `--help`.
#[must_use]
pub fn lines<'r>(rows: impl IntoIterator<Item = &'r OptionRow>) -> String {
    let mut out = String::new();
    for row in rows {
        let usage = row.usage();
        if usage.len() + 4 > COLUMN {
            let _ = writeln!(out, "  {usage}\n{:COLUMN$}{}", "", row.help);
        } else {
            let _ = writeln!(out, "  {usage:<width$}{}", row.help, width = COLUMN - 2);
        }
    }
    out
}

/// What is said of an option that none of these is.
#[must_use]
pub fn unknown(option: &str, names: impl IntoIterator<Item = &'static str>) -> String {
    let hint = tf_core::diag::did_you_mean(option.trim_start_matches('-'), names);
    let hint = hint.map_or("`--help` lists all options".to_owned(), |near| format!("did you mean `--{near}`?"));
    format!("unknown option `{option}`; {hint}")
}

/// A number of an option from 1 on.
///
/// # Errors
/// The text is none.
pub fn number(option: &str, text: &str, most: u64) -> Result<u64, String> {
    match text.parse() {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        _ => Err(format!("`{option}` is a number from 1 to {most}, found `{text}`")),
    }
}
