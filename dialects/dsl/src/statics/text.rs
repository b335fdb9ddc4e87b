//! Strings that are put together: methods, `"%d" % n`, `"{}".format(n)`.

use tf_core::Span;
use tf_types::Symbol;

use super::builtin::{TEXT, plain_text};
use super::format::formatted;
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::Value;

const METHODS: &[&str] = &[
    "bit_length",
    "capitalize",
    "center",
    "copy",
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

/// Whether constants have a method of that name that changes nothing.
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
            self.step(1 + text.len() / 64, span)?;
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
            ("format", values) => match self.filled(text, values) {
                Some(made) => made,
                None => return Ok(None),
            },
            _ => return self.text_question(text, name, values, span),
        };
        self.made_text(&made, span).map(Some)
    }

    /// Methods of strings whose result is no string.
    fn text_question(&mut self, text: &str, name: &str, values: &[Value<'c>], span: Span) -> Res<Option<Value<'c>>> {
        let parts = |p: &mut Self, parts: Vec<&str>| {
            p.count_elements(parts.len(), span)?;
            let parts = parts.into_iter().map(|part| p.made_text(part, span)).collect::<Res<Vec<_>>>()?;
            Ok(Value::list(parts))
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
                None => return Err(Refusal::wrong(span, format!("\"{part}\" is not in \"{text}\""))),
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
            ("splitlines", []) => return parts(self, text.lines().collect()),
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
    fn filled(&self, text: &str, values: &[Value<'c>]) -> Option<String> {
        let mut made = String::new();
        let (mut rest, mut next) = (text, 0);
        while let Some(at) = rest.find(['{', '}']) {
            made.push_str(&rest[..at]);
            let mark = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(tail) = rest.strip_prefix(mark) {
                made.push_str(mark);
                rest = tail;
                continue;
            }
            let (field, tail) = rest.split_once('}').filter(|_| mark == "{")?;
            rest = tail;
            let (which, spec) = field.split_once(':').unwrap_or((field, ""));
            let which = if which.is_empty() { next } else { which.parse().ok()? };
            next += 1;
            made.push_str(&formatted(spec, values.get(which)?)?);
            if made.len() > TEXT {
                return None;
            }
        }
        made.push_str(rest);
        Some(made)
    }

    /// `"layer%02d" % n`.
    pub(super) fn percent(&mut self, text: Symbol<'c>, values: &Value<'c>, span: Span) -> Res<Value<'c>> {
        let given = match values {
            Value::Tuple(items) => &items.items[..],
            one => std::slice::from_ref(one),
        };
        match percent(text.as_str(), given) {
            Some(made) => self.made_text(&made, span),
            None => {
                let message = format!("the format \"{text}\" of {} is not read", values.describe());
                Err(Refusal::unread(span, message).help("write a formatted string: `f\"layer{i}\"`"))
            }
        }
    }
}

fn percent(text: &str, values: &[Value<'_>]) -> Option<String> {
    let mut values = values.iter();
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
        let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
        let (spec, kind) = (&rest[..end], &rest[end..=end]);
        rest = &rest[end + 1..];
        let value = values.next()?;
        let shown = match kind {
            "s" if spec.is_empty() => plain_text(value)?,
            "r" if spec.is_empty() => super::format::repr(value)?,
            "d" | "i" => formatted(&format!("{spec}d"), value)?,
            "f" | "x" => formatted(&format!("{spec}{kind}"), value)?,
            _ => return None,
        };
        made.push_str(&shown);
        if made.len() > TEXT {
            return None;
        }
    }
    made.push_str(rest);
    values.next().is_none().then_some(made)
}
