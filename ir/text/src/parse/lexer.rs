//! Tokens, lexed on demand.

use crate::syntax::is_symbol_byte;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    End,
    /// `tensor`, `tf.reduce`
    Word,
    /// `%name`, `%3`, `%"odd name".1`
    Value,
    /// `@name`, `@"odd name"`, `@a::@b`, `::@a`
    Symbol,
    /// `#name`
    Hash,
    /// `!name`
    Bang,
    Int,
    Float,
    /// `0x…`: the bits of a float
    Bits,
    /// Text in quotes
    Str,
    Arrow,
    /// A single character of punctuation
    Punct(u8),
    /// Anything else
    Unknown,
}

/// A token; columns count characters from 1.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
    pub line: u32,
    pub column: u32,
    pub end_column: u32,
    /// Nothing but blanks before it on its line.
    pub first: bool,
}

impl Token {
    pub fn is(&self, punct: u8) -> bool {
        self.kind == Kind::Punct(punct)
    }
}

/// Position in the text.
pub struct Lexer<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    /// Byte offset of the line plus the continuation bytes passed on it: columns are differences to it.
    origin: usize,
    first: bool,
}

impl<'t> Lexer<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text, at: 0, line: 1, origin: 0, first: true }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn skip_while(&mut self, accept: impl Fn(u8) -> bool) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|&b| !accept(b)).unwrap_or(rest.len());
    }

    /// Passes bytes that may be no ASCII.
    fn skip_text(&mut self, end: usize) {
        self.origin += self.text.as_bytes()[self.at..end].iter().filter(|&&b| b & 0xc0 == 0x80).count();
        self.at = end;
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.byte(0) {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' => {
                    self.at += 1;
                    self.line += 1;
                    self.origin = self.at;
                    self.first = true;
                }
                b'/' if self.byte(1) == b'/' => {
                    let rest = &self.text.as_bytes()[self.at..];
                    let length = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                    self.skip_text(self.at + length);
                }
                _ => return,
            }
        }
    }

    /// The next token.
    pub fn next_token(&mut self) -> Token {
        self.skip_blanks();
        let (start, line, column) = (self.at, self.line, (self.at - self.origin) as u32 + 1);
        let first = std::mem::replace(&mut self.first, false);
        let kind = self.scan();
        let end_column = (self.at - self.origin) as u32 + 1;
        Token { kind, start, end: self.at, line, column, end_column, first }
    }

    fn scan(&mut self) -> Kind {
        let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        let starts_word = |b: u8| b.is_ascii_alphabetic() || b == b'_';
        match self.byte(0) {
            0 if self.at >= self.text.len() => Kind::End,
            b if starts_word(b) => {
                self.skip_while(is_word);
                while self.byte(0) == b'.' && starts_word(self.byte(1)) {
                    self.at += 1;
                    self.skip_while(is_word);
                }
                Kind::Word
            }
            b if b.is_ascii_digit() => self.number(),
            b'%' => {
                self.at += 1;
                let named = match self.byte(0) {
                    b'"' => self.string(),
                    b if is_word(b) => {
                        self.skip_while(is_word);
                        true
                    }
                    _ => false,
                };
                if named && self.byte(0) == b'.' && self.byte(1).is_ascii_digit() {
                    self.at += 1;
                    self.skip_while(|b| b.is_ascii_digit());
                }
                if named { Kind::Value } else { Kind::Unknown }
            }
            b'@' => self.symbol(),
            b':' if self.byte(1) == b':' && self.byte(2) == b'@' => {
                self.at += 2;
                self.symbol()
            }
            b @ (b'#' | b'!') if is_word(self.byte(1)) => {
                self.at += 1;
                self.skip_while(is_word);
                if b == b'#' { Kind::Hash } else { Kind::Bang }
            }
            b'"' => {
                if self.string() {
                    Kind::Str
                } else {
                    Kind::Unknown
                }
            }
            b'-' if self.byte(1) == b'>' => {
                self.at += 2;
                Kind::Arrow
            }
            b @ (b'(' | b')' | b'{' | b'}' | b'[' | b']' | b'<' | b'>' | b',' | b':' | b'=' | b'+' | b'-' | b'*'
            | b'?' | b'.' | b'$') => {
                self.at += 1;
                Kind::Punct(b)
            }
            _ => {
                let length = self.text[self.at..].chars().next().map_or(1, char::len_utf8);
                self.skip_text(self.at + length);
                Kind::Unknown
            }
        }
    }

    /// `@name`, and what follows after `::`.
    fn symbol(&mut self) -> Kind {
        loop {
            self.at += 1;
            let named = match self.byte(0) {
                b'"' => self.string(),
                b if b.is_ascii_alphabetic() || b == b'_' => {
                    self.skip_while(is_symbol_byte);
                    true
                }
                _ => false,
            };
            if !named {
                return Kind::Unknown;
            }
            if !(self.byte(0) == b':' && self.byte(1) == b':' && self.byte(2) == b'@') {
                return Kind::Symbol;
            }
            self.at += 2;
        }
    }

    fn number(&mut self) -> Kind {
        if self.byte(0) == b'0' && self.byte(1) == b'x' && self.byte(2).is_ascii_hexdigit() {
            self.at += 2;
            self.skip_while(|b| b.is_ascii_hexdigit());
            return Kind::Bits;
        }
        let digits = |b: u8| b.is_ascii_digit();
        self.skip_while(digits);
        let mut kind = Kind::Int;
        if self.byte(0) == b'.' && self.byte(1).is_ascii_digit() {
            self.at += 1;
            self.skip_while(digits);
            kind = Kind::Float;
        }
        if matches!(self.byte(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
            if self.byte(1 + sign).is_ascii_digit() {
                self.at += 1 + sign;
                self.skip_while(digits);
                kind = Kind::Float;
            }
        }
        kind
    }

    /// From one quote to the other, on one line.
    fn string(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        loop {
            match bytes.get(end) {
                Some(b'"') => {
                    self.skip_text(end + 1);
                    return true;
                }
                Some(b'\\') if bytes.get(end + 1).is_some_and(u8::is_ascii) && bytes[end + 1] != b'\n' => end += 2,
                Some(b'\n') | None => {
                    self.skip_text(end);
                    return false;
                }
                Some(_) => end += 1,
            }
        }
    }

    /// Goes on further along the line, behind ASCII.
    pub fn go_on_at(&mut self, end: usize) {
        self.at = end;
    }

    /// Leaves out the rest of the text.
    pub fn finish(&mut self) {
        self.at = self.text.len();
        self.origin = self.origin.min(self.at);
    }

    /// Reads `4x` of a shape, right after the last token: digits and the `x` after them.
    pub fn shape_extent(&mut self) -> Option<&'t str> {
        self.skip_blanks();
        let start = self.at;
        self.skip_while(|b| b.is_ascii_digit());
        let digits = &self.text[start..self.at];
        if digits.is_empty() || !self.shape_separator() {
            self.at = start;
            return None;
        }
        Some(digits)
    }

    /// Reads the `x` of a shape, right after the last token.
    pub fn shape_separator(&mut self) -> bool {
        let found = self.byte(0) == b'x';
        self.at += usize::from(found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Lexer};

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        let mut lexer = Lexer::new(text);
        std::iter::from_fn(|| {
            let token = lexer.next_token();
            (token.kind != Kind::End).then(|| (token.kind, &text[token.start..token.end]))
        })
        .collect()
    }

    #[test]
    fn every_kind_of_token() {
        let text = "tf.reduce %x.1 %\"a b\".2 %7 @f$1 @\"g h\" @a::@\"b\" ::@c @d: #S !t0 12 1.5e-3 2e8 0x7ff0000000000001 \"q\\\"r\" -> - // c\n{";
        let want = [
            (Kind::Word, "tf.reduce"),
            (Kind::Value, "%x.1"),
            (Kind::Value, "%\"a b\".2"),
            (Kind::Value, "%7"),
            (Kind::Symbol, "@f$1"),
            (Kind::Symbol, "@\"g h\""),
            (Kind::Symbol, "@a::@\"b\""),
            (Kind::Symbol, "::@c"),
            (Kind::Symbol, "@d"),
            (Kind::Punct(b':'), ":"),
            (Kind::Hash, "#S"),
            (Kind::Bang, "!t0"),
            (Kind::Int, "12"),
            (Kind::Float, "1.5e-3"),
            (Kind::Float, "2e8"),
            (Kind::Bits, "0x7ff0000000000001"),
            (Kind::Str, "\"q\\\"r\""),
            (Kind::Arrow, "->"),
            (Kind::Punct(b'-'), "-"),
            (Kind::Punct(b'{'), "{"),
        ];
        assert_eq!(kinds(text), want);
    }

    #[test]
    fn columns_count_characters() {
        let mut lexer = Lexer::new("\"äö\" x\n é y");
        let tokens: Vec<_> = (0..4).map(|_| lexer.next_token()).collect();
        let at: Vec<_> = tokens.iter().map(|t| (t.line, t.column, t.end_column, t.first)).collect();
        assert_eq!(at, [(1, 1, 5, true), (1, 6, 7, false), (2, 2, 3, true), (2, 4, 5, false)]);
    }

    #[test]
    fn unfinished_tokens_are_unknown() {
        assert_eq!(
            kinds("\"ab\n% @ €"),
            [(Kind::Unknown, "\"ab"), (Kind::Unknown, "%"), (Kind::Unknown, "@"), (Kind::Unknown, "€")]
        );
    }
}
