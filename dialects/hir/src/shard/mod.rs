//! Placement.

mod local;
mod reshard;

pub use local::Local;
pub use reshard::Reshard;
use tf_value::DialectBuilder;

pub(crate) fn register(r: &mut DialectBuilder) {
    local::register(r);
    reshard::register(r);
}
