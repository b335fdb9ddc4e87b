//! TIR ops (dialect `T`): one op, one file. Values are allocations and views, effects write buffers (spec: tir §5).
//!
//! A placed tensor has its *logical* shape and a `ShardLayout`; what one position holds of it is
//! [`held::Held`], which lowering and back ends share.

pub mod arith;
pub mod held;
pub mod launch;
pub mod memory;
pub mod nn;
mod rules;
pub mod sync;
pub mod tensor;

use tf_value::rule::DialectBuilder;

/// Registers every op of the dialect.
pub fn register(r: &mut DialectBuilder) {
    memory::alloc_tensor::register(r);
    memory::tensor_view::register(r);
    memory::copy::register(r);
    memory::fill::register(r);
    arith::binary::register(r);
    arith::unary::register(r);
    tensor::reduce::register(r);
    nn::mma::register(r);
    sync::barrier::register(r);
    launch::register(r);
}
