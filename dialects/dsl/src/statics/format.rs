//! Formatted strings of constants: `f"layer{i:02d}"`.

use ruff_python_ast as ast;
use ruff_text_size::Ranged;
use tf_core::Span;

use super::builtin::TEXT;
use super::class::Kind;
use super::enums::Payload;
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::{SEQUENCE_DEPTH, Value};

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
                let text: String = value.text()?.chars().take(self.precision.unwrap_or(usize::MAX)).collect();
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
                let digits = float(*number);
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

/// A float as Python's `repr` has it: the fewest digits that mean it, of two that are as near the even one.
fn float(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    // The exact value rounds to even, the shortest form up.
    let even = |shortest: String, rounded: String| if rounded.parse() == Ok(value) { rounded } else { shortest };
    let shown = format!("{value:e}");
    let places = shown.split_once('e').and_then(|(digits, _)| digits.split_once('.')).map_or(0, |(_, part)| part.len());
    let shown = even(shown, format!("{value:.places$e}"));
    let (digits, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..16).contains(&exponent) && value != 0.0 => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => {
            let plain = format!("{value}");
            match plain.split_once('.').map(|(_, part)| part.len()) {
                Some(places) => even(plain, format!("{value:.places$}")),
                None => format!("{plain}.0"),
            }
        }
    }
}

/// A string as Python's `repr` has it; none beyond ASCII.
fn quoted(text: &str) -> Option<String> {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut shown = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => shown.push_str("\\\\"),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            c if c == quote => {
                shown.push('\\');
                shown.push(c);
            }
            ' '..='~' => shown.push(c),
            _ => return None,
        }
    }
    shown.push(quote);
    Some(shown)
}

impl<'c> Parser<'_, 'c> {
    /// `str(value)`; none where it is not read.
    pub(super) fn shown(&mut self, value: &Value<'c>, span: Span) -> Res<Option<String>> {
        if let Value::Object(object) = value
            && let Some(class) = object.get().class()
        {
            if let Some(kind) = self.shown_member(class) {
                let part = object.get().own(self.cx.symbol(if kind { "value" } else { "name" }));
                let Some(part) = part else { return Ok(None) };
                let Some(text) = self.shown(&part, span)? else { return Ok(None) };
                return Ok(Some(if kind { text } else { format!("{}.{text}", self.records[class].name) }));
            }
            for name in ["__str__", "__repr__"] {
                // What a decorator writes is not read.
                if let Some(shown) = self.run_special(value, name, Vec::new(), span)? {
                    return Ok(shown.text().map(str::to_owned));
                }
            }
            if self.is_exception(class) {
                return self.exception_text(value, span);
            }
            return Ok(None);
        }
        match value {
            Value::Str(text) => Ok(Some(text.as_str().to_owned())),
            other => self.repr(other, 0, span),
        }
    }

    /// Whether strings show a member of an enum by its value; none for other classes, and where versions of Python differ.
    fn shown_member(&self, class: usize) -> Option<bool> {
        match self.records[class].kind {
            _ if self.definer(class, "__str__").is_some() || self.definer(class, "__repr__").is_some() => None,
            Kind::Enum { payload: Some(Payload::Int | Payload::Str) } => Some(true),
            Kind::Enum { payload: None } => Some(false),
            _ => None,
        }
    }

    /// `repr(value)`; none where it is not read.
    pub(super) fn repr(&mut self, value: &Value<'c>, depth: u32, span: Span) -> Res<Option<String>> {
        if self.body.is_none() {
            self.step(1, span)?;
        }
        self.known(value, span)?;
        if depth > SEQUENCE_DEPTH {
            return Ok(None);
        }
        let (open, items, close) = match value {
            Value::Str(text) => return Ok(quoted(text.as_str())),
            Value::Int(value) => return Ok(Some(value.to_string())),
            Value::Float(value) => return Ok(Some(float(*value))),
            Value::Bool(value) => return Ok(Some(if *value { "True" } else { "False" }.to_owned())),
            Value::None => return Ok(Some("None".to_owned())),
            Value::IntRange(range) if range.step == 1 => {
                return Ok(Some(format!("range({}, {})", range.start, range.at(range.count.max(0)))))
                    .map(|text| text.filter(|_| range.count > 0));
            }
            Value::Tuple(_) => ("(", value.as_sequence(), ")"),
            Value::List(_) => ("[", value.as_sequence(), "]"),
            Value::Dict(dict) if dict.get().is_plain() => {
                let items = dict.get().items().to_vec();
                let mut parts = Vec::with_capacity(items.len());
                let mut length = 0;
                for (key, value) in &items {
                    let (key, value) = (self.repr(key, depth + 1, span)?, self.repr(value, depth + 1, span)?);
                    let (Some(key), Some(value)) = (key, value) else { return Ok(None) };
                    length += key.len() + value.len();
                    if length > TEXT {
                        return Ok(None);
                    }
                    parts.push(format!("{key}: {value}"));
                }
                return Ok(Some(format!("{{{}}}", parts.join(", "))));
            }
            Value::Object(_) => {
                let shown = self.run_special(value, "__repr__", Vec::new(), span)?;
                return Ok(shown.and_then(|shown| shown.text().map(str::to_owned)));
            }
            _ => return Ok(None),
        };
        let Some(items) = items else { return Ok(None) };
        let mut text = String::from(open);
        for (at, item) in items.iter().enumerate() {
            let Some(part) = self.repr(item, depth + 1, span)? else { return Ok(None) };
            text.push_str(if at > 0 { ", " } else { "" });
            text.push_str(&part);
            if text.len() > TEXT {
                return Ok(None);
            }
        }
        text.push_str(if let (Value::Tuple(_), 1) = (value, items.len()) { "," } else { "" });
        text.push_str(close);
        Ok(Some(text))
    }

    /// A value in a string; none where its format is not read.
    pub(super) fn formatted(&mut self, spec: &str, value: &Value<'c>, span: Span) -> Res<Option<String>> {
        self.known(value, span)?;
        if spec.is_empty() {
            return self.shown(value, span);
        }
        let Some(spec) = Spec::parse(spec) else { return Ok(None) };
        // Members of other enums are formatted by name in some versions of Python.
        let plain = match value {
            Value::Object(object) => match object.get().class().and_then(|class| self.shown_member(class)) {
                Some(true) => self.plain(value.clone()),
                _ => return Ok(None),
            },
            other => other.clone(),
        };
        Ok(spec.format(&plain))
    }

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
        if hole.conversion == ast::ConversionFlag::Ascii {
            return Err(Refusal::unread(at, "`!a` in a formatted string is not read"));
        }
        let mut conversion = hole.conversion;
        if let Some(written) = &hole.debug_text {
            // `{n=}` shows the expression as it is written.
            let expr = self.source.slice(hole.expression.range());
            text.extend([written.leading(), expr, written.trailing()]);
            if conversion == ast::ConversionFlag::None && hole.format_spec.is_none() {
                conversion = ast::ConversionFlag::Repr;
            }
        }
        let mut value = self.eval(&hole.expression, None)?;
        if conversion == ast::ConversionFlag::Repr {
            let Some(text) = self.repr(&value, 0, at)? else {
                return Err(Refusal::unread(at, format!("`!r` of {} is not read", value.describe())));
            };
            value = self.made_text(&text, at)?;
        }
        let mut written = String::new();
        if let Some(spec) = &hole.format_spec {
            self.format_elements(&spec.elements, &mut written)?;
        }
        let Some(shown) = self.formatted(&written, &value, at)? else {
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
