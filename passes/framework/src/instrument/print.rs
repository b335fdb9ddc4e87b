//! IR before and after passes.

use std::io::Write;

use tf_core::node::ModuleData;
use tf_core::{Context, Module};

use super::diff::unified;
use super::{Instrumentation, PassRun};

/// Writes a module as text.
pub type Print<'p> = dyn for<'c> Fn(Module<'c>, &Context<'c>) -> String + 'p;

/// Which IR is printed.
#[derive(Clone, Debug, Default)]
pub struct PrintWhen {
    /// Names of passes and named pipelines to print before.
    pub before: Vec<String>,
    /// Print before every pass.
    pub before_all: bool,
    /// Names of passes and named pipelines to print after.
    pub after: Vec<String>,
    /// Print after every pass.
    pub after_all: bool,
    /// Print after every pass that changes the text.
    pub after_change: bool,
    /// Print only these functions; all if empty.
    pub functions: Vec<String>,
    /// After a pass, print how the text differs from the one before it.
    pub diff: bool,
}

/// Prints the IR around passes, each text under a line `// -----// IR Dump After cse //----- //`.
pub struct IrPrinter<'p> {
    when: PrintWhen,
    print: &'p Print<'p>,
    out: Box<dyn Write + 'p>,
    /// The texts before the named pipelines that run, where they will be compared.
    opened: Vec<Option<String>>,
}

impl<'p> IrPrinter<'p> {
    /// Prints what `when` says by `print` to `out`.
    pub fn new(when: PrintWhen, print: &'p Print<'p>, out: impl Write + 'p) -> Self {
        Self { when, print, out: Box::new(out), opened: Vec::new() }
    }

    /// The module, or the chosen functions of it; `None`: it has none of them.
    fn text<'c>(&self, module: Module<'c>, cx: &Context<'c>) -> Option<String> {
        let wanted = &self.when.functions;
        if wanted.is_empty() {
            return Some((self.print)(module, cx));
        }
        let chosen = |name: &str| wanted.iter().any(|wanted| wanted == name);
        let functions: Vec<_> = module.functions.iter().copied().filter(|f| chosen(f.name().as_str())).collect();
        if functions.is_empty() {
            return None;
        }
        let entry = module.entry.filter(|entry| chosen(entry.as_str()));
        let part = cx.module(ModuleData { functions: cx.alloc_slice(&functions), entry, ..*module });
        Some((self.print)(part, cx))
    }

    fn write(&mut self, what: &str, name: &str, text: &str) {
        let only = match self.when.functions.as_slice() {
            [] => String::new(),
            names => format!(" (@{})", names.join(", @")),
        };
        // A reader that has gone away is no failure of the compilation.
        let _ = writeln!(self.out, "// -----// IR {what} {name}{only} //----- //\n{}\n", text.trim_end());
    }

    fn is_before(&self, name: &str) -> bool {
        self.when.before.iter().any(|before| before == name)
    }

    fn is_after(&self, name: &str) -> bool {
        self.when.after.iter().any(|after| after == name)
    }

    fn before_text<'c>(&mut self, name: &str, module: Module<'c>, cx: &Context<'c>) {
        let text = self.text(module, cx);
        self.write("Dump Before", name, text.as_deref().unwrap_or("// no such function"));
    }

    /// What is printed after a pass or pipeline, given the texts before and after it.
    fn after_text(&mut self, name: &str, old: Option<String>, new: Option<String>) {
        if self.when.diff {
            let diff = unified(&old.unwrap_or_default(), &new.unwrap_or_default());
            self.write("Diff After", name, if diff.is_empty() { "// no change" } else { &diff });
        } else {
            self.write("Dump After", name, new.as_deref().unwrap_or("// no such function"));
        }
    }

    fn after_pass<'c>(&mut self, run: &PassRun<'_>, before: Module<'c>, after: Module<'c>, cx: &Context<'c>) {
        let name = run.decl.name;
        let only_changes = self.when.after_change && self.when.after.is_empty();
        if !(self.when.after_all || self.is_after(name) || self.when.after_change && run.changed) {
            return;
        }
        let new = self.text(after, cx);
        let old = match only_changes || self.when.diff {
            true if run.changed => self.text(before, cx),
            _ => new.clone(),
        };
        if !only_changes || old != new {
            self.after_text(name, old, new);
        }
    }
}

impl Instrumentation for IrPrinter<'_> {
    fn before<'c>(&mut self, run: &PassRun<'_>, module: Module<'c>, cx: &Context<'c>) {
        for &name in run.opens {
            if self.is_before(name) {
                self.before_text(name, module, cx);
            }
            if self.when.diff && self.is_after(name) {
                let text = self.text(module, cx);
                self.opened.push(text);
            }
        }
        if self.when.before_all || self.is_before(run.decl.name) {
            self.before_text(run.decl.name, module, cx);
        }
    }

    fn after<'c>(&mut self, run: &PassRun<'_>, before: Module<'c>, after: Module<'c>, cx: &Context<'c>) {
        self.after_pass(run, before, after, cx);
        for &name in run.closes.iter().rev() {
            if self.is_after(name) {
                let old = self.opened.pop().flatten();
                let new = self.text(after, cx);
                self.after_text(name, old, new);
            }
        }
    }
}
