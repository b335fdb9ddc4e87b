//! The driver as a library: a driver of one's own is [`builtins`], one's registrations and [`main`].
//!
//! ```no_run
//! # mod my { pub fn register(_: &mut tf_framework::PassRegistry) {} }
//! fn main() -> std::process::ExitCode {
//!     let mut builtins = tf_opt::builtins();
//!     my::register(&mut builtins.passes);
//!     tf_opt::main(builtins)
//! }
//! ```

mod args;
mod builtins;
mod driver;
mod error;
mod hand_over;
mod help;
mod input;
mod output;
mod print;

use std::process::ExitCode;

pub use builtins::{Builtins, builtins};

/// Runs the driver on the arguments of the process: 0, or 1 with diagnostics on the error output.
#[must_use]
pub fn main(builtins: Builtins) -> ExitCode {
    match driver::run(builtins) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error::Stop::Reported) => ExitCode::FAILURE,
        Err(error::Stop::Said(message)) => {
            // Nothing is left to do if the error output is closed too.
            let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("error: {message}\n").as_bytes());
            ExitCode::FAILURE
        }
    }
}
