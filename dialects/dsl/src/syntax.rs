//! Errors of syntax: one for each wrong statement.

use std::fmt::Display;
use std::ops::RangeInclusive;

use ruff_python_ast::Mod;
use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, ParseError, ParseOptions, Parsed, parse_unchecked};
use ruff_text_size::Ranged;
use tf_core::{Diagnostic, Span};

use crate::source::Source;

/// Errors of syntax that are reported at once.
pub(crate) const SYNTAX_ERRORS: usize = 10;

/// Bytes of a file that is read again after each error.
const REREAD: usize = 1 << 20;

pub(crate) fn invalid(what: impl Display, at: Span) -> Diagnostic {
    Diagnostic::error(format!("invalid syntax: {what}")).at(at)
}

fn offset(error: &ParseError) -> usize {
    error.location.start().to_usize()
}

fn sorted(parsed: &Parsed<Mod>) -> Vec<ParseError> {
    let mut errors = parsed.errors().to_vec();
    errors.sort_by_key(offset);
    errors
}

impl Source {
    /// The first error of each wrong statement. What the parser makes of the lines after one may follow from it, so they are read
    /// again without that statement; in a long file the line after an error is left out.
    pub(crate) fn syntax_errors(&self, parsed: &Parsed<Mod>) -> Vec<Diagnostic> {
        let line = |error: &ParseError| self.line_of(offset(error));
        let mut errors = sorted(parsed);
        let original: Vec<_> = errors.iter().map(offset).collect();
        let mut text = self.content().as_bytes().to_vec();
        let mut again = None;
        let mut shown = Vec::new();
        while let Some(error) = errors.first()
            && shown.len() < SYNTAX_ERRORS
        {
            shown.push(invalid(&error.error, self.syntax_place(error.location)));
            let mut last = line(error);
            if text.len() <= REREAD {
                let lines = self.wrong_lines(again.as_ref().unwrap_or(parsed), error);
                last = last.max(*lines.end());
                self.leave_out(&mut text, lines);
                // Only whole characters are left out.
                let read = parse_unchecked(&String::from_utf8_lossy(&text), ParseOptions::from(Mode::Module));
                errors = sorted(again.insert(read));
                errors.retain(|error| {
                    line(error) > last && (line(error) > last + 1 || original.contains(&offset(error)))
                });
            } else {
                errors.retain(|error| line(error) > last + 1);
            }
        }
        shown
    }

    /// The lines of the statement that an error is in. One that is found at the start of a line is of what stands before it.
    fn wrong_lines(&self, parsed: &Parsed<Mod>, error: &ParseError) -> RangeInclusive<usize> {
        let at = offset(error);
        let tokens = parsed.tokens();
        let before = tokens.partition_point(|token| token.end().to_usize() <= at);
        let start =
            tokens[..before].iter().rposition(|token| token.kind() == TokenKind::Newline).map_or(0, |at| at + 1);
        let blank = [TokenKind::NonLogicalNewline, TokenKind::Comment, TokenKind::Indent, TokenKind::Dedent];
        let first = tokens[start..].iter().find(|token| !blank.contains(&token.kind()));
        let first = first.map_or(at, |token| token.start().to_usize().min(at));
        let (first, last) = (self.line_of(first), self.line_of(at));
        let starts_line = self.content()[self.line_starts[last]..at].trim().is_empty();
        first..=if starts_line && last > first { last - 1 } else { last }
    }

    /// Puts a statement without meaning in place of the lines, of the same bytes: one with a block where lines follow that stand deeper.
    fn leave_out(&self, text: &mut [u8], lines: RangeInclusive<usize>) {
        let length = text.len();
        let range = |line: usize| self.line_starts[line]..self.line_starts.get(line + 1).copied().unwrap_or(length);
        let indent = |text: &[u8]| text.iter().position(|byte| !byte.is_ascii_whitespace());
        let (first, whole) = (range(*lines.start()), self.line_starts[*lines.start()]..range(*lines.end()).end);
        let depth = indent(&text[first.clone()]).unwrap_or(0);
        let below = (lines.end() + 1..self.line_starts.len()).find_map(|line| indent(&text[range(line)]));
        for byte in &mut text[whole] {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        let word: &[u8] = if below.is_some_and(|below| below > depth) { b"if 0:" } else { b"0" };
        let place = first.start + depth..first.end;
        if let Some(place) = text[place].get_mut(..word.len()).filter(|place| !place.contains(&b'\n')) {
            place.copy_from_slice(word);
        }
    }
}
