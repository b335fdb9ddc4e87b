//! Elementwise ops.

mod binary;
mod clamp;
mod softplus;
mod unary;

pub use binary::Binary;
pub use clamp::Clamp;
pub use softplus::Softplus;
use tf_value::DialectBuilder;
pub use unary::Unary;

pub(crate) fn register(r: &mut DialectBuilder) {
    binary::register(r);
    clamp::register(r);
    softplus::register(r);
    unary::register(r);
}
