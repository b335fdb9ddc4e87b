//! Ops on shapes, dtypes and axes.

mod cast;
mod reduce;
mod slice;

pub use cast::Cast;
pub use reduce::Reduce;
pub use slice::Slice;
use tf_value::DialectBuilder;

pub(crate) fn register(r: &mut DialectBuilder) {
    cast::register(r);
    reduce::register(r);
    slice::register(r);
}
