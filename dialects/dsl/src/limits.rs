//! Bounds on what is read, checked on the bytes before a tree is built, so that no input can exhaust the stack.

/// Bytes of a file.
pub(crate) const FILE_BYTES: usize = 64 << 20;
/// Brackets inside brackets.
const BRACKETS: usize = 200;
/// Blocks inside blocks, and expressions inside expressions.
pub(crate) const DEPTH: usize = 600;
/// Modules inside modules.
pub(crate) const MODULES: usize = 64;
/// Levels of a module, and axes of a mesh.
pub(crate) const LEVELS: usize = 64;
/// Comparisons of names in search of one that was meant.
pub(crate) const COMPARISONS: usize = 1 << 20;
/// Indentation of a line in columns; a block is indented by one at least.
const INDENT: usize = 400;
/// Operators of one statement: each may deepen the tree by one.
const OPERATORS: usize = 400_000;
/// Prefix words of one statement, such as `not`, `-`, `lambda`, `else`.
const PREFIXES: usize = 2_000;

/// A limit that is passed at a byte of the file.
#[derive(Debug)]
pub(crate) struct Excess {
    pub(crate) offset: usize,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Brackets,
    Indent,
    Operators,
    Prefixes,
}

impl Excess {
    pub(crate) fn message(&self) -> String {
        match self.kind {
            Kind::Brackets => format!("brackets are nested more than {BRACKETS} deep"),
            Kind::Indent => format!("the line is indented by more than {INDENT} columns"),
            Kind::Operators => format!("the statement has more than {OPERATORS} operators"),
            Kind::Prefixes => format!("the statement has more than {PREFIXES} prefix operators"),
        }
    }

    pub(crate) fn help(&self) -> &'static str {
        match self.kind {
            Kind::Brackets | Kind::Operators | Kind::Prefixes => "bind parts of it to names",
            Kind::Indent => "use fewer nested blocks",
        }
    }
}

#[derive(Clone, Copy)]
enum Context {
    Bracket,
    /// An f-string, with its quote and whether it is a triple one.
    Format(u8, bool),
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    open: Vec<Context>,
    operators: usize,
    prefixes: usize,
    /// Whether the last token ends an operand, so that `-` subtracts.
    after_operand: bool,
}

/// The first excess of the file.
pub(crate) fn check(text: &[u8]) -> Option<Excess> {
    let mut scan = Scan { text, at: 0, open: Vec::new(), operators: 0, prefixes: 0, after_operand: false };
    while scan.at < text.len() {
        let offset = scan.at;
        if let Some(kind) = scan.token() {
            return Some(Excess { offset, kind });
        }
    }
    None
}

impl Scan<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn token(&mut self) -> Option<Kind> {
        if let Some(&Context::Format(quote, triple)) = self.open.last() {
            return self.format_text(quote, triple);
        }
        let byte = self.peek(0);
        match byte {
            b'#' => self.skip_line(),
            b'\'' | b'"' => self.string(false),
            b'\n' => return self.newline(),
            b'(' | b'[' | b'{' => {
                self.at += 1;
                self.open.push(Context::Bracket);
                self.after_operand = false;
                return self.operator().or((self.open.len() > BRACKETS).then_some(Kind::Brackets));
            }
            b')' | b']' | b'}' => {
                self.at += 1;
                self.open.pop();
                self.after_operand = true;
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'0'..=b'9' | 0x80.. => return self.word(),
            b' ' | b'\t' | b'\r' | b'\\' | 0x0c => self.at += 1,
            b'-' | b'+' | b'~' if !self.after_operand => return self.prefix(1),
            b'*' if self.peek(1) == b'*' => {
                self.after_operand = false;
                return self.prefix(2);
            }
            _ => {
                self.at += 1;
                self.after_operand = false;
                return self.operator();
            }
        }
        None
    }

    fn operator(&mut self) -> Option<Kind> {
        self.operators += 1;
        (self.operators > OPERATORS).then_some(Kind::Operators)
    }

    fn prefix(&mut self, length: usize) -> Option<Kind> {
        self.at += length;
        self.prefixes += 1;
        (self.prefixes > PREFIXES).then_some(Kind::Prefixes)
    }

