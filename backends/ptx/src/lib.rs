//! PTX back end: GPU modules in MLIR to PTX text through LLVM's NVPTX target.
pub mod arch;
mod kernel;
mod translate;

pub use arch::Arch;
pub use kernel::Kernel;
pub use translate::{Ptx, PtxOptions, compile, translate};
