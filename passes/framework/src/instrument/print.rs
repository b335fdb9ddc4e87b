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
    /// Names of passes to print before.
    pub before: Vec<String>,
    /// Print before every pass.
    pub before_all: bool,
    /// Names of passes to print after.
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
    /// What to print.
    pub when: PrintWhen,
    /// How.
    pub print: &'p Print<'p>,
    /// Where.
    pub out: Box<dyn Write + 'p>,
}

impl IrPrinter<'_> {
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

    fn write(&mut self, what: &str, run: &PassRun<'_>, text: &str) {
        let only = match self.when.functions.as_slice() {
            [] => String::new(),
            names => format!(" (@{})", names.join(", @")),
        };
        // A reader that has gone away is no failure of the compilation.
        let name = run.decl.name;
        let _ = writeln!(self.out, "// -----// IR {what} {name}{only} //----- //\n{}\n", text.trim_end());
    }

    fn after_text<'c>(&mut self, run: &PassRun<'_>, before: Module<'c>, after: Module<'c>, cx: &Context<'c>) {
        let chosen = self.when.after_all || self.when.after.iter().any(|name| name == run.decl.name);
        let maybe = chosen || self.when.after_change && run.changed;
        if !maybe {
            return;
        }
        let text = self.text(after, cx);
        let only_changes = self.when.after_change && self.when.after.is_empty();
        if !only_changes && !self.when.diff {
            return self.write("Dump After", run, text.as_deref().unwrap_or("// no such function"));
        }
        let old = if run.changed { self.text(before, cx) } else { text.clone() };
        match (old, text) {
            (old, new) if only_changes && old == new => {}
            (old, new) if self.when.diff => {
                let diff = unified(&old.unwrap_or_default(), &new.unwrap_or_default());
                self.write("Diff After", run, if diff.is_empty() { "// no change" } else { &diff });
            }
            (_, new) => self.write("Dump After", run, new.as_deref().unwrap_or("// no such function")),
        }
    }
}

impl Instrumentation for IrPrinter<'_> {
    fn before<'c>(&mut self, run: &PassRun<'_>, module: Module<'c>, cx: &Context<'c>) {
        if self.when.before_all || self.when.before.iter().any(|name| name == run.decl.name) {
            let text = self.text(module, cx);
            self.write("Dump Before", run, text.as_deref().unwrap_or("// no such function"));
        }
    }

    fn after<'c>(&mut self, run: &PassRun<'_>, before: Module<'c>, after: Module<'c>, cx: &Context<'c>) {
        self.after_text(run, before, after, cx);
    }
}
