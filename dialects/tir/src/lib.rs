//! TIR ops (dialect `T`): one op, one file. Values are allocations, views and coordinates, effects write buffers.
//!
//! A placed tensor has its *logical* shape and a `ShardLayout`; what one position holds of it is
//! [`held::Held`], which lowering and back ends share.

mod access;
pub mod arith;
pub mod asynchronous;
pub mod distribution;
mod effect;
pub mod held;
pub mod launch;
pub mod memory;
pub mod mesh;
pub mod nn;
mod rules;
pub mod sync;
pub mod tensor;
#[cfg(test)]
mod test_util;

pub use effect::overwritten;
use tf_value::rule::DialectBuilder;

/// Registers every op of the dialect.
pub fn register(r: &mut DialectBuilder) {
    memory::alloc_tensor::register(r);
    memory::tensor_view::register(r);
    memory::copy::register(r);
    memory::fill::register(r);
    memory::memory_span::register(r);
    memory::ptr_of::register(r);
    arith::binary::register(r);
    arith::unary::register(r);
    arith::clamp::register(r);
    tensor::reduce::register(r);
    nn::mma::register(r);
    nn::relu::register(r);
    nn::rms_norm::register(r);
    asynchronous::copy_async::register(r);
    asynchronous::cp_async_commit::register(r);
    asynchronous::cp_async_wait::register(r);
    mesh::coordinate::register(r);
    sync::barrier::register(r);
    launch::register(r);
}
