//! Contractions.

mod matmul;

pub use matmul::MatMul;
use tf_value::DialectBuilder;

pub(crate) fn register(r: &mut DialectBuilder) {
    matmul::register(r);
}
