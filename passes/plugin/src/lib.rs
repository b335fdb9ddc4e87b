//! Plugins: shared libraries that add passes, rewrite patterns, ops with their rules, and named pipelines to a driver (tutorial:
//! docs/plugin-tutorial.md).
//!
//! A plugin is a `cdylib` crate with one line, `tilefoundry_plugin!(register)`. It has its own copy of the standard library and of
//! every crate it links, so both sides must be built alike: [`load`] compares fingerprints before it calls any Rust function of the
//! plugin, and says in words what differs. Panics are caught on the plugin's side. A plugin is never unloaded.

pub mod abi;
mod fingerprint;
mod load;

use tf_framework::PassRegistry;
use tf_lower::LowerRules;
use tf_rewrite::Patterns;
use tf_value::DialectBuilder;

pub use fingerprint::BUILD;
pub use load::{LoadError, Loaded, load};
pub use tf_framework_macros::locked_versions;

/// What a plugin registers into.
pub struct Registrar<'a> {
    /// Ops with their type, verification, access and evaluation rules.
    pub dialects: &'a mut DialectBuilder,
    /// Lowering rules of HIR ops.
    pub lowering: &'a mut LowerRules,
    /// Passes and named pipelines.
    pub passes: &'a mut PassRegistry,
    /// Patterns that `canonicalize` applies.
    pub patterns: &'a mut Patterns,
}

/// Makes a `cdylib` a plugin: `tilefoundry_plugin!(register)`, where `register` is a `fn(&mut Registrar<'_>)`.
#[macro_export]
macro_rules! tilefoundry_plugin {
    ($register:path) => {
        /// What the driver reads first.
        #[unsafe(no_mangle)]
        pub extern "C" fn tilefoundry_plugin_info() -> *const $crate::abi::PluginInfo {
            unsafe extern "C" fn enter(session: *mut ::core::ffi::c_void) {
                // SAFETY: the driver calls this with a `Session` after it has compared the fingerprints.
                unsafe { $crate::abi::enter(session, $register) }
            }
            static INFO: $crate::abi::PluginInfo = $crate::abi::PluginInfo {
                abi: $crate::abi::VERSION,
                name: $crate::abi::Text::new(env!("CARGO_PKG_NAME")),
                version: $crate::abi::Text::new(env!("CARGO_PKG_VERSION")),
                build: $crate::abi::Text::new($crate::BUILD),
                crates: $crate::abi::Text::new($crate::locked_versions!()),
                register: enter,
            };
            &INFO
        }
    };
}
