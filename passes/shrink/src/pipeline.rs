//! Shorter pipelines.

use std::ops::Range;
use std::sync::Arc;

use tf_core::op::OpRegistry;
use tf_framework::text::{Argument, Element, PipelineText};

use crate::{Case, Reduction};

/// What becomes of places in a pipeline.
#[derive(Clone, Copy)]
enum Shorter {
    /// Passes go, those in anchors and options too.
    Passes,
    /// The passes inside an anchor or an option stand in its place.
    Unwrapped,
    /// Options go.
    Options,
}

/// How many places a pipeline and those inside it have.
fn nested_places(pipeline: &PipelineText, shorter: Shorter) -> usize {
    let of = |element: &Element| {
        shorter.places(element)
            + inside(element).into_iter().map(|nested| nested_places(nested, shorter)).sum::<usize>()
    };
    pipeline.elements.iter().map(of).sum()
}

/// The pipeline with these places shortened; `next` is the number of its first place.
fn shortened(pipeline: &PipelineText, shorter: Shorter, next: &mut usize, places: &Range<usize>) -> PipelineText {
    let mut elements = Vec::new();
    for element in &pipeline.elements {
        let first = *next;
        *next += shorter.places(element);
        let mut element = element.clone();
        element.nested = element.nested.map(|nested| shortened(&nested, shorter, next, places));
        for option in &mut element.options {
            if let Some(value) = &mut option.value
                && let Argument::Pipeline(nested) = &value.value
            {
                value.value = Argument::Pipeline(shortened(nested, shorter, next, places));
            }
        }
        elements.extend(shorter.apply(element, first, places));
    }
    PipelineText { elements }
}

/// The pipelines inside an element.
fn inside(element: &Element) -> Vec<&PipelineText> {
    let options = element.options.iter().filter_map(|option| match &option.value.as_ref()?.value {
        Argument::Pipeline(nested) => Some(nested),
        Argument::Parts(_) => None,
    });
    element.nested.iter().chain(options).collect()
}

impl Shorter {
    fn places(self, element: &Element) -> usize {
        match self {
            Self::Passes => 1,
            Self::Unwrapped => usize::from(!inside(element).is_empty()),
            Self::Options => element.options.len(),
        }
    }

    /// What stands in the place of an element whose first place has that number.
    fn apply(self, mut element: Element, first: usize, places: &Range<usize>) -> Vec<Element> {
        match self {
            Self::Passes if places.contains(&first) => Vec::new(),
            Self::Unwrapped if places.contains(&first) && self.places(&element) > 0 => {
                inside(&element).into_iter().flat_map(|nested| nested.elements.clone()).collect()
            }
            Self::Options => {
                let mut at = first;
                element.options.retain(|_| {
                    at += 1;
                    !places.contains(&(at - 1))
                });
                vec![element]
            }
            Self::Passes | Self::Unwrapped => vec![element],
        }
    }
}

impl Reduction for Shorter {
    fn name(&self) -> &'static str {
        match self {
            Self::Passes => "passes",
            Self::Unwrapped => "nested pipelines",
            Self::Options => "options of passes",
        }
    }

    fn places(&self, case: &Case, _: &Arc<OpRegistry>) -> usize {
        nested_places(&case.pipeline, *self)
    }

    fn apply(&self, case: &Case, _: &Arc<OpRegistry>, places: Range<usize>) -> Option<Case> {
        let pipeline = shortened(&case.pipeline, *self, &mut 0, &places);
        (pipeline != case.pipeline).then(|| Case { pipeline, ..case.clone() })
    }
}

/// What counts as having run before goes.
struct After;

impl Reduction for After {
    fn name(&self) -> &'static str {
        "passes before"
    }

    fn places(&self, case: &Case, _: &Arc<OpRegistry>) -> usize {
        case.after.len()
    }

    fn apply(&self, case: &Case, _: &Arc<OpRegistry>, places: Range<usize>) -> Option<Case> {
        let mut after = case.after.clone();
        after.drain(places);
        Some(Case { after, ..case.clone() })
    }
}

/// All of them, those that cut most first.
pub(crate) fn reductions() -> Vec<Box<dyn Reduction>> {
    vec![Box::new(Shorter::Passes), Box::new(Shorter::Unwrapped), Box::new(Shorter::Options), Box::new(After)]
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tf_core::op::OpRegistryBuilder;
    use tf_framework::text;

    use super::Shorter;
    use crate::{Case, Inputs, Reduction};

    fn case(pipeline: &str) -> Case {
        let pipeline = text::parse(pipeline).expect("a pipeline");
        Case { module: "".into(), pipeline, after: Vec::new(), inputs: Inputs::None }
    }

    fn after(shorter: Shorter, pipeline: &str, places: std::ops::Range<usize>) -> (usize, Option<String>) {
        let ops = Arc::new(OpRegistryBuilder::default().freeze().expect("no ops"));
        let case = case(pipeline);
        let count = Reduction::places(&shorter, &case, &ops);
        (count, Reduction::apply(&shorter, &case, &ops, places).map(|case| case.pipeline.to_string()))
    }

    #[test]
    fn passes_go() {
        assert_eq!(after(Shorter::Passes, "a,b{x=1},c", 1..3), (3, Some("a".to_owned())));
        // An anchor is a place, and so is each pass in it.
        assert_eq!(after(Shorter::Passes, "func(a,b),c", 1..2), (4, Some("func(b),c".to_owned())));
        assert_eq!(after(Shorter::Passes, "func(a,b),c", 0..3), (4, Some("c".to_owned())));
        assert_eq!(after(Shorter::Passes, "f{passes={a,b}}", 2..3), (3, Some("f{passes={a}}".to_owned())));
    }

    #[test]
    fn nested_passes_come_out() {
        assert_eq!(after(Shorter::Unwrapped, "f{passes={a,b} n=2},c", 0..1), (1, Some("a,b,c".to_owned())));
        assert_eq!(after(Shorter::Unwrapped, "a,b", 0..0), (0, None));
    }

    #[test]
    fn options_go() {
        assert_eq!(after(Shorter::Options, "a{x=1 y},b{z}", 1..2), (3, Some("a{x=1},b{z}".to_owned())));
        assert_eq!(after(Shorter::Options, "a{x=1 y},b{z}", 0..3), (3, Some("a,b".to_owned())));
    }
}
