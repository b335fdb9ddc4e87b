//! From pipeline text to passes with their options set.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use tf_core::diag::did_you_mean;
use tf_core::{Diagnostic, FileId, SourceMap, Span};

use crate::pass::{AnyPass, Over};
use crate::registry::{Entry, EntryKind, Options, check_kind};
use crate::text::{Argument, Element, OptionText, PipelineText, Spanned, parse};
use crate::{OptionDecl, OptionError, OptionKind, PassRegistry};

/// A pass that stands in a pipeline.
pub(crate) struct Step {
    pub(crate) pass: AnyPass,
    pub(crate) text: Element,
    /// The named pipelines that it came from, outermost first.
    pub(crate) path: Vec<&'static str>,
    /// How many of them, counted from the innermost, begin with this pass.
    pub(crate) opens: usize,
    /// How many of them, counted from the innermost, end with it.
    pub(crate) closes: usize,
    span: Span,
    /// Where the values of the options stand that are written.
    pub(crate) option_spans: Vec<(&'static str, Span)>,
    /// The pipelines among its options.
    nested: Vec<Arc<Pipeline>>,
}

/// Passes in the order in which they run; named pipelines are expanded. It displays as text that builds it again.
pub struct Pipeline {
    pub(crate) steps: Vec<Step>,
}

/// Why a text is no pipeline.
#[derive(Debug)]
pub struct PipelineError {
    /// All mistakes.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether the text names a pass or an engine that this program does not have; another may.
    pub missing: bool,
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elements = self.steps.iter().map(|s| s.text.clone()).collect();
        write!(f, "{}", PipelineText { elements })
    }
}

impl Pipeline {
    /// Builds a pipeline. `name` names the text in messages; it becomes a file of `sources`.
    ///
    /// # Errors
    /// Mistakes of form, unknown passes and options, values that do not fit, missing requirements.
    pub fn build(registry: &PassRegistry, sources: &SourceMap, name: &str, text: &str) -> Result<Self, PipelineError> {
        Self::build_after(registry, sources, name, text, &[])
    }

    /// Builds the rest of a pipeline: the passes named in `earlier` have run, so what requires them may stand in `text`.
    ///
    /// # Errors
    /// As [`Pipeline::build`].
    pub fn build_after(
        registry: &PassRegistry,
        sources: &SourceMap,
        name: &str,
        text: &str,
        earlier: &[String],
    ) -> Result<Self, PipelineError> {
        let mut resolver =
            Resolver { registry, sources, inside: Vec::new(), steps: Vec::new(), errors: Vec::new(), missing: false };
        resolver.text(name, text);
        let mut ran: Vec<&str> = earlier.iter().map(String::as_str).collect();
        let missing = unmet(&resolver.steps, &mut ran);
        resolver.errors.extend(missing);
        if resolver.errors.is_empty() {
            return Ok(Self { steps: resolver.steps });
        }
        Err(PipelineError { diagnostics: resolver.errors, missing: resolver.missing })
    }

    /// The names of the passes in order.
    pub fn pass_names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.steps.iter().map(|s| s.pass.info().decl().name)
    }
}

/// What may stand in a parenthesis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Anchor {
    Module,
    Func,
    PrimFunc,
}

impl Anchor {
    fn over(self) -> Over {
        match self {
            Self::Module => Over::All,
            Self::Func => Over::Hir,
            Self::PrimFunc => Over::Tir,
        }
    }
}

struct Resolver<'a> {
    registry: &'a PassRegistry,
    sources: &'a SourceMap,
    /// The named pipelines that are being expanded.
    inside: Vec<&'static str>,
    steps: Vec<Step>,
    errors: Vec<Diagnostic>,
    missing: bool,
}

