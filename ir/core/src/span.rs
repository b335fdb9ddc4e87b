//! Source positions and the files they point into.

use std::num::NonZeroU32;
use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;

/// A file of a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub(crate) u32);

/// A range of a file. Lines and columns count from 1; columns are characters, the end is exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First line.
    pub line: NonZeroU32,
    /// First column.
    pub column: u32,
    /// Last line.
    pub end_line: u32,
    /// One past the last column.
    pub end_column: u32,
}

impl Span {
    /// A span from `line:column` to `end_line:end_column`.
    #[must_use]
    pub fn new(file: FileId, (line, column): (u32, u32), (end_line, end_column): (u32, u32)) -> Self {
        Self { file, line: NonZeroU32::new(line).unwrap_or(NonZeroU32::MIN), column, end_line, end_column }
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { end_line: other.end_line, end_column: other.end_column, ..self }
    }
}

/// One source file.
#[derive(Debug)]
pub struct SourceFile {
    /// Path as the user wrote it, or a name such as `<stdin>`.
    pub name: String,
    /// Its text; `None` where only positions are known (locations read from textual IR).
    pub text: Option<String>,
    line_starts: Vec<u32>,
}

impl SourceFile {
    fn new(name: String, text: Option<String>) -> Self {
        let mut line_starts = vec![0];
        if let Some(text) = &text {
            line_starts.extend(text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i as u32 + 1));
        }
        Self { name, text, line_starts }
    }

    /// Line and column, from 1, of a byte offset.
    #[must_use]
    pub fn position(&self, offset: usize) -> (u32, u32) {
        let line = self.line_starts.partition_point(|&start| start as usize <= offset) - 1;
        let start = self.line_starts[line] as usize;
        let text = self.text.as_deref().unwrap_or_default();
        let column = text.get(start..offset).map_or(offset - start, |s| s.chars().count());
        (line as u32 + 1, column as u32 + 1)
    }

    /// Whether the first or the last line of a span, or one between them, has more bytes than that.
    #[must_use]
    pub fn has_longer_line(&self, span: Span, bytes: usize) -> bool {
        let end = self.text.as_deref().unwrap_or_default().len();
        let start_of = |line: usize| self.line_starts.get(line).map_or(end, |&start| start as usize);
        let lines = span.line.get() as usize..=span.end_line as usize;
        lines.take_while(|&line| line <= self.line_starts.len()).any(|line| start_of(line) - start_of(line - 1) > bytes)
    }

    /// The text from one line to another one, both counted from 1 and taken as far as there are lines, and the byte that it starts at.
    #[must_use]
    pub fn lines(&self, first: u32, last: u32) -> (&str, usize) {
        let text = self.text.as_deref().unwrap_or_default();
        let start_of = |line: u32| self.line_starts.get(line as usize).map_or(text.len(), |&start| start as usize);
        let start = start_of(first.saturating_sub(1));
        (&text[start..start_of(last).max(start)], start)
    }

    /// The byte offset of a line and column, clamped to the text.
    #[must_use]
    pub fn offset(&self, line: u32, column: u32) -> usize {
        let text = self.text.as_deref().unwrap_or_default();
        let Some(&start) = self.line_starts.get(line.saturating_sub(1) as usize) else { return text.len() };
        let rest = &text[start as usize..];
        let mut chars = rest.char_indices();
        let within = chars.nth(column.saturating_sub(1) as usize).map_or(rest.len(), |(i, _)| i);
        start as usize + within
    }
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// All files that spans point into. Cheap to clone: clones share the files.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Arc<RwLock<Files>>,
}

#[derive(Debug, Default)]
struct Files {
    all: Vec<Arc<SourceFile>>,
    /// The places of the files of each name, in order.
    named: FxHashMap<String, Vec<u32>>,
}

impl Files {
    fn of_name<'a>(&'a self, name: &str) -> impl Iterator<Item = (FileId, &'a SourceFile)> {
        self.named.get(name).into_iter().flatten().map(|&at| (FileId(at), &*self.all[at as usize]))
    }
}

impl SourceMap {
    /// Adds a file with its text; a byte order mark is no part of it.
    pub fn add(&self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let mut text = text.into();
        if text.starts_with(BYTE_ORDER_MARK) {
            text.remove(0);
        }
        self.push(SourceFile::new(name.into(), Some(text)))
    }

    /// The file of that name and text, added where it is not known yet.
    pub fn add_once(&self, name: &str, text: &str) -> FileId {
        let files = self.files.read().unwrap_or_else(PoisonError::into_inner);
        let known = files.of_name(name).find(|(_, file)| file.text.as_deref() == Some(text)).map(|(id, _)| id);
        drop(files);
        known.unwrap_or_else(|| self.add(name, text))
    }

    /// The file of that name, added without text where it is not known yet.
    pub fn named(&self, name: &str) -> FileId {
        let first = self.files.read().unwrap_or_else(PoisonError::into_inner).of_name(name).next().map(|(id, _)| id);
        first.unwrap_or_else(|| self.push(SourceFile::new(name.to_owned(), None)))
    }

    fn push(&self, file: SourceFile) -> FileId {
        let mut files = self.files.write().unwrap_or_else(PoisonError::into_inner);
        let at = files.all.len() as u32;
        files.named.entry(file.name.clone()).or_default().push(at);
        files.all.push(Arc::new(file));
        FileId(at)
    }

    /// A file.
    #[must_use]
    pub fn file(&self, id: FileId) -> Arc<SourceFile> {
        Arc::clone(&self.files.read().unwrap_or_else(PoisonError::into_inner).all[id.0 as usize])
    }

    /// The span of a byte range.
    #[must_use]
    pub fn span(&self, id: FileId, range: std::ops::Range<usize>) -> Span {
        let file = self.file(id);
        Span::new(id, file.position(range.start), file.position(range.end))
    }

    /// `file:line:column` of the start of a span.
    #[must_use]
    pub fn describe(&self, span: Span) -> String {
        format!("{}:{}:{}", self.file(span.file).name, span.line, span.column)
    }
}
