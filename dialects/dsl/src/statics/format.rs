//! Formatted strings of constants: `f"layer{i:02d}"`.

use ruff_python_ast as ast;
use tf_core::Span;

use super::builtin::{TEXT, plain_text};
use crate::parser::Parser;
use crate::print::python;
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// Widest field and most digits after the point.
const WIDTH: usize = 256;

/// `[[fill]align][sign][0][width][,][.precision][type]`, as far as it is read.
#[derive(Default)]
struct Spec {
    fill: Option<char>,
    align: Option<char>,
    sign: Option<char>,
    width: usize,
    groups: Option<char>,
    precision: Option<usize>,
    kind: Option<char>,
}

impl Spec {
    /// None where the text is no specification that is read.
    fn parse(text: &str) -> Option<Self> {
        let chars: Vec<char> = text.chars().collect();
        let mut rest = &chars[..];
        let mut spec = Self::default();
        let is_align = |c: char| matches!(c, '<' | '>' | '^' | '=');
        match *rest {
            [fill, align, ..] if is_align(align) => {
                (spec.fill, spec.align, rest) = (Some(fill), Some(align), &rest[2..]);
            }
            [align, ..] if is_align(align) => (spec.align, rest) = (Some(align), &rest[1..]),
            _ => {}
        }
        if let [sign @ ('+' | '-' | ' '), tail @ ..] = rest {
            (spec.sign, rest) = (Some(*sign), tail);
        }
        if let ['0', tail @ ..] = rest {
            (spec.fill, spec.align) = (spec.fill.or(Some('0')), spec.align.or(Some('=')));
            rest = tail;
        }
        let number = |rest: &mut &[char]| {
            let count = rest.iter().take_while(|c| c.is_ascii_digit()).count();
            let digits: String = rest[..count].iter().collect();
            *rest = &rest[count..];
            digits.parse::<usize>().ok().filter(|value| *value <= WIDTH)
        };
        if rest.first().is_some_and(char::is_ascii_digit) {
            spec.width = number(&mut rest)?;
        }
        if let [mark @ (',' | '_'), tail @ ..] = rest {
            (spec.groups, rest) = (Some(*mark), tail);
        }
        if let ['.', tail @ ..] = rest {
            rest = tail;
            spec.precision = Some(number(&mut rest)?);
        }
        match *rest {
            [] => {}
            [kind] => spec.kind = Some(kind),
            _ => return None,
        }
        Some(spec)
    }

    /// None where Python has no such format of the value, or it is not read.
    fn format(&self, value: &Value<'_>) -> Option<String> {
        let (negative, digits) = match (value, self.kind) {
            (Value::Str(_), None | Some('s')) if self.sign.is_none() && self.groups.is_none() => {
                let text: String = plain_text(value)?.chars().take(self.precision.unwrap_or(usize::MAX)).collect();
                return (self.align != Some('=')).then(|| self.padded("", &text, '<'));
            }
            (Value::Int(number), None | Some('d')) if self.precision.is_none() => {
                (*number < 0, self.grouped(&number.unsigned_abs().to_string()))
            }
            (Value::Int(number), Some(kind @ ('x' | 'X' | 'b' | 'o')))
                if self.precision.is_none() && self.groups.is_none() =>
            {
                let size = number.unsigned_abs();
                let digits = match kind {
                    'x' => format!("{size:x}"),
                    'X' => format!("{size:X}"),
                    'b' => format!("{size:b}"),
                    _ => format!("{size:o}"),
                };
                (*number < 0, digits)
            }
            (Value::Int(_) | Value::Float(_), Some(kind @ ('f' | 'F' | '%'))) => {
                let number = value.as_float().filter(|number| number.is_finite())?;
                let shown = if kind == '%' { number * 100.0 } else { number };
                let digits = format!("{:.*}", self.precision.unwrap_or(6), shown.abs());
                let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
                let percent = if kind == '%' { "%" } else { "" };
                (number.is_sign_negative(), format!("{}{fraction}{percent}", self.grouped(whole)))
            }
            (Value::Float(number), None) if self.precision.is_none() && self.groups.is_none() => {
                let digits = plain_text(value)?;
                (number.is_sign_negative(), digits.trim_start_matches('-').to_owned())
            }
            _ => return None,
        };
        let sign = match (negative, self.sign) {
            (true, _) => "-",
            (false, Some('+')) => "+",
            (false, Some(' ')) => " ",
            _ => "",
        };
        // Python groups the zeros of a padded number too.
        if self.groups.is_some() && self.fill == Some('0') && self.align == Some('=') {
            return None;
        }
        Some(self.padded(sign, &digits, '>'))
    }

    fn grouped(&self, digits: &str) -> String {
        let Some(mark) = self.groups else { return digits.to_owned() };
        let mut text = String::new();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                text.push(mark);
            }
            text.push(digit);
        }
        text
    }

    fn padded(&self, sign: &str, text: &str, align: char) -> String {
        let missing = self.width.saturating_sub(sign.chars().count() + text.chars().count());
        let fill = |count: usize| self.fill.unwrap_or(' ').to_string().repeat(count);
        match self.align.unwrap_or(align) {
            '<' => format!("{sign}{text}{}", fill(missing)),
            '^' => format!("{}{sign}{text}{}", fill(missing / 2), fill(missing - missing / 2)),
            '=' => format!("{sign}{}{text}", fill(missing)),
            _ => format!("{}{sign}{text}", fill(missing)),
        }
    }
}

