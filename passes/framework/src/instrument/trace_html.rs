//! A page that steps through the passes.

use serde_json::{Value, json};
use tf_core::diag::Severity;
use tf_core::{Context, Diagnostic, Module};

use super::diff::lines;
use super::{Instrumentation, PassRun, Print};

/// The page around the data, which takes the place of `/*steps*/`.
const PAGE: &str = include_str!("trace.html");

/// Collects the IR after every pass for one self-contained HTML page: a list of passes, and the IR with its changes.
pub struct TracePage<'p> {
    print: &'p Print<'p>,
    steps: Vec<Value>,
    last: String,
}

impl<'p> TracePage<'p> {
    /// An empty page.
    #[must_use]
    pub fn new(print: &'p Print<'p>) -> Self {
        Self { print, steps: Vec::new(), last: String::new() }
    }

    /// The data of the page, to be handed to [`TracePage::page`] together with that of other inputs.
    #[must_use]
    pub fn into_steps(self) -> Vec<Value> {
        self.steps
    }

    /// The page.
    #[must_use]
    pub fn page(title: &str, steps: Vec<Value>) -> String {
        // `</script>` in the data would end the script.
        let data = Value::Array(steps).to_string().replace("</", "<\\/");
        let title = title.replace('&', "&amp;").replace('<', "&lt;");
        PAGE.replace("<!--title-->", &title).replace("/*steps*/", &data)
    }

    fn step(&mut self, run: &PassRun<'_>, text: String, errors: &[String]) {
        // Without lines: the text of the step before.
        let marked = (text != self.last).then(|| lines(&self.last, &text));
        let changes = marked.iter().flatten().filter(|(mark, _)| *mark != ' ').count();
        let marked: Option<Vec<_>> = marked.map(|m| m.iter().map(|(mark, line)| format!("{mark}{line}")).collect());
        self.steps.push(json!({
            "name": run.decl.name, "text": run.text, "in": run.path, "seconds": run.seconds, "changes": changes,
            "lines": marked, "errors": errors,
            "statistics": run.statistics.iter().map(|(what, count)| format!("{count} {what}")).collect::<Vec<_>>(),
        }));
        self.last = text;
    }
}

impl Instrumentation for TracePage<'_> {
    fn input<'c>(&mut self, seconds: f64, module: Module<'c>, cx: &Context<'c>) {
        let text = (self.print)(module, cx);
        let lines: Vec<_> = text.lines().map(|line| format!(" {line}")).collect();
        self.steps.push(json!({
            "name": format!("input @{}", module.name), "text": "", "in": [], "seconds": seconds, "changes": 0,
            "lines": lines, "errors": [], "statistics": [],
        }));
        self.last = text;
    }

    fn after<'c>(&mut self, run: &PassRun<'_>, _: Module<'c>, after: Module<'c>, cx: &Context<'c>) {
        let text = if run.changed { (self.print)(after, cx) } else { self.last.clone() };
        self.step(run, text, &[]);
    }

    fn failed<'c>(&mut self, run: &PassRun<'_>, _: Module<'c>, errors: &[Diagnostic], cx: &Context<'c>) {
        let place = |error: &Diagnostic| error.span.map(|span| format!("{}: ", cx.sources().describe(span)));
        let errors = errors.iter().filter(|error| error.severity == Severity::Error);
        let errors: Vec<_> = errors.map(|e| format!("{}{}", place(e).unwrap_or_default(), e.message)).collect();
        let last = self.last.clone();
        self.step(run, last, &errors);
    }
}
