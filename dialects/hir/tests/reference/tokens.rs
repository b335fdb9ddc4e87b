//! Words and signs of an expression.

#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Name(String),
    /// As written.
    Number(String),
    Text(String),
    Sign(&'static str),
}

const SIGNS: &[&str] =
    &["==", "!=", "<=", ">=", "//", "(", ")", "[", "]", ",", "=", "+", "-", "*", "/", "%", "@", "<", ">", ".", ":"];

/// The tokens of one line; `None` for a sign that no expression has.
pub fn tokens(line: &str) -> Option<Vec<Token>> {
    let mut rest = line.trim_start();
    let mut found = Vec::new();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_digit() {
            let is_exponent = |at: usize| at > 0 && matches!(rest.as_bytes()[at - 1], b'e' | b'E');
            let inside = |(at, c): (usize, char)| {
                c.is_ascii_alphanumeric() || c == '.' || (matches!(c, '+' | '-') && is_exponent(at))
            };
            let length = rest.char_indices().find(|&at| !inside(at)).map_or(rest.len(), |(at, _)| at);
            found.push(Token::Number(rest[..length].to_owned()));
            length
        } else if first.is_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            found.push(Token::Name(rest[..length].to_owned()));
            length
        } else if first == '"' {
            let end = rest[1..].find('"')? + 1;
            found.push(Token::Text(rest[1..end].to_owned()));
            end + 1
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
            found.push(Token::Sign(sign));
            sign.len()
        };
        rest = rest[length..].trim_start();
    }
    Some(found)
}
