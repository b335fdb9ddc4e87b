//! Spelling rules that printer and parser share.

use std::borrow::Cow;
use std::fmt::Write;

use tf_types::DimOp;

/// A type or layout longer than this gets an alias.
pub const LONGEST_INLINE: usize = 40;

/// The bits of the nan that is written `nan`; any other one is written as its bits.
pub const CANONICAL_NAN: u64 = 0x7ff8_0000_0000_0000;

/// Whether the text can stand for itself where a word or a value name is expected.
pub fn is_word(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Whether the text can stand for itself after `@`.
pub fn is_symbol(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_') && bytes.all(is_symbol_byte)
}

/// The bytes of a name after `@`.
pub fn is_symbol_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
}

/// The text in quotes.
pub fn write_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// The text itself if it is a word, else in quotes.
pub fn write_word(out: &mut String, text: &str) {
    if is_word(text) {
        out.push_str(text);
    } else {
        write_quoted(out, text);
    }
}

/// The text that stands between quotes; `None` for an unknown escape.
pub fn unescape(raw: &str) -> Option<Cow<'_, str>> {
    if !raw.contains('\\') {
        return Some(Cow::Borrowed(raw));
    }
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let mut chars = rest[at + 1..].chars();
        match chars.next()? {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            c @ ('"' | '\\') => out.push(c),
            'u' => {
                let (digits, after) = chars.as_str().strip_prefix('{')?.split_once('}')?;
                out.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
                rest = after;
                continue;
            }
            _ => return None,
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    Some(Cow::Owned(out))
}

/// How tightly an operator of dims binds; `None` for those written as functions.
pub fn precedence(op: DimOp) -> Option<u8> {
    match op {
        DimOp::Add | DimOp::Sub => Some(1),
        DimOp::Mul | DimOp::FloorDiv | DimOp::Mod => Some(2),
        DimOp::Min | DimOp::Max => None,
    }
}
