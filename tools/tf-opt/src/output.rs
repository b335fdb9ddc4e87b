//! Writing results.

use std::io::{self, Write};
use std::path::Path;

use tf_framework::Artifact;
use tf_value::io::write_atomic;

use crate::error::{Outcome, stop};

/// Writes to the standard output. A reader that has gone away is no error.
///
/// # Errors
/// Any other failure.
pub fn stdout(bytes: &[u8]) -> Outcome<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => stop(format!("cannot write the output: {error}")),
        _ => Ok(()),
    }
}

/// Writes a file, whole or not at all.
///
/// # Errors
/// The file system refuses.
pub fn file(path: &Path, bytes: &[u8]) -> Outcome<()> {
    match write_atomic(path, bytes) {
        Ok(()) => Ok(()),
        Err(error) => stop(format!("cannot write `{}`: {error}", path.display())),
    }
}

/// Writes an artifact to a file; its companions go beside it, before it. Beside a device or a pipe there is nothing.
fn artifact(path: &Path, artifact: &Artifact) -> Outcome<()> {
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return file(path, &artifact.bytes);
    }
    let companions: Vec<_> = artifact.companions.iter().map(|(ext, bytes)| (path.with_extension(ext), bytes)).collect();
    if let Some((beside, _)) = companions.iter().find(|(beside, _)| beside == path) {
        return stop(format!("`{}` is where a second file goes; give the output another extension", beside.display()));
    }
    companions.iter().try_for_each(|(beside, bytes)| file(beside, bytes))?;
    file(path, &artifact.bytes)
}

/// What one input left, and the name that a file of its own has.
pub struct Written {
    /// The file's name without extension.
    pub stem: String,
    /// What goes there.
    pub artifact: Artifact,
}

/// The line between the results of two inputs.
fn separator(artifact: &Artifact) -> &'static [u8] {
    if artifact.extension == "py" { b"# -----\n" } else { b"// -----\n" }
}

/// Whether results go into a folder, a file each.
pub fn is_folder(path: &str) -> bool {
    path.ends_with('/') || Path::new(path).is_dir()
}

/// Writes all results to `-o`, or to the standard output: one after the other, or into a folder, a file each.
///
/// # Errors
/// The file system refuses; a companion would have the file's own name; several results with companions for one file.
pub fn write(output: Option<&str>, results: &[Written]) -> Outcome<()> {
    let joined = || {
        let mut bytes = Vec::new();
        for (at, Written { artifact, .. }) in results.iter().enumerate() {
            if at > 0 {
                bytes.extend_from_slice(separator(artifact));
            }
            bytes.extend_from_slice(&artifact.bytes);
        }
        bytes
    };
    let Some(path) = output.filter(|&path| path != "-") else { return stdout(&joined()) };
    match results {
        _ if is_folder(path) => {
            if let Err(error) = std::fs::create_dir_all(path) {
                return stop(format!("cannot make the folder `{path}`: {error}"));
            }
            results.iter().try_for_each(|Written { stem, artifact: result }| {
                artifact(&Path::new(path).join(format!("{stem}.{}", result.extension)), result)
            })
        }
        [one] => artifact(Path::new(path), &one.artifact),
        many => match many.iter().find(|result| !result.artifact.companions.is_empty()) {
            Some(with) => stop(format!(
                "`{}` leaves several files, and `{path}` is one; name a folder, as `-o {path}/`",
                with.stem
            )),
            None => file(Path::new(path), &joined()),
        },
    }
}
