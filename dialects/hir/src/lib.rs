//! Ops of HIR (dialect `tf`): one file an op, with its declaration and its type, access and evaluation rules.
//!
//! Rules that several ops share are in [`rules`].

pub mod cuda;
pub mod math;
pub mod nn;
pub mod rules;
pub mod shard;
pub mod tensor;

#[cfg(test)]
mod test_util;

pub use cuda::{MmaSm80, WgmmaSm90};
pub use math::{Binary, Clamp, Softplus, Unary};
pub use nn::{Approximation, Conv2d, Gelu, LayerNorm, MatMul, Relu, RmsNorm, Rope, Sigmoid, Silu, Softmax, Tanh};
pub use shard::{Local, Reshard};
pub use tensor::{
    Arange, ArgMax, CacheUpdate, Cast, Concat, FullLike, IndexAdd, IndexCopy, IndexSelect, InsertSlice, Quant,
    QuantScheme, Rank, Reduce, RepeatInterleave, Reshape, ShapeOf, Slice, Split, Stack, TopK, Transpose, TupleGetItem,
    Where, Zeros,
};
use tf_value::DialectBuilder;

/// Registers all ops of this crate with their rules and surface names.
pub fn register(r: &mut DialectBuilder) {
    math::register(r);
    tensor::register(r);
    nn::register(r);
    shard::register(r);
    cuda::register(r);
}
