//! Files that appear whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file: a reader sees the old content or the new one, never a part. A symbolic link stays one, and the file
/// that it leads to is written; an existing file keeps its mode. What is no regular file, and what stands for an
/// open one (`/dev/stdout`), is written in place.
///
/// # Errors
/// Whatever the file system refuses; the old content stays and nothing else is left behind.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let found = fs::metadata(path).ok();
    let special = path.starts_with("/dev") || path.starts_with("/proc");
    if special || found.as_ref().is_some_and(|found| !found.is_file()) {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let target = if path.is_symlink() { fs::canonicalize(path)? } else { path.to_owned() };
    let (temporary, mut file) = create_beside(&target)?;
    let written = file.write_all(bytes).and_then(|()| {
        if let Some(found) = &found {
            file.set_permissions(found.permissions())?;
        }
        drop(file);
        fs::rename(&temporary, &target)
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

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use tf_testing::TempFolder;

    use super::write_atomic;

    #[test]
    fn a_link_stays_a_link_and_a_file_keeps_its_mode() {
        let folder = TempFolder::new("value-atomic");
        let (file, link) = (folder.join("file"), folder.join("link"));
        fs::write(&file, "old").expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("a mode");
        symlink(&file, &link).expect("a link");
        write_atomic(&link, b"new").expect("written");
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).expect("readable"), b"new");
        assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o640);
    }
}