impl Resolver<'_> {
    fn text(&mut self, name: &str, text: &str) {
        let file = self.sources.add(name, text);
        match parse(text) {
            Ok(pipeline) => self.pipeline(file, &pipeline, Anchor::Module),
            Err(error) => {
                let span = self.sources.span(file, error.range);
                self.errors.push(Diagnostic::error(error.message).at(span).coded("pipeline"));
            }
        }
    }

    fn error(&mut self, file: FileId, range: &Range<usize>, message: String) -> &mut Diagnostic {
        let span = self.sources.span(file, range.clone());
        self.errors.push(Diagnostic::error(message).at(span).coded("pipeline"));
        self.errors.last_mut().expect("one was pushed")
    }

    fn pipeline(&mut self, file: FileId, pipeline: &PipelineText, anchor: Anchor) {
        for element in &pipeline.elements {
            self.element(file, element, anchor);
        }
    }

    fn element(&mut self, file: FileId, element: &Element, anchor: Anchor) {
        let name = element.name.value.as_str();
        let inner = match name {
            "module" => Some(Anchor::Module),
            "func" => Some(Anchor::Func),
            "prim-func" => Some(Anchor::PrimFunc),
            _ => None,
        };
        if let Some(inner) = inner {
            return self.anchor(file, element, anchor, inner);
        }
        let Some(entry) = self.registry.get(name) else {
            self.missing = true;
            let near = did_you_mean(name, self.registry.iter().map(|e| e.name)).map(str::to_owned);
            let error = self.error(file, &element.name.range, format!("unknown pass `{name}`"));
            error.help = Some(match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`--list-passes` lists all passes, those of a plugin with `--load-pass-plugin=LIB`".to_owned(),
            });
            return;
        };
        if element.nested.is_some() {
            let message = format!("`{name}` is a pass and takes no pipeline in parentheses");
            self.error(file, &element.name.range, message).help =
                Some("`module(…)`, `func(…)` and `prim-func(…)` do".to_owned());
        }
        match &entry.kind {
            EntryKind::Pass { make, .. } => {
                let mut pass = make();
                if let AnyPass::AnyFunction(_, over) = &mut pass {
                    *over = anchor.over();
                }
                if !fits(&pass, anchor) {
                    let over = if anchor == Anchor::Func { "func" } else { "prim-func" };
                    let message = format!("`{name}` is a {} and cannot run inside `{over}(…)`", entry.kind());
                    self.error(file, &element.name.range, message);
                    return;
                }
                self.pass(file, element, entry, pass);
            }
            EntryKind::Pipeline(expand) => {
                let Some(values) = self.values(file, element, entry) else { return };
                if self.inside.contains(&entry.name) || anchor != Anchor::Module {
                    let message = format!("the pipeline `{name}` cannot stand inside itself or inside an anchor");
                    self.error(file, &element.name.range, message);
                    return;
                }
                match expand(&Options { decls: entry.options, values }) {
                    Ok(text) => {
                        self.inside.push(entry.name);
                        let first = self.steps.len();
                        self.text(&format!("<pipeline {name}>"), &text);
                        self.inside.pop();
                        if let [first, ..] = &mut self.steps[first..] {
                            first.opens += 1;
                        }
                        if let [.., last] = &mut self.steps[first..] {
                            last.closes += 1;
                        }
                    }
                    Err(error) => self.refuse(file, element, error),
                }
            }
        }
    }

    fn anchor(&mut self, file: FileId, element: &Element, outer: Anchor, inner: Anchor) {
        let name = &element.name;
        match &element.nested {
            _ if !element.options.is_empty() => {
                self.error(file, &name.range, format!("`{}` has no options", name.value));
            }
            None => {
                let message = format!("`{}` needs a pipeline in parentheses", name.value);
                self.error(file, &name.range, message);
            }
            Some(_) if outer != Anchor::Module && outer != inner => {
                let message = format!("`{}(…)` cannot stand inside another kind of function", name.value);
                self.error(file, &name.range, message);
            }
            Some(nested) => self.pipeline(file, nested, inner),
        }
    }

    /// The values by option index; `None` after a refusal.
    fn values(&mut self, file: FileId, element: &Element, entry: &Entry) -> Option<Vec<Option<Vec<String>>>> {
        let before = self.errors.len();
        let mut values = vec![None; entry.options.len()];
        for option in &element.options {
            self.option(file, option, entry, &mut values);
        }
        // What was written and refused is not missing as well.
        let is_written = |decl: &OptionDecl| element.options.iter().any(|option| option.name.value == decl.name);
        let missing = |(decl, value): &(&OptionDecl, &Option<_>)| decl.required && value.is_none() && !is_written(decl);
        for (decl, _) in entry.options.iter().zip(&values).filter(missing) {
            let message = format!("`{}` needs the option `{}`", entry.name, decl.name);
            let error = self.error(file, &element.name.range, message);
            error.help = Some(format!("{}: {}", decl.usage(), decl.doc.replace('\n', " ")));
        }
        (self.errors.len() == before).then_some(values)
    }

    fn option(&mut self, file: FileId, text: &OptionText, entry: &Entry, values: &mut [Option<Vec<String>>]) {
        let name = text.name.value.as_str();
        let Some(at) = entry.options.iter().position(|d| d.name == name) else {
            let near = did_you_mean(name, entry.options.iter().map(|d| d.name));
            let error = self.error(file, &text.name.range, format!("`{}` has no option `{name}`", entry.name));
            error.help = near.map(|near| format!("did you mean `{near}`?"));
            error.notes.push((None, options_of(entry)));
            return;
        };
        let decl = &entry.options[at];
        if values[at].is_some() {
            self.error(file, &text.name.range, format!("option `{name}` is given twice"));
            return;
        }
        let (parts, range) = match &text.value {
            Some(Spanned { value: Argument::Parts(parts), range }) if decl.kind != OptionKind::Pipeline => {
                (parts.clone(), range)
            }
            Some(Spanned { value: Argument::Pipeline(pipeline), range }) if decl.kind == OptionKind::Pipeline => {
                (vec![pipeline.to_string()], range)
            }
            Some(Spanned { range, .. }) => {
                let found = if decl.kind == OptionKind::Pipeline { "needs a pipeline" } else { "takes no pipeline" };
                self.error(file, range, format!("option `{name}` of `{}` {found} in braces", entry.name)).help =
                    Some(format!("write `{}`", decl.usage()));
                return;
            }
            None if decl.kind == OptionKind::Flag => (vec!["true".to_owned()], &text.name.range),
            None => {
                let message = format!("option `{name}` needs a value");
                self.error(file, &text.name.range, message).help = Some(format!("write `{}`", decl.usage()));
                return;
            }
        };
        match check_kind(decl.kind, &parts) {
            Ok(()) => values[at] = Some(parts),
            Err(why) => {
                self.error(file, range, format!("option `{name}` of `{}`: {why}", entry.name));
            }
        }
    }

    fn pass(&mut self, file: FileId, element: &Element, entry: &Entry, mut pass: AnyPass) {
        let Some(values) = self.values(file, element, entry) else { return };
        let (mut shown, mut pipelines) = (Vec::new(), Vec::new());
        for (at, (decl, value)) in entry.options.iter().zip(values).enumerate() {
            let Some(parts) = value else { continue };
            let default = pass.info().show_option(at);
            if let Err(message) = pass.info_mut().set_option(at, &parts) {
                return self.refuse(
                    file,
                    element,
                    OptionError { option: decl.name, message, help: None, missing: false },
                );
            }
            if decl.kind == OptionKind::Pipeline {
                let written = element.options.iter().find(|option| option.name.value == decl.name);
                let Some(Argument::Pipeline(text)) = written.and_then(|o| o.value.as_ref()).map(|v| &v.value) else {
                    continue;
                };
                let Some(nested) = self.nested(file, text) else { return };
                let elements = nested.steps.iter().map(|step| step.text.clone()).collect();
                let value = Some(Spanned::made(Argument::Pipeline(PipelineText { elements })));
                shown.push(OptionText { name: Spanned::made(decl.name.to_owned()), value });
                let pipeline = Arc::new(nested);
                pass.info_mut().set_pipeline(at, Arc::clone(&pipeline));
                pipelines.push(pipeline);
                continue;
            }
            let now = pass.info().show_option(at);
            if let Some(parts) = now.filter(|now| decl.required || Some(now) != default.as_ref()) {
                let value = Some(Spanned::made(Argument::Parts(parts)));
                shown.push(OptionText { name: Spanned::made(decl.name.to_owned()), value });
            }
        }
        if let Err(error) = pass.check() {
            return self.refuse(file, element, error);
        }
        let mut text = Element { name: Spanned::made(entry.name.to_owned()), options: shown, nested: None };
        if let AnyPass::AnyFunction(_, over @ (Over::Hir | Over::Tir)) = &pass {
            let anchor = if *over == Over::Hir { "func" } else { "prim-func" };
            let nested = Some(PipelineText { elements: vec![text] });
            text = Element { name: Spanned::made(anchor.to_owned()), options: Vec::new(), nested };
        }
        let span = self.sources.span(file, element.name.range.clone());
        let place = |decl: &'static OptionDecl| {
            let written = element.options.iter().find(|option| option.name.value == decl.name)?;
            let range = written.value.as_ref().map_or(&written.name.range, |value| &value.range);
            Some((decl.name, self.sources.span(file, range.clone())))
        };
        let option_spans = entry.options.iter().filter_map(place).collect();
        let path = self.inside.clone();
        self.steps.push(Step { pass, text, path, opens: 0, closes: 0, span, option_spans, nested: pipelines });
    }

    /// The pipeline of an option; `None` after a refusal.
    fn nested(&mut self, file: FileId, text: &PipelineText) -> Option<Pipeline> {
        let errors = self.errors.len();
        let (inside, outer) = (std::mem::take(&mut self.inside), std::mem::take(&mut self.steps));
        self.pipeline(file, text, Anchor::Module);
        self.inside = inside;
        let steps = std::mem::replace(&mut self.steps, outer);
        (self.errors.len() == errors).then_some(Pipeline { steps })
    }

    /// A value that the pass or pipeline itself refuses.
    fn refuse(&mut self, file: FileId, element: &Element, error: OptionError) {
        let written = element.options.iter().find(|o| o.name.value == error.option);
        let range = match written {
            Some(OptionText { value: Some(value), .. }) => value.range.clone(),
            Some(option) => option.name.range.clone(),
            None => element.name.range.clone(),
        };
        self.missing |= error.missing;
        let message = format!("option `{}` of `{}`: {}", error.option, element.name.value, error.message);
        self.error(file, &range, message).help = error.help;
    }
}

/// What steps require and what does not stand before them, given the passes that have run; these run in turn.
fn unmet<'s>(steps: &'s [Step], ran: &mut Vec<&'s str>) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    for step in steps {
        let decl = step.pass.info().decl();
        for required in decl.requires.iter().filter(|name| !ran.contains(name)) {
            let message = format!("`{}` requires `{required}` earlier in the pipeline", decl.name);
            errors.push(Diagnostic::error(message).at(step.span).coded("pipeline"));
        }
        for nested in &step.nested {
            errors.extend(unmet(&nested.steps, ran));
        }
        ran.push(decl.name);
    }
    errors
}

fn fits(pass: &AnyPass, anchor: Anchor) -> bool {
    matches!(
        (pass, anchor),
        (_, Anchor::Module)
            | (AnyPass::AnyFunction(..), _)
            | (AnyPass::Function(_), Anchor::Func)
            | (AnyPass::PrimFunc(_), Anchor::PrimFunc)
    )
}

fn options_of(entry: &Entry) -> String {
    if entry.options.is_empty() {
        return format!("`{}` has no options", entry.name);
    }
    let usages: Vec<_> = entry.options.iter().map(OptionDecl::usage).collect();
    format!("options of `{}`: {}", entry.name, usages.join(", "))
}
