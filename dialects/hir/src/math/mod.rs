//! Elementwise ops.

mod binary;
mod unary;

pub use binary::Binary;
use tf_value::DialectBuilder;
pub use unary::Unary;

pub(crate) fn register(r: &mut DialectBuilder) {
    binary::register(r);
    unary::register(r);
}
