//! Tensor files (`.safetensors`) and atomic writing.

mod atomic;
mod read;
mod write;

pub use atomic::write_atomic;
pub use read::{TensorFile, TensorInfo};
pub use write::write_tensors;