/// A value in a string; none where its format is not read.
pub(super) fn formatted(spec: &str, value: &Value<'_>) -> Option<String> {
    if spec.is_empty() { plain_text(value) } else { Spec::parse(spec)?.format(value) }
}

/// How Python's `repr` shows a constant.
pub(super) fn repr(value: &Value<'_>) -> Option<String> {
    if value.weight(TEXT) == TEXT {
        return None;
    }
    match value {
        Value::Str(text) => {
            python::string(text.as_str()).strip_prefix('"')?.strip_suffix('"').map(|text| format!("'{text}'"))
        }
        Value::Tuple(items) | Value::List(items) => {
            let parts = items.items.iter().map(repr).collect::<Option<Vec<_>>>()?;
            let comma = if let (Value::Tuple(_), [_]) = (value, &parts[..]) { "," } else { "" };
            let (open, close) = if let Value::Tuple(_) = value { ('(', ')') } else { ('[', ']') };
            Some(format!("{open}{}{comma}{close}", parts.join(", ")))
        }
        other => plain_text(other),
    }
}

impl<'c> Parser<'_, 'c> {
    /// `f"layer{i}"` of constants.
    pub(crate) fn format(&mut self, string: &ast::ExprFString, span: Span) -> Res<Value<'c>> {
        let mut text = String::new();
        for part in &string.value {
            match part {
                ast::FStringPart::Literal(literal) => text.push_str(&literal.value),
                ast::FStringPart::FString(part) => self.format_elements(&part.elements, &mut text)?,
            }
            if text.len() > TEXT {
                return Err(Refusal::unread(span, format!("the string has more than {TEXT} characters")));
            }
        }
        self.made_text(&text, span)
    }

    fn format_elements(&mut self, elements: &ast::InterpolatedStringElements, text: &mut String) -> Res<()> {
        for element in elements {
            match element {
                ast::InterpolatedStringElement::Literal(literal) => text.push_str(&literal.value),
                ast::InterpolatedStringElement::Interpolation(hole) => self.format_hole(hole, text)?,
            }
        }
        Ok(())
    }

    fn format_hole(&mut self, hole: &ast::InterpolatedElement, text: &mut String) -> Res<()> {
        let at = self.span(hole);
        if hole.debug_text.is_some() || hole.conversion == ast::ConversionFlag::Ascii {
            return Err(Refusal::unread(at, "`=` and `!a` in a formatted string are not read"));
        }
        let mut value = self.eval(&hole.expression, None)?;
        if hole.conversion == ast::ConversionFlag::Repr {
            let Some(text) = repr(&value) else {
                return Err(Refusal::unread(at, format!("`!r` of {} is not read", value.describe())));
            };
            value = self.made_text(&text, at)?;
        }
        let mut written = String::new();
        if let Some(spec) = &hole.format_spec {
            self.format_elements(&spec.elements, &mut written)?;
        }
        let Some(shown) = formatted(&written, &value) else {
            let what = value.describe();
            let message = match written.is_empty() {
                true => format!("a formatted string of {what} is not read"),
                false => format!("the format `{written}` of {what} is not read"),
            };
            return Err(Refusal::unread(at, message));
        };
        text.push_str(&shown);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Spec;
    use crate::value::Value;

    fn shown(spec: &str, value: Value<'_>) -> Option<String> {
        Spec::parse(spec)?.format(&value)
    }

    /// As CPython prints them.
    #[test]
    fn formats() {
        let int = |spec| shown(spec, Value::Int(-1234));
        assert_eq!(int("08d").as_deref(), Some("-0001234"));
        assert_eq!(int(",").as_deref(), Some("-1,234"));
        assert_eq!(int("*^9").as_deref(), Some("**-1234**"));
        assert_eq!(int("<7x").as_deref(), Some("-4d2   "));
        assert_eq!(int(".1f").as_deref(), Some("-1234.0"));
        assert_eq!(shown("+03d", Value::Int(7)).as_deref(), Some("+07"));
        assert_eq!(shown(".2f", Value::Float(2.0 / 3.0)).as_deref(), Some("0.67"));
        assert_eq!(shown(".1%", Value::Float(0.125)).as_deref(), Some("12.5%"));
        assert_eq!(shown("8", Value::Float(0.5)).as_deref(), Some("     0.5"));
        assert_eq!(shown(",.1f", Value::Float(12345.67)).as_deref(), Some("12,345.7"));
        for (spec, value) in
            [("d", Value::Float(1.0)), (".2d", Value::Int(1)), ("0999", Value::Int(1)), ("q", Value::Int(1))]
        {
            assert_eq!(shown(spec, value), None, "{spec}");
        }
    }
}
