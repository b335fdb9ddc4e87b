//! The files of a reduction.

use std::path::{Path, PathBuf};

use crate::args::{Args, Emit};
use crate::output::tensors_path;

/// Where a reduction writes.
pub struct Files {
    /// The result.
    pub output: PathBuf,
    /// The result in textual IR, where it cannot be said in the language that was asked for.
    pub textual: PathBuf,
    /// The best so far.
    pub partial: PathBuf,
    /// What a search needs to go on.
    pub state: PathBuf,
}

/// A folder as it can be opened: that of a bare name is the current one.
pub fn in_place(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

impl Files {
    /// The files that the arguments name; `kept` are those that must stay as they are.
    ///
    /// # Errors
    /// One of them is to be kept; the folder cannot be written.
    pub fn new(args: &Args, kept: &[PathBuf]) -> Result<Self, String> {
        let output = &args.output();
        let textual = match args.emit() {
            Emit::Tfir => output.clone(),
            Emit::Dsl => output.with_added_extension("tfir"),
        };
        let files = Self {
            output: output.clone(),
            textual,
            partial: output.with_added_extension("partial"),
            state: output.with_added_extension("state"),
        };
        let results = [&files.output, &files.textual, &files.partial];
        let all = results.into_iter().flat_map(|path| [path.clone(), tensors_path(path)]).chain([files.state.clone()]);
        let kept: Vec<_> = kept.iter().filter_map(|path| path.canonicalize().ok()).collect();
        for path in all {
            if path.canonicalize().is_ok_and(|path| kept.contains(&path)) {
                return Err(format!(
                    "`{}` is read, and would be written with `-o {}`; `-o` names another file",
                    path.display(),
                    output.display()
                ));
            }
        }
        let is_special = output.starts_with("/dev") || output.starts_with("/proc");
        if is_special || output.metadata().is_ok_and(|found| !found.is_file()) {
            return Err(format!(
                "`{}` is no regular file; `-o` names one, beside which there is room for others",
                output.display()
            ));
        }
        let folder = in_place(output.parent().unwrap_or(Path::new("")));
        tempfile::tempfile_in(folder).map_err(|error| format!("cannot write in `{}`: {error}", folder.display()))?;
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::Files;
    use crate::args::{Args, Emit};

    #[test]
    fn what_is_read_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let of = |output: PathBuf, emit, kept: &str| {
            std::fs::write(at(kept), "").unwrap();
            let files = Files::new(&Args { output: Some(output), emit: Some(emit), ..Args::default() }, &[at(kept)]);
            std::fs::remove_file(at(kept)).unwrap();
            files.map(|files| files.textual)
        };
        assert_eq!(of(at("k.py"), Emit::Dsl, "k.tfir"), Ok(at("k.py.tfir")));
        for kept in ["k.tfir", "k.safetensors", "k.tfir.partial", "k.tfir.partial.safetensors", "k.tfir.state"] {
            let error = of(at("k.tfir"), Emit::Tfir, kept).unwrap_err();
            assert!(error.contains(&format!("{kept}` is read")), "{error}");
        }
        assert!(of(at("k.py"), Emit::Dsl, "k.py.tfir").is_err());
        assert!(of(at("./k.tfir"), Emit::Tfir, "k.tfir").is_err());
        std::os::unix::fs::symlink(at("k.tfir"), at("link.tfir")).unwrap();
        assert!(of(at("link.tfir"), Emit::Tfir, "k.tfir").is_err());
    }

    #[test]
    fn folders_are_tried() {
        let folder = tempfile::tempdir().unwrap();
        let of = |output: PathBuf| {
            Files::new(&Args { output: Some(output), ..Args::default() }, &[]).map(|_| ()).unwrap_err()
        };
        assert!(of(folder.path().to_owned()).contains("is no regular file"));
        assert!(of("/dev/null".into()).contains("is no regular file"));
        assert!(of(folder.path().join("none/k.tfir")).starts_with("cannot write in"));
    }
}
