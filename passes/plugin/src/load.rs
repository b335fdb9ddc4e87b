//! The driver's side.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use libloading::Library;
use tf_framework::TraceLog;

use crate::Registrar;
use crate::abi::{PluginInfo, SYMBOL, Session, VERSION};
use crate::fingerprint::{BUILD, differences};

/// A plugin that has registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The crate's name.
    pub name: String,
    /// The crate's version.
    pub version: String,
}

/// Why a plugin is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// What is wrong.
    pub message: String,
    /// Facts, one a line.
    pub notes: Vec<String>,
    /// How to mend it.
    pub help: Option<String>,
}

impl LoadError {
    fn new(message: String) -> Self {
        Self { message, notes: Vec::new(), help: None }
    }
}

/// Loads a shared library and lets it register. `crates` is the driver's [`crate::locked_versions`]; `trace` is where its spans go.
///
/// # Errors
/// The file is no library or no plugin, it was built differently, its registration panics or clashes.
pub fn load(
    path: &Path,
    crates: &str,
    registrar: Registrar<'_>,
    trace: Option<Arc<TraceLog>>,
) -> Result<Loaded, LoadError> {
    let shown = path.display();
    // Without a slash the system would look in its own folders.
    let file = if path.components().count() == 1 { PathBuf::from(".").join(path) } else { path.to_owned() };
    if !file.exists() {
        return Err(LoadError::new(format!("no plugin at `{shown}`")));
    }
    // SAFETY: the library's initialisers run; whoever names a plugin trusts its code.
    let library = unsafe { Library::new(&file) };
    let library = library.map_err(|error| LoadError::new(format!("`{shown}` cannot be loaded: {error}")))?;
    // SAFETY: the symbol has this type in every version of `tilefoundry_plugin!`.
    let entry = unsafe { library.get::<extern "C" fn() -> *const PluginInfo>(SYMBOL) };
    let Ok(entry) = entry else {
        let mut error = LoadError::new(format!("`{shown}` is no plugin: it has no symbol `{SYMBOL}`"));
        error.help = Some("a plugin's crate type is cdylib, and it says `tilefoundry_plugin!(register)`".to_owned());
        return Err(error);
    };
    let info = entry();
    // Its code and static data are used until the process ends, also after a refusal.
    std::mem::forget(library);
    if info.is_null() {
        return Err(LoadError::new(format!("`{shown}` is no plugin: `{SYMBOL}` gives nothing")));
    }
    // SAFETY: every form of the information begins with its number.
    let abi = unsafe { info.cast::<u32>().read() };
    if abi != VERSION {
        return Err(LoadError::new(format!(
            "plugin `{shown}` speaks version {abi} of the interface, this driver {VERSION}"
        )));
    }
    // SAFETY: it has this form, and its memory is static.
    let info = unsafe { &*info };
    let loaded = Loaded { name: info.name.get(), version: info.version.get() };
    compare(&loaded, info, crates)?;
    register(&loaded, info, registrar, trace)?;
    Ok(loaded)
}

fn compare(loaded: &Loaded, info: &PluginInfo, crates: &str) -> Result<(), LoadError> {
    let build = differences(BUILD, &info.build.get());
    let versions = differences(crates, &info.crates.get());
    if build.is_empty() && versions.is_empty() {
        return Ok(());
    }
    let help = if build.is_empty() {
        "copy the driver's Cargo.lock beside the plugin's Cargo.toml and build it again"
    } else {
        "build the plugin again, with the driver's compiler, profile and sources"
    };
    let mut notes = build;
    notes.extend(versions);
    let message = format!("plugin `{}` was built differently from this driver", loaded.name);
    Err(LoadError { message, notes, help: Some(help.to_owned()) })
}

fn register(
    loaded: &Loaded,
    info: &PluginInfo,
    registrar: Registrar<'_>,
    trace: Option<Arc<TraceLog>>,
) -> Result<(), LoadError> {
    let before = (registrar.passes.mistakes().len(), registrar.patterns.mistakes().len());
    let mut session = Session { registrar, trace, panic: None };
    // SAFETY: the fingerprints agree, so `Session` is the same type on both sides.
    unsafe { (info.register)((&raw mut session).cast()) };
    if let Some(message) = session.panic {
        return Err(LoadError::new(format!("plugin `{}` panicked while it registered: {message}", loaded.name)));
    }
    let Registrar { passes, patterns, .. } = session.registrar;
    let mistakes = passes.mistakes().iter().skip(before.0).chain(patterns.mistakes().iter().skip(before.1));
    match mistakes.map(String::as_str).collect::<Vec<_>>().join("; ") {
        none if none.is_empty() => Ok(()),
        mistakes => Err(LoadError::new(format!("plugin `{}`: {mistakes}", loaded.name))),
    }
}