    fn skip_line(&mut self) {
        while self.at < self.text.len() && self.text[self.at] != b'\n' {
            self.at += 1;
        }
    }

    fn newline(&mut self) -> Option<Kind> {
        self.at += 1;
        if !self.open.is_empty() {
            return None;
        }
        (self.operators, self.prefixes, self.after_operand) = (0, 0, false);
        let blanks = self.text[self.at..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        self.at += blanks;
        (blanks > INDENT).then_some(Kind::Indent)
    }

    fn word(&mut self) -> Option<Kind> {
        let start = self.at;
        while matches!(self.peek(0), b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'0'..=b'9' | 0x80..) {
            self.at += 1;
        }
        let word = &self.text[start..self.at];
        if matches!(self.peek(0), b'\'' | b'"') && word.len() <= 2 {
            let format = word.iter().any(|b| matches!(b, b'f' | b'F' | b't' | b'T'));
            self.string(format);
            return None;
        }
        if matches!(word, b"not" | b"lambda" | b"else" | b"await" | b"async" | b"if" | b"yield" | b"from") {
            self.after_operand = false;
            return self.prefix(0);
        }
        self.after_operand = !matches!(word, b"and" | b"or" | b"in" | b"is" | b"return");
        None
    }

    fn string(&mut self, format: bool) {
        let quote = self.peek(0);
        let triple = self.peek(1) == quote && self.peek(2) == quote;
        self.at += if triple { 3 } else { 1 };
        self.after_operand = true;
        if format {
            self.open.push(Context::Format(quote, triple));
            return;
        }
        while self.at < self.text.len() && !self.close(quote, triple) {
            self.at += if self.peek(0) == b'\\' { 2 } else { 1 };
        }
    }

    /// Steps over the end of a string, if it is here.
    fn close(&mut self, quote: u8, triple: bool) -> bool {
        if triple {
            let ends = self.peek(0) == quote && self.peek(1) == quote && self.peek(2) == quote;
            self.at += if ends { 3 } else { 0 };
            return ends;
        }
        let ends = self.peek(0) == quote;
        self.at += usize::from(ends);
        ends || self.peek(0) == b'\n'
    }

    fn format_text(&mut self, quote: u8, triple: bool) -> Option<Kind> {
        if self.close(quote, triple) {
            self.open.pop();
            return None;
        }
        match (self.peek(0), self.peek(1)) {
            (b'\\', _) | (b'{', b'{') => self.at += 2,
            (b'{', _) => {
                self.at += 1;
                self.open.push(Context::Bracket);
            }
            _ => self.at += 1,
        }
        (self.open.len() > BRACKETS).then_some(Kind::Brackets)
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, check};

    fn kind(text: &str) -> Option<Kind> {
        check(text.as_bytes()).map(|e| e.kind)
    }

    #[test]
    fn ordinary_text_passes() {
        assert_eq!(kind("x = {'(' * 3: f\"{a[0]}{{\"} # ((((\n'''((('''\ny = -1 - -2\n"), None);
        let sum = format!("x = 1{}", " + 1".repeat(100_000));
        assert_eq!(kind(&sum), None);
    }

    #[test]
    fn excess_is_found() {
        assert_eq!(kind(&"(".repeat(201)), Some(Kind::Brackets));
        assert_eq!(kind(&"f'{".repeat(201)), Some(Kind::Brackets));
        assert_eq!(kind(&format!("x = {}1", "-".repeat(2_001))), Some(Kind::Prefixes));
        assert_eq!(kind(&format!("x = {}1", "not ".repeat(2_001))), Some(Kind::Prefixes));
        assert_eq!(kind(&format!("x = 1{}", "**1".repeat(2_001))), Some(Kind::Prefixes));
        assert_eq!(kind(&format!("x = f{}", "()".repeat(400_001))), Some(Kind::Operators));
        assert_eq!(kind(&format!("if x:\n{}y", " ".repeat(401))), Some(Kind::Indent));
        assert_eq!(check(b"\n\n((").map(|e| e.offset), None);
    }
}
