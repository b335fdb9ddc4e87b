//! What must hold of a case that is kept.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tf_core::Diagnostic;
use tf_framework::Recipe;
use tf_shrink::{Case, Inputs, Test};
use tf_value::io::write_tensors;

use crate::child::{End, Limits, run};

/// A diagnostic of the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Whether it is an error.
    pub is_error: bool,
    /// Who speaks.
    pub code: String,
    /// What is said.
    pub message: String,
    /// What is said besides.
    pub notes: Vec<String>,
}

/// What a run of the driver gave.
#[derive(Clone, Debug)]
pub struct Seen {
    /// How it ended.
    pub end: End,
    /// Its diagnostics.
    pub said: Vec<Said>,
}

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A pass, this one if one is named, changes what a function computes.
    WrongResult(Option<String>),
    /// The driver dies of this signal.
    Signal(i32),
    /// A panic at this place, or with this text but for numbers and names.
    Panic(String),
    /// The driver does not end in its time.
    Hang,
    /// A diagnostic has this in it.
    Message(String),
    /// An error of this code with this text but for numbers and names.
    Error(String, String),
    /// This command succeeds.
    Command(String),
}

/// The text without numbers and what stands in backticks.
pub fn outline(message: &str) -> String {
    let mut out = String::new();
    let mut quoted = false;
    for c in message.chars() {
        match c {
            '`' => quoted = !quoted,
            _ if quoted => {}
            c if c.is_ascii_digit() => {
                if !out.ends_with('#') {
                    out.push('#');
                }
            }
            c => out.push(c),
        }
    }
    out
}

/// The pass that an error of `--check-each` names.
pub fn blamed(said: &Said) -> Option<&str> {
    let text = said.message.strip_prefix("pass `").filter(|_| said.is_error)?;
    let (pass, rest) = text.split_once('`')?;
    rest.starts_with(" changed what").then_some(pass)
}

/// Where a panic is, or what it says.
pub fn panic_of(said: &Said) -> Option<String> {
    if said.code != "panic" && !said.message.contains(" panicked: ") {
        return None;
    }
    let place = said.notes.iter().find_map(|note| note.strip_prefix("the panic is at "));
    Some(place.map_or_else(|| outline(&said.message), str::to_owned))
}

impl Wanted {
    /// Whether a run of the driver shows it.
    pub fn shown(&self, seen: &Seen) -> bool {
        let errors = || seen.said.iter().filter(|said| said.is_error);
        match self {
            Self::WrongResult(pass) => {
                errors().filter_map(blamed).any(|blamed| pass.as_ref().is_none_or(|pass| pass == blamed))
            }
            Self::Signal(signal) => seen.end == End::Signal(*signal),
            Self::Panic(place) => errors().filter_map(panic_of).any(|found| found == *place),
            Self::Hang => seen.end == End::TimedOut,
            Self::Message(text) => seen
                .said
                .iter()
                .any(|said| said.message.contains(text) || said.notes.iter().any(|note| note.contains(text))),
            Self::Error(code, text) => errors().any(|said| said.code == *code && outline(&said.message) == *text),
            Self::Command(_) => false,
        }
    }

    /// What an unsuccessful run is taken to show.
    pub fn of(seen: &Seen) -> Option<Self> {
        match seen.end {
            End::Signal(signal) => return Some(Self::Signal(signal)),
            End::TimedOut => return Some(Self::Hang),
            End::Exit(_) => {}
        }
        let errors = || seen.said.iter().filter(|said| said.is_error);
        if let Some(place) = errors().find_map(panic_of) {
            return Some(Self::Panic(place));
        }
        if let Some(pass) = errors().find_map(blamed) {
            return Some(Self::WrongResult(Some(pass.to_owned())));
        }
        errors().next().map(|said| Self::Error(said.code.clone(), outline(&said.message)))
    }
}

