//! What is known of a search that was stopped.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tf_shrink::Verdicts;
use tf_value::io::write_atomic;

/// The answers of a search. The search is a function of the case and the answers, so they are all that it takes to go on.
#[derive(Serialize, Deserialize)]
struct Saved {
    /// The program that wrote it.
    version: String,
    /// The case at the start.
    case: String,
    /// What was looked for.
    test: String,
    /// What runs cases, and with what limits.
    setting: String,
    /// Cases for which it held, and those for which it did not.
    holds: Vec<String>,
    fails: Vec<String>,
}

/// The file of a search beside its result.
pub struct State {
    path: PathBuf,
    case: String,
    test: String,
    setting: String,
}

impl State {
    /// Of the search of `test` from the case with that fingerprint by the runs of a setting.
    pub fn new(path: PathBuf, case: u64, test: String, setting: String) -> Self {
        Self { path, case: format!("{case:016x}"), test, setting }
    }

    /// The answers so far.
    ///
    /// # Errors
    /// There is no file, or it is of another search.
    pub fn load(&self) -> Result<Verdicts, String> {
        let shown = self.path.display();
        let text = std::fs::read_to_string(&self.path)
            .map_err(|error| format!("there is nothing to go on with: cannot read `{shown}`: {error}"))?;
        let saved: Saved = serde_json::from_str(&text).map_err(|error| format!("`{shown}` is no state: {error}"))?;
        let differs = [
            (saved.version == env!("CARGO_PKG_VERSION"), "version of tf-reduce"),
            (saved.case == self.case, "file, pipeline or inputs"),
            (saved.test == self.test, "test"),
            (saved.setting == self.setting, "driver, plugin, switch or limit"),
        ];
        if let Some((_, what)) = differs.iter().find(|(same, _)| !same) {
            return Err(format!("`{shown}` is of another {what}; leave out `--resume` to begin anew"));
        }
        let of = |list: Vec<String>, holds: bool| {
            list.into_iter().filter_map(move |hex| Some((u64::from_str_radix(&hex, 16).ok()?, holds)))
        };
        Ok(of(saved.holds, true).chain(of(saved.fails, false)).collect())
    }

    /// Writes the answers, whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, verdicts: &Verdicts) -> Result<(), String> {
        let of = |wanted: bool| {
            let mut list: Vec<_> =
                verdicts.iter().filter(|(_, holds)| **holds == wanted).map(|(key, _)| format!("{key:016x}")).collect();
            list.sort_unstable();
            list
        };
        let saved = Saved {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            case: self.case.clone(),
            test: self.test.clone(),
            setting: self.setting.clone(),
            holds: of(true),
            fails: of(false),
        };
        let text = serde_json::to_string(&saved).map_err(|error| error.to_string())?;
        write_atomic(&self.path, text.as_bytes())
            .map_err(|error| format!("cannot write `{}`: {error}", self.path.display()))
    }

    /// Takes the file away.
    pub fn remove(&self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::State;

    #[test]
    fn answers_read_back_for_the_same_search_only() {
        let folder = tempfile::tempdir().unwrap();
        let of = |case, test: &str, setting: &str| {
            State::new(folder.path().join("out.state"), case, test.to_owned(), setting.to_owned())
        };
        let state = of(7, "a crash", "60 s");
        assert!(state.load().unwrap_err().starts_with("there is nothing to go on with"));
        let verdicts = [(u64::MAX, true), (3, false)].into_iter().collect();
        state.save(&verdicts).unwrap();
        assert_eq!(state.load(), Ok(verdicts));
        assert!(of(8, "a crash", "60 s").load().unwrap_err().contains("another file"));
        assert!(of(7, "a hang", "60 s").load().unwrap_err().contains("another test"));
        assert!(of(7, "a crash", "9 s").load().unwrap_err().contains("another driver, plugin, switch or limit"));
        std::fs::write(&state.path, "{").unwrap();
        assert!(state.load().unwrap_err().contains("is no state"));
    }
}
