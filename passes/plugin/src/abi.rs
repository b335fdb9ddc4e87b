//! What crosses before the fingerprints are compared: C types only.

use std::ffi::c_void;
use std::sync::Arc;

use tf_framework::{TraceLog, guard, record_panics};

use crate::Registrar;

/// The form of [`PluginInfo`]. It stands first in every form.
pub const VERSION: u32 = 1;

/// The symbol that the driver looks for.
pub const SYMBOL: &str = "tilefoundry_plugin_info";

/// A text in static memory.
#[repr(C)]
pub struct Text {
    start: *const u8,
    len: usize,
}

// SAFETY: it points to immutable static memory.
unsafe impl Sync for Text {}

impl Text {
    /// That text.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Self { start: text.as_ptr(), len: text.len() }
    }

    /// The text again.
    pub(crate) fn get(&self) -> String {
        // SAFETY: only `new` makes one, and its memory is static.
        let bytes = unsafe { std::slice::from_raw_parts(self.start, self.len) };
        String::from_utf8_lossy(bytes).into_owned()
    }
}

/// What a plugin says of itself.
#[repr(C)]
pub struct PluginInfo {
    /// [`VERSION`].
    pub abi: u32,
    /// The crate's name.
    pub name: Text,
    /// Its version.
    pub version: Text,
    /// [`crate::BUILD`].
    pub build: Text,
    /// [`crate::locked_versions`].
    pub crates: Text,
    /// Registers; its argument is a `Session`.
    pub register: unsafe extern "C" fn(*mut c_void),
}

/// A registration in progress.
pub(crate) struct Session<'a> {
    pub(crate) registrar: Registrar<'a>,
    pub(crate) trace: Option<Arc<TraceLog>>,
    /// What the plugin's function panicked with.
    pub(crate) panic: Option<String>,
}

/// The plugin's side of a registration.
///
/// # Safety
/// `session` points to a `Session` of a driver with the same fingerprint that lives through the call.
pub unsafe fn enter(session: *mut c_void, register: fn(&mut Registrar<'_>)) {
    // SAFETY: as the caller promises.
    let session = unsafe { &mut *session.cast::<Session<'_>>() };
    // The panic hook and the dispatcher of this copy of the libraries.
    record_panics();
    if let Some(trace) = &session.trace {
        trace.install();
    }
    if let Err(panic) = guard(|| register(&mut session.registrar)) {
        let place = panic.place.map(|place| format!(" (at {place})")).unwrap_or_default();
        session.panic = Some(format!("{}{place}", panic.message));
    }
}
