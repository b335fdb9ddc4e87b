//! A file that shows a failure again.

use std::io;
use std::path::PathBuf;

use tf_core::{Context, Diagnostic, Module};

use super::{Instrumentation, PassRun, Print, Recipe};

/// Writes a reproducer before each pass, adds the errors when the pass fails, and removes the file when all passes have run. So it
/// is there also if the pass brings the whole process down.
pub struct Reproducer<'p> {
    path: PathBuf,
    recipe: Recipe,
    print: &'p Print<'p>,
    /// Whether the file is there before each pass, in case the pass brings the process down.
    beforehand: bool,
    failed: bool,
    written: bool,
    error: Option<io::Error>,
}

impl<'p> Reproducer<'p> {
    /// Into that file; the recipe's pipeline is filled in, and its files are named from there.
    #[must_use]
    pub fn new(path: PathBuf, recipe: Recipe, print: &'p Print<'p>) -> Self {
        let recipe = recipe.beside(&path);
        Self { path, recipe, print, beforehand: true, failed: false, written: false, error: None }
    }

    /// Written once a pass has failed, which costs nothing before.
    #[must_use]
    pub fn of_failures(self) -> Self {
        Self { beforehand: false, ..self }
    }

    /// Whether the file shows a failure.
    ///
    /// # Errors
    /// Why it could not be written.
    pub fn outcome(self) -> io::Result<bool> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.failed),
        }
    }

    fn write<'c>(&mut self, run: &PassRun<'_>, module: Module<'c>, errors: &[Diagnostic], cx: &Context<'c>) {
        self.recipe.pipeline = run.text.to_owned();
        let text = format!("{}{}", self.recipe.header(errors), (self.print)(module, cx));
        // Other runs may write the same file now.
        let partial = self.path.with_added_extension(format!("{}.partial", std::process::id()));
        let result = std::fs::write(&partial, text).and_then(|()| std::fs::rename(&partial, &self.path));
        self.written |= result.is_ok();
        self.error = self.error.take().or(result.err());
    }
}

impl Instrumentation for Reproducer<'_> {
    fn before<'c>(&mut self, run: &PassRun<'_>, module: Module<'c>, cx: &Context<'c>) {
        if self.beforehand {
            self.write(run, module, &[], cx);
        }
    }

    fn after<'c>(&mut self, run: &PassRun<'_>, _: Module<'c>, _: Module<'c>, _: &Context<'c>) {
        self.recipe.after.push(run.decl.name.to_owned());
    }

    fn failed<'c>(&mut self, run: &PassRun<'_>, before: Module<'c>, errors: &[Diagnostic], cx: &Context<'c>) {
        // The pass around the one that failed fails too.
        if !std::mem::replace(&mut self.failed, true) {
            self.write(run, before, errors, cx);
        }
    }

    fn finish(&mut self) {
        if self.written {
            self.error = self.error.take().or(std::fs::remove_file(&self.path).err());
        }
    }
}
