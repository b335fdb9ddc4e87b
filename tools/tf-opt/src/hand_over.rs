//! Starting the sibling program that has more passes and engines.

use std::convert::Infallible;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// Where the sibling would be: in the folder of this program, symbolic links followed.
pub fn path(sibling: &str) -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let own = own.canonicalize().unwrap_or(own);
    Some(own.with_file_name(sibling))
}

/// Becomes the sibling, with the same arguments; comes back only if that fails.
///
/// # Errors
/// The note for the user: there is no sibling, or it cannot be started.
pub fn hand_over(sibling: &str) -> Result<Infallible, String> {
    let Some(path) = path(sibling) else { return Err(format!("`{sibling}`, which has more, is not to be found")) };
    if !path.is_file() {
        return Err(format!(
            "`{sibling}`, which has the passes and engines that need LLVM, does not exist at {}",
            path.display()
        ));
    }
    let error = Command::new(&path).args(std::env::args_os().skip(1)).exec();
    Err(format!("`{}` cannot be started: {error}", path.display()))
}
