//! Diagnostics as text: rustc's form, or one line.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::{Diagnostic, Severity};
use crate::{SourceMap, Span};

/// How [`Diagnostic::render`] writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Excerpts without colour.
    Plain,
    /// Excerpts in colour.
    Colored,
}

impl Diagnostic {
    /// The message with `FILE:LINE:COLUMN`, excerpt, notes and help, ending in a line break.
    #[must_use]
    pub fn render(&self, sources: &SourceMap, style: Style) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Remark => Level::INFO.with_name("remark"),
        };
        let excerpts = Excerpts::new(self, sources);
        let mut groups = vec![excerpts.main(level.primary_title(self.message.as_str()), self)];
        for (span, note) in &self.notes {
            let title = Level::NOTE.secondary_title(note.as_str());
            groups.push(match span {
                Some(span) => excerpts.add(Group::with_title(title), *span, None, &[]),
                None => Group::with_title(title),
            });
        }
        if let Some(help) = &self.help {
            groups.push(Group::with_title(Level::HELP.secondary_title(help.as_str())));
        }
        let renderer = match style {
            Style::Plain => Renderer::plain(),
            Style::Colored => Renderer::styled(),
        };
        // Without an excerpt there is no bar for the groups to hang on.
        let mut text = if excerpts.files.is_empty() {
            let lines: Vec<_> = groups.iter().map(|group| renderer.render(std::slice::from_ref(group))).collect();
            lines.join("\n")
        } else {
            renderer.render(&groups)
        };
        text.push('\n');
        text
    }
}

/// Longer lines are not shown, only where they are.
const LONGEST_LINE: usize = 4096;

/// The files a diagnostic points into, kept alive while it is drawn.
struct Excerpts {
    files: Vec<(crate::FileId, std::sync::Arc<crate::span::SourceFile>)>,
}

impl Excerpts {
    fn new(diagnostic: &Diagnostic, sources: &SourceMap) -> Self {
        let spans = diagnostic.span.iter().chain(diagnostic.labels.iter().map(|(s, _)| s));
        let spans = spans.chain(diagnostic.notes.iter().filter_map(|(s, _)| s.as_ref()));
        let mut ids: Vec<_> = spans.map(|s| s.file).collect();
        ids.sort_unstable();
        ids.dedup();
        Self { files: ids.into_iter().map(|id| (id, sources.file(id))).collect() }
    }

    fn file(&self, id: crate::FileId) -> &crate::span::SourceFile {
        let at = self.files.binary_search_by_key(&id, |(have, _)| *have);
        &self.files[at.expect("every file of the diagnostic was collected")].1
    }

    fn main<'a>(&'a self, title: annotate_snippets::Title<'a>, diagnostic: &'a Diagnostic) -> Group<'a> {
        match diagnostic.span {
            Some(span) => self.add(Group::with_title(title), span, diagnostic.label.as_deref(), &diagnostic.labels),
            None => Group::with_title(title),
        }
    }

    fn add<'a>(
        &'a self,
        group: Group<'a>,
        span: Span,
        label: Option<&'a str>,
        labels: &'a [(Span, String)],
    ) -> Group<'a> {
        let file = self.file(span.file);
        if file.text.is_none() || file.has_longer_line(span, LONGEST_LINE) {
            let origin = annotate_snippets::Origin::path(file.name.as_str());
            let origin = origin.line(span.line.get() as usize).char_column(span.column as usize);
            return group.element(origin);
        }
        let shown = labels.iter().filter(|(at, _)| at.file == span.file && !file.has_longer_line(*at, LONGEST_LINE));
        let (near, far): (Vec<_>, Vec<_>) = shown.partition(|(at, _)| is_near(span, *at));
        let near = near.into_iter().map(|(at, text)| (AnnotationKind::Context, *at, Some(text.as_str())));
        let main: Vec<_> = std::iter::once((AnnotationKind::Primary, span, label)).chain(near).collect();
        let group = group.element(excerpt(file, &main));
        far.into_iter().fold(group, |group, (at, text)| {
            group.element(excerpt(file, &[(AnnotationKind::Context, *at, Some(text.as_str()))]))
        })
    }
}

