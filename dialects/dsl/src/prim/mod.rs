//! Bodies of `@prim_func`: statements over buffers.

mod calls;
mod closed;
mod declared;
mod escapes;
mod function;
mod intrinsic;
mod launch;
mod platform;
mod statements;

pub use declared::check_intrinsic;
pub(crate) use declared::names_of;
pub(crate) use function::{default_outputs, default_target};
pub(crate) use intrinsic::Intrinsic;
pub(crate) use platform::Platform;
