//! Pipeline text: `a,b{opt=1 flag list=x,y},func(cse,dce)`.
//!
//! ```text
//! pipeline = [ element { "," element } ]
//! element  = name [ "{" option { " " option } "}" ] [ "(" pipeline ")" ]
//! option   = name [ "=" ( [ part { "," part } ] | "{" pipeline "}" ) ]
//! part     = '"' text '"' | characters other than white space and , { } "
//! ```
//!
//! In a quoted part `\"`, `\\`, `\n` and `\t` are escapes.

mod parse;
mod print;

use std::ops::Range;

pub use parse::{TextError, parse};

/// A pipeline as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PipelineText {
    /// Passes, named pipelines and anchors in order.
    pub elements: Vec<Element>,
}

/// A pass, a named pipeline or an anchor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// Its name.
    pub name: Spanned<String>,
    /// Its options in order.
    pub options: Vec<OptionText>,
    /// What stands in parentheses.
    pub nested: Option<PipelineText>,
}

/// An option as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionText {
    /// Its name.
    pub name: Spanned<String>,
    /// Its value; `None` without `=`.
    pub value: Option<Spanned<Argument>>,
}

/// The value of an option as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Texts with commas between.
    Parts(Vec<String>),
    /// A pipeline in braces.
    Pipeline(PipelineText),
}

/// A value with its byte range. Ranges take no part in equality.
#[derive(Clone, Debug)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub range: Range<usize>,
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}
impl<T: Eq> Eq for Spanned<T> {}

impl<T> Spanned<T> {
    /// A value that nobody wrote.
    pub fn made(value: T) -> Self {
        Self { value, range: 0..0 }
    }
}

impl PipelineText {
    /// Every name, nested ones included, in order.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        let mut stack: Vec<&Element> = self.elements.iter().rev().collect();
        while let Some(element) = stack.pop() {
            names.push(element.name.value.as_str());
            stack.extend(element.nested.iter().flat_map(|p| p.elements.iter().rev()));
        }
        names
    }
}
