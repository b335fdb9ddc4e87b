//! Files that appear whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file: a reader sees the old content or the new one, never a part. What is no regular file (`/dev/stdout`) is written in place.
///
/// # Errors
/// Whatever the file system refuses; the old content stays and nothing else is left behind.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let (temporary, mut file) = create_beside(path)?;
    let written = file.write_all(bytes).and_then(|()| {
        drop(file);
        fs::rename(&temporary, path)
    });
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// A new file in the same folder, hence on the same file system.
fn create_beside(path: &Path) -> io::Result<(PathBuf, fs::File)> {
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?;
    let mut attempt = 0u32;
    loop {
        let temporary =
            path.with_file_name(format!(".{}.{}-{attempt}.tmp", name.to_string_lossy(), std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => attempt += 1,
            opened => return opened.map(|file| (temporary, file)),
        }
    }
}
