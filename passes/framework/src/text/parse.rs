//! The parser of pipeline text.

use std::ops::Range;

use super::{Argument, Element, OptionText, PipelineText, Spanned};

/// Deepest nesting of parentheses and braces: more is a mistake, and the parser recurses.
const MAX_DEPTH: usize = 32;

/// What is wrong with a pipeline text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// What was expected and what was found.
    pub message: String,
    /// Where, in bytes.
    pub range: Range<usize>,
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

type Result<T> = std::result::Result<T, TextError>;

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Skips white space; tells whether there was some.
    fn space(&mut self) -> bool {
        let before = self.at;
        self.at = self.text.len() - self.rest().trim_start().len();
        self.at > before
    }

    fn accept(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    fn expected<T>(&self, what: &str) -> Result<T> {
        let (found, len) = match self.peek() {
            Some(c) => (format!("`{c}`"), c.len_utf8()),
            None => ("the end".to_owned(), 0),
        };
        Err(TextError { message: format!("expected {what}, found {found}"), range: self.at..self.at + len })
    }

    fn name(&mut self, what: &str) -> Result<Spanned<String>> {
        let start = self.at;
        let rest = self.rest();
        let len = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        if len == 0 {
            return self.expected(what);
        }
        let value = rest[..len].to_owned();
        self.at += len;
        Ok(Spanned { value, range: start..self.at })
    }

    fn pipeline(&mut self, end: Option<char>) -> Result<PipelineText> {
        let mut elements = Vec::new();
        self.space();
        if self.peek() == end {
            return Ok(PipelineText { elements });
        }
        loop {
            self.space();
            elements.push(self.element()?);
            self.space();
            if self.peek() == end {
                return Ok(PipelineText { elements });
            }
            if !self.accept(',') {
                return self.expected(match end {
                    Some(')') => "`,` or `)`",
                    Some(_) => "`,` or `}`",
                    None => "`,`",
                });
            }
        }
    }

    fn element(&mut self) -> Result<Element> {
        let name = self.name("the name of a pass")?;
        self.space();
        let options = if self.accept('{') { self.options()? } else { Vec::new() };
        self.space();
        let nested = if self.enter('(')? {
            let nested = self.pipeline(Some(')'))?;
            self.leave(')');
            Some(nested)
        } else {
            None
        };
        Ok(Element { name, options, nested })
    }

    fn options(&mut self) -> Result<Vec<OptionText>> {
        let mut options = Vec::new();
        self.space();
        while !self.accept('}') {
            let name = self.name(if options.is_empty() { "an option" } else { "an option or `}`" })?;
            let value = if self.accept('=') { Some(self.value()?) } else { None };
            options.push(OptionText { name, value });
            if !self.space() && self.peek() != Some('}') {
                return self.expected("white space or `}` after an option");
            }
        }
        Ok(options)
    }

    /// Goes in at an opening character; [`Parser::leave`] goes out.
    fn enter(&mut self, open: char) -> Result<bool> {
        let at = self.at;
        if !self.accept(open) {
            return Ok(false);
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("pipelines nest at most {MAX_DEPTH} deep");
            return Err(TextError { message, range: at..self.at });
        }
        Ok(true)
    }

    fn leave(&mut self, close: char) {
        self.depth -= 1;
        self.accept(close);
    }

    fn value(&mut self) -> Result<Spanned<Argument>> {
        let start = self.at;
        if self.enter('{')? {
            let value = Argument::Pipeline(self.pipeline(Some('}'))?);
            self.leave('}');
            return Ok(Spanned { value, range: start..self.at });
        }
        let mut value = Vec::new();
        if self.peek().is_none_or(|c| c.is_whitespace() || c == '}') {
            return Ok(Spanned { value: Argument::Parts(value), range: start..start });
        }
        loop {
            value.push(if self.peek() == Some('"') { self.quoted()? } else { self.bare()? });
            if !self.accept(',') {
                return Ok(Spanned { value: Argument::Parts(value), range: start..self.at });
            }
        }
    }

    fn bare(&mut self) -> Result<String> {
        let rest = self.rest();
        let len = rest.find(super::print::needs_quotes).unwrap_or(rest.len());
        if len == 0 {
            return self.expected("a value");
        }
        let value = rest[..len].to_owned();
        self.at += len;
        Ok(value)
    }

    fn quoted(&mut self) -> Result<String> {
        let open = self.at;
        self.accept('"');
        let mut value = String::new();
        loop {
            let at = self.at;
            let Some(c) = self.peek() else {
                return Err(TextError { message: "this quote is not closed".to_owned(), range: open..open + 1 });
            };
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(value),
                '\\' => {
                    let escaped = self.peek();
                    self.at += escaped.map_or(0, char::len_utf8);
                    value.push(match escaped {
                        Some('n') => '\n',
                        Some('t') => '\t',
                        Some(c @ ('"' | '\\')) => c,
                        _ => {
                            let message = "expected one of the escapes \\\" \\\\ \\n \\t".to_owned();
                            return Err(TextError { message, range: at..self.at });
                        }
                    });
                }
                c => value.push(c),
            }
        }
    }
}

