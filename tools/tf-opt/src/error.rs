//! Why the driver stops.

use std::io::{self, Write};

use tf_core::diag::Style;
use tf_core::{Diagnostic, SourceMap};

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

/// Writes diagnostics to the error output, in colour on a terminal.
pub fn report(diagnostics: &[Diagnostic], sources: &SourceMap) {
    use std::io::IsTerminal;
    let colored = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let style = if colored { Style::Colored } else { Style::Plain };
    let mut out = io::stderr().lock();
    for diagnostic in diagnostics {
        let _ = out.write_all(diagnostic.render(sources, style).as_bytes());
    }
}
