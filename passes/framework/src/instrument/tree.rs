//! A file of IR for each pass.

use std::io;
use std::path::PathBuf;

use tf_core::{Context, Module};

use super::{Instrumentation, PassRun, Print};

/// Writes `DIR/0_input.tfir`, then `DIR/1_cse.tfir` for each pass; a pass of a named pipeline goes to `DIR/2_lower-tir/…`.
pub struct IrTree<'p> {
    dir: PathBuf,
    print: &'p Print<'p>,
    /// The first failure to write.
    error: Option<(PathBuf, io::Error)>,
    /// How many passes have run.
    number: usize,
    /// The folder of the named pipeline that runs, and its path.
    group: (Vec<&'static str>, PathBuf),
}

impl<'p> IrTree<'p> {
    /// Into that folder, which is made.
    #[must_use]
    pub fn new(dir: PathBuf, print: &'p Print<'p>) -> Self {
        Self { group: (Vec::new(), dir.clone()), number: 0, dir, print, error: None }
    }

    /// The first file that could not be written, and why.
    pub fn into_error(self) -> Option<(PathBuf, io::Error)> {
        self.error
    }

    fn write<'c>(&mut self, path: PathBuf, module: Module<'c>, cx: &Context<'c>) {
        if self.error.is_some() {
            return;
        }
        let text = (self.print)(module, cx);
        let folder = path.parent().unwrap_or(&self.dir);
        if let Err(error) = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text)) {
            self.error = Some((path, error));
        }
    }
}

impl Instrumentation for IrTree<'_> {
    fn input<'c>(&mut self, _: f64, module: Module<'c>, cx: &Context<'c>) {
        self.write(self.dir.join("0_input.tfir"), module, cx);
    }

    fn after<'c>(&mut self, run: &PassRun<'_>, _: Module<'c>, after: Module<'c>, cx: &Context<'c>) {
        self.number += 1;
        let number = self.number;
        if self.group.0 != run.path {
            let folder = match run.path {
                [] => self.dir.clone(),
                path => self.dir.join(format!("{number}_{}", path.join("."))),
            };
            self.group = (run.path.to_vec(), folder);
        }
        self.write(self.group.1.join(format!("{number}_{}.tfir", run.decl.name)), after, cx);
    }
}
