//! `--verify-diagnostics`: the input states in comments which diagnostics there are.
//!
//! `expected-error@+1 {{text}}` stands for an error on the next line whose message contains the text; `@-2` counts up, `@above` and
//! `@below` are the lines next to it, without `@` it is the same line, `@unknown` is a diagnostic without a place in this file. `error`
//! may be `warning`, `remark`, `note` or `help`. In `expected-error-re {{found {{[0-9]+}} of them}}` what stands in inner braces is a
//! regular expression. Errors, warnings and remarks that nothing states are failures; notes and helps need not be stated.

use regex_lite::Regex;
use tf_core::diag::Severity;
use tf_core::{Diagnostic, FileId, SourceMap};

/// What a message must hold.
enum Wanted {
    Text(String),
    Regex(Regex),
}

impl Wanted {
    fn is_in(&self, message: &str) -> bool {
        match self {
            Self::Text(text) => message.contains(text),
            Self::Regex(regex) => regex.is_match(message),
        }
    }
}

/// A comment of the input.
struct Expected {
    kind: &'static str,
    /// `None`: no place.
    line: Option<u32>,
    /// As it is written.
    text: String,
    wanted: Wanted,
    /// Where the comment stands, in bytes.
    range: std::ops::Range<usize>,
    seen: bool,
}

const KINDS: [&str; 5] = ["error", "warning", "remark", "note", "help"];

/// The line after `@`; `Err`: what stands there is none.
fn line_of(place: &str, here: u32) -> Result<Option<u32>, String> {
    let Some(place) = place.trim().strip_prefix('@') else {
        return if place.trim().is_empty() {
            Ok(Some(here))
        } else {
            Err(format!("expected `@` or `{{{{`, found `{place}`"))
        };
    };
    let wrong = || format!("`@{place}` is no line; write @+1, @-1, @above, @below or @unknown");
    let count = |text: &str| text.parse::<u32>().map_err(|_| wrong());
    match place.trim() {
        "unknown" => Ok(None),
        "above" => Ok(Some(here.saturating_sub(1))),
        "below" => Ok(Some(here + 1)),
        up if up.starts_with('-') => Ok(Some(here.saturating_sub(count(&up[1..])?))),
        down if down.starts_with('+') => Ok(Some(here.saturating_add(count(&down[1..])?))),
        same => Ok(Some(count(same)?)),
    }
}

/// What stands before the braces that close the ones before `text`.
fn braced(text: &str) -> Option<&str> {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("}}") {
            if depth == 0 {
                return Some(&text[..at]);
            }
            depth -= 1;
        } else if rest.starts_with("{{") {
            depth += 1;
        }
        at += if rest.starts_with("}}") || rest.starts_with("{{") { 2 } else { rest.chars().next()?.len_utf8() };
    }
    None
}

/// A text in which `{{…}}` is a regular expression.
fn pattern(text: &str) -> Result<Regex, String> {
    let mut regex = String::new();
    let mut rest = text;
    while let Some((literal, after)) = rest.split_once("{{") {
        let (inner, after) = after.split_once("}}").ok_or("`{{` is not closed by `}}`")?;
        regex.push_str(&regex_lite::escape(literal));
        regex.push_str(&format!("(?:{inner})"));
        rest = after;
    }
    regex.push_str(&regex_lite::escape(rest));
    Regex::new(&regex).map_err(|error| format!("`{text}` holds no regular expression: {error}"))
}

/// The expectation after `expected-`, `None` where the words are something else.
fn expectation(kind: &'static str, after: &str, here: u32) -> Option<Result<Expected, String>> {
    let (is_regex, after) = match after.strip_prefix("-re") {
        Some(after) => (true, after),
        None => (false, after),
    };
    let (place, message) = after.split_once("{{")?;
    let expected = || {
        let line = line_of(place, here)?;
        let inner = if is_regex { braced(message) } else { message.split_once("}}").map(|(text, _)| text) };
        let text = inner.ok_or("`{{` is not closed by `}}`")?.trim().to_owned();
        let wanted = if is_regex { Wanted::Regex(pattern(&text)?) } else { Wanted::Text(text.clone()) };
        Ok(Expected { kind, line, text, wanted, range: 0..0, seen: false })
    };
    Some(expected())
}

fn expectations(text: &str, sources: &SourceMap, file: FileId) -> (Vec<Expected>, Vec<Diagnostic>) {
    let (mut found, mut mistakes) = (Vec::new(), Vec::new());
    let mut start = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        for (at, _) in line.match_indices("expected-") {
            let after = &line[at + "expected-".len()..];
            let Some(kind) = KINDS.into_iter().find(|kind| after.starts_with(kind)) else { continue };
            let range = start + at..start + line.trim_end().len();
            match expectation(kind, &after[kind.len()..], number as u32 + 1) {
                Some(Ok(expected)) => found.push(Expected { range, ..expected }),
                Some(Err(why)) => mistakes.push(Diagnostic::error(why).at(sources.span(file, range))),
                None => {}
            }
        }
        start += line.len();
    }
    (found, mistakes)
}

fn severity(diagnostic: &Diagnostic) -> &'static str {
    match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Remark => "remark",
    }
}

