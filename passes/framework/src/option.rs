//! Options: what a pass can be told in pipeline text.

use std::sync::Arc;

use crate::Pipeline;

/// An option of a pass or of a named pipeline.
#[derive(Debug)]
pub struct OptionDecl {
    /// Its name in pipeline text.
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// What it accepts.
    pub kind: OptionKind,
    /// Its value when it is left out, as pipeline text.
    pub default: Option<&'static str>,
    /// Whether it must be given.
    pub required: bool,
}

/// What an option accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// `name`, `name=true`, `name=false`.
    Flag,
    /// An integer.
    Integer,
    /// Any text.
    Text,
    /// Texts with commas between.
    List,
    /// Passes in braces.
    Pipeline,
    /// One of these words.
    Word(&'static [&'static str]),
}

impl OptionKind {
    /// What stands after `=` in help: `INT`, `TEXT`, `TEXT,…`, `{PASS,…}`, `fast|slow`; nothing for a flag.
    #[must_use]
    pub fn placeholder(self) -> String {
        match self {
            Self::Flag => String::new(),
            Self::Integer => "INT".to_owned(),
            Self::Text => "TEXT".to_owned(),
            Self::List => "TEXT,…".to_owned(),
            Self::Pipeline => "{PASS,…}".to_owned(),
            Self::Word(words) => words.join("|"),
        }
    }
}

impl OptionDecl {
    /// `name`, or `name=` and what it accepts.
    #[must_use]
    pub fn usage(&self) -> String {
        match self.kind {
            OptionKind::Flag => self.name.to_owned(),
            kind => format!("{}={}", self.name, kind.placeholder()),
        }
    }
}

/// A type that an option can have. `derive(OptionValue)` makes an enum one.
pub trait OptionValue: Clone + Sized {
    /// What it accepts.
    const KIND: OptionKind;
    /// Whether an option of this type may be left out although it states no default.
    const OMISSIBLE: bool = false;
    /// The value before the pipeline sets it.
    fn initial() -> Self;
    /// Reads the comma-separated parts of a value; a name without `=` has the part `true` if it is a flag.
    ///
    /// # Errors
    /// What was expected and what was found.
    fn parse(parts: &[String]) -> Result<Self, String>;
    /// The parts that [`OptionValue::parse`] reads back; `None`: as if left out.
    fn show(&self) -> Option<Vec<String>>;
    /// Takes the passes of an option of [`OptionKind::Pipeline`], after its text has been parsed.
    fn set_pipeline(&mut self, pipeline: Arc<Pipeline>) {
        let _ = pipeline;
    }
}

/// An option that is a pipeline, `passes={cse,dce}`; [`PassCx::run_pipeline`](crate::PassCx::run_pipeline) runs it.
#[derive(Clone, Default)]
pub struct NestedPipeline {
    text: String,
    pub(crate) pipeline: Option<Arc<Pipeline>>,
}

impl OptionValue for NestedPipeline {
    const KIND: OptionKind = OptionKind::Pipeline;
    fn initial() -> Self {
        Self::default()
    }
    fn parse(parts: &[String]) -> Result<Self, String> {
        Ok(Self { text: parts.join(","), pipeline: None })
    }
    fn show(&self) -> Option<Vec<String>> {
        Some(vec![self.text.clone()])
    }
    fn set_pipeline(&mut self, pipeline: Arc<Pipeline>) {
        self.pipeline = Some(pipeline);
    }
}

/// The only part of a value.
///
/// # Errors
/// There are none or several.
pub fn single(parts: &[String]) -> Result<&str, String> {
    match parts {
        [one] => Ok(one),
        [] => Err("expected a value, found nothing".to_owned()),
        many => Err(format!("expected one value, found {}: quote a text that has commas", many.len())),
    }
}

/// The refusal of a word that is none of `known`.
#[must_use]
pub fn unknown_word(found: &str, known: &[&str]) -> String {
    let known: Vec<_> = known.iter().map(|w| format!("`{w}`")).collect();
    format!("expected {}, found `{found}`", known.join(" or "))
}

/// The value of a `#[default("…")]`.
///
/// # Panics
/// The text is no value of that type: a mistake in the pass's declaration.
#[must_use]
pub fn default_value<T: OptionValue>(text: &str) -> T {
    let parts: Vec<_> = text.split(',').map(str::to_owned).collect();
    T::parse(&parts).unwrap_or_else(|why| panic!("default `{text}`: {why}"))
}

impl OptionValue for bool {
    const KIND: OptionKind = OptionKind::Flag;
    const OMISSIBLE: bool = true;
    fn initial() -> Self {
        false
    }
    fn parse(parts: &[String]) -> Result<Self, String> {
        match single(parts)? {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            other => Err(unknown_word(other, &["true", "false"])),
        }
    }
    fn show(&self) -> Option<Vec<String>> {
        Some(vec![self.to_string()])
    }
}

impl OptionValue for i64 {
    const KIND: OptionKind = OptionKind::Integer;
    fn initial() -> Self {
        0
    }
    fn parse(parts: &[String]) -> Result<Self, String> {
        let text = single(parts)?;
        text.parse().map_err(|_| format!("expected a 64-bit integer, found `{text}`"))
    }
    fn show(&self) -> Option<Vec<String>> {
        Some(vec![self.to_string()])
    }
}

impl OptionValue for String {
    const KIND: OptionKind = OptionKind::Text;
    fn initial() -> Self {
        Self::new()
    }
    fn parse(parts: &[String]) -> Result<Self, String> {
        single(parts).map(str::to_owned)
    }
    fn show(&self) -> Option<Vec<String>> {
        Some(vec![self.clone()])
    }
}

impl OptionValue for Vec<String> {
    const KIND: OptionKind = OptionKind::List;
    const OMISSIBLE: bool = true;
    fn initial() -> Self {
        Self::new()
    }
    fn parse(parts: &[String]) -> Result<Self, String> {
        Ok(parts.to_vec())
    }
    fn show(&self) -> Option<Vec<String>> {
        Some(self.clone())
    }
}

impl<T: OptionValue> OptionValue for Option<T> {
    const KIND: OptionKind = T::KIND;
    const OMISSIBLE: bool = true;
    fn initial() -> Self {
        None
    }
    fn parse(parts: &[String]) -> Result<Self, String> {
        T::parse(parts).map(Some)
    }
    fn show(&self) -> Option<Vec<String>> {
        self.as_ref().and_then(T::show)
    }
}

#[cfg(test)]
mod tests {
    use super::OptionValue;

    fn parts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&t| t.to_owned()).collect()
    }

    #[test]
    fn refusals_say_what_was_expected() {
        assert_eq!(i64::parse(&parts(&["x"])).unwrap_err(), "expected a 64-bit integer, found `x`");
        assert_eq!(bool::parse(&parts(&["yes"])).unwrap_err(), "expected `true` or `false`, found `yes`");
        let several = String::parse(&parts(&["a", "b"])).unwrap_err();
        assert_eq!(several, "expected one value, found 2: quote a text that has commas");
    }

    #[test]
    fn what_is_shown_parses_back() {
        assert_eq!(Option::<i64>::parse(&Some(-3).show().unwrap()), Ok(Some(-3)));
        assert_eq!(None::<i64>.show(), None);
        let list = parts(&["a", "b,c"]);
        assert_eq!(Vec::parse(&list.show().unwrap()), Ok(list));
    }
}
