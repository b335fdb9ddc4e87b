//! Python's lexical rules, as far as a printer needs them.

use std::fmt::Write;

const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Whether a text can be a name, of the letters that Python has. `_` is left to parameters and functions of that name:
/// where an alias is written it means that there is none.
pub(crate) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    let starts = chars.next().is_some_and(|c| c == '_' || unicode_ident::is_xid_start(c));
    starts && text != "_" && chars.all(unicode_ident::is_xid_continue) && !KEYWORDS.contains(&text)
}

/// A string literal.
pub(crate) fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    escape(&mut out, text, false);
    out.push('"');
    out
}

/// A docstring, with its line breaks as they are.
pub(crate) fn docstring(text: &str) -> String {
    let mut out = "\"\"\"".to_owned();
    escape(&mut out, text, true);
    out.push_str("\"\"\"");
    out
}

fn escape(out: &mut String, text: &str, keeps_lines: bool) {
    for (at, c) in text.char_indices() {
        match c {
            '\\' => out.push_str("\\\\"),
            // In a docstring a quote ends nothing unless it is the last character or one of three.
            '"' if keeps_lines && !text[at + 1..].is_empty() && !text[at + 1..].starts_with('"') => out.push('"'),
            '"' => out.push_str("\\\""),
            '\n' if keeps_lines => out.push('\n'),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
}

/// A float as Python's `repr` and formatters write it. Only the nan that arithmetic and `float("nan")` give has a form.
pub(crate) fn float(value: f64) -> Option<String> {
    if value.is_nan() {
        return (value.to_bits() == f64::NAN.to_bits()).then(|| "(1e999 - 1e999)".to_owned());
    }
    if value.is_infinite() {
        return Some(if value > 0.0 { "1e999" } else { "-1e999" }.to_owned());
    }
    let text = format!("{value:?}");
    let Some((digits, exponent)) = text.split_once('e') else { return Some(text) };
    // Formatters drop the `+` that `repr` writes.
    let (sign, exponent) = exponent.strip_prefix('-').map_or(("", exponent), |rest| ("-", rest));
    Some(format!("{digits}e{sign}{exponent:0>2}"))
}

#[cfg(test)]
mod tests {
    use super::{docstring, float, is_name, string};

    #[test]
    fn literals_are_those_of_python() {
        let floats = [1.0, 1e-6, 1e16, -0.0, 0.1, 2.5e-300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let texts = ["1.0", "1e-06", "1e16", "-0.0", "0.1", "2.5e-300", "1e999", "-1e999", "(1e999 - 1e999)"];
        assert_eq!(floats.map(|value| float(value).unwrap()), texts);
        assert_eq!(float(f64::from_bits(f64::NAN.to_bits() | 1)), None);
        assert_eq!(string("a\\\"\n\t\u{1}é"), "\"a\\\\\\\"\\n\\t\\u0001é\"");
        assert_eq!(docstring("What \"it\"\ndoes \"so\""), "\"\"\"What \"it\"\ndoes \"so\\\"\"\"\"");
    }

    #[test]
    fn names() {
        assert!(is_name("x_2") && is_name("_x") && is_name("match") && is_name("größe") && is_name("ñ2"));
        assert!(
            !is_name("_")
                && !is_name("2x")
                && !is_name("a b")
                && !is_name("lambda")
                && !is_name("f$1")
                && !is_name("²x")
        );
    }
}