/// Reads a pipeline.
///
/// # Errors
/// The first mistake of form; names are not looked up here.
pub fn parse(text: &str) -> Result<PipelineText> {
    Parser { text, at: 0, depth: 0 }.pipeline(None)
}

#[cfg(test)]
mod tests {
    use super::super::Argument;
    use super::parse;

    fn refusal(text: &str) -> (String, &str) {
        let error = parse(text).unwrap_err();
        (error.message, &text[error.range])
    }

    #[test]
    fn options_quotes_lists_and_anchors() {
        let pipeline = parse(
            r#"a, b{opt=1 flag name="two \"words\"" list=x,"y,z" file=/a.b/c-d_e:1 passes={ x{y=1} , func(z) }},func( cse , dce )"#,
        );
        let pipeline = pipeline.unwrap();
        assert_eq!(pipeline.names(), ["a", "b", "func", "cse", "dce"]);
        let options = &pipeline.elements[1].options;
        let join = |argument: &Argument| match argument {
            Argument::Parts(parts) => parts.join("|"),
            Argument::Pipeline(pipeline) => format!("<{pipeline}>"),
        };
        let values: Vec<_> = options.iter().map(|o| o.value.as_ref().map(|v| join(&v.value))).collect();
        let expected =
            [Some("1"), None, Some("two \"words\""), Some("x|y,z"), Some("/a.b/c-d_e:1"), Some("<x{y=1},func(z)>")];
        assert_eq!(values, expected.map(|v| v.map(str::to_owned)));
        assert!(parse("  ").unwrap().elements.is_empty());
    }

    #[test]
    fn refusals_point_at_the_place() {
        assert_eq!(refusal("a,,b"), ("expected the name of a pass, found `,`".to_owned(), ","));
        assert_eq!(refusal("a b"), ("expected `,`, found `b`".to_owned(), "b"));
        assert_eq!(refusal("func(a"), ("expected `,` or `)`, found the end".to_owned(), ""));
        assert_eq!(refusal("a{x=1"), ("expected white space or `}` after an option, found the end".to_owned(), ""));
        assert_eq!(refusal("a{x=1 "), ("expected an option or `}`, found the end".to_owned(), ""));
        assert_eq!(refusal("a{x=\"1}"), ("this quote is not closed".to_owned(), "\""));
        assert_eq!(refusal(r#"a{x="\q"}"#), ("expected one of the escapes \\\" \\\\ \\n \\t".to_owned(), "\\q"));
        assert_eq!(refusal("a{x=1,}"), ("expected a value, found `}`".to_owned(), "}"));
        assert_eq!(refusal("a)"), ("expected `,`, found `)`".to_owned(), ")"));
        assert_eq!(refusal("a{x={b"), ("expected `,` or `}`, found the end".to_owned(), ""));
        assert_eq!(refusal("a{x=b{"), ("expected white space or `}` after an option, found `{`".to_owned(), "{"));
        assert!(refusal(&"a(".repeat(100)).0.contains("at most 32"));
        assert!(refusal(&"a{x={".repeat(100)).0.contains("at most 32"));
    }
}
