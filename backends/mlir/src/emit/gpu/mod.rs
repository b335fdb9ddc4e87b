//! Device functions: one `gpu.func` each, threads as positions of the function's meshes.
mod access;
mod alloc;
mod binary;
mod copy;
mod fill;
mod head;
mod index;
mod kernel;
mod loops;
mod memory;
mod mma;
mod positions;
mod reduce;
mod registers;
mod shuffle;
mod sync;
mod unary;
mod view;

pub(crate) use kernel::{KernelCx, emit_kernel};
pub(crate) use memory::Buffer;
pub(crate) use positions::Geometry;

use crate::emit::table::EmissionTable;

/// The rules of dialect `T`.
pub(crate) fn register(table: &mut EmissionTable) {
    table.buffer::<tf_tir::memory::alloc_tensor::AllocTensor>();
    table.buffer::<tf_tir::memory::tensor_view::TensorView>();
    table.effect::<tf_tir::memory::copy::Copy>();
    table.effect::<tf_tir::memory::fill::Fill>();
    table.effect::<tf_tir::arith::binary::Binary>();
    table.effect::<tf_tir::arith::unary::Unary>();
    table.effect::<tf_tir::arith::clamp::Clamp>();
    table.effect::<tf_tir::nn::relu::Relu>();
    table.effect::<tf_tir::tensor::reduce::Reduce>();
    table.effect::<tf_tir::nn::mma::Mma>();
    table.effect::<tf_tir::sync::barrier::Sync>();
}
