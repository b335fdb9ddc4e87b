//! A file that shows a failure again.

use std::fmt::Write;
use std::io;
use std::path::PathBuf;

use tf_core::{Context, Diagnostic, Module};

use super::{Instrumentation, PassRun, Print};

/// The first line of a reproducer.
const TITLE: &str = "// tf-opt reproducer; run it with --run-reproducer";

/// How to run a reproducer: the comment lines at its top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipe {
    /// The pass that failed, with its options.
    pub pipeline: String,
    /// The passes that ran before it, whose requirements are met.
    pub after: Vec<String>,
    /// Whether the IR was checked after passes.
    pub verify_each: bool,
    /// What `--check-each` compared programs on; `None`: nothing was compared.
    pub check_each: Option<String>,
    /// How many threads there were; `None`: one a core.
    pub threads: Option<usize>,
    /// The plugins that were loaded.
    pub plugins: Vec<String>,
}

impl Recipe {
    /// The lines, each a comment of textual IR.
    #[must_use]
    pub fn header(&self, errors: &[Diagnostic]) -> String {
        let mut out = format!("{TITLE}\n// pipeline: {}\n", self.pipeline);
        if !self.after.is_empty() {
            let _ = writeln!(out, "// after: {}", self.after.join(","));
        }
        let _ = writeln!(out, "// verify-each: {}", self.verify_each);
        if let Some(inputs) = &self.check_each {
            let _ = writeln!(out, "// check-each: {inputs}");
        }
        if let Some(threads) = self.threads {
            let _ = writeln!(out, "// threads: {threads}");
        }
        for plugin in &self.plugins {
            let _ = writeln!(out, "// load-pass-plugin: {plugin}");
        }
        for line in errors.iter().flat_map(|error| error.message.lines()) {
            let _ = writeln!(out, "// error: {line}");
        }
        out
    }

    /// Reads the lines back.
    ///
    /// # Errors
    /// The text is no reproducer, or a line of it is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        if lines.next().map(str::trim_end) != Some(TITLE) {
            return Err(format!("it does not begin with `{TITLE}`"));
        }
        let mut recipe = Self { verify_each: true, ..Self::default() };
        let mut pipeline = None;
        for line in lines.map_while(|line| line.strip_prefix("// ")) {
            let Some((key, value)) = line.split_once(": ") else { return Err(format!("`// {line}` has no `: `")) };
            match key {
                "pipeline" => pipeline = Some(value.to_owned()),
                "after" => recipe.after = value.split(',').map(str::to_owned).collect(),
                "verify-each" => recipe.verify_each = value != "false",
                "check-each" => recipe.check_each = Some(value.to_owned()),
                "threads" => recipe.threads = value.parse().ok(),
                "load-pass-plugin" => recipe.plugins.push(value.to_owned()),
                "error" => {}
                other => return Err(format!("it says `{other}`, which this version does not know")),
            }
        }
        recipe.pipeline = pipeline.ok_or("it has no line `// pipeline: `")?;
        Ok(recipe)
    }
}

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
    /// Into that file; the recipe's pipeline is filled in.
    #[must_use]
    pub fn new(path: PathBuf, recipe: Recipe, print: &'p Print<'p>) -> Self {
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

#[cfg(test)]
mod tests {
    use tf_core::Diagnostic;

    use super::Recipe;

    #[test]
    fn a_header_reads_back() {
        let recipe = Recipe {
            pipeline: "cse{name=\"a b\"}".to_owned(),
            after: vec!["typeinfer".to_owned()],
            verify_each: false,
            check_each: Some("6".to_owned()),
            threads: Some(2),
            plugins: vec!["libx.so".to_owned()],
        };
        let text = format!("{}module @m {{\n}}\n", recipe.header(&[Diagnostic::error("no\nway")]));
        assert_eq!(Recipe::parse(&text), Ok(recipe));
    }

    #[test]
    fn refusals() {
        assert!(Recipe::parse("module @m {}").unwrap_err().starts_with("it does not begin with"));
        let title = "// tf-opt reproducer; run it with --run-reproducer\n";
        assert_eq!(Recipe::parse(title).unwrap_err(), "it has no line `// pipeline: `");
        assert_eq!(
            Recipe::parse(&format!("{title}// color: red\n")).unwrap_err(),
            "it says `color`, which this version does not know"
        );
    }
}
