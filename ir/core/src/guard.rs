//! Panics become values: the code of a pass or of a rule may be wrong, and the driver still says where.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::Diagnostic;

/// A caught panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    /// What it said.
    pub message: String,
    /// `FILE:LINE:COLUMN` of the panicking code, where [`record_panics`] is in force.
    pub place: Option<String>,
}

thread_local! {
    static GUARDED: Cell<u32> = const { Cell::new(0) };
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the place of panics that [`guard`] catches, and keeps those from printing. Call it once, at the start of a program.
pub fn record_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if GUARDED.get() == 0 {
            return default(info);
        }
        PLACE.replace(info.location().map(ToString::to_string));
        if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
            default(info);
        }
    }));
}

/// Runs `f` and catches its panic. Because it is generic, the catching is compiled into the crate that calls it: a plugin, which has
/// its own copy of the standard library, catches its panics on its own side.
///
/// # Errors
/// The panic.
pub fn guard<R>(f: impl FnOnce() -> R) -> Result<R, Panic> {
    GUARDED.set(GUARDED.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(f));
    GUARDED.set(GUARDED.get() - 1);
    result.map_err(|payload| Panic { message: message(payload.as_ref()), place: PLACE.take() })
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a text".to_owned())
}

impl Panic {
    /// As a diagnostic: `what` panicked.
    #[must_use]
    pub fn into_diagnostic(self, what: &str) -> Diagnostic {
        let mut error = Diagnostic::error(format!("{what} panicked: {}", self.message)).coded("panic");
        if let Some(place) = self.place {
            error = error.with_note(None, format!("the panic is at {place}"));
        }
        error.with_help(
            "this is a mistake in that code, not in the program; `--reproducer=FILE` writes what shows it again",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::guard;

    #[test]
    fn a_panic_is_a_value() {
        assert_eq!(guard(|| 3), Ok(3));
        assert_eq!(guard(|| panic!("no {}", 1)).map(|(): ()| ()).unwrap_err().message, "no 1");
        let error = guard(|| panic!("plain")).map(|(): ()| ()).unwrap_err().into_diagnostic("pass `x`");
        assert_eq!(error.message, "pass `x` panicked: plain");
    }
}
