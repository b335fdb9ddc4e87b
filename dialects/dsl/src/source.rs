//! The syntax of a file, and positions in it.

use std::cell::Cell;
use std::sync::Arc;

use ruff_python_ast::{ModModule, StmtFunctionDef};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::{Ranged, TextRange, TextSize};
use tf_core::span::SourceFile;
use tf_core::{Context, Diagnostic, FileId, Span};

use crate::limits;
use crate::misplaced::misplaced;
use crate::syntax::{SYNTAX_ERRORS, invalid};

const BLOCK: usize = 256;
/// Bytes of code in a message.
const SHOWN: usize = 120;

/// A file with what turns byte ranges into lines and columns without walking long lines again.
pub(crate) struct Source {
    file: FileId,
    text: Arc<SourceFile>,
    pub(crate) line_starts: Vec<usize>,
    /// Characters before every [`BLOCK`]th byte; empty where each byte is one.
    chars: Vec<usize>,
    /// The line found last: positions are asked for about in order.
    recent: Cell<usize>,
}

/// What stands in place of parts of a function.
pub(crate) type Edits = Vec<(TextRange, String)>;

fn char_count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&b| b & 0xc0 != 0x80).count()
}

impl Source {
    pub(crate) fn new(cx: &Context<'_>, file: FileId) -> Result<Self, Box<Diagnostic>> {
        let text = cx.sources().file(file);
        let Some(content) = &text.text else {
            return Err(Box::new(Diagnostic::error(format!("the text of `{}` is not loaded", text.name))));
        };
        if content.len() > limits::FILE_BYTES {
            let message =
                format!("`{}` has {} bytes; at most {} are read", text.name, content.len(), limits::FILE_BYTES);
            return Err(Box::new(Diagnostic::error(message)));
        }
        let bytes = content.as_bytes();
        let line_starts = std::iter::once(0)
            .chain(bytes.iter().enumerate().filter(|&(_, b)| *b == b'\n').map(|(at, _)| at + 1))
            .collect();
        let mut chars = Vec::new();
        if !bytes.is_ascii() {
            chars.push(0);
            for block in bytes.chunks(BLOCK) {
                chars.push(chars[chars.len() - 1] + char_count(block));
            }
        }
        Ok(Self { file, text, line_starts, chars, recent: Cell::new(0) })
    }

    pub(crate) fn content(&self) -> &str {
        self.text.text.as_deref().unwrap_or_default()
    }

    fn chars_before(&self, offset: usize) -> usize {
        if self.chars.is_empty() {
            return offset;
        }
        let block = offset / BLOCK;
        self.chars[block] + char_count(&self.content().as_bytes()[block * BLOCK..offset])
    }

    pub(crate) fn line_of(&self, offset: usize) -> usize {
        let starts = &self.line_starts;
        let holds = |line: usize| {
            starts.get(line).is_some_and(|&start| start <= offset)
                && starts.get(line + 1).is_none_or(|&next| offset < next)
        };
        let recent = self.recent.get();
        let near = [recent, recent + 1].into_iter().find(|&line| holds(line));
        let line = near.unwrap_or_else(|| starts.partition_point(|&start| start <= offset) - 1);
        self.recent.set(line);
        line
    }

    fn position(&self, offset: usize) -> (u32, u32) {
        let offset = offset.min(self.content().len());
        let line = self.line_of(offset);
        let column = self.chars_before(offset) - self.chars_before(self.line_starts[line]);
        (line as u32 + 1, column as u32 + 1)
    }

    pub(crate) fn span_of(&self, range: TextRange) -> Span {
        Span::new(self.file, self.position(range.start().to_usize()), self.position(range.end().to_usize()))
    }

    pub(crate) fn span(&self, node: &impl Ranged) -> Span {
        self.span_of(node.range())
    }

    /// The file in that range as it is.
    pub(crate) fn slice(&self, range: TextRange) -> &str {
        self.content().get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default()
    }

    /// The text of a function from its `def` on, without its indentation and with edits.
    pub(crate) fn edited(&self, def: &StmtFunctionDef, edits: &mut Edits) -> String {
        let decorated = def.decorator_list.last().map_or(def.start(), Ranged::end);
        let keyword = if def.is_async { "async" } else { "def" };
        let start = self.slice(TextRange::new(decorated, def.name.start())).rfind(keyword).unwrap_or_default();
        let mut at = decorated + TextSize::try_from(start).unwrap_or_default();
        let indent = self.span_of(TextRange::empty(at)).column.saturating_sub(1) as usize;
        let mut text = String::new();
        edits.sort_by_key(|(range, _)| (range.start(), range.end()));
        for (range, new) in edits {
            text.push_str(self.slice(TextRange::new(at, range.start())));
            text.push_str(new);
            at = range.end();
        }
        text.push_str(self.slice(TextRange::new(at, def.end())));
        let mut lines = text.lines();
        let mut source = lines.next().unwrap_or_default().trim_end().to_owned();
        for line in lines {
            source.push('\n');
            let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
            source.push_str(line[blanks.min(indent)..].trim_end());
        }
        source
    }

    /// The words of the file in that range, on one line; the first of them where there are many.
    pub(crate) fn text_of(&self, node: &impl Ranged) -> String {
        let mut text = String::new();
        for word in self.slice(node.range()).split_whitespace() {
            if !text.is_empty() {
                text.push(' ');
            }
            // Names of what is read are short.
            text.extend(word.chars().take(SHOWN));
            if text.len() > SHOWN {
                text.push('…');
                break;
            }
        }
        text
    }

    /// The file's syntax tree.
    ///
    /// # Errors
    /// Nesting or lines beyond the limits, syntax errors.
    pub(crate) fn parse(&self) -> Result<ModModule, Vec<Diagnostic>> {
        if let Some(excess) = limits::check(self.content().as_bytes()) {
            let (line, column) = self.position(excess.offset);
            let span = Span::new(self.file, (line, column), (line, column + 1));
            return Err(vec![Diagnostic::error(excess.message()).at(span).with_help(excess.help())]);
        }
        if let Some(at) = self.content().bytes().position(|byte| byte == 0) {
            let (line, column) = self.position(at);
            return Err(vec![invalid(
                "a file has no NUL characters",
                Span::new(self.file, (line, column), (line, column + 1)),
            )]);
        }
        let parsed = parse_unchecked(self.content(), ParseOptions::from(Mode::Module));
        if !parsed.errors().is_empty() {
            return Err(self.syntax_errors(&parsed));
        }
        match parsed.try_into_module() {
            Some(module) => {
                let module = module.into_syntax();
                let misplaced = misplaced(&module.body);
                if misplaced.is_empty() {
                    return Ok(module);
                }
                let shown = misplaced.into_iter().take(SYNTAX_ERRORS);
                Err(shown.map(|(range, what)| invalid(what, self.span_of(range))).collect())
            }
            None => Err(vec![Diagnostic::error(format!("`{}` is no Python module", self.text.name))]),
        }
    }

    /// Where an error is shown: the end of a line where that is what was found.
    pub(crate) fn syntax_place(&self, location: TextRange) -> Span {
        if !self.slice(location).starts_with(['\n', '\r']) {
            return self.span_of(location);
        }
        let (line, column) = self.position(location.start().to_usize());
        Span::new(self.file, (line, column), (line, column + 1))
    }
}
