//! The parser's position: tokens, expectations, errors.

use tf_core::{Context, Diagnostic, FileId, Span, diag};
use tf_types::{Symbol, TypeError};

use super::Parser;
use super::lexer::{Kind, Token};
use super::link::Key;
use crate::syntax::unescape;

/// An error has been reported, or was a consequence of a reported one.
#[derive(Clone, Copy, Debug)]
pub struct Failed;

pub type Parsed<T> = Result<T, Failed>;

/// Types, layouts and dims nest no deeper than this where they are written out; aliases start anew.
const DEEPEST_NESTING: u32 = 64;

/// How many errors are reported at once.
pub const MOST_ERRORS: usize = 100;

/// Messages repeat names of the text, which may be of any length.
const LONGEST_MESSAGE: usize = 1000;

impl<'a, 't, 'c> Parser<'a, 't, 'c> {
    pub fn cx(&self) -> &'a Context<'c> {
        self.cx
    }

    pub fn text_of(&self, token: Token) -> &'t str {
        &self.text[token.start..token.end]
    }

    /// Moves on; gives the token that was current.
    pub fn advance(&mut self) -> Token {
        let token = self.token;
        match token.kind {
            Kind::Punct(b'{') => self.braces += 1,
            Kind::Punct(b'}') => self.braces -= 1,
            _ => {}
        }
        self.previous = token;
        self.token = self.lexer.next_token();
        token
    }

    /// Moves on over `length` bytes of ASCII on one line that start with the current token and end with `last`, a
    /// character of punctuation. The text is balanced.
    pub fn skip(&mut self, length: usize, last: u8) {
        let Token { start, line, column, .. } = self.token;
        let (end, end_column) = (start + length, column + length as u32);
        let (kind, start, column) = (Kind::Punct(last), end - 1, end_column - 1);
        self.previous = Token { kind, start, end, line, column, end_column, first: false };
        self.lexer.go_on_at(end);
        self.token = self.lexer.next_token();
    }

    pub fn span(&self, token: Token) -> Span {
        span_of(self.file, token, token)
    }

    /// From a token to the one consumed last.
    pub fn span_from(&self, first: Token) -> Span {
        span_of(self.file, first, self.previous)
    }

    /// Keeps an error; after too many the rest of the text is not read.
    pub fn report(&mut self, mut diagnostic: Diagnostic) -> Failed {
        if let Some((cut, _)) = diagnostic.message.char_indices().nth(LONGEST_MESSAGE) {
            diagnostic.message.replace_range(cut.., "…");
        }
        if self.errors.len() < MOST_ERRORS {
            self.errors.push(diagnostic);
        }
        if self.errors.len() == MOST_ERRORS {
            self.lexer.finish();
            self.token.kind = Kind::End;
        }
        Failed
    }

    pub fn error_at(&mut self, token: Token, message: impl Into<String>) -> Failed {
        let span = self.span(token);
        self.report(Diagnostic::error(message).at(span))
    }

    /// A refusal of the type layer, at a token.
    pub fn type_error(&mut self, token: Token, error: TypeError) -> Failed {
        let mut diagnostic = Diagnostic::error(error.message).at(self.span(token));
        diagnostic.help = error.help;
        self.report(diagnostic)
    }

    /// "expected …, found …" at the current token.
    pub fn expected(&mut self, what: &str) -> Failed {
        let token = self.token;
        let found = match token.kind {
            Kind::End => "the end of the file".to_owned(),
            _ => {
                let text = self.text_of(token);
                let cut = text.char_indices().nth(32).map_or(text.len(), |(at, _)| at);
                format!("`{}`", &text[..cut])
            }
        };
        self.error_at(token, format!("expected {what}, found {found}"))
    }

    pub fn at(&self, punct: u8) -> bool {
        self.token.is(punct)
    }

    pub fn at_word(&self, word: &str) -> bool {
        self.token.kind == Kind::Word && self.text_of(self.token) == word
    }

    pub fn accept(&mut self, punct: u8) -> bool {
        let found = self.at(punct);
        if found {
            self.advance();
        }
        found
    }

    pub fn accept_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.advance();
        }
        found
    }

    pub fn expect(&mut self, punct: u8) -> Parsed<Token> {
        if self.at(punct) {
            return Ok(self.advance());
        }
        Err(self.expected(&format!("`{}`", char::from(punct))))
    }

    pub fn expect_word(&mut self, word: &str) -> Parsed<Token> {
        if self.at_word(word) {
            return Ok(self.advance());
        }
        Err(self.expected(&format!("`{word}`")))
    }

    pub fn expect_kind(&mut self, kind: Kind, what: &str) -> Parsed<Token> {
        if self.token.kind == kind {
            return Ok(self.advance());
        }
        Err(self.expected(what))
    }

    /// `open item, item close`.
    pub fn list<T>(&mut self, [open, close]: [u8; 2], mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.expect(open)?;
        let mut items = Vec::new();
        if self.accept(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.accept(close) {
                return Ok(items);
            }
            if !self.accept(b',') {
                return Err(self.expected(&format!("`,` or `{}`", char::from(close))));
            }
        }
    }

    /// Bounds the recursion of what is written inside out.
    pub fn nested<T>(&mut self, item: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting == DEEPEST_NESTING {
            let token = self.token;
            return Err(self.error_at(token, format!("nests deeper than {DEEPEST_NESTING} levels; use aliases")));
        }
        self.nesting += 1;
        let result = item(self);
        self.nesting -= 1;
        result
    }

    /// The text between the quotes that end `raw`'s token.
    pub fn unquoted(&mut self, token: Token, raw: &'t str) -> Parsed<Symbol<'c>> {
        match unescape(&raw[1..raw.len() - 1]) {
            Some(text) => Ok(self.cx.symbol(&text)),
            None => Err(self.error_at(token, "unknown escape; `\\\"`, `\\\\`, `\\n`, `\\t` and `\\u{…}` are known")),
        }
    }

    pub fn string(&mut self) -> Parsed<Symbol<'c>> {
        let token = self.expect_kind(Kind::Str, "a string in quotes")?;
        self.unquoted(token, self.text_of(token))
    }

    /// A name that is a word or in quotes.
    pub fn word_or_string(&mut self, what: &str) -> Parsed<Symbol<'c>> {
        match self.token.kind {
            Kind::Str => self.string(),
            Kind::Word if !self.text_of(self.token).contains('.') => {
                let token = self.advance();
                Ok(self.cx.symbol(self.text_of(token)))
            }
            _ => Err(self.expected(what)),
        }
    }

    /// `@name`.
    pub fn symbol(&mut self, what: &str) -> Parsed<(Token, Symbol<'c>)> {
        let token = self.expect_kind(Kind::Symbol, what)?;
        let raw = &self.text_of(token)[1..];
        if self.text_of(token).starts_with(':') || segments(raw).nth(1).is_some() {
            return Err(self.error_at(token, format!("expected {what}, found a path")));
        }
        let name = if raw.starts_with('"') { self.unquoted(token, raw)? } else { self.cx.symbol(raw) };
        Ok((token, name))
    }

    /// `@f` of this module, `@a::@f` of one below it, `::@a::@f` from the root.
    pub fn function_path(&mut self, what: &str) -> Parsed<(Token, Key<'c>)> {
        let token = self.expect_kind(Kind::Symbol, what)?;
        let text = self.text_of(token);
        let (mut path, raw) = match text.strip_prefix("::") {
            Some(rest) => (Vec::new(), rest),
            None => (self.path.to_vec(), text),
        };
        for segment in segments(&raw[1..]) {
            let name = match segment.starts_with('"') {
                true => self.unquoted(token, segment)?,
                false => self.cx.symbol(segment),
            };
            path.push(name);
        }
        let name = path.pop().unwrap_or_else(|| self.cx.symbol(""));
        Ok((token, (self.cx.symbols(&path), name)))
    }

    /// An integer with an optional sign.
    pub fn integer<T: TryFrom<i128>>(&mut self, what: &str) -> Parsed<T> {
        let first = self.token;
        let negative = self.accept(b'-');
        let token = self.expect_kind(Kind::Int, what)?;
        let value: Option<i128> = self.text_of(token).parse().ok();
        let value = value.map(|v| if negative { -v } else { v }).and_then(|v| T::try_from(v).ok());
        value.ok_or_else(|| {
            let span = self.span_from(first);
            self.report(Diagnostic::error(format!("{what} is out of range")).at(span))
        })
    }

    /// ` loc("file":1:2 to 1:5)`, `loc(unknown)`, or the default where nothing is written.
    pub fn location(&mut self, default: Span) -> Parsed<Option<Span>> {
        if !self.at_word("loc") {
            return Ok(Some(default));
        }
        self.advance();
        self.expect(b'(')?;
        if self.accept_word("unknown") {
            self.expect(b')')?;
            return Ok(None);
        }
        let token = self.expect_kind(Kind::Str, "a file name in quotes or `unknown`")?;
        let raw = self.text_of(token);
        let file = match self.named_file {
            Some((name, file)) if name == raw => file,
            _ => {
                let name = self.unquoted(token, raw)?;
                self.cx.sources().named(name.as_str())
            }
        };
        self.named_file = Some((raw, file));
        self.expect(b':')?;
        let line = self.integer("a line")?;
        self.expect(b':')?;
        let column = self.integer("a column")?;
        self.expect_word("to")?;
        let end_line = self.integer("a line")?;
        self.expect(b':')?;
        let end_column = self.integer("a column")?;
        self.expect(b')')?;
        if line == 0 {
            return Err(self.error_at(token, "lines count from 1"));
        }
        Ok(Some(Span::new(file, (line, column), (end_line, end_column))))
    }

    /// An unknown name, with the nearest known one as help.
    pub fn unknown<'n>(
        &mut self,
        token: Token,
        message: String,
        word: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) -> Failed {
        let mut diagnostic = Diagnostic::error(message).at(self.span(token));
        if let Some(near) = diag::did_you_mean(word, known) {
            diagnostic = diagnostic.with_help(format!("did you mean `{near}`?"));
        }
        self.report(diagnostic)
    }
}

/// The names of `a::@"b"::@c`.
fn segments(mut raw: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        if raw.is_empty() {
            return None;
        }
        let end = match raw.strip_prefix('"') {
            Some(rest) => closing_quote(rest) + 2,
            None => raw.find(':').unwrap_or(raw.len()),
        };
        let segment = &raw[..end];
        raw = raw[end..].strip_prefix("::@").unwrap_or_default();
        Some(segment)
    })
}

fn closing_quote(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' if !escaped => return at,
            '\\' if !escaped => escaped = true,
            _ => escaped = false,
        }
    }
    text.len()
}

fn span_of(file: FileId, first: Token, last: Token) -> Span {
    Span::new(file, (first.line, first.column), (last.line, last.end_column))
}