/// Lines between two places beyond which they are shown apart: what is between them is looked at for each message.
const FAR: u32 = 1_000;

fn is_near(span: Span, other: Span) -> bool {
    let apart = other.line.get().saturating_sub(span.end_line).max(span.line.get().saturating_sub(other.end_line));
    apart <= FAR
}

/// The lines that annotations are on: a library that is given a whole file takes it apart for each message.
fn excerpt<'a>(
    file: &'a crate::span::SourceFile,
    annotations: &[(AnnotationKind, Span, Option<&'a str>)],
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let first = annotations.iter().map(|(_, span, _)| span.line.get()).min().unwrap_or(1);
    let last = annotations.iter().map(|(_, span, _)| span.end_line.max(span.line.get())).max().unwrap_or(1);
    // The line after the last shows where that ends.
    let (text, from) = file.lines(first, last.saturating_add(1));
    let snippet = Snippet::source(text).path(file.name.as_str()).line_start(first as usize).fold(true);
    annotations.iter().fold(snippet, |snippet, &(kind, span, label)| {
        let offset = |line, column| file.offset(line, column).saturating_sub(from).min(text.len());
        let start = offset(span.line.get(), span.column);
        let end = offset(span.end_line, span.end_column).max(start);
        snippet.annotation(kind.span(start..end).label(label))
    })
}

#[cfg(test)]
mod tests {
    use super::{Diagnostic, SourceMap, Style};

    #[test]
    fn without_a_place_there_is_no_bar() {
        let diagnostic = Diagnostic::error("no such file").with_note(None, "in pass `evaluate`").with_help("state one");
        let text = diagnostic.render(&SourceMap::default(), Style::Plain);
        assert_eq!(text, "error: no such file\nnote: in pass `evaluate`\nhelp: state one\n");
    }

    #[test]
    fn long_lines_are_not_shown() {
        let sources = SourceMap::default();
        let file = sources.add("k.py", format!("a\n{}", "b".repeat(10_000)));
        let diagnostic = Diagnostic::error("too long").at(sources.span(file, 5..6));
        assert_eq!(diagnostic.render(&sources, Style::Plain), "error: too long\n--> k.py:2:4\n");
    }

    #[test]
    fn far_labels_are_shown_apart() {
        let sources = SourceMap::default();
        let file = sources.add("k.py", format!("one = 1\n{}two = 2\nthree = 3\n", "pass\n".repeat(5_000)));
        let at = |line: u32| crate::Span::new(file, (line, 1), (line, 4));
        let mut diagnostic = Diagnostic::error("twice").at(at(5_002));
        diagnostic.labels = vec![(at(1), "the first one".to_owned()), (at(5_003), "near".to_owned())];
        let text = diagnostic.render(&sources, Style::Plain);
        let lines: Vec<_> = text.lines().map(str::trim_end).collect();
        let want = [
            "error: twice",
            "    --> k.py:5002:1",
            "     |",
            "5002 | two = 2",
            "     | ^^^",
            "5003 | three = 3",
            "     | --- near",
            "     |",
            "    ::: k.py:1:1",
            "     |",
            "   1 | one = 1",
            "     | --- the first one",
        ];
        assert_eq!(lines, want, "{text}");
    }

    #[test]
    fn excerpt_with_position_label_and_help() {
        let sources = SourceMap::default();
        let file = sources.add("k.py", "a = 1\nb = a @ 2\n");
        let diagnostic = Diagnostic::error("cannot multiply").at(sources.span(file, 10..15));
        let text = diagnostic.with_label("here").with_help("use `*`").render(&sources, Style::Plain);
        assert!(text.contains("error: cannot multiply"), "{text}");
        assert!(text.contains("k.py:2:5"), "{text}");
        assert!(text.contains("^^^^^ here"), "{text}");
        assert!(text.contains("help: use `*`"), "{text}");
    }
}
