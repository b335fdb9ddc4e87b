//! The canonical form of pipeline text; it parses back.

use std::fmt;

use super::{Argument, Element, OptionText, PipelineText};

/// Characters that end a bare part.
pub(super) fn needs_quotes(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | '{' | '}' | '"')
}

fn part(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    if !text.is_empty() && !text.contains(needs_quotes) {
        return f.write_str(text);
    }
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            '"' | '\\' => write!(f, "\\{c}")?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

impl fmt::Display for OptionText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name.value)?;
        let Some(value) = &self.value else { return Ok(()) };
        f.write_str("=")?;
        let parts = match &value.value {
            Argument::Parts(parts) => parts,
            Argument::Pipeline(pipeline) => return write!(f, "{{{pipeline}}}"),
        };
        for (i, text) in parts.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            part(f, text)?;
        }
        Ok(())
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name.value)?;
        for (i, option) in self.options.iter().enumerate() {
            f.write_str(if i == 0 { "{" } else { " " })?;
            write!(f, "{option}")?;
        }
        if !self.options.is_empty() {
            f.write_str("}")?;
        }
        match &self.nested {
            Some(nested) => write!(f, "({nested})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for PipelineText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, element) in self.elements.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            write!(f, "{element}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Argument, Element, OptionText, PipelineText, Spanned, parse};

    fn name() -> impl Strategy<Value = Spanned<String>> {
        "[a-z][a-z0-9_.-]{0,6}".prop_map(Spanned::made)
    }

    fn option() -> impl Strategy<Value = OptionText> {
        let parts = prop::collection::vec(any::<String>(), 0..3).prop_map(Argument::Parts);
        let element = name().prop_map(|name| Element { name, options: Vec::new(), nested: None });
        let elements = prop::collection::vec(element, 0..3);
        let pipeline = elements.prop_map(|elements| Argument::Pipeline(PipelineText { elements }));
        let value = prop::option::of(prop_oneof![4 => parts, 1 => pipeline].prop_map(Spanned::made));
        (name(), value).prop_map(|(name, value)| OptionText { name, value })
    }

    fn pipeline() -> impl Strategy<Value = PipelineText> {
        let options = || prop::collection::vec(option(), 0..3);
        let leaf = (name(), options()).prop_map(|(name, options)| Element { name, options, nested: None });
        let element = leaf.prop_recursive(3, 12, 3, move |inner| {
            let nested = prop::collection::vec(inner, 0..3).prop_map(|elements| Some(PipelineText { elements }));
            (name(), options(), nested).prop_map(|(name, options, nested)| Element { name, options, nested })
        });
        prop::collection::vec(element, 0..4).prop_map(|elements| PipelineText { elements })
    }

    proptest! {
        #[test]
        fn printed_text_parses_back(pipeline in pipeline()) {
            let text = pipeline.to_string();
            prop_assert_eq!(parse(&text), Ok(pipeline), "{}", text);
        }

        #[test]
        fn any_text_is_parsed_or_refused_within_it(text in any::<String>()) {
            match parse(&text) {
                Ok(pipeline) => prop_assert_eq!(parse(&pipeline.to_string()), Ok(pipeline)),
                Err(error) => prop_assert!(text.get(error.range).is_some()),
            }
        }
    }
}
