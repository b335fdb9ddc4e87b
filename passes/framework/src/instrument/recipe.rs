//! How to run a reproducer.

use std::fmt::Write;
use std::path::{Component, Path, PathBuf};

use tf_core::Diagnostic;

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
    /// What `--check-each` compared programs on, a number or `FILE` or `FILE{prefix=P}`; `None`: nothing was compared.
    pub check_each: Option<String>,
    /// How many threads there were; `None`: one a core.
    pub threads: Option<usize>,
    /// The plugins that were loaded.
    pub plugins: Vec<String>,
}

impl Recipe {
    /// The recipe of files as they are named from here, as one for the file at `path`: named from its folder, so that both can be moved.
    /// Absolute names stay.
    #[must_use]
    pub fn beside(self, path: &Path) -> Self {
        let folder = folder(path);
        self.with_files(|file| relative(file, folder))
    }

    /// The recipe in the file at `path`, with files as they are named from here.
    #[must_use]
    pub fn read_from(self, path: &Path) -> Self {
        let folder = path.parent().unwrap_or(Path::new(""));
        self.with_files(|file| folder.join(file).to_string_lossy().into_owned())
    }

    fn with_files(mut self, name: impl Fn(&str) -> String) -> Self {
        self.plugins.iter_mut().for_each(|plugin| *plugin = name(plugin));
        let is_file = |inputs: &&mut String| !inputs.bytes().all(|byte| byte.is_ascii_digit());
        if let Some(inputs) = self.check_each.as_mut().filter(is_file) {
            let end = inputs.strip_suffix('}').and_then(|inputs| inputs.rfind('{')).unwrap_or(inputs.len());
            *inputs = format!("{}{}", name(&inputs[..end]), &inputs[end..]);
        }
        self
    }

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

/// A folder as it can be opened: that of a bare name is the current one.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The name that a file has in a folder; itself where one of them is not there.
fn relative(file: &str, folder: &Path) -> String {
    let known = |path: &Path| path.canonicalize().ok();
    let (Some(found), Some(folder), Some(here)) = (known(Path::new(file)), known(folder), known(Path::new("."))) else {
        return file.to_owned();
    };
    if Path::new(file).is_absolute() || folder == here {
        return file.to_owned();
    }
    let shared = folder.components().zip(found.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    let path: PathBuf = up.chain(found.components().skip(shared)).collect();
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tf_core::Diagnostic;

    use super::{Recipe, relative};

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

    #[test]
    fn files_are_named_from_the_folder_of_the_recipe() {
        let recipe = Recipe {
            check_each: Some("in/x.npz{prefix=a.}".to_owned()),
            plugins: vec!["libx.so".to_owned(), "/lib/y.so".to_owned()],
            ..Recipe::default()
        };
        let read = recipe.clone().read_from(Path::new("cases/small.tfir"));
        assert_eq!(read.check_each.as_deref(), Some("cases/in/x.npz{prefix=a.}"));
        assert_eq!(read.plugins, ["cases/libx.so", "/lib/y.so"]);
        assert_eq!(recipe.clone().read_from(Path::new("small.tfir")), recipe);
        let counted = Recipe { check_each: Some("12".to_owned()), ..Recipe::default() };
        assert_eq!(counted.clone().read_from(Path::new("cases/small.tfir")), counted);
        // Tests run in the folder of their package.
        assert_eq!(relative("src/lib.rs", Path::new("src/instrument")), "../lib.rs");
        assert_eq!(relative("src/lib.rs", Path::new("tests")), "../src/lib.rs");
        assert_eq!(relative("src/lib.rs", Path::new(".")), "src/lib.rs");
        assert_eq!(relative("src/none.rs", Path::new("tests")), "src/none.rs");
    }
}
