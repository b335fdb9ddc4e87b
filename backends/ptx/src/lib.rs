//! PTX back end: GPU modules in MLIR to PTX text through LLVM's NVPTX target.
pub mod arch;
mod build;
pub mod host;
mod kernel;
mod manifest;
pub mod passes;
mod translate;
mod version;

pub use arch::Arch;
pub use build::artifact;
pub use kernel::Kernel;
pub use passes::register;
pub use translate::{Ptx, PtxOptions, compile, translate};
pub use version::versions;