impl std::fmt::Display for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::WrongResult(None) => f.write_str("a pass changes what a function computes"),
            Self::WrongResult(Some(pass)) => write!(f, "pass `{pass}` changes what a function computes"),
            Self::Signal(signal) => write!(f, "the driver dies of signal {signal}"),
            Self::Panic(place) => write!(f, "a panic ({place})"),
            Self::Hang => f.write_str("the driver does not end in its time"),
            Self::Message(text) => write!(f, "a diagnostic has `{text}` in it"),
            Self::Error(code, text) => write!(f, "an error of {code}: {text}"),
            Self::Command(command) => write!(f, "the command `{command}` succeeds"),
        }
    }
}

/// Runs cases in child processes.
pub struct Runner {
    /// The driver.
    pub tf_opt: PathBuf,
    /// What a run may take.
    pub limits: Limits,
    /// What all runs have in common.
    pub recipe: Recipe,
    /// Where files of runs go.
    pub folder: tempfile::TempDir,
}

impl Runner {
    /// The case as a reproducer in that file; `tensors` is where its tensors are, if it has some.
    pub fn reproducer(&self, case: &Case, (file, tensors): (&Path, &Path), errors: &[Diagnostic]) -> String {
        let check_each = match &case.inputs {
            Inputs::None => None,
            Inputs::Generated(count) => Some(count.to_string()),
            Inputs::Tensors(_) => Some(tensors.display().to_string()),
        };
        let recipe = Recipe {
            pipeline: case.pipeline.to_string(),
            after: case.after.clone(),
            check_each,
            ..self.recipe.clone()
        };
        format!("{}{}", recipe.beside(file).header(errors), case.module)
    }

    /// Writes the case into a folder of its own, and gives the file.
    fn written(&self, case: &Case) -> std::io::Result<(tempfile::TempDir, PathBuf)> {
        let folder = tempfile::tempdir_in(self.folder.path())?;
        let (file, tensors) = (folder.path().join("case.tfir"), folder.path().join("inputs.safetensors"));
        if let Inputs::Tensors(inputs) = &case.inputs {
            write_tensors(&tensors, inputs.iter().map(|(name, tensor)| (name.as_str(), tensor)))
                .map_err(|error| std::io::Error::other(error.message))?;
        }
        std::fs::write(&file, self.reproducer(case, (&file, &tensors), &[]))?;
        Ok((folder, file))
    }

    /// Whether the driver starts with what all runs have in common. `None`: cancelled.
    ///
    /// # Errors
    /// It cannot be started; files cannot be written.
    pub fn starts(&self, pipeline: &str, cancelled: &dyn Fn() -> bool) -> std::io::Result<Option<bool>> {
        let mut command = Command::new(&self.tf_opt);
        command.arg("--dump-pipeline").arg(format!("--pipeline={pipeline}"));
        command.args(self.recipe.plugins.iter().map(|plugin| format!("--load-pass-plugin={plugin}")));
        let end = run(&mut command, &self.folder.path().join("errors"), self.limits, cancelled)?;
        Ok(end.map(|end| end == End::Exit(0)))
    }

    /// Runs the driver on a case. `None`: cancelled.
    ///
    /// # Errors
    /// The driver cannot be started; files cannot be written.
    pub fn see(&self, case: &Case, cancelled: &dyn Fn() -> bool) -> std::io::Result<Option<Seen>> {
        let (folder, file) = self.written(case)?;
        let errors = folder.path().join("errors");
        let mut command = Command::new(&self.tf_opt);
        command.arg("--run-reproducer").arg(&file);
        command.args(["--diagnostics=json", "--threads=1", "-o", "/dev/null"]);
        let Some(end) = run(&mut command, &errors, self.limits, cancelled)? else { return Ok(None) };
        let text = String::from_utf8_lossy(&std::fs::read(&errors)?).into_owned();
        Ok(Some(Seen { end, said: text.lines().filter_map(said).collect() }))
    }

