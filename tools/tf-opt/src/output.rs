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

fn file(path: &Path, bytes: &[u8]) -> Outcome<()> {
    match write_atomic(path, bytes) {
        Ok(()) => Ok(()),
        Err(error) => stop(format!("cannot write `{}`: {error}", path.display())),
    }
}

/// Writes a text or an artifact to `-o`, or to the standard output. Companions are written beside a file, before it.
///
/// # Errors
/// The file system refuses; a companion would have the file's own name.
pub fn write(output: Option<&str>, artifact: &Artifact) -> Outcome<()> {
    let Some(path) = output.filter(|&path| path != "-") else { return stdout(&artifact.bytes) };
    let path = Path::new(path);
    let companions: Vec<_> = artifact.companions.iter().map(|(ext, bytes)| (path.with_extension(ext), bytes)).collect();
    if let Some((beside, _)) = companions.iter().find(|(beside, _)| beside == path) {
        return stop(format!("`{}` is where a second file goes; give the output another extension", beside.display()));
    }
    companions.iter().try_for_each(|(beside, bytes)| file(beside, bytes))?;
    file(path, &artifact.bytes)
}
