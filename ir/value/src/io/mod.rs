//! Tensor files (`.safetensors`, folders of them, `.npz`, `.npy`) and atomic writing.

mod atomic;
mod foreign;
mod npy;
mod npz;
mod read;
mod shards;
mod store;
mod write;

pub use atomic::write_atomic;
pub use read::{TensorFile, TensorInfo};
pub use shards::write_shards;
pub use store::{HOST, TensorMap, TensorStore, open_tensors};
pub use write::write_tensors;
