//! IR before and after passes.

use std::io::Write;

use tf_core::{Context, Module};

use super::{Instrumentation, PassRun};

/// Writes a module as text.
pub type Print<'p> = dyn for<'c> Fn(Module<'c>, &Context<'c>) -> String + 'p;

/// Prints the IR around passes, each text under a line `// -----// IR Dump After cse //----- //`.
pub struct IrPrinter<'p> {
    /// Names of passes to print before.
    pub before: Vec<String>,
    /// Names of passes to print after.
    pub after: Vec<String>,
    /// Print after every pass.
    pub after_all: bool,
    /// How.
    pub print: &'p Print<'p>,
    /// Where.
    pub out: Box<dyn Write + 'p>,
}

impl IrPrinter<'_> {
    fn dump<'c>(&mut self, when: &str, run: &PassRun<'_>, module: Module<'c>, cx: &Context<'c>) {
        let text = (self.print)(module, cx);
        // A reader that has gone away is no failure of the compilation.
        let _ = writeln!(self.out, "// -----// IR Dump {when} {} //----- //\n{}\n", run.decl.name, text.trim_end());
    }
}

impl Instrumentation for IrPrinter<'_> {
    fn before<'c>(&mut self, run: &PassRun<'_>, module: Module<'c>, cx: &Context<'c>) {
        if self.before.iter().any(|name| name == run.decl.name) {
            self.dump("Before", run, module, cx);
        }
    }

    fn after<'c>(&mut self, run: &PassRun<'_>, module: Module<'c>, cx: &Context<'c>) {
        if self.after_all || self.after.iter().any(|name| name == run.decl.name) {
            self.dump("After", run, module, cx);
        }
    }
}