/// Marks the first expectation that fits and is not met yet, else one that is met: a message may come twice.
fn meet(expected: &mut [Expected], kind: &str, lines: &[Option<u32>], message: &str) -> bool {
    let fits = |e: &Expected| e.kind == kind && lines.contains(&e.line) && e.wanted.is_in(message);
    let at = expected.iter().position(|e| fits(e) && !e.seen).or_else(|| expected.iter().position(fits));
    if let Some(at) = at {
        expected[at].seen = true;
    }
    at.is_some()
}

/// What differs between the diagnostics and what the text of `file` states; empty if nothing does.
pub fn check(sources: &SourceMap, file: FileId, diagnostics: &[Diagnostic]) -> Vec<Diagnostic> {
    let source = sources.file(file);
    let (mut expected, mut wrong) = expectations(source.text.as_deref().unwrap_or_default(), sources, file);
    for diagnostic in diagnostics {
        let line = |span: Option<tf_core::Span>| span.filter(|span| span.file == file).map(|span| span.line.get());
        let primary = line(diagnostic.span);
        if !meet(&mut expected, severity(diagnostic), &[primary], &diagnostic.message) {
            let mut unexpected = diagnostic.clone();
            unexpected.severity = Severity::Error;
            unexpected.message = format!("unexpected {}: {}", severity(diagnostic), diagnostic.message);
            wrong.push(unexpected);
        }
        let labels = diagnostic.labels.iter().map(|(span, text)| (Some(*span), text));
        for (span, text) in labels.chain(diagnostic.notes.iter().map(|(span, text)| (*span, text))) {
            // A note without a place belongs to the line of its diagnostic.
            let lines = if span.is_some() { [line(span), line(span)] } else { [primary, None] };
            meet(&mut expected, "note", &lines, text);
        }
        if let Some(help) = &diagnostic.help {
            meet(&mut expected, "help", &[primary, None], help);
        }
    }
    for missing in expected.iter().filter(|expected| !expected.seen) {
        let message = format!("expected {} {:?} was not produced", missing.kind, missing.text);
        wrong.push(Diagnostic::error(message).at(sources.span(file, missing.range.clone())));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use tf_core::{Diagnostic, SourceMap};

    use super::check;

    fn verdict(text: &str, diagnostics: impl Fn(&SourceMap, tf_core::FileId) -> Vec<Diagnostic>) -> Vec<String> {
        let sources = SourceMap::default();
        let file = sources.add("a.tfir", text);
        let wrong = check(&sources, file, &diagnostics(&sources, file));
        let place = |d: &Diagnostic| d.span.map_or(String::new(), |span| format!("{}: ", span.line));
        wrong.iter().map(|d| format!("{}{}", place(d), d.message)).collect()
    }

    #[test]
    fn stated_diagnostics_are_right() {
        let text = "// expected-error@+1 {{no good}}\nbad\n# expected-warning@-1 {{hm}} expected-note@-1 {{why}}\n\
                    // expected-error@unknown {{lost}} expected-help@2 {{so}}\n";
        let verdict = verdict(text, |sources, file| {
            let at = sources.span(file, text.find("bad").unwrap()..text.find("bad").unwrap() + 3);
            vec![
                Diagnostic::error("it is no good at all").at(at).with_note(None, "why not").with_help("so it goes"),
                Diagnostic::warning("hm").at(at),
                Diagnostic::error("lost"),
            ]
        });
        assert!(verdict.is_empty(), "{verdict:?}");
    }

    #[test]
    fn what_differs_is_told_both_ways() {
        let text = "// expected-error {{a}}\n// expected-error@x {{b}}\n// expected-error {{c\n";
        let verdict = verdict(text, |sources, file| vec![Diagnostic::warning("other").at(sources.span(file, 0..2))]);
        assert_eq!(
            verdict,
            [
                "2: `@x` is no line; write @+1, @-1, @above, @below or @unknown",
                "3: `{{` is not closed by `}}`",
                "1: unexpected warning: other",
                "1: expected error \"a\" was not produced",
            ]
        );
    }

    #[test]
    fn regular_expressions_stand_in_inner_braces() {
        let text = "// expected-error-re@below {{found {{[0-9]+}} of {{a|b}} (all)}} expected-error-re@below {{x{{(}}}}\nbad\n";
        let at = |sources: &SourceMap, file| sources.span(file, text.find("bad").unwrap()..text.len() - 1);
        let right = verdict(text, |sources, file| vec![Diagnostic::error("found 12 of b (all)").at(at(sources, file))]);
        assert!(right.len() == 1 && right[0].starts_with("1: `x{{(}}` holds no regular expression: "), "{right:?}");
        let wrong = verdict(text, |sources, file| vec![Diagnostic::error("found x of b (all)").at(at(sources, file))]);
        assert_eq!(wrong[1], "2: unexpected error: found x of b (all)");
        assert_eq!(wrong[2], "1: expected error \"found {{[0-9]+}} of {{a|b}} (all)\" was not produced");
        let open = verdict("// expected-error-re {{a {{b}}\n", |_, _| Vec::new());
        assert_eq!(open, ["1: `{{` is not closed by `}}`"]);
    }
}
