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
mod completions;
mod docs;
mod driver;
mod error;
mod expect;
mod hand_over;
mod help;
mod input;
pub mod options;
mod output;
mod plugins;
mod print;
mod reference;
pub mod shell;
mod stubs;
mod unit;

use std::process::ExitCode;

pub use builtins::{Builtins, builtins};
pub use plugins::ops;

/// Runs the driver on the arguments of the process: 0, or 1 with diagnostics on the error output.
#[must_use]
pub fn main(builtins: Builtins) -> ExitCode {
    match driver::run(builtins) {
        Ok(()) => ExitCode::SUCCESS,
        Err(()) => ExitCode::FAILURE,
    }
}
