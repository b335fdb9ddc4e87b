//! Running the program.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tf_testing::TempFolder;

/// What a run left.
pub struct Run {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

pub const SQUARE: &str = "\
from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry=\"f\")
class M:
    @func
    def f(x: Tensor[(4, 6), \"f32\"]) -> Tensor[(4, 6), \"f32\"]:
        y = tf.square(x)
        return y + x
";

/// A copy of the program in a folder of its own, where no sibling stands, and a file of the source above.
pub struct Place(pub TempFolder);

impl Place {
    pub fn new(name: &str) -> Self {
        let folder = TempFolder::new(&format!("opt-{name}"));
        let copy = folder.join("tf-opt");
        // A copy that is just written may be open still in a process that another test starts, and is not run then.
        let program = env!("CARGO_BIN_EXE_tf-opt");
        std::fs::hard_link(program, &copy).or_else(|_| std::fs::copy(program, &copy).map(drop)).unwrap();
        std::fs::write(folder.join("square.py"), SQUARE).unwrap();
        Self(folder)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        self.with_input(arguments, "")
    }

    pub fn with_input(&self, arguments: &[&str], input: &str) -> Run {
        let mut child = Command::new(self.path("tf-opt"))
            .args(arguments)
            .current_dir(&*self.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The program need not read its input.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// The output of a run that must succeed.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{arguments:?}");
        run.out
    }

    /// The messages of a run that must fail with nothing on the standard output.
    pub fn refused(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments);
        assert_eq!((run.code, run.out.as_str()), (Some(1), ""), "{arguments:?}: {}", run.err);
        run.err
    }

    /// A program beside `tf-opt`.
    pub fn script(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Names of the files in a folder, sorted.
pub fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
