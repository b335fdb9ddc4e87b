//! Placement.

mod reshard;

pub use reshard::Reshard;
use tf_value::DialectBuilder;

pub(crate) fn register(r: &mut DialectBuilder) {
    reshard::register(r);
}
