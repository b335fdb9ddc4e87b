//! MLIR back end: the session that owns an MLIR context, the pass pipelines for both targets, the
//! CPU JIT and the lowering of GPU modules to the NVVM dialect.
pub mod emit;
pub mod engine;
pub mod error;
pub mod gpu;
pub mod jit;
pub mod math;
pub mod passes;
pub mod pipeline;
pub mod session;

pub use error::BackendError;
pub use gpu::{GpuOptions, lower_gpu};
pub use math::{MathBuilder, MathFn, Target};
pub use passes::register;
pub use pipeline::Pipeline;
pub use session::Session;