    /// Runs a command on a case; whether it succeeds. `None`: cancelled.
    fn command(&self, text: &str, case: &Case, cancelled: &dyn Fn() -> bool) -> std::io::Result<Option<bool>> {
        let (folder, file) = self.written(case)?;
        let mut command = Command::new("sh");
        let script = if text.contains("{}") { text.replace("{}", "\"$1\"") } else { format!("{text} \"$1\"") };
        command.arg("-c").arg(script).arg("sh").arg(&file);
        let end = run(&mut command, &folder.path().join("errors"), self.limits, cancelled)?;
        Ok(end.map(|end| end == End::Exit(0)))
    }
}

/// A diagnostic of `--diagnostics=json`.
fn said(line: &str) -> Option<Said> {
    let value: Value = serde_json::from_str(line).ok()?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut notes: Vec<String> =
        value["notes"].as_array().into_iter().flatten().map(|note| text(&note["message"])).collect();
    notes.extend(value["help"].as_str().map(str::to_owned));
    Some(Said {
        is_error: value["severity"] == "error",
        code: text(&value["code"]),
        message: text(&value["message"]),
        notes,
    })
}

/// A test by child processes.
pub struct Tester<'r> {
    /// What runs cases.
    pub runner: &'r Runner,
    /// What is looked for.
    pub wanted: Wanted,
}

impl Test for Tester<'_> {
    fn holds(&self, case: &Case, cancelled: &(dyn Fn() -> bool + Sync)) -> Result<Option<bool>, String> {
        let held = match &self.wanted {
            Wanted::Command(command) => self.runner.command(command, case, cancelled),
            wanted => self.runner.see(case, cancelled).map(|seen| seen.map(|seen| wanted.shown(&seen))),
        };
        // That says nothing of the case.
        held.map_err(|error| format!("a case cannot be run: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{End, Said, Seen, Wanted, outline, said};

    fn error(code: &str, message: &str, note: &str) -> Seen {
        let said =
            Said { is_error: true, code: code.to_owned(), message: message.to_owned(), notes: vec![note.to_owned()] };
        Seen { end: End::Exit(1), said: vec![said] }
    }

    #[test]
    fn outlines_leave_out_names_and_numbers() {
        assert_eq!(outline("`a1` has 12 axes, not `b`'s 3.5"), " has # axes, not 's #.#");
    }

    #[test]
    fn what_a_run_shows() {
        let wrong = error("check-each", "pass `cse` changed what `f` computes: result 0 …", "");
        assert_eq!(Wanted::of(&wrong), Some(Wanted::WrongResult(Some("cse".to_owned()))));
        assert!(Wanted::WrongResult(None).shown(&wrong));
        assert!(!Wanted::WrongResult(Some("dce".to_owned())).shown(&wrong));
        let panic = error("panic", "pass `cse` panicked: index 3", "the panic is at a.rs:1:2");
        assert_eq!(Wanted::of(&panic), Some(Wanted::Panic("a.rs:1:2".to_owned())));
        let other = error("verify", "`x` has 3 axes", "");
        let wanted = Wanted::of(&other).unwrap();
        assert!(wanted.shown(&error("verify", "`y` has 14 axes", "")));
        assert!(!wanted.shown(&error("cse", "`y` has 14 axes", "")));
        let died = Seen { end: End::Signal(6), said: Vec::new() };
        assert_eq!(Wanted::of(&died), Some(Wanted::Signal(6)));
        assert_eq!(Wanted::of(&Seen { end: End::Exit(0), said: Vec::new() }), None);
    }

    #[test]
    fn messages_and_notes_are_searched() {
        let seen = error("cse", "no such thing", "because of the moon");
        assert!(Wanted::Message("such".to_owned()).shown(&seen));
        assert!(Wanted::Message("the moon".to_owned()).shown(&seen));
        assert!(!Wanted::Message("sun".to_owned()).shown(&seen));
    }

    #[test]
    fn json_reads_back() {
        let line = r#"{"severity":"error","code":"cse","message":"m","notes":[{"message":"n","at":null}],"help":"h"}"#;
        let found = said(line).unwrap();
        assert_eq!((found.code.as_str(), found.notes.as_slice()), ("cse", ["n".to_owned(), "h".to_owned()].as_slice()));
        assert_eq!(said("no json"), None);
    }
}
