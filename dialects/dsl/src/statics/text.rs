//! Strings that are put together: methods, `"%d" % n`, `"{}".format(n)`.

use tf_core::Span;
use tf_types::Symbol;

use super::builtin::TEXT;
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::Value;

const METHODS: &[&str] = &[
    "capitalize",
    "center",
    "count",
    "endswith",
    "find",
    "format",
    "index",
    "isalnum",
    "isalpha",
    "isdigit",
    "islower",
    "isupper",
    "join",
    "ljust",
    "lower",
    "lstrip",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rjust",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "title",
    "upper",
    "zfill",
];

/// Methods that tell characters apart by their kind.
const BY_CHARACTER: &[&str] = &[
    "capitalize",
    "isalnum",
    "isalpha",
    "isdigit",
    "islower",
    "isupper",
    "lower",
    "lstrip",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "strip",
    "title",
    "upper",
];

/// Whether strings have a method of that name.
pub(super) fn is_method(name: &str) -> bool {
    METHODS.binary_search(&name).is_ok()
}

impl<'c> Parser<'_, 'c> {
    /// A string of bounded length.
    pub(crate) fn made_text(&mut self, text: &str, span: Span) -> Res<Value<'c>> {
        if text.len() > TEXT {
            return Err(Refusal::unread(span, format!("the string has more than {TEXT} characters")));
        }
        if self.body.is_none() {
            self.step(1 + text.len() / 16, span)?;
        }
        Ok(Value::Str(self.cx.symbol(text)))
    }

    /// `text.method(values)`; none where it is not read.
    pub(super) fn text_method(
        &mut self,
        text: Symbol<'c>,
        name: &str,
        values: &[Value<'c>],
        span: Span,
    ) -> Res<Option<Value<'c>>> {
        let text = text.as_str();
        self.step(1 + text.len() / 16, span)?;
        // What Python takes for letters, spaces and lines beyond ASCII is not what is taken for them here.
        let is_plain =
            text.bytes().all(|byte| byte.is_ascii() && (byte >= b' ' || matches!(byte, b'\n' | b'\t' | b'\r')));
        if !is_plain && BY_CHARACTER.contains(&name) {
            return Ok(None);
        }
        let strip = |set: Option<&str>| {
            let set: Option<Vec<char>> = set.map(|set| set.chars().collect());
            move |c: char| set.as_ref().map_or(c.is_whitespace(), |set| set.contains(&c))
        };
        let made = match (name, values) {
            ("upper", []) => text.to_uppercase(),
            ("lower", []) => text.to_lowercase(),
            ("capitalize", []) => {
                let mut chars = text.chars();
                chars.next().map_or_else(String::new, |first| {
                    first.to_uppercase().chain(chars.as_str().to_lowercase().chars()).collect()
                })
            }
            ("title", []) => {
                let mut title = String::with_capacity(text.len());
                let mut inside = false;
                for c in text.chars() {
                    match inside {
                        true => title.extend(c.to_lowercase()),
                        false => title.extend(c.to_uppercase()),
                    }
                    inside = c.is_alphabetic();
                }
                title
            }
            ("strip", []) => text.trim().to_owned(),
            ("strip", [Value::Str(set)]) => text.trim_matches(strip(Some(set.as_str()))).to_owned(),
            ("lstrip", []) => text.trim_start().to_owned(),
            ("lstrip", [Value::Str(set)]) => text.trim_start_matches(strip(Some(set.as_str()))).to_owned(),
            ("rstrip", []) => text.trim_end().to_owned(),
            ("rstrip", [Value::Str(set)]) => text.trim_end_matches(strip(Some(set.as_str()))).to_owned(),
            ("removeprefix", [Value::Str(part)]) => text.strip_prefix(part.as_str()).unwrap_or(text).to_owned(),
            ("removesuffix", [Value::Str(part)]) => text.strip_suffix(part.as_str()).unwrap_or(text).to_owned(),
            ("replace", [Value::Str(old), Value::Str(new)]) if !old.as_str().is_empty() => {
                let count = text.matches(old.as_str()).count();
                if count.saturating_mul(new.as_str().len()) > TEXT {
                    return Err(Refusal::unread(span, format!("the string has more than {TEXT} characters")));
                }
                text.replace(old.as_str(), new.as_str())
            }
            ("zfill" | "ljust" | "rjust" | "center", [Value::Int(width), fill @ ..]) => {
                let fill = match fill {
                    [] => {
                        if name == "zfill" {
                            '0'
                        } else {
                            ' '
                        }
                    }
                    [Value::Str(fill)] if fill.as_str().chars().count() == 1 && name != "zfill" => {
                        fill.as_str().chars().next().unwrap_or(' ')
                    }
                    _ => return Ok(None),
                };
                let Ok(width @ 0..=TEXT) = usize::try_from(*width) else { return Ok(None) };
                let missing = width.saturating_sub(text.chars().count());
                let pad = |count: usize| fill.to_string().repeat(count);
                match name {
                    "ljust" => format!("{text}{}", pad(missing)),
                    "center" => {
                        // Python puts the odd one to the left of an odd width.
                        let left = missing / 2 + (missing & width & 1);
                        format!("{}{text}{}", pad(left), pad(missing - left))
                    }
                    "zfill" if text.starts_with(['+', '-']) => format!("{}{}{}", &text[..1], pad(missing), &text[1..]),
                    _ => format!("{}{text}", pad(missing)),
                }
            }
            ("join", [items]) => {
                let mut parts = Vec::new();
                for item in self.items_of(items, span)? {
                    self.known(&item, span)?;
                    let Value::Str(part) = item else {
                        return Err(Refusal::wrong(span, format!("`join` takes strings, found {}", item.describe())));
                    };
                    parts.push(part.as_str());
                    if parts.len() > TEXT {
                        return Err(Refusal::unread(span, format!("the string has more than {TEXT} parts")));
                    }
                }
                let length: usize = parts.iter().map(|part| part.len() + text.len()).sum();
                if length > 2 * TEXT {
                    return Err(Refusal::unread(span, format!("the string has more than {TEXT} characters")));
                }
                parts.join(text)
            }
            _ => return self.text_question(text, name, values, span),
        };
        self.made_text(&made, span).map(Some)
    }

    /// Methods of strings whose result is no string.
    fn text_question(&mut self, text: &str, name: &str, values: &[Value<'c>], span: Span) -> Res<Option<Value<'c>>> {
        let parts = |p: &mut Self, parts: Vec<&str>| {
            p.count_elements(parts.len(), span)?;
            let parts = parts.into_iter().map(|part| p.made_text(part, span)).collect::<Res<Vec<_>>>()?;
            Ok(Some(p.heap.list(parts)))
        };
        let all = |test: fn(char) -> bool| !text.is_empty() && text.chars().all(test);
        Ok(Some(match (name, values) {
            ("startswith", [Value::Str(part)]) => Value::Bool(text.starts_with(part.as_str())),
            ("endswith", [Value::Str(part)]) => Value::Bool(text.ends_with(part.as_str())),
            ("startswith" | "endswith", [Value::Tuple(options)]) => {
                Value::Bool(options.items.iter().any(|option| match option {
                    Value::Str(part) if name == "startswith" => text.starts_with(part.as_str()),
                    Value::Str(part) => text.ends_with(part.as_str()),
                    _ => false,
                }))
            }
            ("isdigit", []) => Value::Bool(all(|c| c.is_ascii_digit())),
            ("isalpha", []) => Value::Bool(all(char::is_alphabetic)),
            ("isalnum", []) => Value::Bool(all(char::is_alphanumeric)),
            ("isupper", []) => Value::Bool(text.to_uppercase() == text && text.to_lowercase() != text),
            ("islower", []) => Value::Bool(text.to_lowercase() == text && text.to_uppercase() != text),
            ("count", [Value::Str(part)]) if !part.as_str().is_empty() => {
                Value::Int(text.matches(part.as_str()).count() as i64)
            }
            ("find" | "index", [Value::Str(part)]) => match text.find(part.as_str()) {
                Some(at) => Value::Int(text[..at].chars().count() as i64),
                None if name == "find" => Value::Int(-1),
                None => {
                    return Err(Refusal::wrong(span, format!("\"{part}\" is not in \"{text}\"")).raises("ValueError"));
                }
            },
            ("split" | "rsplit", []) => return parts(self, text.split_whitespace().collect()),
            ("split" | "rsplit", [Value::Str(mark)]) if !mark.as_str().is_empty() => {
                return parts(self, text.split(mark.as_str()).collect());
            }
            ("split", [Value::Str(mark), Value::Int(most @ 0..)]) if !mark.as_str().is_empty() => {
                return parts(self, text.splitn(*most as usize + 1, mark.as_str()).collect());
            }
            ("rsplit", [Value::Str(mark), Value::Int(most @ 0..)]) if !mark.as_str().is_empty() => {
                let mut found: Vec<_> = text.rsplitn(*most as usize + 1, mark.as_str()).collect();
                found.reverse();
                return parts(self, found);
            }
            ("splitlines", []) if !text.replace("\r\n", "").contains('\r') => {
                return parts(self, text.lines().collect());
            }
            ("partition", [Value::Str(mark)]) if !mark.as_str().is_empty() => {
                let (head, tail) = text.split_once(mark.as_str()).unwrap_or((text, ""));
                let found = if head.len() == text.len() { "" } else { mark.as_str() };
                let parts = [head, found, tail].map(|part| Value::Str(self.cx.symbol(part)));
                return Ok(Value::tuple(parts.to_vec()));
            }
            _ => return Ok(None),
        }))
    }

    /// `"a{}b{0:d}".format(values)`; none where it is not read.
    pub(super) fn filled(
        &mut self,
        text: &str,
        values: &[Value<'c>],
        named: &[(Symbol<'c>, Value<'c>)],
        span: Span,
    ) -> Res<Option<String>> {
        let mut made = String::new();
        let (mut rest, mut next, mut is_numbered) = (text, 0, None);
        while let Some(at) = rest.find(['{', '}']) {
            made.push_str(&rest[..at]);
            let mark = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(tail) = rest.strip_prefix(mark) {
                made.push_str(mark);
                rest = tail;
                continue;
            }
            let Some((field, tail)) = rest.split_once('}').filter(|(field, _)| mark == "{" && !field.contains('{'))
            else {
                return Ok(None);
            };
            rest = tail;
            let (which, spec) = field.split_once(':').unwrap_or((field, ""));
            if which.starts_with(|c: char| c.is_alphabetic() || c == '_') {
                let Some((_, value)) = named.iter().find(|(name, _)| name.as_str() == which) else { return Ok(None) };
                let Some(shown) = self.formatted(spec, value, span)? else { return Ok(None) };
                made.push_str(&shown);
                if made.len() > TEXT {
                    return Ok(None);
                }
                continue;
            }
            // Python takes numbers everywhere or nowhere.
            if *is_numbered.get_or_insert(!which.is_empty()) == which.is_empty() {
                return Ok(None);
            }
            let Ok(which) = (if which.is_empty() { Ok(next) } else { which.parse::<usize>() }) else { return Ok(None) };
            next += 1;
            let Some(value) = values.get(which) else { return Ok(None) };
            let Some(shown) = self.formatted(spec, value, span)? else { return Ok(None) };
            made.push_str(&shown);
            if made.len() > TEXT {
                return Ok(None);
            }
        }
        made.push_str(rest);
        Ok(Some(made))
    }

    /// `"layer%02d" % n`.
    pub(super) fn percent(&mut self, text: Symbol<'c>, values: &Value<'c>, span: Span) -> Res<Value<'c>> {
        let given = match values {
            Value::Tuple(items) => items.to_vec(),
            one => vec![one.clone()],
        };
        match self.percent_text(text.as_str(), given, span)? {
            Some(made) => self.made_text(&made, span),
            None => {
                let message = format!("the format \"{text}\" of {} is not read", values.describe());
                Err(Refusal::unread(span, message).help("write a formatted string: `f\"layer{i}\"`"))
            }
        }
    }

    fn percent_text(&mut self, text: &str, values: Vec<Value<'c>>, span: Span) -> Res<Option<String>> {
        let mut values = values.into_iter();
        let mut made = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('%') {
            made.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(tail) = rest.strip_prefix('%') {
                made.push('%');
                rest = tail;
                continue;
            }
            let Some(end) = rest.find(|c: char| c.is_ascii_alphabetic()) else { return Ok(None) };
            let (spec, kind) = (&rest[..end], &rest[end..=end]);
            rest = &rest[end + 1..];
            let Some(value) = values.next() else { return Ok(None) };
            // `-` puts to the left, and a number without a mark stands to the right, strings too.
            let (is_left, spec) = spec.strip_prefix('-').map_or((false, spec), |spec| (true, spec));
            let is_number = spec.chars().all(|c| c.is_ascii_digit() || c == '.');
            if is_left && (!is_number || spec.starts_with('0')) {
                return Ok(None);
            }
            let align = if is_left { "<" } else { "" };
            let shown = match kind {
                "s" | "r" if is_number && !spec.starts_with('0') => {
                    let shown = match kind {
                        "s" => self.shown(&value, span)?,
                        _ => self.repr(&value, 0, span)?,
                    };
                    let Some(shown) = shown else { return Ok(None) };
                    let shown = self.made_text(&shown, span)?;
                    let align = if is_left || spec.is_empty() { "<" } else { ">" };
                    self.formatted(&format!("{align}{spec}"), &shown, span)?
                }
                "d" | "i" if !spec.contains('.') => self.formatted(&format!("{align}{spec}d"), &value, span)?,
                "f" => self.formatted(&format!("{align}{spec}f"), &value, span)?,
                "x" if !spec.contains('.') => self.formatted(&format!("{align}{spec}x"), &value, span)?,
                _ => None,
            };
            let Some(shown) = shown else { return Ok(None) };
            made.push_str(&shown);
            if made.len() > TEXT {
                return Ok(None);
            }
        }
        made.push_str(rest);
        Ok(values.next().is_none().then_some(made))
    }
}
