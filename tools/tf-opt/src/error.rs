//! Why the driver stops, and how it says so.

use std::io::{self, IsTerminal, Write};

use serde_json::{Value, json};
use tf_core::diag::{Severity, Style};
use tf_core::{Diagnostic, SourceMap, Span};

use crate::args::{Args, Color};

/// An early end.
#[derive(Debug)]
pub enum Stop {
    /// Diagnostics have been written.
    Reported,
    /// A message without a place in a source.
    Said(String),
}

/// A result of the driver.
pub type Outcome<T> = Result<T, Stop>;

/// A stop with that message.
pub fn stop<T>(message: impl Into<String>) -> Outcome<T> {
    Err(Stop::Said(message.into()))
}

/// Writes diagnostics to the error output.
#[derive(Clone, Copy, Debug)]
pub struct Reporter {
    /// `None`: JSON.
    style: Option<Style>,
}

impl Reporter {
    /// As the arguments say.
    #[must_use]
    pub fn new(args: &Args) -> Self {
        let colored = match args.color {
            Color::Always => true,
            Color::Never => false,
            // An empty NO_COLOR counts as unset (no-color.org).
            Color::Auto => io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
        };
        let style = if colored { Style::Colored } else { Style::Plain };
        Self { style: (!args.json).then_some(style) }
    }

    /// Writes them in order. An error output that is closed is nothing to report.
    pub fn report(self, diagnostics: &[Diagnostic], sources: &SourceMap) {
        let mut out = io::stderr().lock();
        for diagnostic in diagnostics {
            let text = match self.style {
                Some(style) => diagnostic.render(sources, style),
                None => format!("{}\n", json(diagnostic, sources)),
            };
            let _ = out.write_all(text.as_bytes());
        }
    }

    /// Writes an error without a place, on one line.
    pub fn say(self, message: &str) {
        match self.style {
            Some(_) => drop(io::stderr().lock().write_all(format!("error: {message}\n").as_bytes())),
            None => self.report(&[Diagnostic::error(message).coded("usage")], &SourceMap::default()),
        }
    }

    /// Whether somebody watches: the error output is a terminal and shows text.
    pub fn on_terminal(self) -> bool {
        self.style.is_some() && io::stderr().is_terminal()
    }

    /// Writes a line that is no diagnostic; nothing in JSON.
    pub fn note(self, message: &str) {
        if self.style.is_some() {
            let _ = io::stderr().lock().write_all(format!("note: {message}\n").as_bytes());
        }
    }
}

fn place(span: Span, sources: &SourceMap) -> Value {
    json!({
        "file": sources.file(span.file).name, "line": span.line.get(), "column": span.column,
        "end_line": span.end_line, "end_column": span.end_column,
    })
}

/// A diagnostic as one JSON object.
fn json(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let at = |span: Option<Span>| span.map(|span| place(span, sources));
    let labels = diagnostic.labels.iter().map(|(span, text)| json!({ "message": text, "at": place(*span, sources) }));
    let notes = diagnostic.notes.iter().map(|(span, text)| json!({ "message": text, "at": at(*span) }));
    json!({
        "severity": match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
        },
        "code": diagnostic.code,
        "message": diagnostic.message,
        "at": at(diagnostic.span),
        "label": diagnostic.label,
        "labels": labels.collect::<Vec<_>>(),
        "notes": notes.collect::<Vec<_>>(),
        "help": diagnostic.help,
    })
}

#[cfg(test)]
mod tests {
    use tf_core::{Diagnostic, SourceMap};

    #[test]
    fn json_has_places() {
        let sources = SourceMap::default();
        let file = sources.add("k.py", "a\nbc\n");
        let diagnostic =
            Diagnostic::error("no").at(sources.span(file, 2..4)).with_note(None, "why").with_help("so").coded("cse");
        let json = super::json(&diagnostic, &sources);
        assert_eq!((&json["at"]["line"], &json["code"]), (&2.into(), &"cse".into()));
        assert_eq!((&json["notes"][0]["message"], &json["help"]), (&"why".into(), &"so".into()));
    }
}
